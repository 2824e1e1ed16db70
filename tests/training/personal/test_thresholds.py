"""Thresholds of a personal bundle: no more wrong offers than before."""

import shutil
from pathlib import Path

from model.inference.bundle import Bundle
from training.personal.thresholds import choose_threshold, write_thresholds

_TINY = Path(__file__).parents[2] / "data" / "tiny_bundle"


def test_the_lowest_threshold_without_more_wrong_offers_is_chosen() -> None:
    wrong = {0.4: 9, 0.5: 12, 0.6: 8, 0.7: 4}
    assert choose_threshold(10, wrong) == 0.6  # 0.4 has few by chance: 0.5 above it has too many


def test_a_judge_that_is_wrong_more_often_must_be_as_sure_as_was_tried() -> None:
    assert choose_threshold(10, {0.5: 30, 0.6: 20, 0.7: 15}) == 0.7


def test_thresholds_are_written_into_a_sealed_bundle(tmp_path: Path) -> None:
    shutil.copytree(_TINY, tmp_path / "bundle")
    write_thresholds(tmp_path / "bundle", {"quiet": 0.8, "balanced": 0.55, "eager": 0.3})
    calibration = Bundle.load(tmp_path / "bundle").calibration
    assert calibration.eagerness == {"quiet": 0.8, "balanced": 0.55, "eager": 0.3}
    assert calibration.thresholds["hunk"] == 0.55
