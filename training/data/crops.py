"""States cut down at random around their edits, differently in each epoch.

Most of the work on an instance is to encode its state, and most of the state is far from all edits. Cutting it trains on
several times as many edits in the same time, and on states of all lengths.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.editing.edits import END, START, Edit, Instance
from training.data.dataset import Column, Split

Ints = NDArray[np.int64]
_MARGIN = 24  # tokens on each side of the edits that are always seen


class Crops(NamedTuple):
    """For each instance the tokens from first to last (exclusive) that are seen, start and end token aside."""

    first: Ints
    last: Ints

    @property
    def lengths(self) -> Ints:
        """The lengths of the states that are left."""
        return self.last - self.first + 2


def draw_crops(split: Split, least: int, random: np.random.Generator) -> Crops:
    """Draw a crop for each instance: lengths between `least` and the whole state, even on a logarithmic scale."""
    lengths = np.asarray(split.state_lengths, dtype=np.int64)
    first, last = _find_touched(split)
    first, last = np.maximum(first - _MARGIN, 1), np.minimum(last + 1 + _MARGIN, lengths - 1)
    shortest = np.minimum(least, lengths)
    wanted = shortest * (lengths / shortest) ** random.random(len(lengths))
    missing = np.maximum(0, wanted.astype(np.int64) - 2 - (last - first))
    before = (missing * random.random(len(lengths))).astype(np.int64)
    return Crops(np.maximum(first - before, 1), np.minimum(last + missing - before, lengths - 1))


def _find_touched(split: Split) -> tuple[Ints, Ints]:
    """The first and the last token of each state that an edit points at; the end token, that is stop, does not count."""
    rows = np.asarray(split.rows)
    starts, counts = rows[:, Column.EDIT_START], rows[:, Column.EDIT_LENGTH]
    positions = np.asarray(split.positions[: starts[-1] + counts[-1]], dtype=np.int64)
    ends = np.repeat(rows[:, Column.STATE_LENGTH] - 1, counts)
    is_inside = positions < ends
    first = np.minimum.reduceat(np.where(is_inside, positions, ends), starts)
    last = np.maximum.reduceat(np.where(is_inside, positions, 0), starts)
    return np.minimum(first, last), last


def crop_instance(instance: Instance, first: int, last: int) -> Instance:
    """The instance with only the tokens from first to last (exclusive) of its state; all edits must point into it."""
    length, kept = len(instance.state), last - first + 2

    def move(position: int) -> int:
        if position >= length - 1:  # the end token, and what edits made
            return position - length + kept
        return position - first + 1 if position else 0

    edits = tuple(Edit(move(edit.position), edit.content) for edit in instance.edits)
    return Instance((START, *instance.state[first:last], END), edits, instance.conditioning)
