"""The program that measures a run or a bundle."""

import json
from pathlib import Path

import pytest

from tests.training.small_dataset import write_dataset
from training import evaluate
from training.runs.fit_config import FitConfig
from training.runs.training_run import TrainingRun

TINY_BUNDLE = Path(__file__).parent.parent / "data" / "tiny_bundle"


def test_a_run_is_measured_and_printed_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = str(write_dataset(tmp_path / "data", 11))
    TrainingRun(FitConfig("IR", data, steps=5, hidden=8, batch=4), tmp_path / "run").fit()
    assert evaluate.main([str(tmp_path / "run"), "--data", data, "--split", "dev", "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert {
        "edit_accuracy",
        "position_accuracy",
        "content_accuracy",
        "by_step",
        "by_confidence",
    } <= values.keys()
    assert values["predictions"] == sum(row["predictions"] for row in values["by_step"])
    assert 0 <= values["edit_accuracy"] <= min(values["position_accuracy"], values["content_accuracy"]) <= 1
    assert evaluate.main([str(tmp_path / "run"), "--data", data]) == 0


def test_a_vocabulary_that_does_not_fit_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = str(write_dataset(tmp_path / "data", 11))
    assert evaluate.main([str(TINY_BUNDLE), "--data", data]) == 2
    assert "the data one of 11" in capsys.readouterr().err
    assert evaluate.main([str(tmp_path), "--data", data]) == 2
    assert "neither a training run nor a bundle" in capsys.readouterr().err
