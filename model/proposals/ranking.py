"""Ranking: which candidates are shown, and in which order.

The judge says how likely the user makes each change at all (confidence) and how likely it is the next one (order). The
change that is most likely next comes first. Among the sites of one change the order is the user's own: on in the
direction of travel, none skipped, and round the end of the file last.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.proposals.candidates import Candidate, Origin

_SAME_CHANGE = 0.9  # where one site of a change is sure enough, others need only this share of the threshold
_MORE_PARTS = 0.8  # a candidate that covers more of its line wins if it is this share as confident


class Ranked(NamedTuple):
    """A candidate that is sure enough."""

    number: int
    confidence: float
    places: int  # where the same change is shown, this one included


def rank_candidates(
    candidates: Sequence[Candidate],
    confidences: NDArray[np.float32],
    orders: NDArray[np.float32],
    travel_ranks: NDArray[np.float32],
    threshold: float,
) -> list[Ranked]:
    """The candidates above the threshold, the one to show first first. None overlaps one before it."""
    sure = _choose_sure(candidates, confidences, threshold)
    sure = _prefer_whole_lines(sure, candidates, confidences)
    groups: dict[object, list[int]] = {}
    for number in sure:
        groups.setdefault(_group_of(candidates[number]), []).append(number)
    ordered = sorted(groups.values(), key=lambda group: -max(float(orders[number]) for number in group))
    for group in ordered:
        group.sort(key=lambda number: float(travel_ranks[number]))
    # The first of each change, then the other sites of each.
    flat = [group[0] for group in ordered] + [number for group in ordered for number in group[1:]]
    shown = _without_overlaps(flat, candidates)
    places = Counter(_group_of(candidates[number]) for number in shown)
    # A site that is shown because others of its change are sure counts as just sure enough.
    return [
        Ranked(number, max(threshold, float(confidences[number])), places[_group_of(candidates[number])])
        for number in shown
    ]


def _choose_sure(
    candidates: Sequence[Candidate], confidences: NDArray[np.float32], threshold: float
) -> list[int]:
    """The candidates above the threshold, and sites between them that are nearly as sure: none shall be skipped."""
    surest: dict[object, float] = {}
    for candidate, confidence in zip(candidates, confidences.tolist(), strict=True):
        group = _group_of(candidate)
        surest[group] = max(confidence, surest.get(group, 0.0))
    return [
        number
        for number, (candidate, confidence) in enumerate(zip(candidates, confidences.tolist(), strict=True))
        if surest[_group_of(candidate)] >= threshold and confidence >= _SAME_CHANGE * threshold
    ]


def _group_of(candidate: Candidate) -> object:
    """Candidates of one group make the same change at different sites."""
    if candidate.pattern is None or candidate.origin == Origin.COMPLETION:
        return candidate.site, candidate.come
    return candidate.origin == Origin.WORD_PART, candidate.pattern.key


def _prefer_whole_lines(
    sure: Sequence[int], candidates: Sequence[Candidate], confidences: NDArray[np.float32]
) -> list[int]:
    """Leave out a part where a candidate that makes all parts of the line is about as sure."""
    joint = [number for number in sure if len(candidates[number].site) > 1]
    result = []
    for number in sure:
        site = candidates[number].site
        is_covered = any(
            len(candidates[other].site) > len(site)
            and all(span in candidates[other].site for span in site)
            and confidences[other] >= _MORE_PARTS * confidences[number]
            for other in joint
            if other != number
        )
        if not is_covered:
            result.append(number)
    return result


def _without_overlaps(numbers: Sequence[int], candidates: Sequence[Candidate]) -> list[int]:
    taken: list[tuple[int, int]] = []
    result = []
    for number in numbers:
        site = candidates[number].site
        first, last = site[0].first, site[-1].last
        if not any(_overlap((first, last), other) for other in taken):
            taken.append((first, last))
            result.append(number)
    return result


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Do two spans share a lexical token, or insert at the same spot?"""
    return one == other or (one[0] < other[1] and other[0] < one[1])
