"""Instances as padded arrays: the input of the networks.

Arrays of a batch are padded to its longest state (M) and its longest history (T). Slot numbers become columns: columns
0..M-1 are the state's, column M + t is that of the edit with index t.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model.editing.edits import PAD, Instance, Slots
from model.features.pointer_features import RELATIONS, relate
from model.features.precedents import NOTHING_OFFERED
from model.features.slot_positions import (
    EDIT_FEATURES,
    NEIGHBOURS,
    EditFeatures,
    SlotPositions,
    Value,
    apply_with_features,
)

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass
class BatchOf(EditFeatures[Value]):
    """Several instances with padding, in the implicit representation: features of their edits (B, T, ...), and these."""

    state: Value  # (B, M)
    state_mask: Value  # (B, M) bool
    edit_mask: Value  # (B, T) bool
    loss_mask: Value  # (B, T) bool; edits that are to be predicted
    replayed: Value  # (B, T) the content that a precedent would have at the edit's position
    replayed_kinds: Value  # (B, T)
    alive: Value  # (B, T, M + T) bool; slots that the edit can point at
    buckets: (
        Value  # (B, T, RELATIONS, M + T) pointer features of each slot; see model.features.pointer_features
    )


class Batch(BatchOf[NDArray[Any]]):
    """A batch of arrays."""


def implicit_batch(instances: Sequence[Instance], multiple: int = 1, *, compare: bool = True) -> Batch:
    """Make a batch whose states are padded to a multiple of `multiple` tokens.

    The paper's networks read no pointer features. Without `compare` these arrays have no columns and cost nothing."""
    size = len(instances)
    longest = max(len(instance.state) for instance in instances)
    longest = -(-longest // multiple) * multiple
    most = max(len(instance.edits) for instance in instances)

    columns = longest + most if compare else 0

    def zeros(*shape: int) -> Ints:
        return np.zeros((size, *shape), dtype=np.int64)

    def falses(*shape: int) -> Bools:
        return np.zeros((size, *shape), dtype=np.bool_)

    features = {name: zeros(most) for name in EDIT_FEATURES} | {"neighbours": zeros(most, NEIGHBOURS)}
    batch = Batch(
        **features,
        state=zeros(longest),
        state_mask=falses(longest),
        edit_mask=falses(most),
        loss_mask=falses(most),
        replayed=zeros(most),
        replayed_kinds=zeros(most),
        alive=falses(most, longest + most),
        buckets=zeros(most, RELATIONS, columns),
    )
    for row, instance in enumerate(instances):
        _fill_row(batch, row, instance, compare=compare)
    return batch


def _fill_row(batch: Batch, row: int, instance: Instance, *, compare: bool) -> None:
    length, count, longest = len(instance.state), len(instance.edits), batch.state.shape[1]
    batch.state[row, :length] = instance.state
    batch.state_mask[row, :length] = True
    batch.edit_mask[row, :count] = True
    batch.loss_mask[row, instance.conditioning : count] = True
    # Padding must still be able to point somewhere, or its softmax would have no mass at all.
    batch.alive[row, :, 0] = True
    positions = SlotPositions(instance.state, count)
    for index, edit in enumerate(instance.edits):
        columns = positions.by_column(longest)
        batch.alive[row, index, : len(columns)] = columns >= 0
        if compare:
            _fill_pointer_features(batch, row, index, positions, columns, edit.position)
        features = apply_with_features(positions, edit, longest)
        for name in EDIT_FEATURES:
            getattr(batch, name)[row, index] = getattr(features, name)


def _fill_pointer_features(
    batch: Batch, row: int, index: int, positions: SlotPositions, columns: Ints, slot: int
) -> None:
    related = relate(positions)
    batch.buckets[row, index, :, : len(columns)] = related.buckets.take(columns, axis=1)
    offered = related.offered.get(int(positions.current[slot]), NOTHING_OFFERED)
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
    """Make a batch that holds the state before each edit."""
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
