"""Training runs that take a second."""

import pytest
import torch

from training.runs.fit_config import FitConfig


def small_config(**values: object) -> FitConfig:
    given = {
        "model": "IA-ag",
        "data": "synthetic:Append1",
        "steps": 12,
        "hidden": 16,
        "batch": 8,
        "dev_count": 10,
    }
    return FitConfig(**(given | values))  # type: ignore[arg-type]


@pytest.fixture
def small_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Synthetic tasks of a few instances."""
    monkeypatch.setattr("training.paper.instances.SPLIT_SIZES", {"train": 40, "dev": 10, "test": 10})
    monkeypatch.setattr("training.paper.instances._DRAWS", 1000)
    torch.set_num_threads(1)  # such small sums gain nothing from two
