"""Confidence: from the log-probability of a greedy sequence to how often such a prediction is right.

A calibration is a rising line through knots (log-probability, share that was right), measured on held-out edits, one for
predictions to the end of a token and one for whole hunks. A hunk may have lines of its own by how often the same change
was made before: a change that repeats one is far more often right than a new one of the same log-probability. Without
knots the confidence is the probability itself.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

UNCALIBRATED_THRESHOLD = 0.5
REPEATS = ("new", "again", "often")  # a change made never before, once before, more often
Knots = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Calibration:
    """Knots and the default threshold, for each of "token" and "hunk"; knots also for "hunk, again" and so on."""

    knots: dict[str, Knots] = field(default_factory=dict)
    thresholds: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for until, knots in self.knots.items():
            # Decoding gives up on a sequence as soon as it is too unlikely: so the line must not fall.
            if not _rise([x for x, _ in knots]) or not _rise([0.0, *(y for _, y in knots), 1.0]):
                raise ValueError(f"the knots for {until!r} do not rise from 0 to 1")
        for until, threshold in self.thresholds.items():
            if not 0 <= threshold <= 1:
                raise ValueError(f"the threshold for {until!r} is {threshold}, not between 0 and 1")

    def confidence(self, until: str, log_probability: float, repeats: int = 0) -> float:
        """How likely a prediction of this log-probability is right, when its change was made so often before."""
        knots = self.knots.get(curve_name(until, repeats)) or self.knots.get(until)
        if not knots:
            return math.exp(min(0.0, log_probability))
        return _interpolate(knots, log_probability)

    def most_confidence(self, until: str, log_probability: float) -> float:
        """The confidence if the change turns out to be of the kind that is right most often."""
        return max(self.confidence(until, log_probability, repeats) for repeats in range(len(REPEATS)))

    def threshold(self, until: str) -> float:
        """The confidence below which nothing is shown, unless the user sets another."""
        return self.thresholds.get(until, UNCALIBRATED_THRESHOLD)

    def to_json(self) -> dict[str, Any]:
        return {"knots": self.knots, "thresholds": self.thresholds}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Calibration":
        try:
            knots = {
                str(until): tuple((float(x), float(y)) for x, y in pairs)
                for until, pairs in values["knots"].items()
            }
            thresholds = {str(until): float(value) for until, value in values["thresholds"].items()}
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(f"not a calibration: {error!r}") from None
        return cls(knots, thresholds)


def curve_name(until: str, repeats: int) -> str:
    """The name of the line for changes that were made so often before."""
    return f"{until}, {REPEATS[min(repeats, len(REPEATS) - 1)]}"


def _rise(values: Sequence[float]) -> bool:
    return all(map(math.isfinite, values)) and all(left <= right for left, right in pairwise(values))


def _interpolate(knots: Sequence[tuple[float, float]], x: float) -> float:
    index = bisect_right(knots, (x, math.inf))
    if index == 0:
        return knots[0][1]
    if index == len(knots):
        return knots[-1][1]
    (x0, y0), (x1, y1) = knots[index - 1], knots[index]
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
