"""Thinned examples: every right one stays, and the weight of the wrong ones of a question stays the same."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from model.proposals.evidence import FEATURES
from training.judge.examples import Examples
from training.judge.fitting import _WRONG_OF_QUESTION, _thin


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 90)), min_size=1, max_size=4))
def test_right_ones_stay_and_the_weight_of_wrong_ones_is_kept(counts: list[tuple[int, int]]) -> None:
    question = np.repeat(np.arange(len(counts)), [right + wrong for right, wrong in counts])
    is_right = np.concatenate([np.arange(right + wrong) < right for right, wrong in counts])
    examples = Examples(
        np.zeros((len(question), len(FEATURES)), np.float32),
        is_right,
        is_right,
        question,
        np.array(["commit"] * len(counts)),
        np.zeros(len(counts), np.bool_),
    )
    kept, weights = _thin(examples, np.ones(len(question)), np.random.default_rng(0))
    assert len(set(kept.tolist())) == len(kept)
    for number, (right, wrong) in enumerate(counts):
        mine = question[kept] == number
        assert (is_right[kept] & mine).sum() == right
        assert weights[mine & is_right[kept]].sum() == right
        np.testing.assert_allclose(weights[mine & ~is_right[kept]].sum(), wrong)
        assert (mine & ~is_right[kept]).sum() == min(wrong, _WRONG_OF_QUESTION)
