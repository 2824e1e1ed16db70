"""Changes of a text for property tests."""

from hypothesis import strategies as st

from model.editing.change import Change
from tests.tokenizing import texts


@st.composite
def changes(draw: st.DrawFn, length: int) -> Change:
    start = draw(st.integers(0, length))
    return Change(start, draw(st.integers(start, min(length, start + 12))), draw(texts))
