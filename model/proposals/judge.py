"""The judge: evidence in, confidence and order out. A small learned model in the bundle that ONNX Runtime runs."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.inference.bundle import BundleError
from model.inference.graph_runner import load_small_graph
from model.proposals.evidence import FEATURES, Floats

FILE = "judge.onnx"
INPUT, CONFIDENCE, ORDER = "features", "confidence", "order"  # names in the graph


class Verdicts(NamedTuple):
    """For each candidate: how likely the user makes this change, and how likely it is the next one."""

    confidence: NDArray[np.float32]
    order: NDArray[np.float32]


class Judge:
    """A trained judge."""

    def __init__(self, path: Path) -> None:
        self._session = load_small_graph(path)
        (given,) = self._session.get_inputs()
        if given.shape[1] != len(FEATURES):
            raise BundleError(
                f"the judge in {path.parent} reads {given.shape[1]} features and this version of Likewise has"
                f" {len(FEATURES)}: fit it again with python -m training.fit_judge"
            )

    def judge(self, rows: Floats) -> Verdicts:
        """Judge candidates, given a row of evidence for each."""
        if not len(rows):
            return Verdicts(np.zeros(0, np.float32), np.zeros(0, np.float32))
        confidence, order = self._session.run([CONFIDENCE, ORDER], {INPUT: rows})
        return Verdicts(confidence.ravel(), order.ravel())
