"""The features of each position, for the pointer."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from model.editing.edits import DELETE, END, PAD, START, Edit, Instance
from model.features.pointer_features import (
    BUCKETS,
    DISTANCE,
    EARLIER_MATCH,
    FIRST_BUCKETS,
    MATCH,
    MATCHES,
    NO_MATCH,
    NO_SIMILARITY,
    RELATIONS,
    SIMILARITY,
    relate,
)
from model.features.precedents import NO_PRECEDENT, PRECEDENTS
from model.features.slot_positions import NO_DISTANCE, STOP_DISTANCE, SlotPositions, distance_buckets
from tests.instances import instances, positions_after

A, B, C, D = 4, 5, 6, 7


def by_slot(positions: SlotPositions, relation: int) -> NDArray[np.int64]:
    """The buckets of a relation, numbered from zero; -1 for a slot that is not in the current state."""
    buckets = relate(positions).buckets[relation] - FIRST_BUCKETS[relation]
    result: NDArray[np.int64] = np.where(positions.current >= 0, buckets[positions.current], -1)
    return result


@given(instances(), st.data())
def test_relations_follow_from_the_edits_that_are_kept(instance: Instance, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, len(instance.edits)))
    positions = positions_after(instance, len(instance.edits))
    positions.keep(count)
    ours, fresh = relate(positions), relate(positions_after(instance, count))
    assert ours.buckets.tolist() == fresh.buckets.tolist()
    assert ours.offered == fresh.offered


@given(instances())
def test_each_relation_keeps_to_its_part_of_the_table(instance: Instance) -> None:
    related = relate(positions_after(instance, len(instance.edits)))
    ends = [*FIRST_BUCKETS[1:].tolist(), BUCKETS]
    assert len(related.buckets) == RELATIONS
    for row, first, end in zip(related.buckets, FIRST_BUCKETS, ends, strict=True):
        assert first <= row.min()
        assert row.max() < end
    for place, (content, kind) in related.offered.items():
        assert 0 <= place < related.buckets.shape[1]
        assert content != PAD
        assert NO_PRECEDENT < kind < PRECEDENTS


def test_distances_are_from_what_an_insertion_made_and_from_before_a_deletion() -> None:
    positions = SlotPositions((START, A, B, C, END), 3)
    assert by_slot(positions, DISTANCE).tolist() == [NO_DISTANCE] * 4 + [STOP_DISTANCE]
    positions.apply(Edit(2, D))  # S A B D C E
    zero = int(distance_buckets(np.array(0), after_deletion=False))
    assert by_slot(positions, DISTANCE)[5] == zero  # the new token itself
    assert by_slot(positions, DISTANCE)[[2, 3]].tolist() == [zero - 1, zero + 1]
    positions.apply(Edit(5, DELETE))
    zero = int(distance_buckets(np.array(0), after_deletion=True))
    assert by_slot(positions, DISTANCE)[[2, 3]].tolist() == [zero, zero + 1]


def test_places_that_look_like_the_one_just_edited_match_best() -> None:
    #                 0      1  2  3  4  5  6  7  8  9  10
    positions = SlotPositions((START, A, B, C, D, A, B, C, A, D, END), 3)
    assert set(by_slot(positions, MATCH).tolist()) == {NO_MATCH}
    positions.apply(Edit(2, DELETE))  # the first B, between A and C
    matches = by_slot(positions, MATCH)
    alive = np.array([slot for slot in range(10) if slot != 2])
    assert alive[matches[alive].argmax()] == 6
    assert matches[alive].max() < NO_MATCH < MATCHES


def test_an_intent_that_alternates_matches_the_hunk_before() -> None:
    #                 0      1  2  3  4  5  6  7  8
    positions = SlotPositions((START, A, B, C, D, A, B, D, END), 3)
    positions.apply(Edit(1, DELETE))
    assert set(by_slot(positions, EARLIER_MATCH)[positions.slots.order].tolist()) == {NO_MATCH}
    positions.apply(Edit(4, DELETE))
    earlier = by_slot(positions, EARLIER_MATCH)
    alive = np.array(positions.slots.order)
    assert alive[earlier[alive].argmax()] == 5


def test_places_with_more_of_the_pattern_around_them_are_more_similar() -> None:
    row, words = (A, B, C, A, D), list(range(10, 50))
    #                 0      1  2  3  4  5  6..25          26 27 28 29 30 31..50
    positions = SlotPositions((START, *row, *words[:20], *row, *words[20:], END), 3)
    assert set(by_slot(positions, SIMILARITY).tolist()) == {NO_SIMILARITY}
    positions.apply(Edit(3, DELETE))  # C of the first row
    far = np.arange(20, 50)
    similar = by_slot(positions, SIMILARITY)
    assert far[similar[far].argmax()] == 28  # C of the second
    assert similar[far].max() < NO_SIMILARITY // 2
    positions.apply(Edit(28, DELETE))
    # What both hunks have around them is a pattern: buckets of patterns are others.
    assert by_slot(positions, SIMILARITY)[far[far != 28]].min() >= NO_SIMILARITY // 2
