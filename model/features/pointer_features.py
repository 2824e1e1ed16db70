"""Features of each position as the position of the next edit: the pointer learns from them beside the hidden states.

A relation puts every explicit position of the current state in a bucket. The buckets of all relations are numbered in one
row: the network has one table, and adds up the entries for a position's buckets.
"""

from functools import cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.editing.edits import DELETE, PAD
from model.features.precedents import (
    BY_EARLIER_REPLAY,
    BY_GOING_ON,
    BY_REPLAY,
    GOES_ON,
    LONGEST,
    NO_REPLAY,
    REPLAYS,
    Precedent,
    Tokens,
    drop_ranks,
    replay_buckets,
)
from model.features.slot_positions import (
    DISTANCES,
    NO_DISTANCE,
    REACH,
    STOP_DISTANCE,
    EditRun,
    SlotPositions,
    distance_buckets,
)

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Offered = dict[
    int, tuple[int, int]
]  # by explicit position: the content that a precedent would have there, and its kind

_NEAR = 3  # tokens on each side of a position that are compared with those where a run began
_NEARBY = slice(REACH - _NEAR, REACH + _NEAR + 1)  # of the surroundings
NO_MATCH = 2 * (_NEAR + 1) ** 2  # there is no run
MATCHES = NO_MATCH + 1
_SHARES = 9
NO_SIMILARITY = 2 * _SHARES
SIMILARITIES = NO_SIMILARITY + 1
_LEAST_AGREEMENT = 3  # offsets at which two runs must agree before that counts as a pattern

_SIZES = (DISTANCES, MATCHES, MATCHES, SIMILARITIES, REPLAYS, REPLAYS)
DISTANCE, MATCH, EARLIER_MATCH, SIMILARITY, REPLAY, EARLIER_REPLAY = range(len(_SIZES))
RELATIONS = len(_SIZES)
FIRST_BUCKETS = np.array([0, *accumulate(_SIZES[:-1])])
BUCKETS = sum(_SIZES)


class Related(NamedTuple):
    """The buckets of all positions of a state, and the contents that precedents offer at some of them."""

    buckets: Ints  # (RELATIONS, positions)
    offered: Offered


def relate(positions: SlotPositions) -> Related:
    """Compute the buckets of each position of the current state, and what is offered there."""
    count, run = len(positions.slots.order), positions.run
    buckets = np.empty((RELATIONS, count), dtype=np.int64)
    offered: Offered = {}
    if run is None:
        buckets[:] = np.array([[NO_DISTANCE, NO_MATCH, NO_MATCH, NO_SIMILARITY, NO_REPLAY, NO_REPLAY]]).T
    else:
        after_deletion = positions.slots.edits[-1].content == DELETE
        distances = np.arange(-positions.anchor, count - positions.anchor)
        buckets[DISTANCE] = distance_buckets(distances, after_deletion=after_deletion)
        _compare(positions, run, buckets)
        offered = _replay(positions, run, buckets)
    buckets[DISTANCE, -1] = STOP_DISTANCE
    buckets += FIRST_BUCKETS[:, None]
    return Related(buckets, offered)


def _compare(positions: SlotPositions, run: EditRun, buckets: Ints) -> None:
    """Compare each position with the one where the newest run began, and with the run before: some intents alternate."""
    tokens, count = positions.tokens(REACH), len(positions.slots.order)
    # One row for each offset of a position's surroundings, all of them views of the same tokens.
    around: Tokens = np.ndarray((2 * REACH + 1, count), tokens.dtype, tokens, strides=tokens.strides * 2)
    equal = around == np.array(run.surroundings, tokens.dtype)[:, None]
    buckets[MATCH] = _match(equal[_NEARBY])
    if run.previous is None:
        buckets[EARLIER_MATCH] = NO_MATCH
    else:
        before = np.array(run.previous.surroundings[_NEARBY], tokens.dtype)[:, None]
        buckets[EARLIER_MATCH] = _match(around[_NEARBY] == before)
    buckets[SIMILARITY] = _similarity(equal, run)


