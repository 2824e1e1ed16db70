"""Whole commits for the suite: files that one commit changed in several hunks, read from the repositories of a corpus.

A hunk is a run of changed lexical tokens. An edit (a hunk that is made) is *reachable* when the tokens that it removes and inserts
equal those of an earlier edit of the same file and contain a word: the author had shown it before. The definition depends on
no engine. A file is *repetitive* when enough of its edits are reachable, and *ordinary* otherwise.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from math import ceil
from random import Random
from typing import Any, NamedTuple

from model.editing.change import Change
from training.sources.corpus import Repository
from training.sources.filters import check_change, check_text, has_secret, is_code, language_of
from training.sources.git import (
    ExcludedCommits,
    Modification,
    group_by_file,
    list_modifications,
    read_versions,
)
from training.trajectories.hunks import hunks_between, lines_of
from training.trajectories.lexical_hunks import lexical_hunks

_LIMIT_CHARACTERS = 60_000  # of a file, about 20,000 tokens
_LEAST_HUNKS, _LIMIT_HUNKS = 3, 60
_REPETITIVE_SHARE, _REPETITIVE_COUNT = 0.4, 3  # of the edits must be reachable
_LIMIT_MODIFICATIONS = 4000  # of a repository that are read
_LIMIT_OF_PATH = 2  # files of one path, so that no file decides the figures
_LIMIT_OF_COMMIT = 2
_WORD = re.compile(r"[^\W\d]")

Kind = tuple[str, str]  # the text that an edit removes, and the text that it inserts


class CommitFile(NamedTuple):
    """One file of one commit."""

    repository: str
    commit: str
    path: str
    before: str
    after: str
    hunks: tuple[Change, ...]  # top to bottom, with offsets in the text before

    @classmethod
    def from_json(cls, values: Sequence[Any]) -> "CommitFile":
        repository, commit, path, before, after, hunks = values
        return cls(repository, commit, path, before, after, tuple(Change(*hunk) for hunk in hunks))

    @property
    def language(self) -> str:
        return language_of(self.path) or ""

    @property
    def reachable(self) -> int:
        """The number of its edits that are reachable in any order."""
        kinds = Counter(kind_of(self.before, hunk) for hunk in self.hunks)
        return sum(count - 1 for kind, count in kinds.items() if has_word(kind))

    @property
    def is_repetitive(self) -> bool:
        return self.reachable >= max(_REPETITIVE_COUNT, _REPETITIVE_SHARE * len(self.hunks))


def kind_of(text: str, hunk: Change) -> Kind:
    """The text that a hunk removes and the text that it inserts."""
    return text[hunk.start : hunk.end], hunk.text


def has_word(kind: Kind) -> bool:
    return _WORD.search(kind[0] + kind[1]) is not None


def find_commit_files(
    repository: Repository, exclusions: ExcludedCommits, random: Random
) -> Iterator[CommitFile]:
    """The files of a repository's commits that fit the suite, in a random order of paths."""
    found = list_modifications(repository.path, repository.commit, exclusions, Counter())
    groups = group_by_file([modification for modification in found if is_code(modification.path)])
    random.shuffle(groups)
    for runs in read_versions(repository.path, _first(groups, _LIMIT_MODIFICATIONS)):
        for run in runs:
            for modification, old, new in zip(run.modifications, run.texts[:-1], run.texts[1:], strict=True):
                file = make_commit_file(repository.name, modification.commit, modification.path, old, new)
                if file is not None:
                    yield file


def choose_commit_files(
    repositories: Sequence[Repository], count: int, seed: int, exclusions: ExcludedCommits | None = None
) -> list[CommitFile]:
    """`count` repetitive and `count` ordinary files, about as many from each repository."""
    chosen: dict[bool, list[list[CommitFile]]] = {True: [], False: []}
    for repository in repositories:
        random = Random(f"{seed}:{repository.name}")
        files = _spread(find_commit_files(repository, exclusions or ExcludedCommits(), random))
        kept: dict[bool, list[CommitFile]] = {True: [], False: []}
        # A small repository may have too few: the others give more than their part.
        wanted = ceil(3 * count / len(repositories))
        for file in files:
            if len(kept[file.is_repetitive]) < wanted:
                kept[file.is_repetitive].append(file)
            if all(len(of_kind) >= wanted for of_kind in kept.values()):
                break
        for is_repetitive, of_kind in kept.items():
            chosen[is_repetitive].append(of_kind)
    return [*_in_turns(chosen[True], count), *_in_turns(chosen[False], count)]


def make_commit_file(
    repository: str, commit: str, path: str, old: str | None, new: str | None
) -> CommitFile | None:
    """A file of a commit that can be played; None when it does not fit the suite."""
    if old is None or new is None or max(len(old), len(new)) > _LIMIT_CHARACTERS:
        return None
    if check_text(old) or check_text(new) or has_secret(old) or has_secret(new):
        return None
    lines = lines_of(old)
    if check_change(lines, hunks_between(lines, lines_of(new)) or []) is not None:
        return None
    hunks = lexical_hunks(old, new)
    if hunks is None or not _LEAST_HUNKS <= len(hunks) <= _LIMIT_HUNKS:
        return None
    return CommitFile(repository, commit, path, old, new, tuple(hunks))


def _first(groups: Sequence[list[Modification]], limit: int) -> list[list[Modification]]:
    """The first groups that have `limit` modifications together."""
    taken: list[list[Modification]] = []
    count = 0
    for group in groups:
        if count >= limit:
            break
        taken.append(group)
        count += len(group)
    return taken


def _spread(files: Iterator[CommitFile]) -> Iterator[CommitFile]:
    """The files without more than a few of one path or of one commit."""
    of_path: Counter[str] = Counter()
    of_commit: Counter[str] = Counter()
    for file in files:
        if of_path[file.path] < _LIMIT_OF_PATH and of_commit[file.commit] < _LIMIT_OF_COMMIT:
            of_path[file.path] += 1
            of_commit[file.commit] += 1
            yield file


def _in_turns(lists: Sequence[list[CommitFile]], count: int) -> list[CommitFile]:
    """The first of each list, then the second of each, and so on."""
    longest = max(map(len, lists), default=0)
    result = [files[turn] for turn in range(longest) for files in lists if turn < len(files)]
    return result[:count]
