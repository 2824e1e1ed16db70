"""Slots, best first."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from model.inference.slot_ranking import best_indices, iterate_slots, rank_companions

scores_of = st.lists(
    st.sampled_from([-1e9, -20.0, -9.0, -2.0, -1.0, -0.5]) | st.floats(-30, 0), min_size=1, max_size=40
)


def as_scores(values: list[float]) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.array(values, dtype=np.float32)


@given(scores_of, st.integers(1, 50))
def test_the_best_indices_are_those_of_a_stable_sort(values: list[float], count: int) -> None:
    scores = as_scores(values)
    expected = sorted(range(len(values)), key=lambda index: (-scores[index], index))[:count]
    assert best_indices(scores, count).tolist() == expected


@given(scores_of, st.integers(1, 5))
def test_slots_come_once_and_best_first(values: list[float], limit: int) -> None:
    scores = as_scores(values)
    slots = list(iterate_slots(scores, limit))
    assert len(set(slots)) == len(slots)
    assert slots[0] == scores.argmax()
    assert scores[slots].tolist() == sorted(scores[slots].tolist(), reverse=True)


@given(scores_of, st.integers(1, 5), st.data())
def test_companions_are_together_as_likely_as_their_sum(
    values: list[float], limit: int, data: st.DataObject
) -> None:
    scores = as_scores(values)
    stop = data.draw(st.integers(0, len(values) - 1))
    slots, together = rank_companions(scores, limit, stop)
    expected = np.exp(scores[[slot for slot in slots if slot != stop]].astype(np.float64)).sum()
    np.testing.assert_allclose(np.exp(together), expected, rtol=1e-6)
    assert (scores[slots] > -1e8).all()
