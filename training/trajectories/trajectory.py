"""A session: a text and the changes made to it one after another, before tokens come in.

Git histories, an editor's local history, recordings and synthetic refactorings all become sessions, and sessions become
instances here, by the recorder with which the language server records a user.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from model.editing.change import Change
from model.editing.edits import Instance, stop_edit
from model.editing.recorder import Recorder, steps_of
from model.editing.tokenizer import Tokenizer
from training.data.dataset import Kind

_NO_LIMIT = 1 << 30  # an instance is cut after it was recorded, not folded
_LINES_REMEMBERED = 100_000  # mining meets the lines of a file again and again, in every version


class RememberingTokenizer(Tokenizer):
    """A tokenizer that remembers lines."""

    def __init__(self, json: str) -> None:
        super().__init__(json)
        self._lines: dict[str, list[int]] = {}

    def encode_segment(self, segment: str) -> list[int]:
        known = self._lines.get(segment)
        if known is None:
            if len(self._lines) >= _LINES_REMEMBERED:
                self._lines.clear()
            known = self._lines[segment] = super().encode_segment(segment)
        return known


class Session(NamedTuple):
    """A text and its changes, each in the text as the changes before have left it."""

    text: str
    changes: tuple[Change, ...]
    kind: Kind
    conditioning: int = 0  # so many changes are given: nobody could have predicted them
    is_complete: bool = True  # after the last change nothing more is to be edited in this text
    times: tuple[float, ...] | None = (
        None  # of the changes, in seconds, if they were typed; those of one time are one step
    )


def texts_of(session: Session) -> list[str]:
    """The text at first and after each change."""
    result = [session.text]
    for change in session.changes:
        result.append(change.apply_to(result[-1]))
    return result


def instance_from_session(session: Session, tokenizer: Tokenizer, limit_edits: int) -> Instance | None:
    """The session in tokens, cut at `limit_edits`; None when nothing is left to predict."""
    is_typed = session.times is not None
    recorder = Recorder(tokenizer, session.text, _NO_LIMIT, is_typed=is_typed)
    conditioning, number = 0, 0
    for step, seconds in steps_of(session.changes, session.times):
        recorder.record(step, seconds)
        number += len(step)
        if number <= session.conditioning:
            conditioning = len(recorder.edits)
        if not is_typed and len(recorder.edits) > limit_edits:
            break  # an undo may still take typed edits back
    recorder.finish_name()
    state, edits = recorder.state, recorder.edits[:limit_edits]
    if session.is_complete and len(recorder.edits) < limit_edits and edits:
        edits = [*edits, stop_edit(len(state))]
    if len(edits) <= conditioning:
        return None
    return Instance(state, tuple(edits), conditioning)


def offsets_of(pieces: Sequence[str]) -> list[int]:
    """Where each piece begins in their concatenation, and where the last ends."""
    return list(accumulate(map(len, pieces), initial=0))
