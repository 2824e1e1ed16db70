"""A bundle's answers to written cases."""

from pathlib import Path

from model.inference.bundle import Bundle
from tests.training.suite.test_cases import CASE
from training.suite.measure_cases import measure_written_cases
from training.suite.written_cases import KNOWN_WEAK, WrittenCase

TINY = Bundle.load(Path(__file__).parents[2] / "data" / "tiny_bundle")


def test_a_written_case_is_right_only_if_it_is_shown() -> None:
    (row,) = measure_written_cases(TINY, [WrittenCase("rename", "Rename", KNOWN_WEAK, CASE)])
    assert (row["name"], row["status"]) == ("rename", KNOWN_WEAK)
    assert row["is_shown"] == (row["confidence"] >= TINY.calibration.threshold("hunk"))
    assert not row["is_right"] or row["is_shown"]
