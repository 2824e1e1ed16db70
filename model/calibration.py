"""Confidence: from the log-probability of a greedy sequence to how often such a prediction is right.

A calibration is a rising line through knots (log-probability, share that was right), measured on held-out edits, one for
predictions to the end of a token and one for whole hunks. Without knots the confidence is the probability itself.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

UNCALIBRATED_THRESHOLD = 0.5
Knots = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Calibration:
    """Knots and the default threshold, for each of "token" and "hunk"."""

    knots: dict[str, Knots] = field(default_factory=dict)
    thresholds: dict[str, float] = field(default_factory=dict)

    def confidence(self, until: str, log_probability: float) -> float:
        """How likely a prediction of this log-probability is right."""
        knots = self.knots.get(until)
        if not knots:
            return math.exp(min(0.0, log_probability))
        return _interpolate(knots, log_probability)

    def threshold(self, until: str) -> float:
        """The confidence below which nothing is shown, unless the user sets another."""
        return self.thresholds.get(until, UNCALIBRATED_THRESHOLD)

    def to_json(self) -> dict[str, Any]:
        return {"knots": self.knots, "thresholds": self.thresholds}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Calibration":
        knots = {
            until: tuple((float(x), float(y)) for x, y in pairs) for until, pairs in values["knots"].items()
        }
        for until, pairs in knots.items():
            if list(pairs) != sorted(pairs) or any(not 0 <= y <= 1 for _, y in pairs):
                raise ValueError(f"the knots for {until!r} do not rise from 0 to 1")
        return cls(knots, {until: float(value) for until, value in values["thresholds"].items()})


def _interpolate(knots: Sequence[tuple[float, float]], x: float) -> float:
    index = bisect_right(knots, (x, math.inf))
    if index == 0:
        return knots[0][1]
    if index == len(knots):
        return knots[-1][1]
    (x0, y0), (x1, y1) = knots[index - 1], knots[index]
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
