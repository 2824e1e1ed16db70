"""The program that trains: its options, its errors, a polite kill."""

import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from model.config import MODELS
from tests.training.small_dataset import write_dataset
from tests.training.small_runs import small_config, small_data  # noqa: F401  (a fixture)
from training import fit
from training.runs import checkpoint
from training.runs.checkpoint import LAST, load_tensors
from training.runs.training_run import TrainingRun

pytestmark = pytest.mark.usefixtures("small_data")


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
    TrainingRun(small_config(model="IR"), tmp_path).fit()
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


def test_a_truncated_checkpoint_is_told_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    TrainingRun(small_config(model="IR"), tmp_path).fit()
    whole = (tmp_path / LAST).read_bytes()
    arguments = [
        "--model",
        "IR",
        "--data",
        "synthetic:Append1",
        "--steps",
        "12",
        "--out",
        str(tmp_path),
        "--resume",
    ]
    for size in (0, 5, 100, len(whole) - 1):
        (tmp_path / LAST).write_bytes(whole[:size])
        assert fit.main(arguments) == 2
        assert f"{LAST} is damaged" in capsys.readouterr().err


def test_a_full_disk_is_told_in_words_and_the_checkpoint_before_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    TrainingRun(small_config(model="IR"), tmp_path).fit()
    before = (tmp_path / LAST).read_bytes()
    arguments = [
        "--model",
        "IR",
        "--data",
        "synthetic:Append1",
        "--steps",
        "14",
        "--out",
        str(tmp_path),
        "--resume",
    ]
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4000, limits[1]))
    try:
        assert fit.main([*arguments, "--hidden", "16", "--batch", "8"]) == 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "the disk is full" in capsys.readouterr().err
    assert (tmp_path / LAST).read_bytes() == before
    assert not list(tmp_path.glob("*.partial"))
