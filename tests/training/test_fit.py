import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from model.config import MODELS
from tests.training.small_dataset import write_dataset
from training import fit
from training.data.batches import Rows
from training.fit import FitConfig, Run
from training.runs import checkpoint
from training.runs.checkpoint import BEST, LAST, METRICS, load_network, load_tensors


def _config(**values: object) -> FitConfig:
    given = {
        "model": "IA-ag",
        "data": "synthetic:Append1",
        "steps": 12,
        "hidden": 16,
        "batch": 8,
        "dev_count": 10,
    }
    return FitConfig(**(given | values))  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def small_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.synthetic.SPLIT_SIZES", {"train": 40, "dev": 10, "test": 10})
    monkeypatch.setattr("training.synthetic._DRAWS", 1000)
    torch.set_num_threads(1)  # such small sums gain nothing from two


def _tensors(folder: Path, name: str) -> dict[str, torch.Tensor]:
    return load_tensors(folder / name)[0]


@pytest.mark.parametrize("average", [0.0, 0.9])
@pytest.mark.parametrize("model", ["IA-ag", "E", "IR"])
def test_a_resumed_run_ends_where_an_unbroken_one_does(
    tmp_path: Path, model: str, average: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Run(_config(model=model, average=average), tmp_path / "whole")
    whole.fit()

    broken = Run(_config(model=model, average=average), tmp_path / "broken")
    step = broken._step

    def interrupted(rows: Rows) -> None:
        if broken.progress.step == 7:  # in the middle of an epoch
            raise KeyboardInterrupt
        step(rows)

    monkeypatch.setattr(broken, "_step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        broken.fit()
    torch.manual_seed(99)  # another process would have another random state
    resumed = Run(_config(model=model, average=average), tmp_path / "broken")
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
    fit._keep_metrics(path, 6)
    assert path.read_text() == '{"step": 3}\n{"step": 6}\n'


def test_training_learns(tmp_path: Path) -> None:
    run = Run(_config(steps=60, lr=1e-2, warmup=5, hidden=32), tmp_path)
    run.fit()
    rows = [json.loads(line) for line in (tmp_path / METRICS).read_text().splitlines()]
    assert rows[-1]["content_accuracy"] > 0.9  # Append1 inserts B, always
    assert {"edit_accuracy", "position_accuracy"} <= rows[-1].keys()


def test_the_learning_rate_warms_up_and_falls_to_nothing(tmp_path: Path) -> None:
    run = Run(_config(steps=1000, warmup=10, lr=1.0), tmp_path)
    rates = []
    for step in (0, 9, 500, 999):
        run.progress.step = step
        rates.append(run._learning_rate())
    assert rates == pytest.approx([0.1, 1.0, 0.5, 0.0], abs=1e-3)


def test_weights_can_begin_with_those_of_another_run(tmp_path: Path) -> None:
    Run(_config(), tmp_path / "first").fit()
    second = Run(_config(init=str(tmp_path / "first"), seed=1), tmp_path / "second")
    network, _ = load_network(tmp_path / "first")
    for expected, actual in zip(network.parameters(), second.network.parameters(), strict=True):
        torch.testing.assert_close(actual, expected)
    with pytest.raises(ValueError, match="is not a IR of the vocabulary"):
        Run(_config(model="IR", init=str(tmp_path / "first")), tmp_path / "third")


def test_a_run_is_json_and_safetensors_only(tmp_path: Path) -> None:
    Run(_config(), tmp_path).fit()
    assert {path.suffix for path in tmp_path.iterdir()} == {".json", ".jsonl", ".safetensors"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--model", "IA-x", "--data", "synthetic:Append1", "--steps", "1"],
            f"known ones are {', '.join(MODELS)}",
        ),
        (["--model", "IR", "--data", "synthetic:Append9", "--steps", "1"], "MetaSurround33"),
        (["--model", "IR", "--data", "/nowhere", "--steps", "1"], "/nowhere is not a dataset"),
        (["--model", "IR", "--data", "synthetic:Append1"], "either in minutes or in steps"),
        (["--model", "IR", "--data", "synthetic:Append1", "--steps", "1", "--resume"], "nothing to resume"),
    ],
)
def test_bad_input_gets_a_clear_error(
    tmp_path: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fit.main([*arguments, "--out", str(tmp_path / "run")]) == 2
    assert message in capsys.readouterr().err


def test_a_folder_that_holds_a_run_is_not_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Run(_config(model="IR"), tmp_path).fit()
    arguments = ["--model", "IR", "--data", "synthetic:Append1", "--steps", "12", "--out", str(tmp_path)]
    assert fit.main(arguments) == 2
    assert "--resume" in capsys.readouterr().err


def test_a_terminated_program_leaves_a_checkpoint_to_resume_from(tmp_path: Path) -> None:
    data = write_dataset(tmp_path / "data", 11)
    arguments = ["--model", "IR", "--data", str(data), "--out", str(tmp_path / "run"), "--minutes", "5"]
    process = subprocess.Popen(
        [sys.executable, "-m", "training.fit", *arguments, "--hidden", "8", "--threads", "1"],
        cwd=Path(fit.__file__).parent.parent,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 120
    while not (tmp_path / "run" / checkpoint.FIT).exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.2)
    time.sleep(1)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"continue with --resume" in errors
    load_tensors(tmp_path / "run" / LAST)
