"""A case of the next-edit suite: a whole file, the changes made to it so far, and the change that came next.

There are three kinds. *repeat*: the next hunk does what an earlier one did. *ordinary*: any other next hunk. *done*:
nothing came next, and silence is right. MinedInstance cases hold text of others: they are made where they are needed, never
committed.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from model.editing.change import Change
from training.trajectories.trajectory import apply_changes

KINDS = ("repeat", "ordinary", "done")


@dataclass(frozen=True)
class Case:
    """One question to a model: the text and the changes so far in; a change, or silence, out."""

    kind: str
    source: str  # "history", or the kind of the refactoring
    language: str
    repository: str
    commit: str
    path: str
    text: str
    edits: tuple[Change, ...]  # made so far, each in the text as those before left it
    cursor: int  # offset in the current text: the end of the newest change
    expected_text: str | None  # the text after the next hunk; None: silence is right
    # Other hunks of the same commit that were still to come, as changes of the current text.
    also: tuple[Change, ...] = ()

    def current_text(self) -> str:
        """The text after the changes made so far."""
        return apply_changes(self.text, self.edits)[-1]

    def is_right(self, change: Change | None) -> bool:
        """Is this the next hunk, or another one that was still to come?"""
        if change is None or self.expected_text is None:
            return change is None and self.expected_text is None
        current = self.current_text()
        result = change.apply_to(current)
        return result == self.expected_text or any(result == other.apply_to(current) for other in self.also)

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str) -> "Case":
        values: dict[str, Any] = json.loads(line)
        for name in ("edits", "also"):
            values[name] = tuple(Change(*change) for change in values[name])
        return cls(**values)


def read_cases(path: Path) -> list[Case]:
    with path.open(encoding="utf-8") as lines:
        return [Case.from_json(line) for line in lines]


def write_cases(cases: Iterable[Case], path: Path) -> None:
    """Write cases as JSON lines; the file appears under its name only when it is complete."""
    partial = path.with_name(path.name + ".partial")
    path.parent.mkdir(parents=True, exist_ok=True)
    partial.write_text("".join(case.to_json() + "\n" for case in cases), encoding="utf-8")
    partial.rename(path)
