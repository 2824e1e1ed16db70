"""Program: measure how often a bundle is right at each log-probability, and write that into the bundle.

    python -m training.calibrate BUNDLE --cases dev-cases.jsonl [--data DATASET]

The cases must come from repositories that were neither trained on nor are tested on. Confidence for whole hunks is measured
on the cases, confidence for single tokens on the dev split of a dataset. Logistic regression says how much each part of the
evidence tells; isotonic regression what share is right at each score: the only shape assumed is that a higher score is
never less often right.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from model.inference.bundle import Bundle, seal
from model.inference.calibration import FEATURES, RISING, Calibration, Evidence, Knots
from model.inference.predictor import Predictor
from training.data.examples import load_examples
from training.runs.evaluation import measure_bundle
from training.suite.cases import read_cases
from training.suite.next_edit import ask

WANTED_PRECISION = 0.9  # of what is shown at the default threshold
_LEAST_SHOWN = 20  # predictions that must agree before a precision is believed
_POOL = 25  # predictions of one step of the curve at least: fewer would follow noise
_LEAST_WEIGHED = 200  # predictions from which to learn how much each part of the evidence tells
_PENALTY = 3.0  # on weights, so that few predictions do not tell too much
_HIGHEST = 0.99  # no finite sample shows certainty


class Sample(NamedTuple):
    """One prediction."""

    evidence: Evidence
    is_right: bool


def fit_isotonic(scores: Sequence[float], right: Sequence[bool]) -> Knots:
    """Fit the rising curve from score to the share that is right, by pooling adjacent violators."""
    order = np.argsort(scores, kind="stable")
    x = np.asarray(scores, dtype=float)[order]
    y = np.asarray(right, dtype=float)[order]
    blocks: list[tuple[float, float, int]] = []  # mean score, mean right, size
    for chunk_x, chunk_y in zip(_chunks(x), _chunks(y), strict=True):
        blocks.append((float(chunk_x.mean()), float(chunk_y.mean()), len(chunk_x)))
        while len(blocks) > 1 and blocks[-2][1] >= blocks[-1][1]:
            (x0, y0, n0), (x1, y1, n1) = blocks[-2:]
            total = n0 + n1
            blocks[-2:] = [((x0 * n0 + x1 * n1) / total, (y0 * n0 + y1 * n1) / total, total)]
    return tuple((score, min(share, _HIGHEST)) for score, share, _ in blocks)


def _chunks(values: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    return np.array_split(values, max(1, len(values) // _POOL))


def find_threshold(confidences: Sequence[float], right: Sequence[bool], wanted: float) -> float:
    """Find the lowest confidence at which predictions of this confidence or more are right often enough."""
    values, hits = np.asarray(confidences, dtype=float), np.asarray(right, dtype=float)
    for threshold in np.unique(values):
        shown = values >= threshold
        if shown.sum() >= _LEAST_SHOWN and hits[shown].mean() >= wanted:
            return float(threshold)
    return _HIGHEST


def calibrate(bundle: Bundle, cases: Path, data: str | None, count: int) -> Calibration:
    """Measure a bundle and fit its calibration."""
    predictor = Predictor(bundle, device="cpu").with_calibration(Calibration())
    samples: dict[str, list[Sample]] = {}
    found = read_cases(cases)
    # Which of several predictions comes first depends on the calibration: so it is measured again with a first one.
    for part in (found[::2], found):
        answers = [ask(predictor, case) for case in tqdm(part, unit=" cases")]
        spoken = [answer for answer in answers if answer.change is not None]
        samples["hunk"] = [Sample(answer.evidence, answer.is_right) for answer in spoken]
        predictor = predictor.with_calibration(fit_calibration(samples))
    if data is not None:
        _, tokens = measure_bundle(predictor, load_examples(data, "dev", count=count))
        samples["token"] = [Sample(Evidence(token.score, token.score), token.is_right) for token in tokens]
    return fit_calibration(samples)


def fit_calibration(samples: Mapping[str, Sequence[Sample]]) -> Calibration:
    """Fit the weights, curves and thresholds to what was measured."""
    enough = len(samples.get("hunk", ())) >= _LEAST_WEIGHED
    plain = Calibration(weights={"hunk": fit_weights(samples["hunk"])} if enough else {})
    knots = {
        until: fit_isotonic(
            [plain.score(until, s.evidence) for s in of_until], [s.is_right for s in of_until]
        )
        for until, of_until in samples.items()
    }
    curves = replace(plain, knots=knots)
    thresholds = {}
    for until, of_until in samples.items():
        confidences = [curves.confidence(until, s.evidence) for s in of_until]
        right = [s.is_right for s in of_until]
        thresholds[until] = round(find_threshold(confidences, right, WANTED_PRECISION), 4)
    return replace(curves, thresholds=thresholds)


def fit_weights(samples: Sequence[Sample]) -> dict[str, float]:
    """Weigh each part of the evidence by logistic regression; a part in RISING gets no negative weight."""
    kept = list(FEATURES)
    right = np.array([s.is_right for s in samples], dtype=float)
    while True:
        inputs = np.array([[s.evidence.features()[name] for name in kept] for s in samples])
        found = dict(zip(kept, _fit_logistic(inputs, right).tolist(), strict=True))
        against = [name for name in RISING if found.get(name, 0.0) < 0]
        if not against:
            return {name: found.get(name, 0.0) for name in FEATURES}
        kept.remove(against[0])


def _fit_logistic(inputs: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """Fit the weights of a logistic regression by Newton's method; the constant is left off."""
    means, scales = inputs.mean(axis=0), np.maximum(inputs.std(axis=0), 1e-6)
    columns = np.column_stack([(inputs - means) / scales, np.ones(len(inputs))])
    penalty = np.diag([*[_PENALTY] * inputs.shape[1], 1e-6])
    weights = np.zeros(columns.shape[1])
    for _ in range(50):
        likely = 1 / (1 + np.exp(-(columns @ weights)))
        gradient = columns.T @ (likely - right) + penalty @ weights
        curvature = (columns * (likely * (1 - likely))[:, None]).T @ columns + penalty
        weights -= np.linalg.solve(curvature, gradient)
    result: NDArray[np.float64] = weights[:-1] / scales
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m training.calibrate", description="Calibrate a bundle.")
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--cases", type=Path, required=True, help="from training.cases --split dev")
    parser.add_argument("--data", help="a dataset, whose dev split calibrates single tokens")
    parser.add_argument("--count", type=int, default=200, help="instances of the dev split")
    options = parser.parse_args(arguments)
    bundle = Bundle.load(options.bundle)
    calibration = calibrate(bundle, options.cases, options.data, options.count)
    (options.bundle / "calibration.json").write_text(json.dumps(calibration.to_json()) + "\n")
    seal(options.bundle, bundle.name)
    print(json.dumps(calibration.thresholds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
