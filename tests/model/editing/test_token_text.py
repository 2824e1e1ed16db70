from hypothesis import given
from hypothesis import strategies as st

from model.editing.token_text import TokenText
from tests.model.editing.drawn_changes import changes
from tests.tokenizing import small_tokenizer, texts


@given(texts, st.data())
def test_after_any_changes_segments_and_tokens_are_those_of_the_whole_text(
    text: str, data: st.DataObject
) -> None:
    tokenizer = small_tokenizer()
    token_text = TokenText(tokenizer, text)
    for _ in range(data.draw(st.integers(1, 4))):
        change = data.draw(changes(len(text)))
        text = change.apply_to(text)
        token_text.replace(change)
        fresh = TokenText(tokenizer, text)
        assert token_text.segments == fresh.segments
        assert token_text.tokens == fresh.tokens
        counts = [token_text.tokens_before(i) for i in range(len(fresh.tokens) + 1)]
        assert counts == [fresh.tokens_before(i) for i in range(len(fresh.tokens) + 1)]
        assert token_text.token_count == counts[-1]
        assert len(token_text) == len(text)


def test_a_name_taken_out_leaves_the_blanks_around_it_apart() -> None:
    tokenizer = small_tokenizer()
    name = TokenText(tokenizer, "x\na = re + b\n").take_out(6, 8)
    assert (name.text, name.segment) == ("re", 1)
    assert tokenizer.decode(name.left) == "\na = "
    assert tokenizer.decode(name.right) == " + b"
