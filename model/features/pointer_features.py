"""What is known of each place as the place of the next edit: what the pointer learns from beside the hidden states.

A relation puts every place of the current state in a bucket. Buckets of all relations are numbered in one row: the network has
one table, and adds what it finds there for each relation of a place.
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
    fitting,
    replay_buckets,
)
from model.features.slot_positions import (
    DISTANCES,
    NO_DISTANCE,
    REACH,
    STOP_DISTANCE,
    Hunk,
    Places,
    distance_buckets,
)

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Offered = dict[int, tuple[int, int]]  # by place: the content that a precedent would have there, and its kind

_NEAR = 3  # how far around a place it must agree token by token with the place where a hunk began
_NEARBY = slice(REACH - _NEAR, REACH + _NEAR + 1)  # of the surroundings
NO_MATCH = 2 * (_NEAR + 1) ** 2  # there is no hunk
MATCHES = NO_MATCH + 1
_SHARES = 9
NO_SIMILARITY = 2 * _SHARES
SIMILARITIES = NO_SIMILARITY + 1
_LEAST_AGREEMENT = 3  # offsets at which two hunks must agree before that counts as a pattern

_SIZES = (DISTANCES, MATCHES, MATCHES, SIMILARITIES, REPLAYS, REPLAYS)
DISTANCE, MATCH, EARLIER_MATCH, SIMILARITY, REPLAY, EARLIER_REPLAY = range(len(_SIZES))
RELATIONS = len(_SIZES)
FIRST_BUCKETS = np.array([0, *accumulate(_SIZES[:-1])])
BUCKETS = sum(_SIZES)


class Related(NamedTuple):
    """The relations of all places of a state, and what is offered at some of them."""

    buckets: Ints  # (RELATIONS, places)
    offered: Offered


def relate(places: Places) -> Related:
    """What is known of each place of the current state."""
    count, hunk = len(places.slots.order), places.hunk
    buckets = np.empty((RELATIONS, count), dtype=np.int64)
    offered: Offered = {}
    if hunk is None:
        buckets[:] = np.array([[NO_DISTANCE, NO_MATCH, NO_MATCH, NO_SIMILARITY, NO_REPLAY, NO_REPLAY]]).T
    else:
        after_deletion = places.slots.edits[-1].content == DELETE
        distances = np.arange(-places.anchor, count - places.anchor)
        buckets[DISTANCE] = distance_buckets(distances, after_deletion=after_deletion)
        _compare(places, hunk, buckets)
        offered = _replay(places, hunk, buckets)
    buckets[DISTANCE, -1] = STOP_DISTANCE
    buckets += FIRST_BUCKETS[:, None]
    return Related(buckets, offered)


def _compare(places: Places, hunk: Hunk, buckets: Ints) -> None:
    """How much each place looks like the one where the newest hunk began; and the one before: some intents alternate."""
    tokens, count = places.tokens(REACH), len(places.slots.order)
    # One row for each offset of a place's surroundings, all of them views of the same tokens.
    around: Tokens = np.ndarray((2 * REACH + 1, count), tokens.dtype, tokens, strides=tokens.strides * 2)
    equal = around == np.array(hunk.surroundings, tokens.dtype)[:, None]
    buckets[MATCH] = _matches(equal[_NEARBY])
    if hunk.previous is None:
        buckets[EARLIER_MATCH] = NO_MATCH
    else:
        before = np.array(hunk.previous.surroundings[_NEARBY], tokens.dtype)[:, None]
        buckets[EARLIER_MATCH] = _matches(around[_NEARBY] == before)
    buckets[SIMILARITY] = _similarities(equal, hunk)


def _match_table() -> NDArray[np.uint8]:
    """The bucket of each combination of agreeing offsets: does the token itself agree, and how many do on each side?"""
    agrees = np.arange(1 << 2 * _NEAR + 1)[:, None] >> np.arange(2 * _NEAR + 1) & 1  # offsets as bits
    left = np.cumprod(agrees[:, _NEAR - 1 :: -1], axis=1).sum(axis=1)
    right = np.cumprod(agrees[:, _NEAR + 1 :], axis=1).sum(axis=1)
    table: Ints = (agrees[:, _NEAR] * (_NEAR + 1) + left) * (_NEAR + 1) + right
    return table.astype(np.uint8)


_MATCH_TABLE = _match_table()
_BITS = (1 << np.arange(2 * _NEAR + 1, dtype=np.uint8))[:, None]


def _matches(equal: Bools) -> NDArray[np.uint8]:
    """For each place, by which of the offsets nearby agree."""
    agreeing = (equal.view(np.uint8) * _BITS).sum(axis=0, dtype=np.uint8)
    result: NDArray[np.uint8] = _MATCH_TABLE.take(agreeing)
    return result


def _similarities(equal: Bools, hunk: Hunk) -> Ints:
    """The share of the tokens around each place that are those around the start of the newest hunk.

    Where the newest two hunks began at places that agree in some tokens, only these count: they are the pattern.
    """
    around, earlier = hunk.surroundings, hunk.previous.surroundings if hunk.previous else ()
    agreed = [i for i, (one, other) in enumerate(zip(around, earlier, strict=False)) if one == other]
    is_pattern = len(agreed) >= _LEAST_AGREEMENT
    counted = equal[agreed] if is_pattern else equal
    counts = counted.view(np.uint8).sum(axis=0, dtype=np.uint8)
    result: Ints = _share_table(len(counted), is_pattern).take(counts)
    return result


@cache
def _share_table(offsets: int, is_pattern: bool) -> Ints:
    """The bucket of each number of offsets that agree."""
    return np.arange(offsets + 1) * (_SHARES - 1) // offsets + (_SHARES if is_pattern else 0)


def _replay(places: Places, hunk: Hunk, buckets: Ints) -> Offered:
    """Whether a change that was made fits at each place: the one before the newest, and the one that is likely now."""
    tokens, offered = places.tokens(LONGEST), Offered()
    likely, before = hunk.expected.pattern, hunk.previous.pattern if hunk.previous else None
    fits = buckets[REPLAY] = replay_buckets(tokens, likely, hunk.first, hunk.last)
    if before is None:
        buckets[EARLIER_REPLAY] = NO_REPLAY
    elif before == likely:  # as in the middle of a rename
        buckets[EARLIER_REPLAY] = fits
    else:
        earlier = buckets[EARLIER_REPLAY] = replay_buckets(tokens, before, hunk.first, hunk.last)
        offered |= _offered(before, earlier, BY_EARLIER_REPLAY)
    offered |= _offered(likely, fits, BY_REPLAY)
    place, content = _going_on(places, hunk)
    if place is not None:
        buckets[REPLAY, place] = GOES_ON
        offered[place] = content, BY_GOING_ON
    return offered


def _offered(precedent: Precedent, buckets: Ints, kind: int) -> Offered:
    """What a change begins with, at the places where it fits."""
    fits = buckets[:-1].nonzero()[0]
    content = DELETE if precedent.gone else precedent.come[0]
    kinds = (kind + fitting(buckets.take(fits))).tolist()
    return {place: (content, each) for place, each in zip(fits.tolist(), kinds, strict=True)}


def _going_on(places: Places, hunk: Hunk) -> tuple[int | None, int]:
    """The place at which the newest hunk would go on like an earlier one, and the content."""
    token = hunk.continuation
    if token is None:
        return None, PAD
    if token > 0:
        return hunk.last - 1, token
    slots = places.slots
    return (hunk.last, DELETE) if slots.contents[slots.order[hunk.last]] == -token else (None, PAD)
