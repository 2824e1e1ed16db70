"""Ranking: which candidates are shown, and in which order.

The judge says how likely the user makes each change at all (confidence) and how likely it is the next one (order). The
change that is most likely next comes first. Among the sites of one change the order is the user's own: on in the
direction of travel, none skipped, and round the end of the file last.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.proposals.candidates import Candidate, Origin

_MORE_PARTS = 0.8  # a candidate that covers more of its line wins if it is this share as confident


class Ranked(NamedTuple):
    """A candidate that is sure enough."""

    number: int
    confidence: float


def rank_candidates(
    candidates: Sequence[Candidate],
    confidences: NDArray[np.float32],
    orders: NDArray[np.float32],
    travel_ranks: NDArray[np.float32],
    threshold: float,
) -> list[Ranked]:
    """The candidates above the threshold, the one to show first first. None overlaps one before it."""
    sure = [number for number in range(len(candidates)) if confidences[number] >= threshold]
    sure = _prefer_whole_lines(sure, candidates, confidences)
    groups: dict[object, list[int]] = {}
    for number in sure:
        groups.setdefault(_group_of(candidates[number]), []).append(number)
    ordered = sorted(groups.values(), key=lambda group: -max(float(orders[number]) for number in group))
    for group in ordered:
        group.sort(key=lambda number: float(travel_ranks[number]))
    # The first of each change, then the other sites of each.
    flat = [group[0] for group in ordered] + [number for group in ordered for number in group[1:]]
    return [Ranked(number, float(confidences[number])) for number in _without_overlaps(flat, candidates)]


def _group_of(candidate: Candidate) -> object:
    """Candidates of one group make the same change at different sites."""
    if candidate.pattern is None or candidate.origin == Origin.COMPLETION:
        return candidate.site
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
        if all(
            last < begin
            or first > end
            or ((first == last == begin == end) is False and (last <= begin or first >= end))
            for begin, end in taken
        ):
            taken.append((first, last))
            result.append(number)
    return result
