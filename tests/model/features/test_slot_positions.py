"""The explicit positions of slots, and runs of edits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.editing.edits import DELETE, END, PAD, START, Edit, Instance, Slots
from model.features.precedents import LONGEST
from model.features.slot_positions import (
    DISTANCES,
    NO_DISTANCE,
    REACH,
    STEPS,
    STOP_DISTANCE,
    SlotPositions,
    apply_with_features,
    distance_buckets,
)
from tests.instances import instances, positions_after

A, B, C, D = 4, 5, 6, 7


@given(instances())
def test_a_position_is_where_a_slot_stands(instance: Instance) -> None:
    positions = positions_after(instance, len(instance.edits))
    order = positions.slots.order
    expected = [order.index(slot) if slot in order else -1 for slot in range(len(positions.slots.contents))]
    assert positions.current.tolist() == expected


@given(instances(), st.data())
def test_what_was_undone_leaves_no_trace(instance: Instance, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, len(instance.edits)))
    positions = positions_after(instance, len(instance.edits))
    positions.keep(count)
    for kept in (count, len(instance.edits)):
        for edit in instance.edits[count:kept]:
            positions.apply(edit)
        fresh = positions_after(instance, kept)
        assert positions.current.tolist() == fresh.current.tolist()
        assert positions.by_column(50).tolist() == fresh.by_column(50).tolist()
        assert positions.tokens(LONGEST).tolist() == fresh.tokens(LONGEST).tolist()
        assert (positions.anchor, positions.run) == (fresh.anchor, fresh.run)


@pytest.mark.parametrize("count", [-1, 2])
def test_an_impossible_count_is_refused_before_anything_changes(count: int) -> None:
    positions = positions_after(Instance((START, A, B, END), (Edit(1, DELETE),)), 1)
    with pytest.raises(ValueError, match=f"cannot keep {count} of 1 edits"):
        positions.keep(count)
    assert positions.current.tolist() == [0, -1, 1, 2, -1]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (Edit(7, A), "position 7 is outside a state of 5 tokens"),
        (Edit(1, A), "position 1 is not in the current state: it was deleted"),
    ],
)
def test_an_impossible_position_is_refused(edit: Edit, message: str) -> None:
    positions = positions_after(Instance((START, A, B, END), (Edit(1, DELETE),)), 1)
    with pytest.raises(ValueError, match=message):
        positions.apply(edit)


def test_a_run_counts_its_steps_and_remembers_where_it_began() -> None:
    positions = SlotPositions((START, A, B, C, D, A, END), 8)
    steps = [
        apply_with_features(positions, edit, 7).steps
        for edit in (Edit(2, DELETE), Edit(3, DELETE), Edit(1, D))
    ]
    assert steps == [0, 1, 2]
    assert positions.run is not None
    assert positions.run.surroundings[REACH] == B
    assert apply_with_features(positions, Edit(5, B), 7).steps == 0
    assert positions.run.surroundings[REACH - 1 : REACH + 2] == (D, A, END)


def test_steps_of_a_long_run_stay_within_the_table() -> None:
    positions = SlotPositions((START, A, END), 2)
    steps = [apply_with_features(positions, Edit(1, B), 3).steps for _ in range(STEPS + 5)]
    assert steps[: STEPS - 1] == list(range(STEPS - 1))
    assert steps[-1] == STEPS - 1


def test_features_tell_what_was_done_and_beside_what() -> None:
    positions = SlotPositions((START, A, B, C, END), 4)
    inserted = apply_with_features(positions, Edit(2, D), 8)
    assert (inserted.positions, inserted.contents, inserted.explicit_positions) == (2, D, 3)
    assert (inserted.subjects, inserted.deletions) == (D, 0)
    assert inserted.neighbours == [START, A, B, C, END, PAD]
    assert inserted.moves == NO_DISTANCE
    deleted = apply_with_features(positions, Edit(1, DELETE), 8)
    assert (deleted.positions, deleted.contents, deleted.explicit_positions) == (1, DELETE, 1)
    assert (deleted.subjects, deleted.deletions) == (A, 1)
    assert deleted.neighbours == [PAD, PAD, START, B, D, C]
    stopped = apply_with_features(positions, Edit(4, END), 8)
    assert stopped.moves == STOP_DISTANCE
    late = apply_with_features(positions, Edit(5, A), 8)
    assert late.positions == 8  # the first edit's slot, behind the padding of the state


def test_places_grow_beyond_their_capacity() -> None:
    positions, slots = SlotPositions((START, A, END), 1), Slots((START, A, END))
    for _ in range(9):
        positions.apply(Edit(1, B))
        slots.apply(Edit(1, B))
    assert positions.slots.tokens() == slots.tokens()
    assert positions.current[1] == 1


def test_buckets_of_distances_rise_and_keep_the_kinds_apart() -> None:
    distances = np.arange(-40_000, 40_001)
    after_insertion = distance_buckets(distances, after_deletion=False)
    after_deletion = distance_buckets(distances, after_deletion=True)
    assert (np.diff(after_insertion) >= 0).all()
    assert after_insertion.min() >= 0
    assert after_insertion.max() < after_deletion.min()
    assert after_deletion.max() < NO_DISTANCE < STOP_DISTANCE < DISTANCES
    near = distance_buckets(np.arange(-7, 8), after_deletion=False)
    assert len(set(near.tolist())) == 15
