"""A user's own edits become a dataset with something held out."""

from pathlib import Path

import pytest

from model.editing.change import Change
from tests.training.tokenizers import SAMPLE, small_tokenizer
from training.data.dataset import Dataset, Kind
from training.personal.own_history import write_own_history
from training.trajectories.mining_setting import PRODUCT
from training.trajectories.trajectory import Trajectory

TRAJECTORY = Trajectory(SAMPLE, (Change(0, 0, "import os"), Change(0, 0, "import re")), Kind.SAVES)


@pytest.mark.parametrize(
    ("names", "train", "dev"),
    [(["a"] * 30, 27, 3), (["a", "b"], 1, 1), ([f"{number}" for number in range(40)], 36, 4)],
)
def test_whole_files_are_held_out(tmp_path: Path, names: list[str], train: int, dev: int) -> None:
    write_own_history([(name, TRAJECTORY) for name in names], small_tokenizer(), PRODUCT, tmp_path / "data")
    dataset = Dataset.load(tmp_path / "data")
    assert (len(dataset.split("train")), len(dataset.split("dev"))) == (train, dev)


def test_secrets_stay_out(tmp_path: Path) -> None:
    secret = TRAJECTORY._replace(changes=(Change(0, 0, "-----BEGIN RSA PRIVATE KEY-----"),))
    manifest = write_own_history(
        [("a", TRAJECTORY)] * 3 + [("b", secret)], small_tokenizer(), PRODUCT, tmp_path / "data"
    )
    assert manifest["counts"] == {"sessions": 4, "secret": 1}


def test_too_little_is_said(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nothing to learn from yet"):
        write_own_history([("a", TRAJECTORY)], small_tokenizer(), PRODUCT, tmp_path / "data")
