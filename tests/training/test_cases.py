"""Cases of the next-edit suite: right answers are right, and the floor replays."""

import json
from pathlib import Path
from random import Random

import pytest

from model.editing.change import Change
from tests.training.test_mine import corpus_of, mirrors  # noqa: F401  (a fixture)
from tests.training.tokenizers import SAMPLE
from training.cases import KINDS, Case, choose, history_cases, main, read_cases, refactoring_cases, replay
from training.sources.corpus import Repository
from training.sources.git import Modification

REPOSITORY = Repository("owner/name", Path(), "test")
MODIFICATION = Modification("c" * 40, "reader.py", "a" * 40, "b" * 40)
RENAMED = SAMPLE.replace("print", "log")


def made(kind: str, new: str = RENAMED) -> Case:
    for seed in range(50):
        for case in history_cases(REPOSITORY, MODIFICATION, SAMPLE, new, Random(seed)):
            if case.kind == kind:
                return case
    raise AssertionError(f"no case of kind {kind}")


def test_the_next_hunk_and_every_other_hunk_to_come_are_right() -> None:
    case = made("repeat")
    now = case.text_now()
    assert case.expected_text is not None
    assert case.expected_text != now
    for change in case.also:
        assert case.is_right(change)
    assert not case.is_right(Change(0, 0, "x"))
    assert not case.is_right(None)


def test_when_all_is_done_silence_is_right() -> None:
    case = made("done")
    assert case.text_now() == RENAMED
    assert case.is_right(None)
    assert not case.is_right(Change(0, 0, "x"))


def test_a_hunk_like_none_before_is_ordinary() -> None:
    case = made("ordinary", SAMPLE.replace("import logging", "import os").replace("limit=3", "limit=4"))
    assert len(case.edits) == 1
    assert case.also == ()


def test_the_cursor_is_where_the_newest_change_ends() -> None:
    case = made("repeat")
    newest = case.edits[-1]
    assert case.text_now()[newest.start : case.cursor] == newest.text


def test_a_refactoring_makes_a_case_on_the_way_and_one_when_done() -> None:
    for seed in range(40):
        for case in refactoring_cases(REPOSITORY, MODIFICATION, SAMPLE, Random(seed)):
            if case.kind == "done":
                done = case.text_now()
                assert case.is_right(None)
            else:
                now = case.text_now()
                expected = {case.expected_text, *(now[: c.start] + c.text + now[c.end :] for c in case.also)}
                assert len(expected) == 1 + len(case.also)
        assert seed is not None
        assert done


def test_replay_makes_the_newest_edit_at_its_next_same_place() -> None:
    text = "a = old(1)\nb = old(2)\nc = old(3)\n"
    middle = text.index("old(2)")
    case = Case(
        "repeat", "history", "python", "o/n", "c", "a.py", text, (Change(middle, middle + 3, "new"),), 0, None
    )
    change = replay(case)
    assert change == Change(text.index("old(3)"), text.index("old(3)") + 3, "new")


def test_replay_of_an_insertion_looks_for_its_neighbours() -> None:
    text = "f(a)\nf(a)\n"
    case = Case("repeat", "history", "python", "o/n", "c", "a.py", text, (Change(3, 3, ", b"),), 0, None)
    assert replay(case) == Change(text.index("a)", 4) + 4, text.index("a)", 4) + 4, ", b")


def test_replay_goes_on_from_the_top_and_is_silent_when_there_is_no_such_place() -> None:
    text = "old\nold\n"
    last = Case("repeat", "history", "python", "o/n", "c", "a.py", text, (Change(4, 7, "new"),), 0, None)
    assert replay(last) == Change(0, 3, "new")
    only = Case("done", "history", "python", "o/n", "c", "a.py", "old\n", (Change(0, 3, "new"),), 0, None)
    assert replay(only) is None


def test_cases_survive_their_file(tmp_path: Path) -> None:
    case = made("repeat")
    (tmp_path / "cases.jsonl").write_text(case.to_json() + "\n", encoding="utf-8")
    assert read_cases(tmp_path / "cases.jsonl") == [case]
    assert {"kind", "language", "text", "edits", "cursor", "expected_text"} <= set(json.loads(case.to_json()))


def test_no_repository_fills_a_kind_alone() -> None:
    cases = [made("done")] * 10
    assert len(choose(cases, 8, Random(0))) == 2


def test_the_program_writes_all_kinds(
    mirrors: Path,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = [
        "--corpus",
        str(corpus_of(mirrors)),
        "--mirrors",
        str(mirrors),
        "--split",
        "dev",
        "--count",
        "8",
    ]
    assert main([*arguments, "--out", str(tmp_path / "cases.jsonl")]) == 0
    assert {case.kind for case in read_cases(tmp_path / "cases.jsonl")} <= set(KINDS)
    assert "replay on repeat" in capsys.readouterr().out
