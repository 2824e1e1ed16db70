"""Mining and training on several workers give what one worker gives."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ray.train")

import ray

from tests.server.conftest import TINY_BUNDLE
from training import mine
from training.runs import checkpoint
from training.runs.fit_config import FitConfig
from training.runs.ray_workers import fit_on_ray
from training.runs.training_run import TrainingRun


def make_config(**options: Any) -> FitConfig:
    return FitConfig(
        "IA-ag", "synthetic:ContextAppend11", hidden=16, dev_count=60, threads=1, seed=3, **options
    )


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0"}
    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


def make_repository(folder: Path, name: str) -> Path:
    """A repository in which a few functions are renamed, commit by commit."""
    path = folder / name
    path.mkdir()

    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *identity, *arguments], cwd=path, check=True, capture_output=True)

    git("init", "-q")
    for version in range(5):
        lines = [
            f"def {name}_{line if line >= version else f'new_{line}'}(value):\n    return value + {line}\n"
            for line in range(12)
        ]
        (path / "code.py").write_text("\n".join(lines))
        git("add", ".")
        git("commit", "-q", "-m", f"version {version}")
    return path


def read_arrays(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_four_repositories_on_two_workers_give_the_arrays_of_one(tmp_path: Path) -> None:
    repositories = [str(make_repository(tmp_path, name)) for name in ("alpha", "beta", "gamma", "delta")]
    tokenizer = ["--tokenizer", str(TINY_BUNDLE / "tokenizer.json")]
    assert (
        mine.main(["git", *repositories, *tokenizer, "--out", str(tmp_path / "one"), "--processes", "1"]) == 0
    )
    assert mine.main(["git", *repositories, *tokenizer, "--out", str(tmp_path / "two"), "--ray"]) == 0
    one, two = read_arrays(tmp_path / "one"), read_arrays(tmp_path / "two")
    assert one.keys() == two.keys()
    assert [name for name in one if one[name] != two[name]] == []
    assert sum(map(len, one.values())) > 10_000


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in (folder / checkpoint.METRICS).read_text().splitlines()]
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows]


def read_weights(folder: Path) -> dict[str, np.ndarray[Any, Any]]:
    tensors, _ = checkpoint.load_tensors(folder / checkpoint.LAST)
    return {name: tensor.numpy() for name, tensor in tensors.items() if name.startswith("network.")}


def test_two_workers_train_as_one_with_twice_the_batch(tmp_path: Path) -> None:
    TrainingRun(make_config(steps=30, batch=32), tmp_path / "one").fit()
    fit_on_ray(make_config(steps=30, batch=16), tmp_path / "two", 2)
    one, two = read_metrics(tmp_path / "one"), read_metrics(tmp_path / "two")
    assert [row["step"] for row in one] == [row["step"] for row in two]
    for ours, theirs in zip(one, two, strict=True):
        assert ours["edit_accuracy"] == pytest.approx(theirs["edit_accuracy"], abs=0.02)
    after_one, after_two = read_weights(tmp_path / "one"), read_weights(tmp_path / "two")
    for name, weights in after_one.items():
        np.testing.assert_allclose(weights, after_two[name], atol=2e-3, err_msg=name)
