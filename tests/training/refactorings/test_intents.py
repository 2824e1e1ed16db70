"""Each maker does throughout a text what its name says."""

from collections.abc import Callable
from random import Random

import pytest

from training.refactorings import intents
from training.refactorings.intents import MAKERS, Maker
from training.refactorings.source import Source
from training.trajectories.trajectory import apply_changes


def find_outcomes(maker: Maker, text: str, tries: int = 60) -> set[str]:
    """The texts that a maker may make of a text."""
    result = set()
    for seed in range(tries):
        found = maker(Source(text), Random(seed))
        changes = found[1] if found is not None else []
        if changes:
            # From the end, so that the offsets of the others stay right.
            result.add(apply_changes(text, sorted(set(changes), reverse=True))[-1])
    return result


CASES: list[tuple[Maker, str, Callable[[str], bool]]] = [
    (intents._remove_argument, "f(a, b)\nf(c, d)", lambda text: text == "f(b)\nf(d)"),
    (intents._remove_argument, "f(a, b)\nf(c, d)", lambda text: text == "f(a)\nf(c)"),
    (intents._swap_arguments, "f(a, b)\nf(c, d)", lambda text: text == "f(b, a)\nf(d, c)"),
    (intents._unwrap_call, "x = str(a)\ny = str(b)", lambda text: text == "x = a\ny = b"),
    (intents._change_callee, "print(a)\nprint(b)", lambda text: text == "logger.info(a)\nlogger.info(b)"),
    (intents._change_quotes, "f('a')\nf('b')", lambda text: text == 'f("a")\nf("b")'),
    (intents._change_word, "var a = 1\nvar b = 2", lambda text: text == "const a = 1\nconst b = 2"),
    (intents._add_argument, "f(a)\nf()", lambda text: text.endswith("f(None)") and "f(a, None)" in text),
    (intents._add_key, "a = {'x': 1}\nb = {'y': 2}", lambda text: text.count("': ") == 4),
    (intents._remove_lines, "\nlog(a)\nuse(a)\nlog(b)", lambda text: text == "\nuse(a)"),
    (intents._line_start, "go(a)\ngo(b)", lambda text: text == "await go(a)\nawait go(b)"),
    (intents._line_end, "def f():\ndef g():", lambda text: text == "def f() -> None:\ndef g() -> None:"),
    (
        intents._wrap_call,
        "x = load(a)\ny = load(b)",
        lambda text: text == "x = list(load(a))\ny = list(load(b))",
    ),
]


@pytest.mark.parametrize(
    ("maker", "text", "is_wanted"), CASES, ids=lambda value: getattr(value, "__name__", "")
)
def test_a_maker_can_make(maker: Maker, text: str, is_wanted: Callable[[str], bool]) -> None:
    made = find_outcomes(maker, text, tries=400)
    assert any(is_wanted(one) for one in made), made


@pytest.mark.parametrize("maker", [maker for maker, _ in MAKERS], ids=lambda maker: maker.__name__)
def test_a_maker_gives_up_on_an_empty_text(maker: Maker) -> None:
    assert find_outcomes(maker, "", tries=3) == set()


@pytest.mark.parametrize("maker", [maker for maker, _ in MAKERS], ids=lambda maker: maker.__name__)
def test_a_maker_can_do_without_names_of_its_own(maker: Maker) -> None:
    find_outcomes(maker, "a.b\na.b\n", tries=60)  # one letter is too short for a name
