from pathlib import Path

from model.editing.change import Change
from model.inference.bundle import Bundle
from model.inference.calibration import Evidence
from model.inference.predictor import Predictor
from training.suite.cases import Case
from training.suite.next_edit import (
    CaseAnswer,
    ask,
    ask_replay,
    calibration_error,
    precision_at_recall,
    report,
    summary,
)
from training.suite.report import markdown

_TINY = Path(__file__).parents[2] / "data" / "tiny_bundle"
_TEXT = "item = 1\nprint(item)\nprint(item)\nprint(item)\n"


def _case(kind: str, expected: str | None) -> Case:
    return Case(
        kind=kind,
        source="history",
        language="python",
        repository="a/b",
        commit="0",
        path="a.py",
        text=_TEXT,
        edits=(Change(0, 4, "result"), Change(17, 21, "result")),
        cursor=23,
        expected_text=expected,
    )


def _answer(kind: str, confidence: float, *, is_right: bool) -> CaseAnswer:
    case = _case(kind, None if kind == "done" else _TEXT)
    return CaseAnswer(case, Change(0, 0, "x"), Evidence(-1.0, -1.0), confidence, None, is_right)


def test_a_case_is_put_to_the_bundle_as_the_service_would() -> None:
    case = _case("repeat", "result = 1\nprint(result)\nprint(result)\nprint(item)\n")
    answer = ask(Predictor(Bundle.load(_TINY), device="cpu"), case)
    assert (answer.change is None) == (answer.silence is not None)
    assert answer.is_right == case.is_right(answer.change)


def test_the_floor_replays_the_newest_edit() -> None:
    answer = ask_replay(_case("repeat", "result = 1\nprint(result)\nprint(result)\nprint(item)\n"))
    assert answer.is_right


def test_to_speak_when_all_is_done_is_never_right() -> None:
    answer = ask_replay(_case("done", None))
    assert answer.change is not None
    assert not answer.is_right


def test_figures_count_what_is_shown_at_a_threshold() -> None:
    answers = [_answer("repeat", 0.9, is_right=True), _answer("repeat", 0.4, is_right=False)]
    answers += [_answer("done", 0.6, is_right=False)]
    assert summary(answers, 0.5)["all"]["precision"] == 0.5
    assert summary(answers, 0.5)["repeat"]["recall"] == 0.5
    assert summary(answers, 0.7)["done"]["quiet"] == 1.0
    assert precision_at_recall(answers[:2], 0.5) == 1.0


def test_confidence_that_is_the_share_of_right_ones_has_no_error() -> None:
    answers = [_answer("repeat", 0.75, is_right=index < 3) for index in range(4)]
    assert calibration_error(answers) == 0.0
    assert calibration_error([_answer("repeat", 0.95, is_right=False)]) > 0.9


def test_the_report_has_a_row_for_each_kind() -> None:
    answers = [_answer(kind, 0.9, is_right=kind != "done") for kind in ("repeat", "ordinary", "done")]
    result = {"bundle": "tiny", "cases": 3} | report(answers, [ask_replay(a.case) for a in answers], 0.5)
    text = markdown(result)
    assert all(f"| {kind} |" in text for kind in ("all", "repeat", "ordinary", "done"))


def test_the_report_compares_with_another_network() -> None:
    answers = [_answer(kind, 0.9, is_right=kind != "done") for kind in ("repeat", "ordinary", "done")]
    result = {"bundle": "tiny", "cases": 3} | report(answers, [ask_replay(a.case) for a in answers], 0.5)
    assert "IA-ag" not in markdown(result)
    result["network_floor"] = summary(answers, 0.95) | {"name": "IA-ag"}
    text = markdown(result)
    assert "the paper's plain IA-ag" in text
    assert "| repeat | 1 | 0 | 0 |" in text