def _match_table() -> NDArray[np.uint8]:
    """Compute the bucket of each combination of agreeing offsets: the token itself, and how many on each side."""
    agrees = np.arange(1 << 2 * _NEAR + 1)[:, None] >> np.arange(2 * _NEAR + 1) & 1  # offsets as bits
    left = np.cumprod(agrees[:, _NEAR - 1 :: -1], axis=1).sum(axis=1)
    right = np.cumprod(agrees[:, _NEAR + 1 :], axis=1).sum(axis=1)
    table: Ints = (agrees[:, _NEAR] * (_NEAR + 1) + left) * (_NEAR + 1) + right
    return table.astype(np.uint8)


_MATCH_TABLE = _match_table()
_BITS = (1 << np.arange(2 * _NEAR + 1, dtype=np.uint8))[:, None]


def _match(equal: Bools) -> NDArray[np.uint8]:
    """Find the bucket of each position by which of the offsets nearby agree."""
    agreeing = (equal.view(np.uint8) * _BITS).sum(axis=0, dtype=np.uint8)
    result: NDArray[np.uint8] = _MATCH_TABLE.take(agreeing)
    return result


def _similarity(equal: Bools, run: EditRun) -> Ints:
    """Compute the share of the tokens around each position that agree with those around the start of the newest run.

    Where the surroundings of the newest two runs agree in some tokens, only these count: they are the pattern.
    """
    around, earlier = run.surroundings, run.previous.surroundings if run.previous else ()
    agreed = [i for i, (one, other) in enumerate(zip(around, earlier, strict=False)) if one == other]
    is_pattern = len(agreed) >= _LEAST_AGREEMENT
    counted = equal[agreed] if is_pattern else equal
    counts = counted.view(np.uint8).sum(axis=0, dtype=np.uint8)
    result: Ints = _share_table(len(counted), is_pattern).take(counts)
    return result


@cache
def _share_table(offsets: int, is_pattern: bool) -> Ints:
    """Compute the bucket of each number of agreeing offsets."""
    return np.arange(offsets + 1) * (_SHARES - 1) // offsets + (_SHARES if is_pattern else 0)


def _replay(positions: SlotPositions, run: EditRun, buckets: Ints) -> Offered:
    """Find where two changes fit: the one that is likely now, and the one before the newest."""
    tokens, offered = positions.tokens(LONGEST), Offered()
    likely, before = run.expected.pattern, run.previous.pattern if run.previous else None
    fits = buckets[REPLAY] = replay_buckets(tokens, likely, run.first, run.last)
    if before is None:
        buckets[EARLIER_REPLAY] = NO_REPLAY
    elif before == likely:  # as in the middle of a rename
        buckets[EARLIER_REPLAY] = fits
    else:
        earlier = buckets[EARLIER_REPLAY] = replay_buckets(tokens, before, run.first, run.last)
        offered |= _offer(before, earlier, BY_EARLIER_REPLAY)
    offered |= _offer(likely, fits, BY_REPLAY)
    position, content = _continue_run(positions, run)
    if position is not None:
        buckets[REPLAY, position] = GOES_ON
        offered[position] = content, BY_GOING_ON
    return offered


def _offer(precedent: Precedent, buckets: Ints, kind: int) -> Offered:
    """Offer the first content of a change at the positions where it fits."""
    fits = buckets[:-1].nonzero()[0]
    content = DELETE if precedent.gone else precedent.come[0]
    kinds = (kind + drop_ranks(buckets.take(fits))).tolist()
    return {position: (content, each) for position, each in zip(fits.tolist(), kinds, strict=True)}


def _continue_run(positions: SlotPositions, run: EditRun) -> tuple[int | None, int]:
    """Find the position at which the newest run would go on like an earlier one, and the content there."""
    token = run.continuation
    if token is None:
        return None, PAD
    if token > 0:
        return run.last - 1, token
    slots = positions.slots
    return (run.last, DELETE) if slots.contents[slots.order[run.last]] == -token else (None, PAD)
