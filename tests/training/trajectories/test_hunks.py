"""Hunks turn the old text into the new one, in whatever order they are made."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from model.editing.lines import segments
from training.data.dataset import Kind
from training.trajectories.hunks import Hunk, changes_in_order, fold, hunks_between, is_move
from training.trajectories.trajectory import Trajectory, apply_changes

TEXTS = st.lists(st.sampled_from(["", "a", "b(c)", "  b(d)", "x = y", "\r", "é"]), max_size=9).map("\n".join)


@given(TEXTS, TEXTS, st.randoms())
def test_hunks_in_any_order_make_the_new_text(old: str, new: str, random: Random) -> None:
    lines = segments(old)
    hunks = hunks_between(lines, segments(new))
    assert hunks is not None
    order = list(range(len(hunks)))
    random.shuffle(order)
    trajectory = Trajectory(old, tuple(changes_in_order(lines, hunks, order)), Kind.HISTORY)
    assert trajectory.texts()[-1] == new


@given(TEXTS, TEXTS, st.sets(st.integers(0, 5)))
def test_hunks_folded_and_hunks_remaining_make_the_new_text(old: str, new: str, folded: set[int]) -> None:
    lines = segments(old)
    hunks = hunks_between(lines, segments(new)) or []
    base, remaining = fold(lines, hunks, folded)
    assert len(remaining) == sum(number not in folded for number in range(len(hunks)))
    changes = changes_in_order(base, remaining, range(len(remaining)))
    assert apply_changes("".join(base), changes)[-1] == new


def test_lines_with_a_new_version_each_are_hunks_of_their_own() -> None:
    old, new = segments("use(a)\nuse(b)\nuse(c)"), segments("call(a)\ncall(b)\ncall(c)")
    assert [hunk.first for hunk in hunks_between(old, new) or []] == [0, 1, 2]


def test_lines_that_are_merely_elsewhere_are_a_move() -> None:
    lines = segments("one\ntwo\nthree")
    assert is_move(lines, hunks_between(lines, segments("two\nthree\none")) or [])
    assert not is_move(lines, [Hunk(0, 1, ("four",))])


def test_too_much_difference_is_not_compared() -> None:
    assert hunks_between([str(n) for n in range(5000)], [str(-n) for n in range(5000)]) is None
