"""A correction of a judge for one user: a few more trees on top of the trees that it has.

A judge that is fitted on one repository alone knows less than the shipped one. So its trees stay, and boosting goes on
from their answers with the user's examples. The graph holds both ensembles and adds them up.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper

from model.inference.graph_runner import load_small_graph
from model.proposals.evidence import FEATURES, Floats
from model.proposals.judge import CONFIDENCE, INPUT, ORDER
from training.judge.examples import Examples
from training.judge.fitting import weigh
from training.judge.trees import make_ensemble

_LABELS = {CONFIDENCE: "is_right", ORDER: "is_next"}
_ROUNDS, _PATIENCE = 150, 15
# Small and cautious trees: one person's examples are few, and many of them come from the same files.
_PARAMETERS = {
    "objective": "binary",
    "boost_from_average": False,  # the judge's answers are the beginning
    "learning_rate": 0.04,
    "num_leaves": 12,
    "min_data_in_leaf": 150,
    "feature_fraction": 0.6,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 20.0,
    "verbose": -1,
}
_CERTAIN = 1e-6  # probabilities nearer to 0 and 1 are not told apart

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Correction:
    """More trees for each answer of a judge, and its loss on the checking examples before and after."""

    boosters: dict[str, Any]
    loss_before: float
    loss_after: float

    def most_telling(self, count: int = 8) -> list[tuple[str, float]]:
        """The features that changed the confidence most, as shares of the whole gain."""
        gains = self.boosters[CONFIDENCE].feature_importance("gain")
        ranked = sorted(zip(FEATURES, gains / max(gains.sum(), 1e-9), strict=True), key=lambda pair: -pair[1])
        return [(name, float(share)) for name, share in ranked[:count] if share > 0]


def fit_correction(
    judge: Path, learn: Examples, check: Examples, *, seed: int = 0, threads: int = 1
) -> Correction:
    """Go on boosting from a judge's answers; the checking examples decide when to stop."""
    learned_from, checked_with = read_log_odds(judge, learn.rows), read_log_odds(judge, check.rows)
    weights, check_weights = weigh(learn), weigh(check)
    boosters = {}
    for name, label in _LABELS.items():
        data = lightgbm.Dataset(
            learn.rows,
            getattr(learn, label),
            weight=weights,
            init_score=learned_from[name],
            feature_name=list(FEATURES),
        )
        checking = lightgbm.Dataset(
            check.rows,
            getattr(check, label),
            weight=check_weights,
            init_score=checked_with[name],
            reference=data,
        )
        boosters[name] = lightgbm.train(
            _PARAMETERS | {"seed": seed, "num_threads": threads},
            data,
            _ROUNDS,
            valid_sets=[checking],
            callbacks=[lightgbm.early_stopping(_PATIENCE, verbose=False)],
        )
    before = checked_with[CONFIDENCE]
    after = before + boosters[CONFIDENCE].predict(check.rows, raw_score=True)
    return Correction(
        boosters,
        _loss(before, check.is_right, check_weights),
        _loss(after, check.is_right, check_weights),
    )


def read_log_odds(judge: Path, rows: Floats) -> dict[str, Numbers]:
    """The answers of a judge as log-odds, before the sigmoid."""
    session = load_small_graph(judge)
    answers = session.run([CONFIDENCE, ORDER], {INPUT: rows})
    return {
        name: _log_odds(answer.ravel().astype(np.float64))
        for name, answer in zip((CONFIDENCE, ORDER), answers, strict=True)
    }


def write_corrected(judge: Path, correction: Correction, out: Path) -> None:
    """Write a judge that adds a correction to the log-odds of another one."""
    model = onnx.load(judge)
    for name, booster in correction.boosters.items():
        _add_trees(model.graph, name, booster)
    onnx.checker.check_model(model)
    onnx.save(model, out)


def _add_trees(graph: onnx.GraphProto, name: str, booster: Any) -> None:
    """Put an ensemble and an addition before the sigmoid of one answer. A judge can be corrected again and again."""
    sigmoid = next(node for node in graph.node if node.output[0] == name)
    number = sum(node.op_type == "Add" for node in graph.node)
    before, trees, total = sigmoid.input[0], f"{name}_trees_{number}", f"{name}_sum_{number}"
    at = list(graph.node).index(sigmoid)
    graph.node.insert(at, make_ensemble(booster, trees))
    graph.node.insert(at + 1, helper.make_node("Add", [before, trees], [total]))
    sigmoid.input[0] = total


def _log_odds(probability: Numbers) -> Numbers:
    bounded = np.clip(probability, _CERTAIN, 1 - _CERTAIN)
    result: Numbers = np.log(bounded) - np.log1p(-bounded)
    return result


def _loss(log_odds: Numbers, is_right: NDArray[np.bool_], weights: Numbers) -> float:
    """The mean logarithmic loss."""
    losses = np.logaddexp(0.0, np.where(is_right, -log_odds, log_odds))
    return float((weights * losses).sum() / weights.sum())
