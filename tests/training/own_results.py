"""A folder for results of the paper's tables that is the test's own."""

import shutil
from pathlib import Path

import pytest

from training.paper import report


@pytest.fixture
def own_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results and RESULTS.md in a folder of the test."""
    (tmp_path / "results").mkdir()
    # They do not depend on what was trained, and take seconds to compute.
    shutil.copy(report.RESULTS / "properties.json", tmp_path / "results")
    monkeypatch.setattr(report, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(report, "REPORT", tmp_path / "RESULTS.md")
    monkeypatch.setattr(report, "SCALABILITY", tmp_path / "results" / "scalability.json")
