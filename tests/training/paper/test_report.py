"""RESULTS.md and its plots."""

import json
from pathlib import Path

import pytest

from tests.training.own_results import own_results  # noqa: F401  (a fixture)
from training.paper import report

pytestmark = pytest.mark.usefixtures("own_results")


def test_accuracy_by_step_is_plotted(tmp_path: Path) -> None:
    by_step = [{"step": step, "accuracy": 0.5, "predictions": 60} for step in range(4)]
    test = {"position_accuracy": 0.5, "content_accuracy": 0.5}
    values = {"model": "E", "task": "MetaSurround33", "test_accuracy": 50.0, "paper_accuracy": 99.1}
    values |= {"minutes": 1.0, "processor_minutes": 1.0, "threads": 1, "steps": 4, "test": test}
    values |= {"fit": {"hidden": 8, "batch": 4}, "dev": {"by_step": by_step}}
    report.result_path("E", "MetaSurround33").write_text(json.dumps(values))
    report.write()
    assert (report.RESULTS / "by_step_MetaSurround33.png").stat().st_size > 1000
    assert "MetaContextAppend31: not run" in report.REPORT.read_text()


def test_time_against_length_is_told_relative_to_attention() -> None:
    seconds = {
        "NGram10": {"E": 4.0, "IR": 1.0, "IA-ag": 2.0},
        "NGram50": {"E": 30.0, "IR": 3.0, "IA-ag": 3.0},
    }
    values = {"hidden": 8, "batch": 4, "threads": 1, "seconds": seconds}
    report.SCALABILITY.write_text(json.dumps(values))
    report.write()
    assert "| 10 | 4.00 (2.0 x IA) | 1.00 (0.5 x IA) | 2.00 (1.0 x IA) |" in report.REPORT.read_text()
    assert (report.RESULTS / "scalability.png").stat().st_size > 1000


def test_rows_without_a_result_stand_beside_the_papers_numbers() -> None:
    report.write()
    assert "not run (83.0)" in report.REPORT.read_text()
    assert "Hidden size" not in report.REPORT.read_text()
