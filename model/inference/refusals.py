"""Refusals: why a sequence of edits comes to nothing, and the check that refuses edits without effect.

A suggestion must change something, and must not bring back what the user has just changed.
"""

from collections.abc import Sequence
from itertools import pairwise, takewhile

from model.editing.edits import DELETE, END, Slots
from model.silence import Silence

_LOOK_BACK = 24  # edits: returning to a state within so many is an undo


class Refused(Exception):
    """A sequence that is not suggested, with the reason."""

    def __init__(self, reason: Silence) -> None:
        self.reason = reason


def refuse_idle(slots: Slots, known: int, look_back: int | None = None) -> None:
    """Refuse the edits beyond the known ones when they change nothing, or bring back what the user just changed."""
    if look_back is None:
        look_back = max(_LOOK_BACK, _newest_run(slots.explicit_positions()[:known]))
    balance: dict[int, int] = {}  # of each token: how many came minus how many went, where that is not zero
    for count in range(len(slots.edits) - 1, max(0, known - look_back) - 1, -1):
        edit = slots.edits[count]
        is_deletion = edit.content == DELETE
        token = slots.contents[edit.position] if is_deletion else edit.content
        more = balance.pop(token, 0) + (-1 if is_deletion else 1)
        if more and edit.content != END:
            balance[token] = more
        # Compare whole states only when their token counts agree.
        if count <= known and not balance and _tokens_before(slots, count) == slots.tokens():
            raise Refused(Silence.NO_OP if count == known else Silence.UNDO)


def _tokens_before(slots: Slots, count: int) -> list[int]:
    """Give the state after the first `count` edits."""
    tokens, explicit_positions = slots.tokens(), slots.explicit_positions()
    for edit, explicit in zip(
        reversed(slots.edits[count:]), reversed(explicit_positions[count:]), strict=True
    ):
        if edit.content == DELETE:
            tokens.insert(explicit, slots.contents[edit.position])
        elif edit.content != END:
            del tokens[explicit + 1]
    return tokens


def _newest_run(explicit_positions: Sequence[int]) -> int:
    """Count the newest edits that were made side by side: together they may be one change of a whole block."""
    steps = (abs(newer - older) <= 1 for older, newer in pairwise(reversed(explicit_positions)))
    return min(len(explicit_positions), 1 + sum(takewhile(bool, steps)))
