"""Cases mined from a change of a file: right answers are right."""

from pathlib import Path
from random import Random

from model.editing.change import Change
from tests.training.tokenizers import SAMPLE
from training.sources.corpus import Repository
from training.sources.git import Modification
from training.suite.cases import Case
from training.suite.mined_cases import choose_cases, make_refactoring_cases, mine_history_cases

REPOSITORY = Repository("owner/name", Path(), "test")
MODIFICATION = Modification("c" * 40, "reader.py", "a" * 40, "b" * 40)
RENAMED = SAMPLE.replace("print", "log")


def find_case(kind: str, new: str = RENAMED) -> Case:
    for seed in range(50):
        for case in mine_history_cases(REPOSITORY, MODIFICATION, SAMPLE, new, Random(seed)):
            if case.kind == kind:
                return case
    raise AssertionError(f"no case of kind {kind}")


def test_the_next_hunk_and_every_other_hunk_to_come_are_right() -> None:
    case = find_case("repeat")
    now = case.current_text()
    assert case.expected_text is not None
    assert case.expected_text != now
    for change in case.also:
        assert case.is_right(change)
    assert not case.is_right(Change(0, 0, "x"))
    assert not case.is_right(None)


def test_when_all_is_done_silence_is_right() -> None:
    case = find_case("done")
    assert case.current_text() == RENAMED
    assert case.is_right(None)
    assert not case.is_right(Change(0, 0, "x"))


def test_a_hunk_like_none_before_is_ordinary() -> None:
    case = find_case("ordinary", SAMPLE.replace("import logging", "import os").replace("limit=3", "limit=4"))
    assert len(case.edits) == 1
    assert case.also == ()


def test_the_cursor_is_where_the_newest_change_ends() -> None:
    case = find_case("repeat")
    newest = case.edits[-1]
    assert case.current_text()[newest.start : case.cursor] == newest.text


def test_a_refactoring_makes_a_case_on_the_way_and_one_when_done() -> None:
    done = None
    for seed in range(40):
        for case in make_refactoring_cases(REPOSITORY, MODIFICATION, SAMPLE, Random(seed)):
            if case.kind == "done":
                done = case.current_text()
                assert case.is_right(None)
            else:
                now = case.current_text()
                expected = {case.expected_text, *(now[: c.start] + c.text + now[c.end :] for c in case.also)}
                assert len(expected) == 1 + len(case.also)
    assert done


def test_no_repository_fills_a_kind_alone() -> None:
    cases = [find_case("done")] * 10
    assert len(choose_cases(cases, 8, Random(0))) == 2
