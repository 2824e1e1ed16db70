"""The program that trains the rows of the paper's tables."""

import json
from pathlib import Path

import pytest

from tests.training.own_results import own_results  # noqa: F401  (a fixture)
from tests.training.small_dataset import write_dataset
from tests.training.small_runs import small_data  # noqa: F401  (a fixture)
from training import reproduce
from training.paper import report
from training.paper import tables as paper

pytestmark = pytest.mark.usefixtures("own_results", "small_data")


def test_a_row_is_run_once_and_stands_beside_the_papers_number(tmp_path: Path) -> None:
    arguments = ["--only", "IR:Append1", "--steps", "3", "--hidden", "8", "--runs", str(tmp_path / "runs")]
    assert reproduce.main(arguments) == 0
    path = report.result_path("IR", "Append1")
    written = path.read_text()
    values = json.loads(written)
    assert values["paper_accuracy"] == 100.0
    assert values["steps"] == 3
    text = report.REPORT.read_text()
    assert f"**{values['test_accuracy']:.1f}** (100.0)" in text
    assert "not run (83.0)" in text
    assert reproduce.main(arguments) == 0
    assert path.read_text() == written


def test_the_papers_networks_learn_from_mined_edits(tmp_path: Path) -> None:
    data = write_dataset(tmp_path / "data", 11)
    arguments = ["--real", str(data), "--steps", "2", "--hidden", "16", "--batch", "4"]
    arguments += ["--runs", str(tmp_path / "runs")]
    assert reproduce.main(arguments) == 0
    for model, accuracy in paper.REAL.items():
        values = json.loads(report.result_path(model, report.REAL).read_text())
        assert values["edits_seen"] > 0
        assert (
            f"| {model} | **{100 * values['test']['edit_accuracy']:.1f}** | {accuracy}"
            in report.REPORT.read_text()
        )
    assert (report.RESULTS / "real_by_confidence.png").stat().st_size > 1000
