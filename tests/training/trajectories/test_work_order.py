"""Every hunk is in one task, and every task comes once."""

from dataclasses import replace
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from training.trajectories.hands import TRAINING_HANDS
from training.trajectories.lexical_hunks import apply_all, lexical_hunks
from training.trajectories.work_order import plan_tasks, work_order

PIECES = st.sampled_from(["a", "b", "call", "(", ")", ", ", " ", "\n", "\n    ", "é", "x = y\n", "value"])
TEXTS = st.lists(PIECES, max_size=25).map("".join)


@given(TEXTS, TEXTS, st.integers(0, 2**32), st.floats(0, 1), st.floats(0, 1))
@settings(max_examples=200, deadline=None)
def test_tasks_make_all_hunks(before: str, after: str, seed: int, lines: float, expressions: float) -> None:
    random = Random(seed)
    hands = replace(TRAINING_HANDS.draw(random), retype_line=lines, retype_expression=expressions)
    hunks = lexical_hunks(before, after) or []
    tasks = plan_tasks(before, hunks, hands, random)
    assert [number for task in tasks for number in task.hunks] == list(range(len(hunks)))
    changes = [task.change for task in tasks]
    assert apply_all(before, changes) == after
    assert sorted(work_order(before, changes, hands, random)) == list(range(len(tasks)))


def test_passes_make_the_commonest_change_everywhere_first() -> None:
    before = "old(1)\nonce(2)\nold(3)\n"
    hunks = lexical_hunks(before, "new(1)\ntwice(2)\nnew(3)\n") or []
    hands = replace(TRAINING_HANDS.low, downwards=0.0, upwards=0.0, passes=1.0, backwards_on_line=0.0)
    assert work_order(before, hunks, hands, Random(0)) == [0, 2, 1]


def test_a_retyped_line_keeps_its_indentation() -> None:
    before = "if x:\n    call(a, b)\n"
    hunks = lexical_hunks(before, "if x:\n    call(c, d)\n") or []
    hands = replace(TRAINING_HANDS.low, retype_line=1.0)
    (task,) = plan_tasks(before, hunks, hands, Random(0))
    assert before[task.change.start : task.change.end] == "call(a, b)"
    assert task.change.text == "call(c, d)"
