"""Where a change that was made could be made again.

A developer who makes the same change at many places replays it. For each place of the current state a bucket says whether
the change fits there, on which side of the newest hunk and as the how-manieth, and whether what stood beside it does so
there too. The pointer learns from the buckets when replaying is right. The end token's bucket says how many places are
left: to point at it is to stop.

What a precedent would write at each place is offered too: a hunk that has begun like an earlier one goes on like it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_KINDS = 4  # whether the change deletes anything, and whether it was made twice already
_SIDES = 4  # whether the token on the left agrees, and the one on the right
_RANKS = 3  # the next such place, the one after, all others
_LEFT = (0, 1, 2, 3, 5)  # numbers of places left that are told apart, each up to the next
_LONGEST = 12  # tokens of a change that are compared
_BOTH_SIDES = _SIDES - 1

NO_REPLAY = 0
_FIRST_STOP = 1 + _KINDS * _SIDES * 2 * _RANKS
GOES_ON = _FIRST_STOP + _KINDS * len(_LEFT)  # where a hunk that was begun would go on
REPLAYS = GOES_ON + 1

NO_PRECEDENT = 0  # kinds of what is offered as content at a place
BY_GOING_ON = 1
_FITTING = _KINDS * _SIDES
BY_REPLAY = 2
BY_EARLIER_REPLAY = BY_REPLAY + _FITTING
PRECEDENTS = BY_EARLIER_REPLAY + _FITTING


class Precedent(NamedTuple):
    """A change as it was made: what went and came, and what it stood between. None: whatever stands there."""

    gone: tuple[int, ...]
    come: tuple[int, ...]
    left: int | None
    right: int | None
    is_repeated: bool = False  # it was made before; sides on which the two places disagree are None

    def agreeing_with(self, twin: "Precedent") -> "Precedent":
        """What this change and its twin have in common."""
        left = self.left if self.left == twin.left else None
        right = self.right if self.right == twin.right else None
        return self._replace(left=left, right=right, is_repeated=True)

    @property
    def kind(self) -> int:
        return int(bool(self.gone)) + 2 * self.is_repeated


def replay_buckets(tokens: Ints, precedent: Precedent, first: int, last: int) -> Ints:
    """For each place of a state: the bucket of pointing there to replay a change.

    The newest hunk covers the places from first to last (exclusive): what overlaps it does not count."""
    sides = _fits(tokens, precedent, first, last)
    result = np.full(len(tokens), NO_REPLAY, dtype=np.int64)
    # A deletion points at the first token that goes, an insertion at the token before.
    shift = 0 if precedent.gone else -1
    # Without anything deleted a place is told by its sides alone: those that agree in both are not ranked among the others.
    groups = [sides >= 0] if precedent.gone else [sides == side for side in range(1, _SIDES)]
    for group in groups:
        places = np.flatnonzero(group)
        after, before = places[places >= last], places[places < last][::-1]
        for direction, ordered in enumerate((after, before)):
            ranks = np.minimum(np.arange(len(ordered)), _RANKS - 1)
            buckets = ((precedent.kind * _SIDES + sides[ordered]) * 2 + direction) * _RANKS + ranks
            result[ordered + shift] = 1 + buckets
    count = int((sides >= 0).sum() if precedent.gone else (sides == _BOTH_SIDES).sum())
    result[-1] = _FIRST_STOP + precedent.kind * len(_LEFT) + sum(count >= least for least in _LEFT[1:])
    return result


def fitting(buckets: Ints) -> Ints:
    """How a change fits: the kind of change and the sides, whatever the rank; -1 where it does not."""
    is_place = (buckets > NO_REPLAY) & (buckets < _FIRST_STOP)
    return np.where(is_place, (buckets - 1) // (2 * _RANKS), -1)


def _fits(tokens: Ints, precedent: Precedent, first: int, last: int) -> Ints:
    """For each place where the change could begin: which sides agree; -1 where it does not fit."""
    gone = precedent.gone[:_LONGEST]
    count, size = len(tokens), min(len(gone), len(tokens))
    fits = _stands(gone, tokens)
    left, right = np.ones(count, dtype=np.bool_), np.ones(count, dtype=np.bool_)
    if precedent.left is not None:
        left[1:] = tokens[:-1] == precedent.left
    if precedent.right is not None:
        right[: count - size] = tokens[size:] == precedent.right
        right[count - size :] = False
    sides = left.astype(np.int64) + 2 * right
    if not gone:
        is_told = precedent.left is not None or precedent.right is not None
        fits &= (sides == _BOTH_SIDES) & is_told if precedent.is_repeated else sides > 0
        fits &= ~_is_made(precedent.come[:_LONGEST], tokens)
    fits[0] = False  # before the start token
    touched = slice(max(0, first - size + 1), last) if gone else slice(first, last + 1)
    fits[touched] = False
    return np.where(fits, sides, -1)


def _is_made(come: tuple[int, ...], tokens: Ints) -> Bools:
    """For each place: has what would be inserted there been inserted already, after it or before it?"""
    after = _stands(come, tokens)
    before: Bools = np.concatenate([np.zeros(len(come), dtype=np.bool_), after])[: len(after)]
    return after | before


def _stands(run: tuple[int, ...], tokens: Ints) -> Bools:
    """For each place: do these tokens begin there?"""
    count = len(tokens)
    padded = np.concatenate([tokens, np.full(len(run), -1, dtype=np.int64)])
    result: Bools = np.ones(count, dtype=np.bool_)
    for offset, token in enumerate(run):
        result &= padded[offset : offset + count] == token
    return result
