"""Accuracy: what counts, step by step."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.runs.accuracy import Accuracy


def test_an_edit_is_right_when_its_position_and_its_content_are() -> None:
    accuracy = Accuracy()
    mask = np.array([[False, True, True], [True, True, False]])
    positions = np.array([[True, True, False], [True, False, True]])
    contents = np.array([[True, True, True], [False, True, True]])
    accuracy.add(mask, positions, contents)
    values = accuracy.to_json()
    assert values["predictions"] == 4
    assert (values["edit_accuracy"], values["position_accuracy"], values["content_accuracy"]) == (
        0.25,
        0.5,
        0.75,
    )
    assert [(row["step"], row["predictions"]) for row in values["by_step"]] == [(0, 1), (1, 2), (2, 1)]


@given(st.lists(st.integers(1, 5), min_size=1, max_size=5))
def test_batches_of_any_length_add_up(lengths: list[int]) -> None:
    accuracy = Accuracy()
    for length in lengths:
        right = np.ones((2, length), dtype=np.bool_)
        accuracy.add(right, right, right)
    assert int(accuracy.total.sum()) == 2 * sum(lengths)
    assert accuracy.edit_accuracy == pytest.approx(1.0)


def test_nothing_predicted_is_nothing_right() -> None:
    assert Accuracy().edit_accuracy == 0.0
