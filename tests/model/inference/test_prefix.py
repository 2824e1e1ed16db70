"""Names that continue what is being typed."""

from collections.abc import Sequence

import pytest

from model.editing.edits import Edit
from model.inference.calibration import Calibration
from model.inference.search import Decoded, Wish
from model.silence import Silence
from tests.model.inference.scripted_history import (
    BASE,
    MADE,
    NEWEST,
    TOKENIZER,
    Said,
    ScriptedHistory,
    ask,
    scripted,
    spell,
)


def prefixed(prefix: str, contents: dict[str, float], threshold: float = 0.4) -> Decoded:
    """The model wants one of some names after the first "= "."""
    spelled = {name: spell(name) for name in contents}

    def script(edits: Sequence[Edit]) -> Said:
        written = [edit.content for edit in edits]
        said: dict[int, float] = {}
        going = {n: p for n, p in contents.items() if spelled[n][: len(written)] == written}
        for name, probability in going.items():
            if len(spelled[name]) > len(written):
                token = spelled[name][len(written)]
                said[token] = said.get(token, 0) + probability / sum(going.values())
        return {NEWEST + len(edits) - 1 if edits else 4: 1.0}, said

    history = ScriptedHistory(BASE, MADE, script)
    return ask(history, Wish(cursor=4, prefix=prefix, threshold=threshold))


@pytest.mark.parametrize(
    ("prefix", "contents", "expected"),
    [
        ("re", {"result": 0.2, "total": 0.8}, "result"),
        ("z", {"zebra": 0.3, "total": 0.7}, "zebra"),
        ("zeb", {"zebra": 0.3, "zero": 0.7}, "zebra"),
        ("t", {"total": 0.6, "zebra": 0.4}, "total"),
    ],
)
def test_a_prefix_is_continued(prefix: str, contents: dict[str, float], expected: str) -> None:
    (prediction,) = prefixed(prefix, contents).predictions
    assert TOKENIZER.decode(edit.content for edit in prediction.edits) == expected
    assert prediction.edits[0].position == 4
    assert prediction.continues_prefix
    assert prediction.confidence > 0.9  # given what is typed there is no other way


def test_the_likeliest_name_is_found_though_its_first_token_is_not_the_likeliest() -> None:
    several = {"item": 0.35, "ixa": 0.25, "ixb": 0.2, "ixc": 0.2}
    assert len(spell("item")) == 1
    assert len({spell(name)[0] for name in several}) == 2
    (prediction,) = prefixed("i", several, threshold=0.3).predictions
    assert TOKENIZER.decode(edit.content for edit in prediction.edits) == "item"
    assert prediction.confidence == pytest.approx(0.35, abs=0.01)


def test_a_prefix_that_is_a_whole_name_is_told() -> None:
    typed = [Edit(4, spell("result")[0])]
    assert prefixed("result", {"result": 0.9, "total": 0.1}) == Decoded([], None, tuple(typed))


def test_a_prefix_is_continued_only_above_the_threshold_of_the_calibrated_confidence() -> None:
    """The change might turn out to have been made before, and it was not."""
    weights = {"sequence": 1.0, "shared": 0.0, "stop": 0.0, "again": 9.0, "often": 9.0}
    calibration = Calibration({"hunk": ((-9.0, 0.0), (9.0, 0.9))}, weights={"hunk": weights})
    history = scripted(({4: 0.9}, {spell("result")[0]: 0.9}))
    wish = Wish(until="hunk", cursor=4, prefix="re", threshold=0.0)
    (prediction,) = ask(history, wish, calibration).predictions
    assert prediction.confidence < 0.8
    assert ask(history, wish._replace(threshold=0.8), calibration) == Decoded([], Silence.BELOW_THRESHOLD)


def test_a_prefix_that_goes_nowhere_is_silence() -> None:
    several = {f"z{letter}{letter}": 0.1 for letter in "abcdefghij"}
    assert prefixed("z", several) == Decoded([], Silence.BELOW_THRESHOLD)
