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

from model.editing.edits import PAD

Ints = NDArray[np.int64]
Tokens = NDArray[np.int32]
Bools = NDArray[np.bool_]

_KINDS = 4  # whether the change deletes anything, and whether it was made twice already
_SIDES = 4  # whether the token on the left agrees, and the one on the right
_RANKS = 3  # the next such place, the one after, all others
_LEFT = (0, 1, 2, 3, 5)  # numbers of places left that are told apart, each up to the next
LONGEST = 12  # tokens of a change that are compared
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
NOTHING_OFFERED = (PAD, NO_PRECEDENT)  # a content, and its kind


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


def replay_buckets(padded: Tokens, precedent: Precedent, first: int, last: int) -> Ints:
    """For each place of a state, given with LONGEST tokens of padding on both sides: the bucket of pointing there to
    replay a change.

    The newest hunk covers the places from first to last (exclusive): what overlaps it does not count."""
    places, sides = _fits(padded, precedent, first, last)
    result = np.full(len(padded) - 2 * LONGEST, NO_REPLAY, dtype=np.int64)
    if precedent.gone:  # points at the first token that goes
        count = len(places)
        result[places] = _ranked(precedent, places, sides, last)
    else:  # points at the token before; places that agree on both sides are not ranked among the others
        count = int(np.count_nonzero(sides == _BOTH_SIDES))
        for side in range(1, _SIDES):
            alike = places[sides == side]
            if len(alike):
                result[alike - 1] = _ranked(precedent, alike, side, last)
    result[-1] = _FIRST_STOP + precedent.kind * len(_LEFT) + sum(count >= least for least in _LEFT[1:])
    return result


# Ranks on both sides of the newest hunk, as one meets them: the last of those before it has rank 0 among them.
_RANK_TABLE = np.array([*range(2 * _RANKS - 1, _RANKS - 1, -1), *range(_RANKS)])


def _ranked(precedent: Precedent, places: Ints, sides: Ints | int, last: int) -> Ints:
    """Buckets of places, in order, by their rank on their side of the newest hunk."""
    before = int(places.searchsorted(last))
    ranks = _RANK_TABLE.take(np.arange(_RANKS - before, _RANKS - before + len(places)), mode="clip")
    result: Ints = sides * (2 * _RANKS) + (ranks + (1 + precedent.kind * _SIDES * 2 * _RANKS))
    return result


def fitting(buckets: Ints) -> Ints:
    """How a change fits where it does: the kind of change and the sides, whatever the rank."""
    return (buckets - 1) // (2 * _RANKS)


def _fits(padded: Tokens, precedent: Precedent, first: int, last: int) -> tuple[Ints, Ints]:
    """The places where the change could begin, in order, and for each which sides agree."""
    gone = precedent.gone[:LONGEST]
    size = len(gone)
    if gone:
        places = (padded == gone[0]).nonzero()[0] - LONGEST
        if size > 1:
            places = places[_stands(gone, padded, places)]
        border = [1, max(1, first - size + 1), last]
    else:
        places = _beside(padded, precedent)
        come = precedent.come[:LONGEST]
        is_made = _stands(come, padded, places) | _stands(come, padded, places - len(come))
        places = places[~is_made]
        border = [1, max(1, first), last + 1]
    begin, touched, after = places.searchsorted(border).tolist()  # not before the start token
    places = np.concatenate([places[begin:touched], places[max(begin, after) :]])
    return places, _sides(padded, precedent, places, size)


def _beside(padded: Tokens, precedent: Precedent) -> Ints:
    """The places whose sides allow an insertion."""
    left, right = precedent.left, precedent.right
    before, tokens = padded[LONGEST - 1 : -LONGEST - 1], padded[LONGEST:-LONGEST]
    if left is None and right is None:
        is_anywhere = not precedent.is_repeated
        return np.arange(len(tokens)) if is_anywhere else np.arange(0)
    if left is None or right is None:
        allowed = tokens == right if left is None else before == left
        allowed = allowed if precedent.is_repeated else np.ones_like(allowed)
    elif precedent.is_repeated:
        allowed = (before == left) & (tokens == right)
    else:
        allowed = (before == left) | (tokens == right)
    places: Ints = allowed.nonzero()[0]
    return places


def _sides(padded: Tokens, precedent: Precedent, places: Ints, size: int) -> Ints:
    """For each place where so many tokens would go: does the left side agree (1), the right one (2)?"""
    sides: Ints = np.full(len(places), _BOTH_SIDES, dtype=np.int64)
    if precedent.left is not None:
        sides -= padded.take(places + (LONGEST - 1)) != precedent.left
    if precedent.right is not None:
        sides -= 2 * (padded.take(places + (LONGEST + size)) != precedent.right)
    return sides


def _stands(run: tuple[int, ...], padded: Tokens, places: Ints) -> Bools:
    """For each of the places: do these tokens begin there?"""
    stands: Bools = padded.take(places + LONGEST) == run[0]
    for offset, token in enumerate(run[1:], start=LONGEST + 1):
        stands &= padded.take(places + offset) == token
    return stands
