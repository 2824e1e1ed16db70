"""A text as the makers of refactorings see it."""

from hypothesis import given
from hypothesis import strategies as st

from training.refactorings.source import Source


def test_calls_know_their_arguments() -> None:
    source = Source("f(a, g(b, c)[1], d)\nh()")
    calls = {source.tokens[call.name]: [source.slice(*a) for a in call.arguments] for call in source.calls}
    assert calls == {"f": ["a", "g(b, c)[1]", "d"], "g": ["b", "c"], "h": []}


def test_names_in_strings_and_comments_are_no_names_of_the_code() -> None:
    source = Source('value = name("value")  # value of the name\nother = name /* value */ + `x`\n')
    assert source.names["value"] == 1
    assert source.names["name"] == 2


def test_keywords_and_single_letters_are_no_names() -> None:
    assert set(Source("for x in values: return None").names) == {"values"}


@given(st.text(alphabet="ab(),[]{}\"'#/*\n ", max_size=60))
def test_any_text_can_be_looked_at(text: str) -> None:
    source = Source(text)
    assert "".join(source.tokens) == text
    for call in source.calls:
        assert source.tokens[call.opening] == "("
        assert source.tokens[call.closing] == ")"
        for first, last in call.arguments:
            assert call.opening < first < last <= call.closing
