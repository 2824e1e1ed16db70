"""Program: measure how often a bundle is right at each log-probability, and write that into the bundle.

    python -m training.calibrate BUNDLE --cases dev-cases.jsonl [--data DATASET]

The cases must come from repositories that were neither trained on nor are tested on. Confidence for whole hunks is measured
on the cases, confidence for single tokens on the dev split of a dataset. Isotonic regression: the only shape assumed is
that a higher log-probability is never less often right.
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

from model.bundle import Bundle, seal
from model.calibration import REPEATS, Calibration, Knots, curve_name
from model.predictor import Predictor
from training.cases import read_cases
from training.evaluate import measure_bundle
from training.examples import load_examples
from training.suite import ask

WANTED_PRECISION = 0.9  # of what is shown at the default threshold
_LEAST_SHOWN = 20  # predictions that must agree before a precision is believed
_POOL = 25  # predictions of one step of the curve at least: fewer would follow noise
_LEAST_OF_KIND = 4 * _POOL  # predictions of changes made so often before, for a curve of their own
_HIGHEST = 0.99  # no finite sample shows certainty


class Sample(NamedTuple):
    """One prediction."""

    score: float
    is_right: bool
    repeats: int = 0  # how often its change was made before


def isotonic(scores: Sequence[float], right: Sequence[bool]) -> Knots:
    """The rising curve from score to share of right ones, by pooling adjacent violators."""
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


def threshold_for(confidences: Sequence[float], right: Sequence[bool], wanted: float) -> float:
    """The lowest confidence such that what is at or above it is right often enough."""
    values, hits = np.asarray(confidences, dtype=float), np.asarray(right, dtype=float)
    for threshold in np.unique(values):
        shown = values >= threshold
        if shown.sum() >= _LEAST_SHOWN and hits[shown].mean() >= wanted:
            return float(threshold)
    return _HIGHEST


def calibrate(bundle: Bundle, cases: Path, data: str | None, count: int) -> Calibration:
    predictor = Predictor(replace(bundle, calibration=Calibration()), device="cpu")
    samples: dict[str, list[Sample]] = {}
    found = read_cases(cases)
    # Which of several predictions comes first depends on the calibration: so it is measured again with the first one.
    for _ in range(2):
        answers = [ask(predictor, case) for case in tqdm(found, unit=" cases")]
        spoken = [answer for answer in answers if answer.change is not None]
        samples["hunk"] = [Sample(a.log_probability, a.is_right, a.repeats) for a in spoken]
        predictor.bundle = replace(bundle, calibration=fitted(samples))
    if data is not None:
        _, tokens = measure_bundle(predictor, load_examples(data, "dev", count=count))
        samples["token"] = [Sample(token.score, token.is_right) for token in tokens]
    return fitted(samples)


def fitted(samples: Mapping[str, Sequence[Sample]]) -> Calibration:
    """The lines and thresholds for what was measured."""
    knots: dict[str, Knots] = {}
    for until, of_until in samples.items():
        knots[until] = _curve(of_until)
        for repeats in range(len(REPEATS)) if until == "hunk" else ():
            alike = [s for s in of_until if min(s.repeats, len(REPEATS) - 1) == repeats]
            if len(alike) >= _LEAST_OF_KIND:
                knots[curve_name(until, repeats)] = _curve(alike)
    curves = Calibration(knots)
    thresholds = {}
    for until, of_until in samples.items():
        confidences = [curves.confidence(until, s.score, s.repeats) for s in of_until]
        right = [s.is_right for s in of_until]
        thresholds[until] = round(threshold_for(confidences, right, WANTED_PRECISION), 4)
    return Calibration(knots, thresholds)


def _curve(samples: Sequence[Sample]) -> Knots:
    return isotonic([s.score for s in samples], [s.is_right for s in samples])


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
