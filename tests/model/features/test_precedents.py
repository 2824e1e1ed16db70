"""The positions where a change could be made again, against a naive search."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from model.editing.edits import DELETE, END, PAD, START, Edit, Instance
from model.features.pointer_features import EARLIER_REPLAY, FIRST_BUCKETS, REPLAY, relate
from model.features.precedents import (
    BY_GOING_ON,
    GOES_ON,
    LONGEST,
    NO_REPLAY,
    NOTHING_OFFERED,
    REPLAYS,
    Precedent,
    replay_buckets,
)
from model.features.slot_positions import SlotPositions
from tests.instances import positions_after

A, B, C, D, E, F = range(4, 10)
few_tokens = st.integers(A, C)


@st.composite
def questions(draw: st.DrawFn) -> tuple[list[int], Precedent, int, int]:
    tokens = [START, *draw(st.lists(few_tokens, max_size=12)), END]
    first = draw(st.integers(1, len(tokens) - 1))
    last = draw(st.integers(first, len(tokens) - 1))
    sides = st.none() | few_tokens
    gone = tuple(draw(st.lists(few_tokens, max_size=3)))
    come = tuple(draw(st.lists(few_tokens, min_size=1, max_size=2)))
    precedent = Precedent(gone, come, draw(sides), draw(sides), is_repeated=draw(st.booleans()))
    return tokens, precedent, first, last


def naive_places(tokens: list[int], precedent: Precedent, first: int, last: int) -> list[int]:
    """The positions to point at to make the change again."""
    size = len(precedent.gone)
    result = []
    for begin in range(1, len(tokens)):
        left = precedent.left in (None, tokens[begin - 1])
        right = precedent.right is None or tokens[begin + size : begin + size + 1] == [precedent.right]
        if size:
            fits = tuple(tokens[begin : begin + size]) == precedent.gone
            fits = fits and (begin + size <= first or begin >= last)
        else:
            is_told = (precedent.left, precedent.right) != (None, None)
            fits = (left and right and is_told) if precedent.is_repeated else (left or right)
            fits = fits and not first <= begin <= last
            come = list(precedent.come)
            is_made = tokens[begin : begin + len(come)] == come
            fits = fits and not is_made and tokens[max(0, begin - len(come)) : begin] != come
        if fits:
            result.append(begin if size else begin - 1)
    return result


def buckets_of(tokens: Sequence[int], precedent: Precedent, first: int, last: int) -> NDArray[np.int64]:
    return replay_buckets(np.pad(tokens, LONGEST, constant_values=PAD), precedent, first, last)


@given(questions())
def test_a_change_is_replayed_where_it_fits_and_nowhere_else(
    question: tuple[list[int], Precedent, int, int],
) -> None:
    buckets = buckets_of(*question)
    assert np.flatnonzero(buckets[:-1] != NO_REPLAY).tolist() == naive_places(*question)
    assert NO_REPLAY < buckets[-1] < REPLAYS
    assert buckets[:-1].max() < buckets[-1]


def test_the_next_place_the_one_after_and_those_before_are_told_apart() -> None:
    tokens = [START, A, B, A, C, A, B, A, B, A, B, A, END]
    by_rank = buckets_of(tokens, Precedent((B,), (D,), C, C), 4, 5)[[2, 6, 8, 10]].tolist()
    assert len(set(by_rank)) == 4
    far = buckets_of([*tokens[:-1], B, A, B, A, END], Precedent((B,), (D,), C, C), 4, 5)
    assert far[10] == far[12] == far[14] == by_rank[3]


def test_the_end_token_tells_how_many_places_are_left() -> None:
    def stop(count: int) -> int:
        tokens = [START, D, *[A, B] * count, END]
        return int(buckets_of(tokens, Precedent((A,), (D,), START, A), 1, 2)[-1])

    assert [stop(count) for count in (0, 1, 2, 3, 5)] == sorted({stop(count) for count in range(9)})


def apply_all(state: tuple[int, ...], edits: list[Edit]) -> SlotPositions:
    return positions_after(Instance(state, tuple(edits)), len(edits))


def replayed_at(positions: SlotPositions, relation: int) -> list[int]:
    """The slots that a change could be made at again."""
    buckets = relate(positions).buckets[relation] - FIRST_BUCKETS[relation]
    return sorted(positions.slots.order[place] for place in np.flatnonzero(buckets != NO_REPLAY))


def precedent_at(positions: SlotPositions, slot: int) -> tuple[int, int]:
    return relate(positions).offered.get(int(positions.current[slot]), NOTHING_OFFERED)


def test_what_followed_the_same_change_before_is_expected_again() -> None:
    #         0      1  2  3  4  5  6  7  8  9  10
    state = (START, A, C, B, C, A, C, B, C, A, END)
    positions = apply_all(state, [Edit(1, DELETE), Edit(0, D), Edit(3, DELETE), Edit(2, E)])
    assert positions.run is not None
    assert positions.run.expected is positions.run  # nothing is known to follow B -> E
    assert replayed_at(positions, REPLAY) == [7, 10]
    offered = [precedent_at(positions, slot) for slot in (5, 7, 9, 10)]
    assert [content for content, _ in offered] == [DELETE, DELETE, DELETE, PAD]
    assert len({kind for _, kind in offered[1:]}) == 3
    assert replayed_at(positions, EARLIER_REPLAY) == [5, 9, 10]
    positions.apply(Edit(5, DELETE))
    # A went, so D comes, where A stood.
    goes_on = GOES_ON + FIRST_BUCKETS[REPLAY]
    assert relate(positions).buckets[REPLAY, positions.current[4]] == goes_on
    assert precedent_at(positions, 4) == (D, BY_GOING_ON)
    positions.apply(Edit(4, D))
    assert goes_on not in relate(positions).buckets[REPLAY]
    # A -> D was followed by B -> E.
    assert positions.run.expected.precedent.gone == (B,)
    assert replayed_at(positions, REPLAY) == [7, 10]


def test_sides_on_which_two_places_disagree_do_not_count() -> None:
    #         0      1  2  3  4  5  6  7  8
    state = (START, A, B, C, B, D, B, E, END)
    positions = apply_all(state, [Edit(2, F), Edit(4, F)])
    assert positions.run is not None
    assert positions.run.pattern == Precedent((), (F,), B, None, is_repeated=True)
    assert positions.run.repeats == 1
    assert replayed_at(positions, REPLAY) == [6, 8]
