"""A trajectory: a text and the changes made to it one after another, before tokens come in.

Git histories, an editor's local history, recordings and synthetic refactorings all become trajectories. Trajectories
become instances here and only here, by the recorder with which the language server records a user.
"""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from model.editing.change import Change
from model.editing.edits import Instance, stop_edit
from model.editing.recorder import Recorder, steps_of
from model.editing.tokenizer import Tokenizer
from training.data.dataset import Kind

_NO_LIMIT = 1 << 30  # an instance is cut after it was recorded, not folded


class Trajectory(NamedTuple):
    """A text and its changes, each in the text as the changes before have left it."""

    text: str
    changes: tuple[Change, ...]
    kind: Kind
    conditioning: int = 0  # so many changes are given: no model could have predicted them
    is_complete: bool = True  # after the last change nothing more is to be edited in this text
    # Seconds at which the changes were typed, if they were; those of one time are one step.
    times: tuple[float, ...] | None = None

    def texts(self) -> list[str]:
        """The text at first and after each change."""
        return apply_changes(self.text, self.changes)


def apply_changes(text: str, changes: Iterable[Change]) -> list[str]:
    """The text at first and after each change."""
    return list(accumulate(changes, lambda current, change: change.apply_to(current), initial=text))


def instance_from_trajectory(
    trajectory: Trajectory, tokenizer: Tokenizer, limit_edits: int
) -> Instance | None:
    """The trajectory in tokens, cut at `limit_edits`; None when nothing is left to predict."""
    is_typed = trajectory.times is not None
    recorder = Recorder(tokenizer, trajectory.text, _NO_LIMIT, is_typed=is_typed)
    conditioning, number = 0, 0
    for step, seconds in steps_of(trajectory.changes, trajectory.times):
        recorder.record(step, seconds)
        number += len(step)
        if number <= trajectory.conditioning:
            conditioning = len(recorder.edits)
        if not is_typed and len(recorder.edits) > limit_edits:
            break  # an undo may still take typed edits back
    recorder.finish_name()
    state, edits = recorder.state, recorder.edits[:limit_edits]
    if trajectory.is_complete and len(recorder.edits) < limit_edits and edits:
        edits = [*edits, stop_edit(len(state))]
    if len(edits) <= conditioning:
        return None
    return Instance(state, tuple(edits), conditioning)


def offsets_of(pieces: Sequence[str]) -> list[int]:
    """The offsets at which each piece begins in their concatenation, and the end of the last."""
    return list(accumulate(map(len, pieces), initial=0))
