"""A tokenizer that remembers lines gives the same tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.editing.tokenizer import Tokenizer
from tests.training.tokenizers import small_tokenizer
from training.data import line_cache
from training.data.line_cache import CachingTokenizer

TEXTS = st.text(alphabet="ab_ (),.\n\r\t\"'1é😀", max_size=40)


@given(st.lists(TEXTS, max_size=5))
def test_remembered_lines_have_the_same_tokens(texts: list[str]) -> None:
    plain, caching = Tokenizer(small_tokenizer().json), CachingTokenizer(small_tokenizer().json)
    for text in [*texts, *texts]:
        assert caching.encode(text) == plain.encode(text)


def test_a_full_cache_begins_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_cache, "_LIMIT_LINES", 2)
    caching = CachingTokenizer(small_tokenizer().json)
    for line in ("one", "two", "three", "one"):
        assert caching.encode_segment(line) == small_tokenizer().encode_segment(line)
        assert len(caching._lines) <= 2
