"""Git histories as pairs of texts: every modified file of every non-merge commit.

One `git log --raw` lists the pairs of blobs, one `git cat-file --batch` delivers their bytes. FileVersions of one file come
together, oldest first, so that neighbouring commits can be joined and git finds its deltas in the cache.
"""

import subprocess
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import IO, NamedTuple, Self

from training.sources.filters import LIMIT_BYTES, check_path

_HELD_OUT_COMMITS = Path(__file__).parents[1] / "corpora" / "held-out-commits.txt"
_GROUP = 12  # pairs of one file that are read together


class Modification(NamedTuple):
    """One file modified by one commit."""

    commit: str
    path: str
    old: str  # blob ids
    new: str


class FileVersions(NamedTuple):
    """Successive modifications of one file: texts[n] became texts[n + 1] by modifications[n]. None: not a text."""

    modifications: tuple[Modification, ...]
    texts: tuple[str | None, ...]


@lru_cache
def held_out_commits() -> frozenset[str]:
    """The commits that are kept apart for outside measurement."""
    return frozenset(_HELD_OUT_COMMITS.read_text(encoding="ascii").split())


class ExcludedCommits:
    """Commits that must not be mined, by the beginnings of their hashes. The held-out commits are always among them."""

    def __init__(self, prefixes: Iterable[str] = ()) -> None:
        given = {prefix.strip().lower() for prefix in prefixes if prefix.strip()}
        self._prefixes = given | held_out_commits()
        self._lengths = sorted({len(prefix) for prefix in self._prefixes})

    def __contains__(self, commit: str) -> bool:
        return any(commit[:length] in self._prefixes for length in self._lengths)


def head_of(repository: Path) -> str:
    """The newest commit of a repository."""
    return _git(repository, "rev-parse", "HEAD").decode().strip()


def list_modifications(
    repository: Path, commit: str, exclusions: ExcludedCommits, counts: Counter[str]
) -> list[Modification]:
    """All modifications of source files up to a commit, oldest first."""
    options = "--raw --no-abbrev --no-renames --diff-filter=M --no-merges --reverse -z --format=%x01%H"
    output = _git(repository, "log", *options.split(), commit).decode("utf-8", "replace")
    result: list[Modification] = []
    for block in output.split("\x01")[1:]:
        fields = block.lstrip("\0").split("\0")
        name = fields[0].strip()
        if name in exclusions:
            counts["excluded commit"] += 1
            continue
        result.extend(_parse_modifications(name, fields[1:], counts))
    return result


def _parse_modifications(commit: str, fields: Sequence[str], counts: Counter[str]) -> Iterator[Modification]:
    for raw, path in zip(fields[::2], fields[1::2], strict=False):
        parts = raw.lstrip("\n").split(" ")
        if len(parts) < 5 or not parts[0].startswith(":10") or not parts[1].startswith("10"):
            continue  # a submodule or a symbolic link
        counts["file pairs"] += 1
        reason = check_path(path)
        if reason is not None:
            counts[reason] += 1
            continue
        yield Modification(commit, path, parts[2], parts[3])


def group_by_file(found: Iterable[Modification]) -> list[list[Modification]]:
    """Modifications by file, oldest first, in groups that are read together."""
    by_path: dict[str, list[Modification]] = {}
    for modification in found:
        by_path.setdefault(modification.path, []).append(modification)
    return [
        list(of_path[start : start + _GROUP])
        for of_path in by_path.values()
        for start in range(0, len(of_path), _GROUP)
    ]


def read_versions(repository: Path, groups: Sequence[Sequence[Modification]]) -> Iterator[list[FileVersions]]:
    """For each group its runs of successive versions, with their texts."""
    wanted = [list(dict.fromkeys(blob for m in group for blob in (m.old, m.new))) for group in groups]
    with _CatFile(repository, [blob for blobs in wanted for blob in blobs]) as blobs:
        for group, names in zip(groups, wanted, strict=True):
            texts = {name: _decode(blobs.read()) for name in names}
            yield [
                FileVersions(tuple(run), (texts[run[0].old], *(texts[m.new] for m in run)))
                for run in _split_into_runs(group)
            ]


def _split_into_runs(group: Sequence[Modification]) -> list[list[Modification]]:
    """Cut modifications where one does not begin with the text that the one before left (branches, renames)."""
    runs: list[list[Modification]] = []
    for modification in group:
        if runs and runs[-1][-1].new == modification.old:
            runs[-1].append(modification)
        else:
            runs.append([modification])
    return runs


def files_at(repository: Path, commit: str) -> list[tuple[str, str]]:
    """Path and blob id of each source file of a commit."""
    result: list[tuple[str, str]] = []
    for entry in _git(repository, "ls-tree", "-r", "-z", commit).decode("utf-8", "replace").split("\0"):
        meta, _, path = entry.partition("\t")
        if meta.startswith("100") and check_path(path) is None:
            result.append((path, meta.split(" ")[2]))
    return result


def sizes_at(repository: Path, commit: str) -> dict[str, int]:
    """The size in bytes of each file of a commit."""
    result: dict[str, int] = {}
    for entry in _git(repository, "ls-tree", "-r", "-l", "-z", commit).decode("utf-8", "replace").split("\0"):
        meta, _, path = entry.partition("\t")
        if meta.startswith("100"):
            size = meta.split()[3]
            # The clone may lack the object: then it has no size.
            result[path] = int(size) if size.isdigit() else LIMIT_BYTES
    return result


def read_texts(repository: Path, blobs: Sequence[str]) -> Iterator[str | None]:
    """The texts of blobs; None for a blob that is too large or not a text."""
    with _CatFile(repository, blobs) as reader:
        for _ in blobs:
            yield _decode(reader.read())


def _decode(data: bytes | None) -> str | None:
    if data is None or b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


class _CatFile:
    """One `git cat-file --batch` that delivers the blobs in the order of their ids."""

    def __init__(self, repository: Path, blobs: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            ["git", "-C", str(repository), "cat-file", "--batch", "--buffer"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._out: IO[bytes] = self._process.stdout
        # git blocks until its output is read: a thread of its own writes the ids.
        self._writer = threading.Thread(target=self._write, args=(self._process.stdin, blobs), daemon=True)
        self._writer.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._out.close()
        self._process.kill()
        self._process.wait()
        self._writer.join()

    @staticmethod
    def _write(pipe: IO[bytes], blobs: Sequence[str]) -> None:
        try:
            with pipe:
                for blob in blobs:
                    pipe.write(blob.encode() + b"\n")
        except BrokenPipeError:  # the reader has seen enough
            pass

    def read(self) -> bytes | None:
        """The next blob; None when it is missing or too large."""
        header = self._out.readline().split()
        if len(header) < 3:
            if header and header[-1] == b"missing":
                return None
            raise OSError(f"git cat-file ended early: {header!r}")
        size = int(header[2])
        data = self._out.read(size + 1)[:size]
        return data if size <= LIMIT_BYTES and header[1] == b"blob" else None


def _git(repository: Path, *arguments: str) -> bytes:
    done = subprocess.run(["git", "-C", str(repository), *arguments], capture_output=True, check=False)
    if done.returncode != 0:
        raise ValueError(
            f"git {arguments[0]} in {repository}: {done.stderr.decode('utf-8', 'replace').strip()}"
        )
    return done.stdout
