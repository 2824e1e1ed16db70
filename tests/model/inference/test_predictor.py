"""A bundle that answers: short files whole, long ones through a window."""

import numpy as np

from model.inference.calibration import Calibration
from model.inference.history import History
from model.inference.predictor import Predictor
from tests.model.inference.test_history import make_instance


def test_a_state_at_the_limit_is_seen_whole(predictor: Predictor) -> None:
    limit = predictor.bundle.config.limit_tokens
    assert isinstance(predictor.open(make_instance(predictor, 1, length=limit).state), History)
    assert not isinstance(predictor.open(make_instance(predictor, 1, length=limit + 1).state), History)


def test_another_calibration_runs_the_same_graphs(predictor: Predictor) -> None:
    calibration = Calibration(thresholds={"token": 0.9})
    other = predictor.with_calibration(calibration)
    assert other.bundle.calibration is calibration
    assert predictor.bundle.calibration is not calibration
    state = make_instance(predictor, 1).state
    np.testing.assert_array_equal(
        other.open(state).predict().positions, predictor.open(state).predict().positions
    )
