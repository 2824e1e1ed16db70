"""The corpus: which repositories, at which commit, under which licence, in which split."""

import tomllib
from collections.abc import Collection
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from training.sources.git import head_of

SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class Repository:
    """A repository of the corpus and where it lies on this machine."""

    name: str
    path: Path
    split: str
    licence: str = "unknown"
    commit: str = ""


def read_corpus(
    file: Path, mirrors: Path, names: Collection[str] = (), split: str | None = None
) -> list[Repository]:
    """The repositories of a corpus file, or those of the given names or split; `mirrors` is the folder of the clones."""
    corpus = tomllib.loads(file.read_text(encoding="utf-8"))
    entries = [entry for entry in corpus["repository"] if not names or entry["name"] in names]
    missing = set(names) - {entry["name"] for entry in entries}
    if missing:
        raise ValueError(f"{file} does not name {', '.join(sorted(missing))}")
    for entry in entries:
        if any(fnmatchcase(entry["name"], pattern) for pattern in corpus.get("held_out", [])):
            raise ValueError(f"{entry['name']} is kept apart for measurement: it must not be mined")
        if entry["split"] not in SPLITS:
            raise ValueError(
                f"{entry['name']} has the unknown split {entry['split']!r}; there are {', '.join(SPLITS)}"
            )
    return [
        Repository(e["name"], _clone(mirrors, e["name"]), e["split"], e["licence"], e["commit"])
        for e in entries
        if split is None or e["split"] == split
    ]


def repository_at(path: Path, split: str) -> Repository:
    """A repository given by its path alone."""
    folder = path.resolve()
    if folder.name in {"repo", ".git"}:
        folder = folder.parent
    name = folder.name.removesuffix(".git").replace("+", "/")
    return Repository(name, path, split, commit=head_of(path))


def _clone(mirrors: Path, name: str) -> Path:
    for candidate in (
        mirrors / name.replace("/", "+") / "repo",
        mirrors / name,
        mirrors / name.rpartition("/")[2],
    ):
        if candidate.is_dir():
            return candidate
    raise ValueError(f"no clone of {name} in {mirrors}: git clone https://github.com/{name} {mirrors / name}")
