import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.editing.change import Change
from model.leanings import Leanings, Replacement, replacement_of


def replacement(old: str, new: str, start: int = 0) -> Replacement:
    return replacement_of(Change(start, start + len(old), new), old)


INFO = replacement("log.info(", "log.debug(")


def test_an_accepted_change_needs_less_and_a_dismissed_one_more() -> None:
    leanings = Leanings()
    assert leanings.threshold_for(INFO, 0.6) == pytest.approx(0.6)
    leanings.accept(INFO)
    assert leanings.threshold_for(INFO, 0.6) < 0.6
    leanings = Leanings()
    leanings.dismiss(INFO)
    assert leanings.threshold_for(INFO, 0.6) > 0.6


def test_the_same_change_elsewhere_is_the_same_and_another_is_not() -> None:
    leanings = Leanings()
    leanings.accept(INFO)
    assert leanings.threshold_for(replacement("info", "debug", 90), 0.6) < 0.6
    assert leanings.threshold_for(replacement("info", "warning"), 0.6) == pytest.approx(0.6)
    assert leanings.least < 1


def test_forgetting_what_was_dismissed_keeps_what_was_accepted() -> None:
    leanings = Leanings()
    leanings.accept(INFO)
    leanings.dismiss(replacement("a", "b"))
    leanings.forget_dismissed()
    assert leanings.threshold_for(replacement("a", "b"), 0.6) == pytest.approx(0.6)
    assert leanings.threshold_for(INFO, 0.6) < 0.6


@given(st.lists(st.booleans(), max_size=30), st.floats(0, 1))
def test_no_number_of_judgements_silences_a_change_or_shows_a_poor_one(
    accepted: list[bool], threshold: float
) -> None:
    leanings = Leanings()
    for each in accepted:
        (leanings.accept if each else leanings.dismiss)(INFO)
    needed = leanings.threshold_for(INFO, threshold)
    assert 0.7 * threshold <= needed + 1e-9
    assert needed <= max(threshold, 0.98)
    assert leanings.least * threshold <= needed + 1e-9
