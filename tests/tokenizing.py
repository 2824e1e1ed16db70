"""A small real tokenizer for tests, and texts that are hard on tokenizers."""

from functools import cache

from hypothesis import strategies as st

from model.editing.tokenizer import Tokenizer, train

_SAMPLE = """
def total(items, start=0):
    result = start
    for item in items:
        result += item.price * item.count  # naïve
    return result

print("sum:", total([]))
"""


@cache
def small_tokenizer() -> Tokenizer:
    return train([_SAMPLE] * 4, 340)


# Line breaks of all kinds, blanks, names, digits, quotes, emoji, a lone surrogate, separators that are no line breaks.
CHARACTERS = "\r\n\t abfo_1٣²(\"'=.,é😀\x00\x0c\u2028\ud800"
texts = st.one_of(
    st.text(alphabet=CHARACTERS, max_size=60),
    st.text(max_size=30),
    st.lists(
        st.sampled_from(["foo", "bar", " ", "\n", "\r\n", "\r", "    ", "(", ")", "=", "foo_bar", "12"])
    ).map("".join),
)
