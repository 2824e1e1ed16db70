"""The order of hunks: every hunk once, backwards about as often as forwards, related ones together."""

from itertools import pairwise
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from training.trajectories.hunks import Hunk
from training.trajectories.ordering import draw_order, draw_walk, find_changed_names


@given(st.integers(0, 9), st.randoms())
def test_every_hunk_is_made_once(count: int, random: Random) -> None:
    lines = [f"line {number}" for number in range(30)]
    hunks = [Hunk(3 * number, 3 * number + 1, ("new",)) for number in range(count)]
    assert sorted(draw_order(lines, hunks, random)) == list(range(count))


def test_people_go_backwards_about_as_often_as_forwards() -> None:
    random = Random(0)
    lines = [f"name{number}" for number in range(60)]
    hunks = [Hunk(7 * number, 7 * number + 1, ("new",)) for number in range(8)]
    steps = [b > a for _ in range(500) for a, b in pairwise(draw_order(lines, hunks, random))]
    assert 0.4 < sum(steps) / len(steps) < 0.65


def test_a_related_place_is_preferred_to_a_nearer_one() -> None:
    names = [frozenset({"count"}), frozenset({"other"}), frozenset({"count"})]
    orders = [draw_walk([0.0, 4.0, 8.0], names, Random(seed)) for seed in range(300)]
    after_first = [order[1] for order in orders if order[0] == 0]
    assert after_first.count(2) > 2 * after_first.count(1)


def test_changed_names_are_those_that_come_or_go() -> None:
    assert find_changed_names(["use(old, same)"], Hunk(0, 1, ("use(fresh, same)",))) == {"old", "fresh"}
