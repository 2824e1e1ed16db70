import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.inference.calibration import Calibration, Evidence
from training.calibrate import Sample, find_threshold, fit_calibration, fit_isotonic, fit_weights


def plain(score: float) -> Evidence:
    return Evidence(score, score)


pairs = st.lists(st.tuples(st.floats(-20, 0), st.booleans()), min_size=1, max_size=200)


@given(pairs)
def test_the_curve_rises_and_can_be_read_back(samples: list[tuple[float, bool]]) -> None:
    knots = fit_isotonic([score for score, _ in samples], [right for _, right in samples])
    shares = [share for _, share in knots]
    assert shares == sorted(shares)
    calibration = Calibration.from_json(Calibration({"hunk": knots}).to_json())
    assert all(0 <= calibration.confidence("hunk", plain(score)) <= 1 for score, _ in samples)


def test_the_share_that_was_right_is_the_confidence() -> None:
    scores = [-1.0] * 100 + [-5.0] * 100
    right = [True] * 80 + [False] * 20 + [True] * 10 + [False] * 90
    curve = Calibration({"hunk": fit_isotonic(scores, right)})
    assert curve.confidence("hunk", plain(-1.0)) == pytest.approx(0.8, abs=0.1)
    assert curve.confidence("hunk", plain(-5.0)) == pytest.approx(0.1, abs=0.1)


def test_the_threshold_is_the_lowest_that_is_right_often_enough() -> None:
    confidences = [0.9] * 30 + [0.5] * 30
    right = [True] * 29 + [False] + [True] * 15 + [False] * 15
    assert find_threshold(confidences, right, 0.9) == 0.9
    assert find_threshold(confidences, right, 0.7) == 0.5


def test_a_model_that_is_never_right_often_enough_is_kept_quiet() -> None:
    assert find_threshold([0.4] * 50, [False] * 50, 0.9) == 0.99


def test_changes_that_were_made_before_are_surer() -> None:
    random = Random(0)
    samples = []
    for _ in range(600):
        repeats, score = random.randrange(2), -4 * random.random()
        evidence = Evidence(score, score, stop=-3 * random.random(), repeats=repeats)
        samples.append(Sample(evidence, random.random() < (0.9 if repeats else 0.1) * math.exp(score / 8)))
    calibration = fit_calibration({"hunk": samples})
    new, again = (calibration.confidence("hunk", Evidence(-1.0, -1.0, -1.0, n)) for n in (0, 1))
    assert new < 0.3 < 0.6 < again
    assert (
        calibration.confidence("hunk", Evidence(-1.0, -1.0, -1.0, calibration.best_repeats("hunk"))) >= again
    )
    assert calibration.confidence("token", plain(-1.0)) == pytest.approx(0.37, abs=0.01)


def test_what_is_likelier_never_counts_against_a_prediction() -> None:
    samples = [Sample(Evidence(-n / 100, -n / 50), is_right=n > 150) for n in range(300)]
    weights = fit_weights(samples)
    assert weights["sequence"] == weights["shared"] == 0.0
