"""Places of slots, and instances as padded arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.arrays import (
    DISTANCES,
    MATCHES,
    NO_DISTANCE,
    NO_MATCH,
    NO_SIMILARITY,
    SIMILARITIES,
    STEPS,
    STOP_DISTANCE,
    Places,
    apply_with_features,
    distance_buckets,
    explicit_batch,
    implicit_batch,
)
from model.edits import DELETE, END, PAD, START, Edit, Instance, Slots, explicit_from_implicit, states
from tests.instances import instances

A, B, C, D = 4, 5, 6, 7


def places_after(instance: Instance, count: int, capacity: int = 3) -> Places:
    places = Places(instance.state, capacity)
    for edit in instance.edits[:count]:
        places.apply(edit)
    return places


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
        assert places.distances().tolist() == fresh.distances().tolist()
        assert places.matches().tolist() == fresh.matches().tolist()
        assert places.earlier_matches().tolist() == fresh.earlier_matches().tolist()
        assert places.similarities().tolist() == fresh.similarities().tolist()
        assert places.replays().tolist() == fresh.replays().tolist()
        assert places.earlier_replays().tolist() == fresh.earlier_replays().tolist()
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


def test_distances_are_from_what_an_insertion_made_and_from_before_a_deletion() -> None:
    places = Places((START, A, B, C, END), 3)
    assert places.distances().tolist() == [NO_DISTANCE] * 4 + [STOP_DISTANCE]
    places.apply(Edit(2, D))  # S A B D C E
    zero = int(distance_buckets(np.array(0), after_deletion=False))
    assert places.distances()[5] == zero  # the new token itself
    assert places.distances()[[2, 3]].tolist() == [zero - 1, zero + 1]
    places.apply(Edit(5, DELETE))
    zero = int(distance_buckets(np.array(0), after_deletion=True))
    assert places.distances()[[2, 3]].tolist() == [zero, zero + 1]


def test_places_that_look_like_the_one_just_edited_match_best() -> None:
    #                 0      1  2  3  4  5  6  7  8  9  10
    places = Places((START, A, B, C, D, A, B, C, A, D, END), 3)
    assert set(places.matches().tolist()) == {NO_MATCH}
    places.apply(Edit(2, DELETE))  # the first B, between A and C
    matches = places.matches()
    assert matches[2] == NO_MATCH  # it is gone
    alive = np.array([slot for slot in range(10) if slot != 2])
    assert alive[matches[alive].argmax()] == 6
    assert matches[alive].max() < NO_MATCH < MATCHES


def test_an_intent_that_alternates_matches_the_hunk_before() -> None:
    #                 0      1  2  3  4  5  6  7  8
    places = Places((START, A, B, C, D, A, B, D, END), 3)
    places.apply(Edit(1, DELETE))
    assert set(places.earlier_matches().tolist()) == {NO_MATCH}
    places.apply(Edit(4, DELETE))
    earlier = places.earlier_matches()
    alive = np.array(places.slots.order)
    assert alive[earlier[alive].argmax()] == 5
    assert earlier[1] == earlier[4] == NO_MATCH


def test_places_with_more_of_the_pattern_around_them_are_more_similar() -> None:
    row, words = (A, B, C, A, D), list(range(10, 50))
    #                 0      1  2  3  4  5  6..25          26 27 28 29 30 31..50
    places = Places((START, *row, *words[:20], *row, *words[20:], END), 3)
    assert set(places.similarities().tolist()) == {NO_SIMILARITY}
    places.apply(Edit(3, DELETE))  # C of the first row
    far = np.arange(20, 50)
    similar = places.similarities()
    assert far[similar[far].argmax()] == 28  # C of the second
    assert similar[far].max() < NO_SIMILARITY // 2
    assert similar[3] == NO_SIMILARITY < SIMILARITIES
    places.apply(Edit(28, DELETE))
    # What both hunks have around them is a pattern: buckets of patterns are others.
    assert places.similarities()[far[far != 28]].min() >= NO_SIMILARITY // 2


def test_a_hunk_counts_its_steps_and_remembers_where_it_began() -> None:
    places = Places((START, A, B, C, D, A, END), 8)
    steps = [
        apply_with_features(places, edit).step for edit in (Edit(2, DELETE), Edit(3, DELETE), Edit(1, D))
    ]
    assert steps == [0, 1, 2]
    assert places.hunk is not None
    assert places.hunk.template[3] == B
    assert apply_with_features(places, Edit(5, B)).step == 0
    assert places.hunk.template[2:5] == (D, A, END)


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


@given(st.lists(instances(), min_size=1, max_size=3), st.sampled_from([1, 5]))
def test_a_batch_holds_each_instance_as_if_alone(several: list[Instance], multiple: int) -> None:
    several = [each for each in several if each.edits] or [Instance((START, END), (Edit(0, A),))]
    batch = implicit_batch(several, multiple)
    longest = batch.state.shape[1]
    assert longest % multiple == 0
    for row, instance in enumerate(several):
        length, count = len(instance.state), len(instance.edits)
        assert tuple(batch.state[row, :length]) == instance.state
        assert batch.state_mask[row].sum() == length
        assert batch.edit_mask[row].sum() == batch.loss_mask[row].sum() == count
        for step, edit in enumerate(instance.edits):
            column = edit.position if edit.position < length else edit.position - length + longest
            assert (batch.positions[row, step], batch.contents[row, step]) == (column, edit.content)
            order = places_after(instance, step).slots.order
            columns = {slot if slot < length else slot - length + longest for slot in order}
            assert set(np.flatnonzero(batch.alive[row, step]).tolist()) == columns
            assert batch.alive[row, step, column]
    assert batch.distances.max() < DISTANCES
    assert max(batch.matches.max(), batch.earlier_matches.max()) < MATCHES
    assert batch.similarities.max() < SIMILARITIES


def test_conditioning_edits_are_not_to_be_predicted() -> None:
    instance = Instance((START, A, END), (Edit(1, B), Edit(1, C), Edit(1, D)), conditioning=2)
    assert implicit_batch([instance]).loss_mask.tolist() == [[False, False, True]]
    assert explicit_batch([instance]).loss_mask.tolist() == [[False, False, True]]


@given(st.lists(instances().filter(lambda instance: bool(instance.edits)), min_size=1, max_size=3))
def test_an_explicit_batch_spells_every_state_out(several: list[Instance]) -> None:
    batch = explicit_batch(several)
    for row, instance in enumerate(several):
        spelled = states(instance)
        for step, edit in enumerate(explicit_from_implicit(instance.state, instance.edits)):
            state = spelled[step]
            assert tuple(batch.states[row, step, : len(state)]) == state
            assert not batch.states[row, step, len(state) :].any()
            assert batch.alive[row, step].sum() == len(state)
            assert (batch.positions[row, step], batch.contents[row, step]) == edit
            before = spelled[step - 1] if step else ()
            assert tuple(batch.previous[row, step, : len(before)]) == before


def test_places_grow_beyond_their_capacity() -> None:
    places, slots = Places((START, A, END), 1), Slots((START, A, END))
    for _ in range(9):
        places.apply(Edit(1, B))
        slots.apply(Edit(1, B))
    assert places.slots.tokens() == slots.tokens()
    assert places.current[1] == 1
