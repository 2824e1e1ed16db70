"""Right offers, pieces and wrong offers, whatever way a difference is cut into changes."""

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from model.editing.change import Change
from training.suite.rightness import find_run, find_word, is_piece, is_right
from training.trajectories.lexical_hunks import lexical_hunks

PIECES = st.sampled_from(["a", "b", "call", "(", ")", ", ", " ", "\n", "\n    ", "é", "x = y\n", "value"])
TEXTS = st.lists(PIECES, max_size=25).map("".join)
NOW = "def f(a: Optional[int], b: Optional[str]):\n    log.info(a)\n    log.info(b)\n"
FINAL = "def f(a: int | None, b: str | None):\n    log.debug(a)\n    log.debug(b)\n"


def applied(text: str, change: Change) -> str:
    return text[: change.start] + change.text + text[change.end :]


def change_of(old: str, new: str, nth: int = 0) -> Change:
    """The replacement of the nth occurrence of a text."""
    start = -1
    for _ in range(nth + 1):
        start = NOW.index(old, start + 1)
    return Change(start, start + len(old), new)


@given(TEXTS, TEXTS, st.data())
@settings(max_examples=300, deadline=None)
def test_each_hunk_is_right_and_no_wider_change_hides_it(now: str, final: str, data: st.DataObject) -> None:
    hunks = lexical_hunks(now, final)
    assume(hunks)
    assert hunks is not None
    index = data.draw(st.integers(0, len(hunks) - 1))
    hunk = hunks[index]
    left, right = data.draw(st.integers(0, 4)), data.draw(st.integers(0, 4))
    start, end = max(0, hunk.start - left), min(len(now), hunk.end + right)
    wider = Change(start, end, now[start : hunk.start] + hunk.text + now[hunk.end : end])
    run = find_run(now, hunks, wider)
    assert run is not None
    assert applied(now, wider) == applied(now, hunk)
    assert is_right(now, final, wider)


@given(TEXTS, TEXTS, st.data())
@settings(max_examples=300, deadline=None)
def test_the_same_text_told_otherwise_is_judged_the_same(now: str, final: str, data: st.DataObject) -> None:
    """Insert a token beside an equal one: on either side of it the text is the same."""
    hunks = lexical_hunks(now, final) or []
    start = data.draw(st.integers(0, len(now)))
    length = data.draw(st.integers(1, 4))
    repeated = now[start : start + length]
    assume(len(repeated) == length)
    before, after = Change(start, start, repeated), Change(start + length, start + length, repeated)
    assert (find_run(now, hunks, before) is None) == (find_run(now, hunks, after) is None)


def test_one_hunk_and_a_run_of_hunks_on_one_line_are_right() -> None:
    assert is_right(NOW, FINAL, change_of("info", "debug", nth=1))
    assert is_right(NOW, FINAL, change_of("Optional[", ""))
    assert is_right(NOW, FINAL, change_of("Optional[int]", "int | None"))
    assert is_right(NOW, FINAL, change_of("Optional[int], b: Optional[str]", "int | None, b: str | None"))


def test_other_texts_and_other_ranges_are_wrong() -> None:
    hunks = lexical_hunks(NOW, FINAL) or []
    for change in (change_of("info", "warn"), change_of("log", "debug"), change_of("(a)", "(b)")):
        assert not is_right(NOW, FINAL, change)
        assert not is_piece(NOW, hunks, change)


def test_part_of_a_hunk_and_hunks_of_several_lines_are_pieces() -> None:
    hunks = lexical_hunks(NOW, FINAL) or []
    part = change_of("]", " |")
    lines = change_of("info(a)\n    log.info", "debug(a)\n    log.debug")
    for change in (part, lines):
        assert not is_right(NOW, FINAL, change)
        assert is_piece(NOW, hunks, change)


def test_nothing_is_right_when_everything_is_made() -> None:
    assert not is_right(FINAL, FINAL, Change(0, 3, "async def"))
    assert not is_piece(FINAL, [], Change(0, 3, "async def"))


def test_a_completed_word_is_right_when_the_author_writes_that_word_there() -> None:
    now, final = "x = co\ny = 1\n", "x = connection.get(1)\ny = 1\n"
    hunks = lexical_hunks(now, final)
    assert hunks
    assert find_word(now, hunks, Change(6, 6, "nnection")) == range(1)
    assert find_word(now, hunks, Change(6, 6, "nnect")) is None
    assert find_word(now, hunks, Change(6, 6, "nsumer")) is None
    assert find_word(now, hunks, Change(11, 11, "es")) is None
