import pytest

from model.editing.lines import Lines
from model.editing.name_borders import half_typed, widen_to_tokens


@pytest.mark.parametrize(
    ("text", "cursor", "name"),
    [
        ("a = resu\n", 8, "resu"),
        ("a = resu\n", 6, ""),  # in the middle of a name
        ("a = 12\n", 6, ""),
        ("a = x_1", 7, "x_1"),
        ("a = ", 4, ""),
        ("", 0, ""),
        ("a\nbc\n", 4, "bc"),
    ],
)
def test_the_name_that_ends_at_the_cursor_is_half_typed(text: str, cursor: int, name: str) -> None:
    assert half_typed(Lines(text), cursor) == name


def test_ranges_end_where_tokens_end() -> None:
    text = "a  result = 1\n"
    lines = Lines(text)

    def widen(start: int, end: int) -> str:
        first, last = widen_to_tokens(lines, start, end)
        return text[first:last]

    assert widen(4, 5) == "result"
    assert widen(3, 3) == ""  # between two tokens
    assert widen(2, 2) == "  "  # between two blanks
    assert widen(4, 10) == "result "
    assert widen(len(text), len(text)) == ""
    assert widen(0, 0) == ""
