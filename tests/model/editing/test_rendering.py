from hypothesis import given
from hypothesis import strategies as st

from model.editing.burst import Burst
from model.editing.edits import Edit, Slots, implicit_from_explicit
from model.editing.rendering import render
from model.editing.token_text import TokenText
from tests.model.editing.drawn_changes import changes
from tests.tokenizing import small_tokenizer, texts


@given(texts, st.data())
def test_rendering_the_edits_between_two_texts_gives_the_second_text(text: str, data: st.DataObject) -> None:
    tokenizer = small_tokenizer()
    token_text = TokenText(tokenizer, text)
    slots = Slots(token_text.state())
    change = data.draw(changes(len(text)))
    burst = Burst(token_text, token_text.replace(change))
    edits: list[Edit] = implicit_from_explicit(tuple(slots.tokens()), burst.edits())
    rendered = render(slots, edits, tokenizer)
    assert rendered.apply_to(text) == change.apply_to(text)
    assert slots.edits == []
