from hypothesis import given
from hypothesis import strategies as st

from model.editing.burst import Burst, Change, TokenText, half_typed, render
from model.editing.edits import Edit, Slots, implicit_from_explicit
from tests.tokenizing import small_tokenizer, texts


@st.composite
def changes(draw: st.DrawFn, length: int) -> Change:
    start = draw(st.integers(0, length))
    return Change(start, draw(st.integers(start, min(length, start + 12))), draw(texts))


def naive(text: str, change: Change) -> str:
    return text[: change.start] + change.text + text[change.end :]


@given(texts, st.data())
def test_after_any_changes_segments_and_tokens_are_those_of_the_whole_text(
    text: str, data: st.DataObject
) -> None:
    tokenizer = small_tokenizer()
    token_text = TokenText(tokenizer, text)
    for _ in range(data.draw(st.integers(1, 4))):
        change = data.draw(changes(len(text)))
        assert token_text.between(change.start, change.end) == text[change.start : change.end]
        text = naive(text, change)
        token_text.replace(change)
        fresh = TokenText(tokenizer, text)
        assert token_text.segments == fresh.segments
        assert token_text.tokens == fresh.tokens
        assert [token_text.start_of(i) for i in range(len(fresh.segments))] == [
            fresh.start_of(i) for i in range(len(fresh.segments))
        ]
        assert len(token_text) == len(text)


@given(texts, st.data())
def test_the_edits_of_a_burst_turn_the_state_before_it_into_the_state_after(
    text: str, data: st.DataObject
) -> None:
    tokenizer = small_tokenizer()
    token_text = TokenText(tokenizer, text)
    before = token_text.state()
    change = data.draw(changes(len(text)))
    text = naive(text, change)
    burst = Burst(token_text, token_text.replace(change))
    for _ in range(data.draw(st.integers(0, 4))):
        change = data.draw(changes(len(text)))
        text = naive(text, change)
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
    assert half_typed(token_text, 8) == "resu"
    assert half_typed(token_text, 6) == ""
    slots = Slots((1, *tokenizer.encode("a = 1\n"), 2))
    for edit in burst.edits(partial=Change(4, 8, "")):
        slots.apply_explicit(edit)
    assert tokenizer.decode(slots.tokens()) == "a = \n"


@given(texts, st.data())
def test_rendering_the_edits_between_two_texts_gives_the_second_text(text: str, data: st.DataObject) -> None:
    tokenizer = small_tokenizer()
    token_text = TokenText(tokenizer, text)
    slots = Slots(token_text.state())
    change = data.draw(changes(len(text)))
    burst = Burst(token_text, token_text.replace(change))
    edits: list[Edit] = implicit_from_explicit(tuple(slots.tokens()), burst.edits())
    rendered = render(slots, edits, tokenizer)
    assert naive(text, rendered) == naive(text, change)
    assert slots.edits == []
