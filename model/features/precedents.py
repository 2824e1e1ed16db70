"""Precedents: changes that were made, and the positions where each could be made again.

A developer who repeats a change replays it. For each explicit position of the current state a bucket says whether the
change fits there, on which side of the newest run, its rank among the matching positions, and whether the tokens beside
it agree too. The pointer learns from the buckets when replaying is right. The bucket of the end token says how many
matching positions are left: pointing at it means stop.

The content that a precedent would write at a position is offered too: a run that began like an earlier one goes on like it.
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
_RANKS = 3  # the next such position, the one after, all others
_LEFT = (0, 1, 2, 3, 5)  # numbers of positions left that are told apart, each up to the next
LONGEST = 12  # tokens of a change that are compared
_BOTH_SIDES = _SIDES - 1

NO_REPLAY = 0
_FIRST_STOP = 1 + _KINDS * _SIDES * 2 * _RANKS
GOES_ON = _FIRST_STOP + _KINDS * len(_LEFT)  # where a run that was begun would go on
REPLAYS = GOES_ON + 1

NO_PRECEDENT = 0  # kinds of content that is offered at a position
BY_GOING_ON = 1
_FITTING = _KINDS * _SIDES
BY_REPLAY = 2
BY_EARLIER_REPLAY = BY_REPLAY + _FITTING
PRECEDENTS = BY_EARLIER_REPLAY + _FITTING
NOTHING_OFFERED = (PAD, NO_PRECEDENT)  # a content, and its kind


class Precedent(NamedTuple):
    """A change that was made: the tokens that went and came, and those it stood between. None matches any token."""

    gone: tuple[int, ...]
    come: tuple[int, ...]
    left: int | None
    right: int | None
    is_repeated: bool = False  # it was made before; sides on which the two disagree are None

    def reduced_by(self, twin: "Precedent") -> "Precedent":
        """Reduce the change to what it has in common with its twin."""
        left = self.left if self.left == twin.left else None
        right = self.right if self.right == twin.right else None
        return self._replace(left=left, right=right, is_repeated=True)

    @property
    def kind(self) -> int:
        return int(bool(self.gone)) + 2 * self.is_repeated


def replay_buckets(padded: Tokens, precedent: Precedent, first: int, last: int) -> Ints:
    """Compute, for each position of a state, the bucket of pointing there to replay a change.

    The state has LONGEST tokens of padding on both sides. The newest run covers the positions from first to last
    (exclusive): matches that overlap it do not count."""
    positions, sides = _find_fits(padded, precedent, first, last)
    result = np.full(len(padded) - 2 * LONGEST, NO_REPLAY, dtype=np.int64)
    if precedent.gone:  # points at the first token that goes
        count = len(positions)
        result[positions] = _rank(precedent, positions, sides, last)
    else:  # points at the token before; positions that agree on both sides are ranked apart from the others
        count = int(np.count_nonzero(sides == _BOTH_SIDES))
        for side in range(1, _SIDES):
            alike = positions[sides == side]
            if len(alike):
                result[alike - 1] = _rank(precedent, alike, side, last)
    result[-1] = _FIRST_STOP + precedent.kind * len(_LEFT) + sum(count >= least for least in _LEFT[1:])
    return result


# Ranks on both sides of the newest run, nearest first: the last of those before it has rank 0 among them.
_RANK_TABLE = np.array([*range(2 * _RANKS - 1, _RANKS - 1, -1), *range(_RANKS)])


def _rank(precedent: Precedent, positions: Ints, sides: Ints | int, last: int) -> Ints:
    """Give the buckets of positions, in order, by their rank on their side of the newest run."""
    before = int(positions.searchsorted(last))
    ranks = _RANK_TABLE.take(np.arange(_RANKS - before, _RANKS - before + len(positions)), mode="clip")
    result: Ints = sides * (2 * _RANKS) + (ranks + (1 + precedent.kind * _SIDES * 2 * _RANKS))
    return result


def drop_ranks(buckets: Ints) -> Ints:
    """Reduce buckets to the kind of change and the sides that agree, whatever the rank."""
    return (buckets - 1) // (2 * _RANKS)


def _find_fits(padded: Tokens, precedent: Precedent, first: int, last: int) -> tuple[Ints, Ints]:
    """Find the positions where the change could begin, in order, and for each which sides agree."""
    gone = precedent.gone[:LONGEST]
    size = len(gone)
    if gone:
        positions = (padded == gone[0]).nonzero()[0] - LONGEST
        if size > 1:
            positions = positions[_is_run_at(gone, padded, positions)]
        border = [1, max(1, first - size + 1), last]
    else:
        positions = _find_beside(padded, precedent)
        come = precedent.come[:LONGEST]
        is_made = _is_run_at(come, padded, positions) | _is_run_at(come, padded, positions - len(come))
        positions = positions[~is_made]
        border = [1, max(1, first), last + 1]
    begin, touched, after = positions.searchsorted(border).tolist()  # not before the start token
    positions = np.concatenate([positions[begin:touched], positions[max(begin, after) :]])
    return positions, _compare_sides(padded, precedent, positions, size)


def _find_beside(padded: Tokens, precedent: Precedent) -> Ints:
    """Find the positions whose sides allow an insertion."""
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
    positions: Ints = allowed.nonzero()[0]
    return positions


def _compare_sides(padded: Tokens, precedent: Precedent, positions: Ints, size: int) -> Ints:
    """Tell, for each position where `size` tokens would go, which sides agree: the left one (1), the right one (2)."""
    sides: Ints = np.full(len(positions), _BOTH_SIDES, dtype=np.int64)
    if precedent.left is not None:
        sides -= padded.take(positions + (LONGEST - 1)) != precedent.left
    if precedent.right is not None:
        sides -= 2 * (padded.take(positions + (LONGEST + size)) != precedent.right)
    return sides


def _is_run_at(run: tuple[int, ...], padded: Tokens, positions: Ints) -> Bools:
    """Tell for each position whether these tokens begin there."""
    stands: Bools = padded.take(positions + LONGEST) == run[0]
    for offset, token in enumerate(run[1:], start=LONGEST + 1):
        stands &= padded.take(positions + offset) == token
    return stands
