"""Figures of a judge on examples: how often its first choice is right, by kind of moment and by threshold."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model.proposals.suggester import ORDER_WEIGHT
from training.judge.examples import Examples

THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
_BINS = 10


@dataclass(frozen=True)
class FirstChoices:
    """For each moment the candidate that would be shown first: its confidence, and whether it was right."""

    confidence: NDArray[np.float64]
    is_right: NDArray[np.bool_]
    is_next: NDArray[np.bool_]


def choose_first(examples: Examples, confidence: NDArray[Any], order: NDArray[Any]) -> FirstChoices:
    """The candidate of each moment that ranks first. A moment without candidates has confidence 0."""
    count = len(examples.kinds)
    ranked = np.lexsort((-(order + ORDER_WEIGHT * confidence), examples.question))
    questions, first = np.unique(examples.question[ranked], return_index=True)
    best = ranked[first]
    result = np.zeros(count), np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    for values, source in zip(result, (confidence, examples.is_right, examples.is_next), strict=True):
        values[questions] = source[best]
    return FirstChoices(*result)


def describe(examples: Examples, choices: FirstChoices) -> str:
    """A Markdown table: share of moments with an offer, and share of the offers that are right."""
    reachable = examples.is_reachable
    kinds = sorted(set(examples.kinds.tolist()))
    lines = [
        f"{len(examples.kinds)} moments; in {int(reachable.sum())} of them the author repeats a change: first choice right"
        f" (any / next) {_share(choices.is_right[reachable])} / {_share(choices.is_next[reachable])};"
        f" calibration error {calibration_error(choices):.3f}",
        "",
        "| threshold | repeats: shown / right |" + "".join(f" {kind}: shown / right |" for kind in kinds),
        "| --- | --- |" + " --- |" * len(kinds),
    ]
    for threshold in THRESHOLDS:
        shown = choices.confidence >= threshold
        groups = [reachable, *(examples.kinds == kind for kind in kinds)]
        cells = [f"{_share(shown[group])} / {_share(choices.is_right[group & shown])}" for group in groups]
        lines.append(f"| {threshold} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def calibration_error(choices: FirstChoices) -> float:
    """The expected difference between confidence and the share that is right, over moments with a candidate."""
    has = choices.confidence > 0
    confidence, is_right = choices.confidence[has], choices.is_right[has]
    bins = np.minimum((confidence * _BINS).astype(int), _BINS - 1)
    gaps = [
        (bins == each).sum() * abs(confidence[bins == each].mean() - is_right[bins == each].mean())
        for each in np.unique(bins)
    ]
    return float(sum(gaps) / max(1, len(confidence)))


def _share(values: NDArray[np.bool_]) -> str:
    return f"{100 * values.mean():.0f} %" if len(values) else "-"
