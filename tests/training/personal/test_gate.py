"""The gate: better beyond chance, and no more wrong offers."""

import pytest

from model.editing.change import Change
from training.personal.gate import PlayedCase, compare, group_counts, refuse_too_few
from training.suite.commits import CommitFile
from training.suite.whole_commits import Played


def _cases(count: int) -> list[CommitFile]:
    return [
        CommitFile("mine", f"commit {number}", "a.py", "x", "y", (Change(0, 1, "y"),) * 10)
        for number in range(count)
    ]


def _play(tabs: list[int], wrong: int = 0) -> list[PlayedCase]:
    return [PlayedCase(Played(files=1, edits=10, by_tab=tab, wrong=wrong), ()) for tab in tabs]


def test_a_difference_in_every_commit_is_no_chance() -> None:
    outcome = compare(_cases(20), _play([2] * 20), _play([4] * 20))
    assert outcome.is_better
    assert outcome.by_tab.difference == pytest.approx(0.2)
    assert 0 < outcome.by_tab.low <= outcome.by_tab.high
    assert "wrong offers did not grow" in outcome.explain()


def test_a_difference_in_one_commit_may_be_chance() -> None:
    outcome = compare(_cases(20), _play([2] * 20), _play([2] * 19 + [6]))
    assert outcome.by_tab.difference > 0
    assert not outcome.is_better
    assert "includes zero" in outcome.explain()


def test_more_wrong_offers_are_refused() -> None:
    outcome = compare(_cases(20), _play([2] * 20), _play([4] * 20, wrong=1))
    assert not outcome.is_better
    assert "wrong offers grew from 0 to 20" in outcome.explain()


def test_files_of_one_commit_count_as_one_draw() -> None:
    cases = [case._replace(commit="the same") for case in _cases(20)]
    outcome = compare(cases, _play([2] * 20), _play([4] * 20))
    assert outcome.units == 1


def test_too_few_cases_are_refused_with_advice() -> None:
    with pytest.raises(ValueError, match="--repo PATH"):
        refuse_too_few(_cases(2))
    refuse_too_few(_cases(5))


def test_groups_come_largest_first() -> None:
    cases = [case._replace(path=path) for case, path in zip(_cases(3), ("a.go", "b.py", "c.py"), strict=True)]
    groups = group_counts(cases, _play([1, 2, 3]), lambda case: case.language)
    assert {name: counts.by_tab for name, counts in groups.items()} == {"python": 5, "go": 1}
    assert list(groups) == ["python", "go"]
