"""Figures of moments whose answers are known."""

import pytest

from training.suite.asked_moments import Answer, AskedMoment
from training.suite.moment_figures import (
    average_precision,
    calibration_error,
    describe_moments,
    repeats_found,
)

RIGHT, WRONG = (0.9, True, True), (0.8, False, False)


def row(kind: str, answer: Answer, *, is_reachable: bool = False) -> AskedMoment:
    names = ("replay", "best", "balanced", "plain best", "plain")
    return AskedMoment(
        kind=kind, language="python", is_reachable=is_reachable, answers=dict.fromkeys(names, answer)
    )


def test_confidence_that_is_the_share_of_right_ones_has_no_error() -> None:
    assert calibration_error([(0.75, index < 3, False) for index in range(4)]) == pytest.approx(0.0)
    assert calibration_error([(0.95, False, False)]) == pytest.approx(0.95)
    assert calibration_error([None]) == 0.0


def test_average_precision_counts_silence_as_not_found() -> None:
    assert average_precision([RIGHT, RIGHT]) == 1.0
    assert average_precision([RIGHT, None]) == 0.5
    assert average_precision([(0.9, False, False), (0.8, True, True)]) == 0.25


def test_repeats_are_found_as_long_as_enough_offers_are_right() -> None:
    rows = [row("commit", (0.9, True, True), is_reachable=True) for _ in range(4)]
    rows += [row("commit", (0.5, False, False)), row("commit", (0.4, True, True), is_reachable=True)]
    assert repeats_found(rows, "best", 0.8) == 1.0  # 5 of 6
    assert repeats_found(rows, "best", 0.9) == 0.8


def test_every_kind_and_floor_has_a_row() -> None:
    rows = [row("commit", RIGHT, is_reachable=True), row("done", WRONG), row("typing", None)] * 30
    text = describe_moments(rows, {"balanced": 0.5})
    assert "Finished: nothing comes next (30 moments)" in text
    assert text.count("| balanced (0.50) |") == 7
    assert text.count("| the judge without the network |") == 8
    assert "| python | 60 | 30 | 100 % | 100 % | 50 % |" in text
