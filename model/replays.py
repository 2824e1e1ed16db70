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
    places, sides = _fits(tokens, precedent, first, last)
    result = np.full(len(tokens), NO_REPLAY, dtype=np.int64)
    # A deletion points at the first token that goes, an insertion at the token before.
    shift = 0 if precedent.gone else -1
    # Without anything deleted a place is told by its sides alone: those that agree in both are not ranked among the others.
    groups = [sides >= 0] if precedent.gone else [sides == side for side in range(1, _SIDES)]
    for group in groups:
        chosen, agreeing = places[group], sides[group]
        split = int(chosen.searchsorted(last))
        ranks = np.concatenate([np.arange(split - 1, -1, -1), np.arange(len(chosen) - split)])
        is_before = np.arange(len(chosen)) < split
        buckets = (precedent.kind * _SIDES + agreeing) * 2 + is_before
        result[chosen + shift] = 1 + buckets * _RANKS + np.minimum(ranks, _RANKS - 1)
    count = len(places) if precedent.gone else int((sides == _BOTH_SIDES).sum())
    result[-1] = _FIRST_STOP + precedent.kind * len(_LEFT) + sum(count >= least for least in _LEFT[1:])
    return result


def fitting(buckets: Ints) -> Ints:
    """How a change fits: the kind of change and the sides, whatever the rank; -1 where it does not."""
    is_place = (buckets > NO_REPLAY) & (buckets < _FIRST_STOP)
    return np.where(is_place, (buckets - 1) // (2 * _RANKS), -1)


def _fits(tokens: Ints, precedent: Precedent, first: int, last: int) -> tuple[Ints, Ints]:
    """The places where the change could begin, in order, and for each which sides agree."""
    gone = precedent.gone[:_LONGEST]
    size = len(gone)
    if gone:
        places = np.flatnonzero(tokens == gone[0])
        places = places[_stands(gone, tokens, places)]
        touched = places.searchsorted([max(1, first - size + 1), last])
    else:
        places = _beside(tokens, precedent)
        come = precedent.come[:_LONGEST]
        is_made = _stands(come, tokens, places) | _stands(come, tokens, places - len(come))
        places = places[~is_made]
        touched = places.searchsorted([max(1, first), last + 1])
    begin = places.searchsorted(1)  # not before the start token
    places = np.concatenate([places[begin : touched[0]], places[max(begin, touched[1]) :]])
    return places, _sides(tokens, precedent, places, size)


def _beside(tokens: Ints, precedent: Precedent) -> Ints:
    """The places whose sides allow an insertion."""
    left, right = np.ones(len(tokens), dtype=np.bool_), np.ones(len(tokens), dtype=np.bool_)
    if precedent.left is not None:
        left[1:] = tokens[:-1] == precedent.left
    if precedent.right is not None:
        right = tokens == precedent.right
    is_told = precedent.left is not None or precedent.right is not None
    allowed = left & right & is_told if precedent.is_repeated else left | right
    return np.flatnonzero(allowed)


def _sides(tokens: Ints, precedent: Precedent, places: Ints, size: int) -> Ints:
    """For each place where so many tokens would go: does the left side agree (1), the right one (2)?"""
    sides: Ints = np.full(len(places), _BOTH_SIDES, dtype=np.int64)
    if precedent.left is not None:
        sides -= tokens[places - 1] != precedent.left
    if precedent.right is not None:
        sides -= 2 * ~_stands((precedent.right,), tokens, places + size)
    return sides


def _stands(run: tuple[int, ...], tokens: Ints, places: Ints) -> Bools:
    """For each of the places, which may be outside: do these tokens begin there?"""
    result: Bools = (places >= 0) & (places + len(run) <= len(tokens))
    for offset, token in enumerate(run):
        result &= tokens.take(places + offset, mode="clip") == token
    return result
