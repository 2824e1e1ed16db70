from hypothesis import given
from hypothesis import strategies as st

from model.editing.change import Change, common_length
from tests.model.editing.drawn_changes import changes
from tests.tokenizing import texts


@given(texts, st.data())
def test_growth_and_new_end_say_what_a_change_does_to_a_text(text: str, data: st.DataObject) -> None:
    change: Change = data.draw(changes(len(text)))
    after = change.apply_to(text)
    assert len(after) == len(text) + change.growth
    assert after[change.start : change.new_end] == change.text
    assert after[change.new_end :] == text[change.end :]
    assert change.shifted(2).apply_to("ab" + text) == "ab" + after


@given(texts, texts, texts)
def test_the_common_length_is_the_longest_common_beginning(head: str, one: str, other: str) -> None:
    count = common_length(head + one, head + other)
    assert (head + one)[:count] == (head + other)[:count]
    assert (head + one)[count : count + 1] != (head + other)[count : count + 1] or head + one == head + other
