"""The floor makes the newest edit once more."""

from model.editing.change import Change
from training.suite.cases import Case
from training.suite.floors import replay


def make_case(text: str, change: Change) -> Case:
    return Case("repeat", "history", "python", "o/n", "c", "a.py", text, (change,), 0, None)


def test_replay_makes_the_newest_edit_at_the_next_text_that_it_fits() -> None:
    text = "a = old(1)\nb = old(2)\nc = old(3)\n"
    middle, last = text.index("old(2)"), text.index("old(3)")
    case = make_case(text, Change(middle, middle + 3, "new"))
    assert replay(case) == Change(last, last + 3, "new")


def test_replay_of_an_insertion_looks_for_its_neighbours() -> None:
    text = "f(a)\nf(a)\n"
    case = make_case(text, Change(3, 3, ", b"))
    assert replay(case) == Change(text.index("a)", 4) + 4, text.index("a)", 4) + 4, ", b")


def test_replay_goes_on_from_the_top_and_is_silent_when_nothing_fits() -> None:
    assert replay(make_case("old\nold\n", Change(4, 7, "new"))) == Change(0, 3, "new")
    assert replay(make_case("old\n", Change(0, 3, "new"))) is None
