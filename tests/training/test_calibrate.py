import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.calibration import Calibration
from training.calibrate import Sample, fitted, isotonic, threshold_for

pairs = st.lists(st.tuples(st.floats(-20, 0), st.booleans()), min_size=1, max_size=200)


@given(pairs)
def test_the_curve_rises_and_can_be_read_back(samples: list[tuple[float, bool]]) -> None:
    knots = isotonic([score for score, _ in samples], [right for _, right in samples])
    shares = [share for _, share in knots]
    assert shares == sorted(shares)
    calibration = Calibration.from_json(Calibration({"hunk": knots}).to_json())
    assert all(0 <= calibration.confidence("hunk", score) <= 1 for score, _ in samples)


def test_the_share_that_was_right_is_the_confidence() -> None:
    scores = [-1.0] * 100 + [-5.0] * 100
    right = [True] * 80 + [False] * 20 + [True] * 10 + [False] * 90
    curve = Calibration({"hunk": isotonic(scores, right)})
    assert curve.confidence("hunk", -1.0) == pytest.approx(0.8, abs=0.1)
    assert curve.confidence("hunk", -5.0) == pytest.approx(0.1, abs=0.1)


def test_the_threshold_is_the_lowest_that_is_right_often_enough() -> None:
    confidences = [0.9] * 30 + [0.5] * 30
    right = [True] * 29 + [False] + [True] * 15 + [False] * 15
    assert threshold_for(confidences, right, 0.9) == 0.9
    assert threshold_for(confidences, right, 0.7) == 0.5


def test_a_model_that_is_never_right_often_enough_is_kept_quiet() -> None:
    assert threshold_for([0.4] * 50, [False] * 50, 0.9) == 0.99


def test_changes_that_were_made_before_have_a_curve_of_their_own() -> None:
    scores = [-1.0 + n / 1e4 for n in range(200)]
    new = [Sample(score, is_right=n % 10 == 0) for n, score in enumerate(scores)]
    again = [Sample(score, is_right=n % 10 != 0, repeats=1) for n, score in enumerate(scores)]
    often = [Sample(score, is_right=False, repeats=5) for score in scores[:10]]  # too few to believe
    calibration = fitted({"hunk": [*new, *again, *often]})
    assert calibration.confidence("hunk", -1.0, 0) == pytest.approx(0.1, abs=0.05)
    assert calibration.confidence("hunk", -1.0, 1) == pytest.approx(0.9, abs=0.05)
    assert calibration.confidence("hunk", scores[100], 7) == pytest.approx(0.5, abs=0.1)
    assert calibration.most_confidence("hunk", -1.0) == calibration.confidence("hunk", -1.0, 1)
    assert calibration.thresholds["hunk"] == pytest.approx(0.9, abs=0.05)
    assert calibration.confidence("token", -1.0, 3) == pytest.approx(0.37, abs=0.01)
