"""Thresholds chosen by wrong offers per ten edits."""

import shutil
from pathlib import Path

from model.inference.bundle import Bundle
from training.choose_eagerness import Group, choose_thresholds, write_thresholds
from training.suite.whole_commits import Played

TINY = Path(__file__).parents[1] / "data" / "tiny_bundle"


def curve(*wrong: int, by_keys: bool = False) -> Group:
    """Counts of 100 edits at rising thresholds."""
    thresholds = (0.3, 0.5, 0.7, 0.9)
    rows = {
        threshold: Played(edits=100, wrong=each) for threshold, each in zip(thresholds, wrong, strict=True)
    }
    return Group(rows, by_keys)


def test_each_eagerness_gets_the_lowest_threshold_that_keeps_its_limit() -> None:
    assert choose_thresholds([curve(12, 5, 3, 2)]) == {"quiet": 0.9, "balanced": 0.5, "eager": 0.3}


def test_every_group_of_files_keeps_the_limit() -> None:
    assert choose_thresholds([curve(12, 5, 3, 2), curve(20, 11, 5, 0)]) == {
        "quiet": 0.9,
        "balanced": 0.7,
        "eager": 0.5,
    }


def test_typed_edits_have_a_wider_limit() -> None:
    assert choose_thresholds([curve(12, 9, 3, 2, by_keys=True)])["balanced"] == 0.5
    assert choose_thresholds([curve(12, 10, 3, 2, by_keys=True)])["balanced"] == 0.7


def test_a_lucky_low_threshold_below_a_bad_one_is_not_chosen() -> None:
    assert choose_thresholds([curve(1, 6, 4, 1)])["balanced"] == 0.7


def test_the_thresholds_are_those_of_the_bundle_afterwards(tmp_path: Path) -> None:
    folder = tmp_path / "bundle"
    shutil.copytree(TINY, folder)
    chosen = {"quiet": 0.8, "balanced": 0.62, "eager": 0.4}
    write_thresholds(folder, chosen)
    calibration = Bundle.load(folder).calibration
    assert calibration.eagerness == chosen
    assert calibration.threshold("hunk") == 0.62
    assert calibration.knots == Bundle.load(TINY).calibration.knots
