"""Renames played with suggesters whose every answer is known."""

from collections.abc import Sequence
from random import Random

from model.editing.change import Change
from training.suite.commit_figures import replay_newest
from training.suite.kept_results import KeptResults
from training.suite.renames import Rename, draw_rename, play_rename, play_renames, table
from training.suite.whole_commits import Offer
from training.trajectories.keyboard import Step

TEXT = "count = 0\nuse(count, counted)\ncount += count\nprint(count)\nreturn count\n"
RENAME = Rename("owner/name", "a.py", TEXT, "count", "total")


def silent(text: str, steps: Sequence[Step], cursor: int, time: float) -> list[Offer]:
    return []


def backwards(text: str, steps: Sequence[Step], cursor: int, time: float) -> list[Offer]:
    """Offers the last use first."""
    for step in steps:
        for change in step.changes:
            text = change.apply_to(text)
    at = text.rindex("count")
    return [Offer(Change(at, at + 5, "total"), 0.9)]


def test_a_use_is_a_whole_token() -> None:
    assert len(RENAME.uses()) == 6
    assert RENAME.uses()[0] == Change(0, 5, "total")


def test_replaying_in_order_visits_all_uses() -> None:
    assert play_rename(RENAME, replay_newest) == {
        "first": True,
        "second": True,
        "in_order": True,
        "uses": 6,
        "visited": 4,
    }


def test_a_right_offer_out_of_order_is_right_and_not_in_order() -> None:
    played = play_rename(RENAME, backwards)
    assert (played["first"], played["second"], played["in_order"], played["visited"]) == (
        True,
        True,
        False,
        0,
    )


def test_silence_is_not_right() -> None:
    played = play_rename(RENAME, silent)
    assert (played["first"], played["second"], played["in_order"]) == (False, False, False)


def test_a_drawn_name_has_enough_uses_and_its_new_name_none() -> None:
    rename = draw_rename("owner/name", "a.py", TEXT, Random(1))
    assert rename is not None
    assert rename.old == "count"
    assert rename.new not in TEXT.split()
    assert draw_rename("owner/name", "a.py", "one = two\n", Random(1)) is None


def test_the_table_has_a_row_for_each_suggester() -> None:
    rows = play_renames([RENAME], {"floor": ("a", replay_newest), "none": ("b", silent)}, KeptResults())
    assert "| floor | 100 % | 100 % | 100 % | 100 % |" in table(rows)
    assert "| none | 0 % | 0 % | 0 % | 0 % |" in table(rows)
