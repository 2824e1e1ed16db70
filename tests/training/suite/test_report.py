"""The suite as a report: a bundle beside the floors, and its answers to written cases."""

import json
from pathlib import Path

from model.inference.bundle import Bundle
from tests.training.suite.test_cases import CASE
from training.suite.cases import write_cases
from training.suite.report import measure_suite, measure_written_cases, write_report
from training.suite.written_cases import KNOWN_WEAK, WrittenCase

TINY = Bundle.load(Path(__file__).parents[2] / "data" / "tiny_bundle")


def test_a_bundle_is_measured_beside_the_floors_and_written_down(tmp_path: Path) -> None:
    write_cases([CASE, CASE], tmp_path / "cases.jsonl")
    result = measure_suite(TINY, tmp_path / "cases.jsonl", TINY)
    assert result["cases"] == 2
    assert result["replay"]["repeat"]["right"] == 2  # replaying the newest edit is right here
    assert result["network_floor"]["name"] == TINY.config.model
    write_report(result, tmp_path)
    assert "| replay | repeat | 2 | 2 | 2 |" in (tmp_path / "REPORT.md").read_text()
    assert json.loads((tmp_path / "results" / "next-edit.json").read_text())["cases"] == 2
    assert (tmp_path / "results" / "next-edit.png").stat().st_size > 1000


def test_a_written_case_is_right_only_if_it_is_shown() -> None:
    (row,) = measure_written_cases(TINY, [WrittenCase("rename", "Rename", KNOWN_WEAK, CASE)])
    assert (row["name"], row["status"]) == ("rename", KNOWN_WEAK)
    assert row["is_shown"] == (row["confidence"] >= TINY.calibration.threshold("hunk"))
    assert not row["is_right"] or row["is_shown"]
