"""Lexical hunks turn the text before into the text after, and are as small as a reader sees them."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from model.editing.change import Change
from training.trajectories.lexical_hunks import apply_all, lexical_hunks

PIECES = st.sampled_from(
    ["a", "b", "call", "(", ")", ", ", " ", "    ", "\n", "\r\n", "\n    ", "é", "x = y\n"]
)
TEXTS = st.lists(PIECES, max_size=25).map("".join)


@given(TEXTS, TEXTS)
@settings(max_examples=400, deadline=None)
def test_hunks_make_the_text_after_and_do_not_touch(before: str, after: str) -> None:
    hunks = lexical_hunks(before, after)
    assert hunks is not None
    assert apply_all(before, hunks) == after
    assert all(one.end < other.start for one, other in pairwise(hunks))
    assert all(before[hunk.start : hunk.end] != hunk.text for hunk in hunks)


def test_two_parts_of_a_line_are_two_hunks() -> None:
    before = "def f(x: Optional[int]) -> None:"
    assert lexical_hunks(before, "def f(x: int | None) -> None:") == [
        Change(9, 18, ""),
        Change(21, 22, " | None"),
    ]


def test_words_with_a_blank_between_them_are_one_hunk() -> None:
    assert lexical_hunks("const int size = 3;", "static long size = 3;") == [Change(0, 9, "static long")]


def test_a_new_line_between_changed_lines_is_a_hunk_of_its_own() -> None:
    before = "log.info(a)\nlog.info(b)\n"
    after = "log.debug(a)\nreturn None\nlog.debug(b)\n"
    assert lexical_hunks(before, after) == [
        Change(4, 8, "debug"),
        Change(11, 11, "\nreturn None"),
        Change(16, 20, "debug"),
    ]


def test_unrelated_lines_are_one_hunk() -> None:
    assert lexical_hunks("a\nfoo(one, two)\nb", "a\nreturn {x: y}\nb") == [Change(2, 15, "return {x: y}")]
