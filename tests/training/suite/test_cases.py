"""Cases of the next-edit suite as they are kept in a file."""

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from model.editing.change import Change
from training.suite.cases import Case, read_cases, write_cases

TEXT = "a = old(1)\nb = old(2)\nc = old(3)\n"
FIRST, SECOND, THIRD = (
    Change(TEXT.index(f"old({n})"), TEXT.index(f"old({n})") + 3, "new") for n in (1, 2, 3)
)
CASE = Case(
    kind="repeat",
    source="history",
    language="python",
    repository="owner/name",
    commit="c" * 40,
    path="a.py",
    text=TEXT,
    edits=(FIRST,),
    cursor=FIRST.start + 3,
    expected_text=SECOND.apply_to(TEXT.replace("old", "new", 1)),
    also=(THIRD,),
)


def test_cases_survive_their_file(tmp_path: Path) -> None:
    path = tmp_path / "new" / "cases.jsonl"
    write_cases([CASE, CASE], path)
    assert read_cases(path) == [CASE, CASE]
    assert {"kind", "language", "text", "edits", "cursor", "expected_text"} <= set(json.loads(CASE.to_json()))


def test_the_next_change_and_those_to_come_are_right_and_no_others() -> None:
    assert CASE.is_right(SECOND)
    assert CASE.is_right(THIRD)
    assert not CASE.is_right(FIRST._replace(text="other"))
    assert not CASE.is_right(None)


@given(st.integers(0, len(TEXT)), st.text(max_size=3))
def test_when_all_is_done_only_silence_is_right(start: int, text: str) -> None:
    done = Case("done", "history", "python", "o/n", "c", "a.py", TEXT, (FIRST,), 0, None)
    assert done.is_right(None)
    assert not done.is_right(Change(start, start, text))
