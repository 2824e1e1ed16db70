"""The written cases in tests/cases, put to the shipped bundle as the service would put them.

A known-weak case must fail: when the bundle gets it right, its file must say so.
"""

from pathlib import Path

import pytest

from model.inference.bundle import DEFAULT, Bundle
from model.inference.predictor import Predictor
from training.suite.next_edit import ask
from training.suite.written_cases import KNOWN_WEAK, WrittenCase, read_written_cases

CASES = read_written_cases(Path(__file__).parent / "cases")
WEAK = pytest.mark.xfail(reason="known-weak: change the status in its file when it passes", strict=True)


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    return Predictor(Bundle.load(DEFAULT), device="cpu")


@pytest.mark.parametrize(
    "written",
    [pytest.param(case, id=case.name, marks=[WEAK] if case.status == KNOWN_WEAK else []) for case in CASES],
)
def test_the_shipped_bundle_offers_the_expected_edit(predictor: Predictor, written: WrittenCase) -> None:
    answer = ask(predictor, written.case)
    is_shown = answer.confidence >= predictor.bundle.calibration.threshold("hunk")
    change = answer.change if is_shown else None
    assert written.case.is_right(change), f"{answer.change} with {answer.confidence:.2f}"
