"""The order in which candidates are shown."""

import numpy as np

from model.proposals.candidates import Candidate, Origin
from model.proposals.precedents import Pattern
from model.proposals.ranking import rank_candidates
from model.proposals.sites import Span

OLD, NEW, OTHER = (10,), (11,), (12,)
RENAME = Pattern((((OLD,), (NEW,)),))
INSERT = Pattern((((), (OTHER,)),))


def candidate(first: int, pattern: Pattern = RENAME, length: int = 1) -> Candidate:
    return Candidate(Origin.REPLAY, (Span(first, first + length),), (pattern.key[0][1],), pattern)


def rank(
    candidates: list[Candidate],
    confidences: list[float],
    orders: list[float],
    travel: list[int],
    threshold: float = 0.5,
) -> list[int]:
    arrays = [np.array(each, np.float32) for each in (confidences, orders, travel)]
    return [each.number for each in rank_candidates(candidates, arrays[0], arrays[1], arrays[2], threshold)]


def test_sites_of_one_change_come_in_the_direction_of_travel() -> None:
    sites = [candidate(5), candidate(50), candidate(90)]
    assert rank(sites, [0.9, 0.6, 0.8], [0.9, 0.1, 0.5], [2, 0, 1]) == [1, 2, 0]


def test_a_site_that_is_nearly_sure_is_not_skipped() -> None:
    sites = [candidate(5), candidate(50), candidate(90)]
    assert rank(sites, [0.46, 0.9, 0.2], [0.1, 0.9, 0.1], [0, 1, 2]) == [0, 1]


def test_each_site_tells_how_many_the_change_has() -> None:
    candidates = [candidate(5), candidate(50), candidate(70, INSERT, 0), candidate(90)]
    figures = [
        np.array(each, np.float32) for each in ([0.9, 0.9, 0.6, 0.1], [0.9, 0.8, 0.3, 0.1], [0, 1, 0, 2])
    ]
    ranked = rank_candidates(candidates, figures[0], figures[1], figures[2], 0.5)
    assert {each.number: each.places for each in ranked} == {0: 2, 1: 2, 2: 1}


def test_nothing_is_shown_when_no_site_is_sure() -> None:
    assert rank([candidate(5), candidate(9)], [0.49, 0.45], [1.0, 1.0], [0, 1]) == []


def test_other_changes_come_before_other_sites() -> None:
    candidates = [candidate(5), candidate(50), candidate(70, INSERT, 0)]
    assert rank(candidates, [0.9, 0.9, 0.6], [0.9, 0.8, 0.3], [0, 1, 0]) == [0, 2, 1]


def test_the_candidate_that_makes_all_parts_of_a_line_covers_its_parts() -> None:
    both = Pattern((((OLD,), (NEW,)), ((OLD,), (OTHER,))))
    joint = Candidate(Origin.REPLAY, (Span(5, 6), Span(8, 9)), ((NEW,), (OTHER,)), both)
    assert rank([candidate(5), joint], [0.9, 0.8], [0.9, 0.7], [0, 0]) == [1]


def test_overlapping_candidates_are_not_shown_together() -> None:
    assert rank([candidate(5, RENAME, 3), candidate(6, INSERT, 1)], [0.9, 0.8], [0.9, 0.8], [0, 0]) == [0]
