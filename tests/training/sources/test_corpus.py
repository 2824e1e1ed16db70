"""The corpus file, and the one that ships."""

import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from training.sources.corpus import read_corpus

SHIPPED = Path(__file__).parents[3] / "training" / "corpora" / "default.toml"
ENTRY = '[[repository]]\nname = "{}"\ncommit = "c"\nlicence = "MIT"\nsplit = "{}"\n'


def write(tmp_path: Path, *entries: tuple[str, str], held_out: str = "") -> Path:
    path = tmp_path / "corpus.toml"
    path.write_text(f"held_out = ['{held_out}']\n" + "".join(ENTRY.format(*entry) for entry in entries))
    return path


def test_clones_are_found_in_either_layout(tmp_path: Path) -> None:
    (tmp_path / "a+b" / "repo").mkdir(parents=True)
    (tmp_path / "d").mkdir()
    found = read_corpus(write(tmp_path, ("a/b", "train"), ("c/d", "dev")), tmp_path)
    assert [repository.path.relative_to(tmp_path).as_posix() for repository in found] == ["a+b/repo", "d"]


def test_only_the_clones_of_the_wanted_split_are_needed(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    found = read_corpus(write(tmp_path, ("a/b", "train"), ("c/d", "dev")), tmp_path, split="dev")
    assert [repository.name for repository in found] == ["c/d"]


@pytest.mark.parametrize(
    ("entry", "held_out", "names", "message"),
    [
        (("a/b", "train"), "a/b", [], "kept apart"),
        (("a/b", "train"), "a/*", [], "kept apart"),
        (("a/b", "training"), "", [], "unknown split 'training'"),
        (("a/b", "train"), "", ["x/y"], "does not name x/y"),
        (("a/b", "train"), "", [], "git clone"),
    ],
)
def test_what_cannot_be_mined_is_said(
    tmp_path: Path, entry: tuple[str, str], held_out: str, names: list[str], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        read_corpus(write(tmp_path, entry, held_out=held_out), tmp_path / "clones", names)


def test_the_corpus_that_ships_is_large_pinned_and_split(tmp_path: Path) -> None:
    corpus = tomllib.loads(SHIPPED.read_text())
    repositories = corpus["repository"]
    names = [entry["name"] for entry in repositories]
    assert len(names) == len(set(names)) >= 30
    assert not [name for name in names for pattern in corpus["held_out"] if fnmatchcase(name, pattern)]
    assert all(len(entry["commit"]) == 40 and entry["licence"] for entry in repositories)
    assert {entry["split"] for entry in repositories} == {"train", "dev", "test"}
