"""Fitting the judge: gradient-boosted trees, one model for confidence and one for order.

LightGBM, because trees over plain features need no scaling, say which features carry them, fit in a minute and run in
microseconds. Only training needs the library: the exported graph holds the trees themselves.
"""

from dataclasses import dataclass
from typing import Any

import lightgbm
import numpy as np
from numpy.typing import NDArray

from model.proposals.evidence import FEATURES
from training.judge.examples import Examples

_ROUNDS, _PATIENCE = 1000, 30
_PARAMETERS = {
    "objective": "binary",
    "learning_rate": 0.05,
    "num_leaves": 63,
    "min_data_in_leaf": 200,
    "feature_fraction": 0.7,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 5.0,
    "verbose": -1,
}
_WRONG_OF_QUESTION = 32  # wrong candidates of a question that are kept: the others say nothing new
_REPEAT_WEIGHT = 1.2  # a plain rename must be offered, and mixed commits have few of them


@dataclass(frozen=True)
class FittedJudge:
    """The two boosters."""

    confidence: Any
    order: Any

    def boosters(self) -> dict[str, Any]:
        return {"confidence": self.confidence, "order": self.order}

    def most_telling(self, count: int = 20) -> list[tuple[str, float]]:
        """The features that confidence gains most from, as shares of the whole gain."""
        gains = self.confidence.feature_importance("gain")
        ranked = sorted(zip(FEATURES, gains / gains.sum(), strict=True), key=lambda pair: -pair[1])
        return [(name, float(share)) for name, share in ranked[:count]]


def fit_judge(train: Examples, dev: Examples, *, seed: int = 1, threads: int = 2) -> FittedJudge:
    """Fit both models; the dev examples decide when to stop."""
    kept, weights = _thin(train, weigh(train), np.random.default_rng(seed))
    models = [_fit(train, kept, weights, dev, label, seed, threads) for label in ("is_right", "is_next")]
    return FittedJudge(*models)


def _fit(
    train: Examples,
    kept: NDArray[np.int64],
    weights: NDArray[np.float64],
    dev: Examples,
    label: str,
    seed: int,
    threads: int,
) -> Any:
    labels = getattr(train, label)[kept]
    data = lightgbm.Dataset(train.rows[kept], labels, weight=weights, feature_name=list(FEATURES))
    check = lightgbm.Dataset(dev.rows, getattr(dev, label), reference=data)
    stopping = lightgbm.early_stopping(_PATIENCE, verbose=False)
    parameters = _PARAMETERS | {"seed": seed, "num_threads": threads}
    return lightgbm.train(parameters, data, _ROUNDS, valid_sets=[check], callbacks=[stopping])


def weigh(examples: Examples) -> NDArray[np.float64]:
    """A question with many candidates counts more than one with few, but not in proportion."""
    counts = np.bincount(examples.question, minlength=len(examples.kinds))
    weights = 1 / np.sqrt(counts[examples.question])
    is_repeat = (examples.kinds == "repeat")[examples.question]
    return np.where(is_repeat, _REPEAT_WEIGHT * weights, weights)


def _thin(
    examples: Examples, weights: NDArray[np.float64], random: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Choose examples to fit on; return their indices and weights.

    The wrong examples that are kept stand for all wrong ones of their question.
    """
    order = random.permutation(len(examples.question))
    order = order[np.lexsort((examples.is_right[order] * -1, examples.question[order]))]  # right ones first
    questions = examples.question[order]
    starts = np.searchsorted(questions, questions)
    wrong = np.bincount(examples.question[~examples.is_right], minlength=len(examples.kinds))[questions]
    right = np.bincount(examples.question[examples.is_right], minlength=len(examples.kinds))[questions]
    rank = np.arange(len(order)) - starts - right  # among the wrong ones; negative for a right one
    is_kept = rank < _WRONG_OF_QUESTION
    share = np.where(rank < 0, 1.0, np.maximum(1.0, wrong / _WRONG_OF_QUESTION))
    kept = order[is_kept]
    return kept, (weights[order] * share)[is_kept]
