"""A corrected judge answers as the old one and the new trees together."""

from pathlib import Path

import lightgbm
import numpy as np
import onnx
import pytest

from model.proposals.evidence import FEATURES
from model.proposals.judge import CONFIDENCE, ORDER, Judge
from training.judge.examples import Examples
from training.judge.trees import export_judge
from training.personal.judge_correction import fit_correction, read_log_odds, write_corrected


def _make_examples(count: int, seed: int, turn: float) -> Examples:
    """Candidates that are right when the first feature is large; `turn` moves that border."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(count, len(FEATURES))).astype(np.float32)
    is_right = rows[:, 0] + 0.3 * random.normal(size=count) > turn
    return Examples(
        rows,
        is_right,
        is_right & (rows[:, 1] > 0),
        np.arange(count) // 4,
        np.array(["commit"] * (count // 4)),
        np.zeros(count // 4, np.bool_),
    )


@pytest.fixture
def judge(tmp_path: Path) -> Path:
    examples = _make_examples(4000, 0, turn=0.0)
    boosters = {
        name: lightgbm.train(
            {"objective": "binary", "verbose": -1}, lightgbm.Dataset(examples.rows, label), 10
        )
        for name, label in ((CONFIDENCE, examples.is_right), (ORDER, examples.is_next))
    }
    onnx.save(export_judge(boosters, FEATURES), tmp_path / "judge.onnx")
    return tmp_path / "judge.onnx"


def test_a_corrected_judge_knows_what_a_user_does_differently(judge: Path, tmp_path: Path) -> None:
    learn, check = _make_examples(8000, 1, turn=0.8), _make_examples(2000, 2, turn=0.8)
    correction = fit_correction(judge, learn, check)
    assert correction.loss_after < correction.loss_before
    assert correction.most_telling()[0][0] == FEATURES[0]
    once, twice = tmp_path / "once.onnx", tmp_path / "twice.onnx"
    write_corrected(judge, correction, once)
    write_corrected(once, correction, twice)
    old, added = (
        read_log_odds(judge, check.rows),
        correction.boosters[CONFIDENCE].predict(check.rows, raw_score=True),
    )
    for path, times in ((once, 1), (twice, 2)):
        ours = read_log_odds(path, check.rows)[CONFIDENCE]
        np.testing.assert_allclose(ours, old[CONFIDENCE] + times * added, atol=2e-3)
    assert Judge(once).judge(check.rows).confidence.shape == (2000,)
