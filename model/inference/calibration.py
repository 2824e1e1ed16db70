"""Calibration: from the evidence for decoded edits to their confidence, the share of such edits that is right.

The evidence is the log-probability of the sequence, as in the paper. For whole hunks it is also the log-probability of the
same change at any slot, that of stopping instead, and how often the same change was made before: a change that repeats one
is far more often right than a new one that is as likely. Weights make one score of them. A calibration is a rising line
through knots (score, share that was right), measured on held-out edits, one for edits to the end of a token and one for
whole hunks. Without weights the score is the log-probability; without knots the confidence is the probability itself.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

UNCALIBRATED_THRESHOLD = 0.5
_LEAST = -30.0  # lower log-probabilities are not told apart
_SUREST = 0.999  # nor are higher probabilities
Knots = tuple[tuple[float, float], ...]


class Evidence(NamedTuple):
    """The measurements for decoded edits, and against them."""

    log_probability: float  # of the sequence, or of the likeliest that makes the same change elsewhere
    shared: float  # log-probability that the change comes next, here or elsewhere
    stop: float = 0.0  # log-probability that nothing comes next
    repeats: int = 0  # how often the change was made before

    def features(self) -> dict[str, float]:
        return {
            "sequence": _log_odds(self.log_probability),
            "shared": _log_odds(self.shared),
            "stop": math.exp(min(0.0, self.stop)),
            "again": float(self.repeats == 1),
            "often": float(self.repeats > 1),
        }


FEATURES = ("sequence", "shared", "stop", "again", "often")
RISING = FEATURES[
    :2
]  # their weights must not be negative: decoding gives up on sequences that are too unlikely


@dataclass(frozen=True)
class Calibration:
    """Knots and the default threshold, and weights where there are any, for each of "token" and "hunk"."""

    knots: dict[str, Knots] = field(default_factory=dict)
    thresholds: dict[str, float] = field(default_factory=dict)
    weights: dict[str, dict[str, float]] = field(default_factory=dict)
    eagerness: dict[str, float] = field(default_factory=dict)  # named thresholds for whole hunks

    def __post_init__(self) -> None:
        for until, knots in self.knots.items():
            # Decoding gives up on a sequence as soon as it is too unlikely: so the line must not fall.
            if not _is_rising([x for x, _ in knots]) or not _is_rising([0.0, *(y for _, y in knots), 1.0]):
                raise ValueError(f"the knots for {until!r} do not rise from 0 to 1")
        for name, threshold in (self.thresholds | self.eagerness).items():
            if not 0 <= threshold <= 1:
                raise ValueError(f"the threshold for {name!r} is {threshold}, not between 0 and 1")
        for until, weights in self.weights.items():
            if set(weights) != set(FEATURES) or not all(map(math.isfinite, weights.values())):
                raise ValueError(f"the weights for {until!r} are not numbers for {', '.join(FEATURES)}")
            if min(weights[name] for name in RISING) < 0:
                raise ValueError(f"the weights for {until!r} make likelier predictions less sure")

    def confidence(self, until: str, evidence: Evidence) -> float:
        """Give the probability that edits with this evidence are right."""
        score, knots = self.score(until, evidence), self.knots.get(until)
        return _interpolate(knots, score) if knots else math.exp(min(0.0, score))

    def best_repeats(self, until: str) -> int:
        """Give the number of repeats with the highest confidence."""
        weights = self.weights.get(until)
        speak_for = (0.0, weights["again"], weights["often"]) if weights else (0.0,)
        return speak_for.index(max(speak_for))

    def score(self, until: str, evidence: Evidence) -> float:
        """Give the score that the knots are about."""
        weights = self.weights.get(until)
        if not weights:
            return evidence.shared
        return sum(weights[name] * value for name, value in evidence.features().items())

    def threshold(self, until: str, eagerness: str | None = None) -> float:
        """Give the confidence below which nothing is shown, unless the user sets another."""
        if until == "hunk" and eagerness in self.eagerness:
            return self.eagerness[eagerness]
        return self.thresholds.get(until, UNCALIBRATED_THRESHOLD)

    def to_json(self) -> dict[str, Any]:
        return {
            "knots": self.knots,
            "thresholds": self.thresholds,
            "weights": self.weights,
            "eagerness": self.eagerness,
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Calibration":
        try:
            knots = {
                str(until): tuple((float(x), float(y)) for x, y in pairs)
                for until, pairs in values["knots"].items()
            }
            thresholds = {str(until): float(value) for until, value in values["thresholds"].items()}
            weights = {
                str(until): {str(name): float(value) for name, value in of_until.items()}
                for until, of_until in values.get("weights", {}).items()
            }
            eagerness = {str(name): float(value) for name, value in values.get("eagerness", {}).items()}
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(f"not a calibration: {error!r}") from None
        return cls(knots, thresholds, weights, eagerness)


def _log_odds(log_probability: float) -> float:
    """Convert a probability to log-odds: 0.98 is as far from 0.9 as 0.5 is from 0.16."""
    score = max(_LEAST, min(log_probability, math.log(_SUREST)))
    return score - math.log1p(-math.exp(score))


def _is_rising(values: Sequence[float]) -> bool:
    return all(map(math.isfinite, values)) and all(left <= right for left, right in pairwise(values))


def _interpolate(knots: Sequence[tuple[float, float]], x: float) -> float:
    index = bisect_right(knots, (x, math.inf))
    if index == 0:
        return knots[0][1]
    if index == len(knots):
        return knots[-1][1]
    (x0, y0), (x1, y1) = knots[index - 1], knots[index]
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
