"""Finding what a user has to learn from: repositories, saves of an editor, recorded sessions."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from training.personal.changes import OwnChange, list_commits, read_commits, read_recordings, read_saves
from training.sources.corpus import repository_at
from training.sources.recording_reader import default_folder
from training.sources.vscode_history import default_folders

REPOSITORY, SAVES, RECORDINGS = "repository", "saves", "recordings"
_READERS = {SAVES: read_saves, RECORDINGS: read_recordings}
_NOUNS = {REPOSITORY: "commits that change code", SAVES: "saves", RECORDINGS: "recorded sessions"}
LEAST_UNITS = 20  # with fewer the newest tenth is one or two


@dataclass(frozen=True)
class Source:
    """One source of a user's own changes, pinned to what it holds now."""

    kind: str
    name: str
    path: Path
    units: tuple[str, ...]  # oldest first
    first: str  # dates
    last: str
    commit: str = ""  # of a repository
    is_shallow: bool = False

    def describe(self) -> str:
        """A line for the user."""
        note = " (a shallow clone: git fetch --unshallow brings the rest)" if self.is_shallow else ""
        dates = f", {self.first} to {self.last}" if self.units else ""
        return f"{self.kind} {self.name}: {len(self.units)} {_NOUNS[self.kind]}{dates}{note}"

    def read(self, units: Sequence[str], limit: int) -> list[OwnChange]:
        """The changes of some units, oldest first, at most `limit`, the newest ones."""
        if self.kind == REPOSITORY:
            return read_commits(self.path, self.name, self.commit, units, limit)
        wanted = set(units)
        return [change for change in _READERS[self.kind](self.path) if change.unit in wanted][-limit:]


def find_sources(here: Path, repositories: Sequence[Path]) -> list[Source]:
    """Find recordings, saves, the repository of a folder and the further repositories that the user names."""
    found = []
    root = find_repository(here)
    for path in dict.fromkeys([*([root] if root else []), *(each.resolve() for each in repositories)]):
        found.append(open_repository(path))
    recordings = default_folder()
    if recordings.is_dir():
        found.append(_open_folder(RECORDINGS, recordings))
    found += [_open_folder(SAVES, folder) for folder in default_folders()]
    return found


def find_repository(folder: Path) -> Path | None:
    """The root of the git repository that a folder belongs to."""
    for question in ("--show-toplevel", "--absolute-git-dir"):  # the second for a bare repository
        done = subprocess.run(
            ["git", "-C", str(folder), "rev-parse", question], capture_output=True, text=True, check=False
        )
        if done.returncode == 0 and done.stdout.strip():
            return Path(done.stdout.strip()).resolve()
    return None


def open_repository(path: Path) -> Source:
    """Look at a repository. A ValueError says what is wrong with it and what to do."""
    if not path.is_dir():
        raise ValueError(f"{path} is not a folder: give --repo the path of a git repository")
    if find_repository(path) is None:
        raise ValueError(
            f"{path} is not a git repository: give --repo another path, or run git init and commit"
        )
    if _git(path, "rev-parse", "--verify", "--quiet", "HEAD") == "":  # nothing was committed yet
        return Source(REPOSITORY, path.name, path, (), "", "")
    repository = repository_at(path, "train")
    units = list_commits(path, repository.commit)
    dates = (
        [_git(path, "log", "-1", "--format=%cs", unit) for unit in (units[0], units[-1])]
        if units
        else ["", ""]
    )
    is_shallow = _git(path, "rev-parse", "--is-shallow-repository") == "true"
    return Source(
        REPOSITORY, repository.name, path, tuple(units), dates[0], dates[1], repository.commit, is_shallow
    )


def _open_folder(kind: str, folder: Path) -> Source:
    changes = _READERS[kind](folder)
    units = tuple(dict.fromkeys(change.unit for change in changes))
    dates = [_date(changes[index].time) for index in (0, -1)] if changes else ["", ""]
    return Source(kind, str(folder), folder, units, dates[0], dates[1])


def refuse_too_little(sources: Sequence[Source]) -> None:
    """Refuse sources that hold too little, and say what to do."""
    count = sum(len(source.units) for source in sources)
    if count >= LEAST_UNITS:
        return
    shallow = [str(source.path) for source in sources if source.is_shallow]
    if shallow:
        advice = (
            f"{shallow[0]} is a shallow clone: run git -C {shallow[0]} fetch --unshallow, then this again"
        )
    else:
        advice = (
            "name repositories that you work on: python -m training.fit --repo PATH --repo OTHER;"
            " or turn on 'record my edits' in the editor and come back in some days"
        )
    raise ValueError(
        f"there is too little to learn from: {count} commits, saves or sessions that change code, and at least"
        f" {LEAST_UNITS} are needed. {advice[0].upper()}{advice[1:]}."
    )


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).date().isoformat() if seconds else "unknown"


def _git(repository: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(repository), *arguments], capture_output=True, text=True, check=False
    )
    return done.stdout.strip()
