"""A trajectory: a text and the changes made to it one after another, before tokens come in.

Git histories, an editor's local history, recordings and synthetic refactorings all become trajectories. Trajectories
become instances here and only here, by the same bursts with which the language server records a user.
"""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from model.editing.burst import Burst, Change, TokenText
from model.editing.edits import Instance, Slots, stop_edit
from model.editing.tokenizer import Tokenizer
from training.data.dataset import Kind


class Trajectory(NamedTuple):
    """A text and its changes, each in the text as the changes before have left it."""

    text: str
    changes: tuple[Change, ...]
    kind: Kind
    conditioning: int = 0  # so many changes are given: no model could have predicted them
    is_complete: bool = True  # after the last change nothing more is to be edited in this text

    def texts(self) -> list[str]:
        """The text at first and after each change."""
        return apply_changes(self.text, self.changes)


def apply_change(text: str, change: Change) -> str:
    """The text after one change."""
    return text[: change.start] + change.text + text[change.end :]


def apply_changes(text: str, changes: Iterable[Change]) -> list[str]:
    """The text at first and after each change."""
    return list(accumulate(changes, apply_change, initial=text))


def instance_from_trajectory(
    trajectory: Trajectory, tokenizer: Tokenizer, limit_edits: int
) -> Instance | None:
    """The trajectory in tokens, cut at `limit_edits`; None when nothing is left to predict."""
    text = TokenText(tokenizer, trajectory.text)
    state = text.state()
    slots = Slots(state)
    conditioning = 0
    for number, change in enumerate(trajectory.changes):
        replaced = text.replace(change)
        for edit in Burst(text, replaced).edits():
            slots.apply_explicit(edit)
        if number < trajectory.conditioning:
            conditioning = len(slots.edits)
        if len(slots.edits) > limit_edits:
            break
    edits = slots.edits[:limit_edits]
    if trajectory.is_complete and len(slots.edits) < limit_edits and slots.edits:
        edits = [*edits, stop_edit(len(state))]
    if len(edits) <= conditioning:
        return None
    return Instance(state, tuple(edits), conditioning)


def offsets_of(pieces: Sequence[str]) -> list[int]:
    """The offsets at which each piece begins in their concatenation, and the end of the last."""
    return list(accumulate(map(len, pieces), initial=0))
