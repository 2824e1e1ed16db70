"""Instances as padded arrays: what the networks read.

Arrays of a batch are padded to its longest state (M) and its longest history (T); slot numbers are moved accordingly: columns
0..M-1 are the state's, column M + t is that of the edit with index t.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from model.editing.edits import PAD, Instance, Slots
from model.features.pointer_features import RELATIONS, relate
from model.features.precedents import NOTHING_OFFERED
from model.features.slot_positions import NEIGHBOURS, Places, apply_with_features

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Batch:
    """Several instances as padded arrays, in the implicit representation."""

    state: Ints  # (B, M)
    state_mask: Bools  # (B, M)
    positions: Ints  # (B, T) columns
    contents: Ints  # (B, T)
    edit_mask: Bools  # (B, T)
    loss_mask: Bools  # (B, T) edits that are to be predicted
    places: Ints  # (B, T)
    subjects: Ints  # (B, T)
    deletions: Ints  # (B, T) zero or one
    neighbours: Ints  # (B, T, NEIGHBOURS)
    moves: Ints  # (B, T)
    steps: Ints  # (B, T)
    replayed: Ints  # (B, T) what a precedent would have at the edit's position
    replayed_kinds: Ints  # (B, T)
    alive: Bools  # (B, T, M + T) slots that the edit can point at
    buckets: Ints  # (B, T, RELATIONS, M + T) what is known of each slot; see model.features.pointer_features


def implicit_batch(instances: Sequence[Instance], multiple: int = 1, *, compare: bool = True) -> Batch:
    """`multiple` is what the padded length of states must be a multiple of.

    The paper's networks do not compare places: without `compare` the arrays that do have no columns, and cost nothing."""
    size = len(instances)
    longest = max(len(instance.state) for instance in instances)
    longest = -(-longest // multiple) * multiple
    most = max(len(instance.edits) for instance in instances)

    columns = longest + most if compare else 0

    def ints(*shape: int, fill: int = 0) -> Ints:
        return np.full((size, *shape), fill, dtype=np.int64)

    batch = Batch(
        state=ints(longest),
        state_mask=np.zeros((size, longest), dtype=np.bool_),
        positions=ints(most),
        contents=ints(most),
        edit_mask=np.zeros((size, most), dtype=np.bool_),
        loss_mask=np.zeros((size, most), dtype=np.bool_),
        places=ints(most),
        subjects=ints(most),
        deletions=ints(most),
        neighbours=ints(most, NEIGHBOURS),
        moves=ints(most),
        steps=ints(most),
        replayed=ints(most),
        replayed_kinds=ints(most),
        alive=np.zeros((size, most, longest + most), dtype=np.bool_),
        buckets=ints(most, RELATIONS, columns),
    )
    for row, instance in enumerate(instances):
        _fill(batch, row, instance, compare=compare)
    return batch


def _fill(batch: Batch, row: int, instance: Instance, *, compare: bool) -> None:
    length, count, longest = len(instance.state), len(instance.edits), batch.state.shape[1]
    batch.state[row, :length] = instance.state
    batch.state_mask[row, :length] = True
    batch.edit_mask[row, :count] = True
    batch.loss_mask[row, instance.conditioning : count] = True
    # Padding must still be able to point somewhere, or its softmax would have no mass at all.
    batch.alive[row, :, 0] = True
    places = Places(instance.state, count)
    for index, edit in enumerate(instance.edits):
        columns = places.by_column(longest)
        batch.alive[row, index, : len(columns)] = columns >= 0
        if compare:
            _fill_comparisons(batch, row, index, places, columns, edit.position)
        features = apply_with_features(places, edit)
        is_late = edit.position >= length
        batch.positions[row, index] = edit.position + (longest - length if is_late else 0)
        batch.contents[row, index] = edit.content
        batch.places[row, index] = features.place
        batch.subjects[row, index] = features.subject
        batch.deletions[row, index] = features.is_deletion
        batch.neighbours[row, index] = features.neighbours
        batch.moves[row, index] = features.move
        batch.steps[row, index] = features.step


def _fill_comparisons(
    batch: Batch, row: int, index: int, places: Places, columns: Ints, position: int
) -> None:
    related = relate(places)
    batch.buckets[row, index, :, : len(columns)] = related.buckets.take(columns, axis=1)
    place = int(places.current[position])
    offered = related.offered.get(place, NOTHING_OFFERED)
    batch.replayed[row, index], batch.replayed_kinds[row, index] = offered


@dataclass(frozen=True)
class ExplicitBatch:
    """Several instances with every state spelled out, for the baseline E."""

    states: Ints  # (B, T, L) the state that edit t meets
    previous: Ints  # (B, T, L) the state before that, PAD at first
    alive: Bools  # (B, T, L)
    positions: Ints  # (B, T) explicit
    contents: Ints  # (B, T)
    edit_mask: Bools  # (B, T)
    loss_mask: Bools  # (B, T)


def explicit_batch(instances: Sequence[Instance]) -> ExplicitBatch:
    size, most = len(instances), max(len(instance.edits) for instance in instances)
    rows: list[list[list[int]]] = []
    positions = np.zeros((size, most), dtype=np.int64)
    contents = np.zeros((size, most), dtype=np.int64)
    edit_mask = np.zeros((size, most), dtype=np.bool_)
    loss_mask = np.zeros((size, most), dtype=np.bool_)
    for row, instance in enumerate(instances):
        slots = Slots(instance.state)
        states = []
        for index, edit in enumerate(instance.edits):
            states.append(slots.tokens())
            positions[row, index] = slots.apply(edit)
            contents[row, index] = edit.content
        rows.append(states)
        edit_mask[row, : len(states)] = True
        loss_mask[row, instance.conditioning : len(states)] = True
    longest = max(len(state) for states in rows for state in states)
    spelled = np.full((size, most, longest), PAD, dtype=np.int64)
    for row, states in enumerate(rows):
        for index, state in enumerate(states):
            spelled[row, index, : len(state)] = state
    previous = np.full_like(spelled, PAD)
    previous[:, 1:] = spelled[:, :-1]
    alive = spelled != PAD
    alive[:, :, 0] = True  # padding must still be able to point somewhere
    return ExplicitBatch(spelled, previous, alive, positions, contents, edit_mask, loss_mask)
