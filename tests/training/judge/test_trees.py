"""The exported trees answer like LightGBM's own."""

from pathlib import Path

import lightgbm
import numpy as np
import onnx
import pytest

from model.inference.bundle import BundleError
from model.proposals.evidence import FEATURES
from model.proposals.judge import FILE, Judge
from training.judge.trees import export_judge


def fit(seed: int) -> lightgbm.Booster:
    random = np.random.default_rng(seed)
    rows = random.normal(0, 3, (400, len(FEATURES))).round(1).astype(np.float32)
    labels = rows[:, seed] + rows[:, 5] * rows[:, 7] > 0
    return lightgbm.train(
        {"verbose": -1, "objective": "binary", "num_threads": 1}, lightgbm.Dataset(rows, labels), 20
    )


def test_the_graph_gives_the_boosters_probabilities(tmp_path: Path) -> None:
    boosters = {"confidence": fit(0), "order": fit(1)}
    onnx.save(export_judge(boosters, FEATURES), tmp_path / FILE)
    rows = np.random.default_rng(2).normal(0, 3, (300, len(FEATURES))).round(1).astype(np.float32)
    verdicts = Judge(tmp_path / FILE).judge(rows)
    assert verdicts.confidence == pytest.approx(boosters["confidence"].predict(rows), abs=1e-5)
    assert verdicts.order == pytest.approx(boosters["order"].predict(rows), abs=1e-5)


def test_no_candidates_have_no_verdicts(tmp_path: Path) -> None:
    onnx.save(export_judge({"confidence": fit(0), "order": fit(1)}, FEATURES), tmp_path / FILE)
    assert len(Judge(tmp_path / FILE).judge(np.zeros((0, len(FEATURES)), np.float32)).confidence) == 0


def test_a_judge_of_other_features_is_refused_with_the_command_that_helps(tmp_path: Path) -> None:
    graph = export_judge({"confidence": fit(0), "order": fit(1)}, (*FEATURES, "another"))
    onnx.save(graph, tmp_path / FILE)
    with pytest.raises(BundleError, match=r"training\.fit_judge"):
        Judge(tmp_path / FILE)
