"""A user's own changes of files, from every source in one form: commits, saves of an editor, recorded sessions.

They come oldest first. A *unit* is a commit, a save or a recorded session; `split_by_time` holds the newest units out.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from training.judge.moments import FileChange
from training.sources.filters import check_path, check_text, has_secret, is_code, language_of
from training.sources.git import ExcludedCommits, list_modifications, read_versions
from training.sources.recording_reader import Step, recordings_in
from training.sources.vscode_history import read_saved_files
from training.suite.commits import CommitFile, make_commit_file

_LIMIT_CHARACTERS = 26_000  # of a file that the judge learns from: about 8,000 tokens
_LIMIT_OF_UNIT = 8  # files of one commit, so that no commit decides what is learned
_LIMIT_SESSION_SECONDS = 1800.0  # a longer recording is cut into several changes
HELD_OUT = 10  # one unit in so many, the newest ones


class OwnChange(NamedTuple):
    """One file changed in one unit."""

    source: str  # the name of the repository or of the folder
    unit: str
    path: str
    before: str
    after: str
    time: float = 0.0  # in seconds since 1970; not known for commits, whose order says enough

    @property
    def language(self) -> str:
        return language_of(self.path) or ""

    def file_change(self) -> FileChange:
        """The change as the judge learns from it."""
        return FileChange(self.source, self.language, self.before, self.after)

    def commit_file(self) -> CommitFile | None:
        """The change as a case of the gate; None when it has too few or too many edits."""
        return make_commit_file(self.source, self.unit, self.path, self.before, self.after)


class TimeSplit(NamedTuple):
    """Units by time: the oldest to learn from, newer ones to check, the newest tenth to measure."""

    learn: tuple[str, ...]
    check: tuple[str, ...]
    held_out: tuple[str, ...]


def split_by_time(units: Sequence[str]) -> TimeSplit:
    """Split units (oldest first, without repeats): the newest tenth is held out, the tenth before it checks."""
    size = max(1, len(units) // HELD_OUT)
    learn = max(0, len(units) - 2 * size)
    return TimeSplit(tuple(units[:learn]), tuple(units[learn:-size]), tuple(units[-size:]))


def list_commits(repository: Path, commit: str) -> list[str]:
    """The commits that changed code files, oldest first."""
    found = list_modifications(repository, commit, ExcludedCommits(), Counter())
    return list(dict.fromkeys(each.commit for each in found if is_code(each.path)))


def read_commits(
    repository: Path, name: str, commit: str, units: Iterable[str], limit: int
) -> list[OwnChange]:
    """Changes of code files in the given commits, oldest first: the newest `limit` of them."""
    wanted, of_unit = set(units), Counter[str]()
    chosen = []
    for each in reversed(list_modifications(repository, commit, ExcludedCommits(), Counter())):
        if each.commit in wanted and is_code(each.path) and of_unit[each.commit] < _LIMIT_OF_UNIT:
            of_unit[each.commit] += 1
            chosen.append(each)
    changes: list[OwnChange] = []
    for versions in read_versions(repository, [[each] for each in chosen]):
        for version in versions:
            before, after = version.texts
            modification = version.modifications[0]
            if before is not None and after is not None and _is_fit(before, after):
                changes.append(OwnChange(name, modification.commit, modification.path, before, after))
        if len(changes) >= limit:
            break
    return changes[::-1]


def read_saves(folder: Path) -> list[OwnChange]:
    """Successive saves of code files in the local history of an editor, oldest first."""
    found = []
    for file in read_saved_files(folder):
        if is_code(file.path):
            pairs = zip(file.texts[:-1], file.texts[1:], file.times[1:], strict=True)
            found += [(time, file.path, before, after) for before, after, time in pairs]
    return [
        OwnChange("saves", f"{time:.3f} {path}", path, before, after, time)
        for time, path, before, after in sorted(found, key=lambda each: each[0])
        if _is_fit(before, after)
    ]


def read_recordings(folder: Path) -> list[OwnChange]:
    """Recorded sessions of code files, oldest first. A long session is several changes."""
    found: list[tuple[float, str, str, str]] = []
    for file in sorted(folder.rglob("*.jsonl")):
        with file.open(encoding="utf-8", errors="replace") as lines:
            for recording in recordings_in(lines):
                if check_path(recording.path) is None and is_code(recording.path):
                    found += [
                        (time, recording.path, before, after)
                        for time, before, after in _cut(recording.text, recording.steps)
                    ]
    found.sort(key=lambda each: each[0])
    return [
        OwnChange("recordings", f"{time:.3f} {path}", path, before, after, time)
        for time, path, before, after in found
        if _is_fit(before, after)
    ]


def _cut(text: str, steps: Iterable[Step]) -> Iterator[tuple[float, str, str]]:
    """The time, the text before and the text after of each stretch of a session."""
    begin = text
    began: float | None = None
    for changes, milliseconds in steps:
        seconds = milliseconds / 1000
        if began is not None and seconds - began > _LIMIT_SESSION_SECONDS:
            yield began, begin, text
            begin, began = text, None
        began = seconds if began is None else began
        for change in changes:
            text = change.apply_to(text)
    if began is not None:
        yield began, begin, text


def _is_fit(before: str, after: str) -> bool:
    return before != after and all(
        len(text) <= _LIMIT_CHARACTERS and not check_text(text) and not has_secret(text)
        for text in (before, after)
    )
