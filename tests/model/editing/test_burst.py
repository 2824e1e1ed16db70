from hypothesis import given
from hypothesis import strategies as st

from model.editing.burst import Burst
from model.editing.change import Change
from model.editing.edits import Slots
from model.editing.token_text import TokenText
from tests.model.editing.drawn_changes import changes
from tests.tokenizing import small_tokenizer, texts


@given(texts, st.data())
def test_the_edits_of_a_burst_turn_the_state_before_it_into_the_state_after(
    text: str, data: st.DataObject
) -> None:
    tokenizer = small_tokenizer()
    token_text = TokenText(tokenizer, text)
    before = token_text.state()
    change = data.draw(changes(len(text)))
    text = change.apply_to(text)
    burst = Burst(token_text, token_text.replace(change))
    for _ in range(data.draw(st.integers(0, 4))):
        change = data.draw(changes(len(text)))
        text = change.apply_to(text)
        burst.extend(token_text.replace(change))
    slots = Slots(before)
    for edit in burst.edits():
        slots.apply_explicit(edit)
    assert tuple(slots.tokens()) == TokenText(tokenizer, text).state()


def test_a_deletion_from_far_above_into_the_region_keeps_the_burst_right() -> None:
    tokenizer = small_tokenizer()
    token_text = TokenText(tokenizer, "\r\r\r\ra\r")
    slots = Slots(token_text.state())
    burst = Burst(token_text, token_text.replace(Change(5, 5, "\r1\r")))
    burst.extend(token_text.replace(Change(0, 6, "")))
    for edit in burst.edits():
        slots.apply_explicit(edit)
    assert tokenizer.decode(slots.tokens()) == token_text.text == "1\r\r"


def test_what_is_typed_and_deleted_again_leaves_nothing() -> None:
    token_text = TokenText(small_tokenizer(), "a = 1\nb = 2\n")
    burst = Burst(token_text, token_text.replace(Change(4, 4, "foo")))
    burst.extend(token_text.replace(Change(4, 7, "")))
    assert burst.edits() == []


def test_a_half_typed_name_is_not_an_edit_yet() -> None:
    tokenizer = small_tokenizer()
    token_text = TokenText(tokenizer, "a = 1\n")
    burst = Burst(token_text, token_text.replace(Change(4, 5, "resu")))
    slots = Slots((1, *tokenizer.encode("a = 1\n"), 2))
    for edit in burst.edits(token_text.take_out(4, 8)):
        slots.apply_explicit(edit)
    assert tokenizer.decode(slots.tokens()) == "a = \n"


def burst_after(text: str, *made: Change) -> Burst:
    token_text = TokenText(small_tokenizer(), text)
    burst = Burst(token_text, token_text.replace(made[0]))
    for change in made[1:]:
        burst.extend(token_text.replace(change))
    burst.settle()
    return burst


def test_typing_along_a_line_continues_the_burst() -> None:
    burst = burst_after("a = 1\n", Change(5, 5, " "), Change(6, 6, "+"))
    assert burst.is_continued_by([Change(7, 7, " ")])
    assert burst.is_continued_by([Change(6, 7, "")])  # backspace


def test_typing_between_brackets_that_the_editor_closed_continues_the_burst() -> None:
    assert burst_after("a = f\n", Change(5, 5, "()")).is_continued_by([Change(6, 6, "x")])
    assert burst_after("a = f\n", Change(5, 5, "("), Change(6, 6, ")")).is_continued_by([Change(6, 6, "x")])


def test_changes_inside_one_name_belong_together() -> None:
    burst = burst_after("a = result\n", Change(4, 4, "x"))
    assert burst.is_continued_by([Change(11, 11, "s")])
    assert not burst.is_continued_by([Change(3, 3, " "), Change(0, 1, "b")][1:])


def test_a_change_elsewhere_does_not_continue_the_burst_even_on_the_same_line() -> None:
    burst = burst_after("a = f(x)\n", Change(6, 7, "y"))
    assert not burst.is_continued_by([Change(9, 9, ";")])
    assert not burst.is_continued_by([Change(0, 1, "b")])


def test_each_cursor_has_its_own_range() -> None:
    burst = burst_after("foo\nbar\nfoo\n", Change(11, 11, "x"), Change(3, 3, "x"))
    assert burst.is_continued_by([Change(13, 13, "y"), Change(4, 4, "y")])
    assert not burst.is_continued_by([Change(6, 6, "y")])


def test_later_changes_of_a_step_are_in_the_text_that_earlier_ones_left() -> None:
    burst = burst_after("foo = 1\nbar = 2\n", Change(14, 15, "3"))
    assert burst.is_continued_by([Change(0, 0, "foo"), Change(17, 18, "4")])
    assert not burst.is_continued_by([Change(0, 0, "foo"), Change(14, 14, "_")])


@given(texts, st.data())
def test_ranges_hold_all_that_the_changes_inserted(text: str, data: st.DataObject) -> None:
    token_text = TokenText(small_tokenizer(), text)
    marks = [False] * len(text)
    burst = None
    for _ in range(data.draw(st.integers(1, 5))):
        change = data.draw(changes(len(marks)))
        replaced = token_text.replace(change)
        marks[change.start : change.end] = [True] * len(change.text)
        if burst is None:
            burst = Burst(token_text, replaced)
        else:
            burst.extend(replaced)
        for offset, is_new in enumerate(marks):
            assert not is_new or burst.has_typed_in(offset, offset + 1)
