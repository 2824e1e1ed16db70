import json
from pathlib import Path

import pytest

from model.editing.edits import DELETE, Edit, Instance
from model.inference.bundle import Bundle
from tests.training.small_dataset import write_dataset
from training import evaluate
from training.data.examples import load_examples
from training.evaluate import TokenPrediction, by_confidence
from training.fit import FitConfig, Run
from training.runs.checkpoint import load_network

TINY_BUNDLE = Path(__file__).parent.parent / "data" / "tiny_bundle"


def test_the_shipped_graphs_are_as_accurate_as_the_network_they_come_from(tmp_path: Path) -> None:
    bundle = Bundle.load(TINY_BUNDLE)
    data = str(write_dataset(tmp_path / "data", bundle.config.vocabulary_size, bundle.tokenizer))
    shipped = evaluate.evaluate(TINY_BUNDLE, data, "test")
    network, config = load_network(TINY_BUNDLE)
    accuracy, tokens = evaluate.measure_network(network, config, load_examples(data, "test"))
    for name, value in accuracy.to_json().items():
        assert shipped[name] == value, name
    assert shipped["token_accuracy"] == pytest.approx(sum(token.is_right for token in tokens) / len(tokens))


def test_a_run_is_measured_and_printed_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = str(write_dataset(tmp_path / "data", 11))
    Run(FitConfig("IR", data, steps=5, hidden=8, batch=4), tmp_path / "run").fit()
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


def test_confidence_keeps_the_most_confident() -> None:
    tokens = [TokenPrediction(score=-float(index), is_right=index < 50) for index in range(100)]
    rows = {row["percentile"]: row["accuracy"] for row in by_confidence(tokens)}
    assert rows[0] == 0.5
    assert rows[50] == rows[99] == 1.0


def test_lexical_tokens_end_where_the_vocabulary_says_and_deletions_stand_alone() -> None:
    edits = [Edit(0, content) for content in (4, 5, DELETE, 4, 4, 5)]
    spans = evaluate._lexical_spans(Instance((1, 2), tuple(edits), conditioning=1), [False] * 5 + [True])
    assert list(spans) == [range(1, 2), range(2, 3), range(3, 6)]


def test_a_vocabulary_that_does_not_fit_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = str(write_dataset(tmp_path / "data", 11))
    assert evaluate.main([str(TINY_BUNDLE), "--data", data]) == 2
    assert "the data one of 11" in capsys.readouterr().err
    assert evaluate.main([str(tmp_path), "--data", data]) == 2
    assert "neither a training run nor a bundle" in capsys.readouterr().err
