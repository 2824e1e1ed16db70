"""From log-probabilities to how often a prediction is right."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.inference.calibration import UNCALIBRATED_THRESHOLD, Calibration, Evidence

KNOTS = ((-3.0, 0.1), (-1.0, 0.5), (-0.1, 0.9))
WEIGHTS = {"sequence": 0.5, "shared": 0.5, "stop": -0.2, "again": 1.0, "often": 2.0}
scores = st.floats(-50, 0)


def plain(score: float) -> Evidence:
    return Evidence(score, score)


@given(scores)
def test_without_knots_the_confidence_is_the_probability(score: float) -> None:
    assert Calibration().confidence("token", plain(score)) == pytest.approx(math.exp(score))


def test_rounding_above_zero_is_still_a_probability() -> None:
    assert Calibration().confidence("token", plain(1e-6)) == 1.0


def test_between_knots_it_is_a_line_and_outside_of_them_level() -> None:
    calibration = Calibration({"hunk": KNOTS})
    found = [calibration.confidence("hunk", plain(score)) for score in (-9.0, -3.0, -2.0, -1.0, -0.1, 0.0)]
    assert found == pytest.approx([0.1, 0.1, 0.3, 0.5, 0.9, 0.9])


@given(
    st.lists(st.tuples(st.floats(-20, 0), st.floats(0, 1)), min_size=1, max_size=6),
    scores,
    scores,
)
def test_a_likelier_prediction_is_never_less_sure(
    pairs: list[tuple[float, float]], one: float, other: float
) -> None:
    knots = tuple(zip(sorted(x for x, _ in pairs), sorted(y for _, y in pairs), strict=True))
    calibration = Calibration({"token": knots})
    low, high = sorted([one, other])
    assert calibration.confidence("token", plain(low)) <= calibration.confidence("token", plain(high)) + 1e-12


@given(scores, scores, scores, st.floats(0, 10), st.integers(0, 5))
def test_nothing_gets_surer_than_what_decoding_hopes_for(
    score: float, shared: float, stop: float, less: float, repeats: int
) -> None:
    calibration = Calibration({"hunk": KNOTS}, weights={"hunk": WEIGHTS})
    hope = calibration.confidence("hunk", Evidence(score, shared, stop, calibration.best_repeats("hunk")))
    late = Evidence(score - less, shared - less, stop, repeats)
    assert calibration.confidence("hunk", late) <= hope + 1e-12


def test_evidence_is_weighed() -> None:
    calibration = Calibration(weights={"hunk": WEIGHTS})
    even, never = math.log(0.5), -99.0
    assert calibration.score("hunk", Evidence(even, even, even, 1)) == pytest.approx(-0.1 + 1.0)
    likely = math.log(math.e / (1 + math.e))  # the odds are e to one
    assert calibration.score("hunk", Evidence(even, likely, never, 4)) == pytest.approx(0.5 + 2.0)
    assert calibration.score("hunk", Evidence(0.0, 0.0)) > calibration.score("hunk", Evidence(-0.1, 0.0))
    assert calibration.score("token", Evidence(-2.0, -2.0, -3.0, 1)) == -2.0


def test_the_threshold_is_the_bundles_or_the_default() -> None:
    calibration = Calibration(thresholds={"token": 0.8})
    assert calibration.threshold("token") == 0.8
    assert calibration.threshold("hunk") == UNCALIBRATED_THRESHOLD


def test_a_calibration_survives_its_file() -> None:
    calibration = Calibration({"token": KNOTS, "hunk": ()}, {"token": 0.8}, {"hunk": WEIGHTS})
    assert Calibration.from_json(json.loads(json.dumps(calibration.to_json()))) == calibration


@pytest.mark.parametrize(
    "values",
    [
        {"knots": {"token": [[-1, 0.5], [-2, 0.6]]}, "thresholds": {}},
        {"knots": {"token": [[-2, 0.6], [-1, 0.5]]}, "thresholds": {}},
        {"knots": {"token": [[-2, -0.1]]}, "thresholds": {}},
        {"knots": {"token": [[-2, 1.1]]}, "thresholds": {}},
        {"knots": {"token": [[math.nan, 0.5]]}, "thresholds": {}},
        {"knots": {"token": [[-2]]}, "thresholds": {}},
        {"knots": {"token": 3}, "thresholds": {}},
        {"knots": [], "thresholds": {}},
        {"knots": {}, "thresholds": {"token": 1.5}},
        {"knots": {}, "thresholds": {"token": None}},
        {"knots": {}},
        {"knots": {}, "thresholds": {}, "weights": {"hunk": {"shared": 1.0}}},
        {"knots": {}, "thresholds": {}, "weights": {"hunk": WEIGHTS | {"shared": -1.0}}},
        {"knots": {}, "thresholds": {}, "weights": {"hunk": WEIGHTS | {"stop": math.inf}}},
        [],
        None,
    ],
)
def test_what_is_no_calibration_is_refused(values: Any) -> None:
    with pytest.raises(ValueError, match=r"knots|threshold|calibration|unpack|weights"):
        Calibration.from_json(values)
