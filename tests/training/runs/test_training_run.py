"""The training loop: it learns, it can be stopped and continued."""

import json
from pathlib import Path

import pytest
import torch

from tests.training.small_runs import small_config, small_data  # noqa: F401  (a fixture)
from training.data.batches import Rows
from training.runs.checkpoint import BEST, LAST, METRICS, load_network, load_tensors
from training.runs.training_run import TrainingRun, _drop_later_metrics

pytestmark = pytest.mark.usefixtures("small_data")


def _tensors(folder: Path, name: str) -> dict[str, torch.Tensor]:
    return load_tensors(folder / name)[0]


@pytest.mark.parametrize("average", [0.0, 0.9])
@pytest.mark.parametrize("model", ["IA-ag", "E", "IR"])
def test_a_resumed_run_ends_where_an_unbroken_one_does(
    tmp_path: Path, model: str, average: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = TrainingRun(small_config(model=model, average=average), tmp_path / "whole")
    whole.fit()

    broken = TrainingRun(small_config(model=model, average=average), tmp_path / "broken")
    step = broken._step

    def interrupted(rows: Rows) -> None:
        if broken.progress.step == 7:  # in the middle of an epoch
            raise KeyboardInterrupt
        step(rows)

    monkeypatch.setattr(broken, "_step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        broken.fit()
    torch.manual_seed(99)  # another process would have another random state
    resumed = TrainingRun(small_config(model=model, average=average), tmp_path / "broken")
    resumed.resume()
    assert resumed.progress.step == 7
    resumed.fit()

    for name in (LAST, BEST):
        expected, actual = _tensors(tmp_path / "whole", name), _tensors(tmp_path / "broken", name)
        assert expected.keys() == actual.keys()
        for key, tensor in expected.items():
            torch.testing.assert_close(actual[key], tensor, rtol=0, atol=0)
    metrics = [
        [
            {**json.loads(line), "seconds": 0}
            for line in (tmp_path / folder / METRICS).read_text().splitlines()
        ]
        for folder in ("whole", "broken")
    ]
    assert metrics[0] == metrics[1]


def test_a_checkpoint_that_is_older_than_the_metrics_drops_the_lines_after_it(tmp_path: Path) -> None:
    path = tmp_path / METRICS
    path.write_text('{"step": 3}\n{"step": 6}\n{"step": 9}\n')
    _drop_later_metrics(path, 6)
    assert path.read_text() == '{"step": 3}\n{"step": 6}\n'


def test_training_learns(tmp_path: Path) -> None:
    run = TrainingRun(small_config(steps=60, lr=1e-2, warmup=5, hidden=32), tmp_path)
    run.fit()
    rows = [json.loads(line) for line in (tmp_path / METRICS).read_text().splitlines()]
    assert rows[-1]["content_accuracy"] > 0.9  # Append1 inserts B, always
    assert {"edit_accuracy", "position_accuracy"} <= rows[-1].keys()


def test_the_learning_rate_warms_up_and_falls_to_nothing(tmp_path: Path) -> None:
    run = TrainingRun(small_config(steps=1000, warmup=10, lr=1.0), tmp_path)
    rates = []
    for step in (0, 9, 500, 999):
        run.progress.step = step
        rates.append(run._learning_rate())
    assert rates == pytest.approx([0.1, 1.0, 0.5, 0.0], abs=1e-3)


def test_weights_can_begin_with_those_of_another_run(tmp_path: Path) -> None:
    TrainingRun(small_config(), tmp_path / "first").fit()
    second = TrainingRun(small_config(init=str(tmp_path / "first"), seed=1), tmp_path / "second")
    network, _ = load_network(tmp_path / "first")
    for expected, actual in zip(network.parameters(), second.network.parameters(), strict=True):
        torch.testing.assert_close(actual, expected)
    with pytest.raises(ValueError, match="is not a IR of the vocabulary"):
        TrainingRun(small_config(model="IR", init=str(tmp_path / "first")), tmp_path / "third")


def test_a_run_is_json_and_safetensors_only(tmp_path: Path) -> None:
    TrainingRun(small_config(), tmp_path).fit()
    assert {path.suffix for path in tmp_path.iterdir()} == {".json", ".jsonl", ".safetensors"}
