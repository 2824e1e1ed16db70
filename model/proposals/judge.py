"""The judge: evidence in, confidence and order out. A small learned model in the bundle that ONNX Runtime runs."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from model.proposals.evidence import FEATURES, Floats

FILE = "judge.onnx"


class Verdicts(NamedTuple):
    """For each candidate: how likely the user makes this change, and how likely it is the next one."""

    confidence: NDArray[np.float32]
    order: NDArray[np.float32]


class Judge:
    """A trained judge."""

    def __init__(self, path: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        (given,) = self._session.get_inputs()
        if given.shape[1] != len(FEATURES):
            raise ValueError(f"the judge expects {given.shape[1]} features, this version has {len(FEATURES)}")

    def verdicts(self, rows: Floats) -> Verdicts:
        if not len(rows):
            return Verdicts(np.zeros(0, np.float32), np.zeros(0, np.float32))
        confidence, order = self._session.run(["confidence", "order"], {"features": rows})
        return Verdicts(confidence.ravel(), order.ravel())
