"""Places of slots, and hunks."""

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
    Places,
    apply_with_features,
    distance_buckets,
)
from tests.instances import instances, places_after

A, B, C, D = 4, 5, 6, 7


@given(instances())
def test_a_place_is_where_a_slot_stands(instance: Instance) -> None:
    places = places_after(instance, len(instance.edits))
    order = places.slots.order
    expected = [order.index(slot) if slot in order else -1 for slot in range(len(places.slots.contents))]
    assert places.current.tolist() == expected


@given(instances(), st.data())
def test_what_was_undone_leaves_no_trace(instance: Instance, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, len(instance.edits)))
    places = places_after(instance, len(instance.edits))
    places.keep(count)
    for kept in (count, len(instance.edits)):
        for edit in instance.edits[count:kept]:
            places.apply(edit)
        fresh = places_after(instance, kept)
        assert places.current.tolist() == fresh.current.tolist()
        assert places.by_column(50).tolist() == fresh.by_column(50).tolist()
        assert places.tokens(LONGEST).tolist() == fresh.tokens(LONGEST).tolist()
        assert (places.anchor, places.hunk) == (fresh.anchor, fresh.hunk)


@pytest.mark.parametrize("count", [-1, 2])
def test_an_impossible_count_is_refused_before_anything_changes(count: int) -> None:
    places = places_after(Instance((START, A, B, END), (Edit(1, DELETE),)), 1)
    with pytest.raises(ValueError, match=f"cannot keep {count} of 1 edits"):
        places.keep(count)
    assert places.current.tolist() == [0, -1, 1, 2, -1]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (Edit(7, A), "position 7 is outside a state of 5 tokens"),
        (Edit(1, A), "position 1 is not in the current state: it was deleted"),
    ],
)
def test_an_impossible_position_is_refused(edit: Edit, message: str) -> None:
    places = places_after(Instance((START, A, B, END), (Edit(1, DELETE),)), 1)
    with pytest.raises(ValueError, match=message):
        places.apply(edit)


def test_a_hunk_counts_its_steps_and_remembers_where_it_began() -> None:
    places = Places((START, A, B, C, D, A, END), 8)
    steps = [
        apply_with_features(places, edit).step for edit in (Edit(2, DELETE), Edit(3, DELETE), Edit(1, D))
    ]
    assert steps == [0, 1, 2]
    assert places.hunk is not None
    assert places.hunk.surroundings[REACH] == B
    assert apply_with_features(places, Edit(5, B)).step == 0
    assert places.hunk.surroundings[REACH - 1 : REACH + 2] == (D, A, END)


def test_steps_of_a_long_hunk_stay_within_the_table() -> None:
    places = Places((START, A, END), 2)
    steps = [apply_with_features(places, Edit(1, B)).step for _ in range(STEPS + 5)]
    assert steps[: STEPS - 1] == list(range(STEPS - 1))
    assert steps[-1] == STEPS - 1


def test_features_tell_what_was_done_and_beside_what() -> None:
    places = Places((START, A, B, C, END), 4)
    inserted = apply_with_features(places, Edit(2, D))
    assert (inserted.place, inserted.subject, inserted.is_deletion) == (3, D, False)
    assert inserted.neighbours == [START, A, B, C, END, PAD]
    assert inserted.move == NO_DISTANCE
    deleted = apply_with_features(places, Edit(1, DELETE))
    assert (deleted.place, deleted.subject, deleted.is_deletion) == (1, A, True)
    assert deleted.neighbours == [PAD, PAD, START, B, D, C]
    stopped = apply_with_features(places, Edit(4, END))
    assert stopped.move == STOP_DISTANCE


def test_places_grow_beyond_their_capacity() -> None:
    places, slots = Places((START, A, END), 1), Slots((START, A, END))
    for _ in range(9):
        places.apply(Edit(1, B))
        slots.apply(Edit(1, B))
    assert places.slots.tokens() == slots.tokens()
    assert places.current[1] == 1


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
