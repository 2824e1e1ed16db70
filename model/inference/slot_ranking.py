"""The slots at which decoding begins, best first."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.inference.graph_runner import Floats
from model.inference.sequence import IMPOSSIBLE

_COMPANIONS = 6  # slots at which the same change is looked for
COMPANION_SCORE = math.log(0.02)  # log-probability of a slot that is worth a look


class Ranking(NamedTuple):
    """Slots, best first, and the log-probability of all of them together without stop."""

    slots: list[int]
    together: float


def iterate_slots(scores: Floats, limit: int) -> Iterator[int]:
    """Iterate over the slots where a token may be decoded. The rest is sorted only when the best slot is not enough."""
    yield int(scores.argmax())
    yield from _rank(scores, limit)[1:].tolist()


def rank_companions(scores: Floats, limit: int, stop: int) -> Ranking:
    """Rank the slots where a hunk may be decoded: the same change may be likely at several."""
    order = _rank(scores, limit)
    order = order[(scores[order] > COMPANION_SCORE) | (np.arange(len(order)) < 2 * limit - 1)]
    chosen = scores[order[order != stop]].astype(np.float64)
    return Ranking(order.tolist(), float(np.logaddexp.reduce(chosen)) if len(chosen) else -math.inf)


def _rank(scores: Floats, limit: int) -> NDArray[np.int64]:
    there = (scores > IMPOSSIBLE).nonzero()[0]  # in a long file the model sees a part of the slots
    return there[best_indices(scores[there], max(2 * limit + 1, _COMPANIONS))]


def best_indices(scores: Floats, count: int) -> NDArray[np.int64]:
    """Find the indices of the highest scores, best first; of two equal scores the first."""
    if count < len(scores):
        least = np.partition(scores, len(scores) - count)[-count]
        candidates = (scores >= least).nonzero()[0]
    else:
        candidates = np.arange(len(scores))
    best: NDArray[np.int64] = candidates[np.argsort(-scores[candidates], kind="stable")][:count]
    return best
