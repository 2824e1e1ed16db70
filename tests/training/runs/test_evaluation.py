"""The accuracy of a run and of a bundle on a split."""

from pathlib import Path

import pytest

from model.editing.edits import DELETE, Edit, Instance
from model.inference.bundle import Bundle
from tests.training.small_dataset import write_dataset
from training.data.examples import load_examples
from training.runs.checkpoint import load_network
from training.runs.evaluation import (
    TokenPrediction,
    accuracy_by_confidence,
    evaluate,
    find_lexical_spans,
    measure_network,
)

TINY_BUNDLE = Path(__file__).parents[2] / "data" / "tiny_bundle"


def test_the_shipped_graphs_are_as_accurate_as_the_network_they_come_from(tmp_path: Path) -> None:
    bundle = Bundle.load(TINY_BUNDLE)
    data = str(write_dataset(tmp_path / "data", bundle.config.vocabulary_size, bundle.tokenizer))
    shipped = evaluate(TINY_BUNDLE, data, "test")
    network, config = load_network(TINY_BUNDLE)
    accuracy, tokens = measure_network(network, config, load_examples(data, "test"))
    for name, value in accuracy.to_json().items():
        assert shipped[name] == value, name
    assert shipped["token_accuracy"] == pytest.approx(sum(token.is_right for token in tokens) / len(tokens))


def test_confidence_keeps_the_most_confident() -> None:
    tokens = [TokenPrediction(score=-float(index), is_right=index < 50) for index in range(100)]
    rows = {row["percentile"]: row["accuracy"] for row in accuracy_by_confidence(tokens)}
    assert rows[0] == 0.5
    assert rows[50] == rows[99] == 1.0


def test_lexical_tokens_end_where_the_vocabulary_says_and_deletions_stand_alone() -> None:
    edits = [Edit(0, content) for content in (4, 5, DELETE, 4, 4, 5)]
    spans = find_lexical_spans(Instance((1, 2), tuple(edits), conditioning=1), [False] * 5 + [True])
    assert list(spans) == [range(1, 2), range(2, 3), range(3, 6)]
