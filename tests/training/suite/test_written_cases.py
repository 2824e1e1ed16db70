"""Cases in Markdown: what they say is what is asked, and faults are named."""

from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from model.editing.change import Change
from training.suite.written_cases import KNOWN_WEAK, RIGHT, parse_case, read_written_cases

CASE = """# Rename a name

One use is renamed.

- language: python
- status: right

## Before

```python
old = 1
use(old)
use(old, old)
```

## Edits

- line 1: `old = 1` -> `new = 1`

## Expected

- line 2: `old` -> `new`
- line 3: `(old,` -> `(new,`
"""


def test_a_case_is_its_text_its_edits_and_every_right_answer() -> None:
    written = parse_case("rename", CASE)
    assert (written.name, written.title, written.status) == ("rename", "Rename a name", RIGHT)
    case = written.case
    assert case.text == "old = 1\nuse(old)\nuse(old, old)\n"
    assert case.edits == (Change(0, 7, "new = 1"),)
    assert case.cursor == 7
    assert case.expected_text == "new = 1\nuse(new)\nuse(old, old)\n"
    assert case.is_right(Change(12, 15, "new"))
    assert case.is_right(Change(21, 24, "new"))
    assert not case.is_right(Change(26, 29, "new"))
    assert not case.is_right(None)


def test_when_nothing_is_expected_silence_is_right() -> None:
    done = parse_case("done", CASE.split("## Expected")[0] + "## Expected\n\nNothing.\n").case
    assert done.kind == "done"
    assert done.is_right(None)


@given(st.lists(st.text(alphabet="ab `->(é😀", min_size=1, max_size=8), min_size=1, max_size=4), st.data())
def test_the_edits_of_any_line_make_the_text_that_they_say(lines: list[str], data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(lines) - 1))
    old, new = lines[number], data.draw(st.text(alphabet="ab `->(é😀", max_size=8))
    assume("` -> `" not in f"`{old}` -> `{new}`"[1 : len(old) + 1] and "` -> `" not in f"`{new}`")
    before = "\n".join(lines)
    markdown = (
        f"# T\n\n- language: x\n- status: {KNOWN_WEAK}\n\n## Before\n\n~~~\n\n`````\n{before}\n`````\n\n"
        f"## Edits\n\n- line {number + 1}: `{old}` -> `{new}`\n\n## Expected\n\nNothing.\n"
    )
    changed = [*lines[:number], new, *lines[number + 1 :]]
    assert parse_case("any", markdown).case.current_text() == "\n".join(changed) + "\n"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("status: right", "status: nearly", "the status 'nearly' is none of right, known-weak"),
        ("## Edits", "## Other", "'Edits' is missing"),
        ("- line 1: `old = 1` -> `new = 1`", "", "Edits names no edit"),
        ("- line 2: `old` ->", "- line 3: `old` ->", "`old` stands 2 times on line 3, not once"),
        ("- line 2:", "- line 9:", "line 9 is outside a text of 4 lines"),
        ("- line 2: `old` -> `new`", "- line 2: old to new", "is not of the form"),
        ("```python", "python", "Before has no fenced block"),
    ],
)
def test_a_fault_is_named(old: str, new: str, message: str) -> None:
    with pytest.raises(ValueError, match="case rename: ") as error:
        parse_case("rename", CASE.replace(old, new, 1))
    assert message in str(error.value)


def test_a_folder_without_cases_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has no cases"):
        read_written_cases(tmp_path)
