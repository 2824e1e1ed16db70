from pathlib import Path

from model.editing.change import Change
from model.inference.bundle import Bundle
from model.inference.predictor import Predictor
from training.suite.cases import Case
from training.suite.next_edit import ask

_TINY = Path(__file__).parents[2] / "data" / "tiny_bundle"
_CASE = Case(
    kind="repeat",
    source="history",
    language="python",
    repository="a/b",
    commit="0",
    path="a.py",
    text="item = 1\nprint(item)\nprint(item)\nprint(item)\n",
    edits=(Change(0, 4, "result"), Change(17, 21, "result")),
    cursor=23,
    expected_text="result = 1\nprint(result)\nprint(result)\nprint(item)\n",
)


def test_a_case_is_put_to_the_bundle_as_the_service_would() -> None:
    answer = ask(Predictor(Bundle.load(_TINY), device="cpu"), _CASE)
    assert (answer.change is None) == (answer.silence is not None)
    assert answer.is_right == _CASE.is_right(answer.change)
