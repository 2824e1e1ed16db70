"""From scores to edits: with scores that a test can choose, and with the tiny bundle's."""

import math
import re
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model.editing.burst import Burst
from model.editing.change import Change
from model.editing.edits import DELETE, END, Edit, Slots, apply
from model.editing.rendering import render
from model.editing.token_text import TokenText
from model.editing.tokenizer import Tokenizer
from model.inference.calibration import Calibration
from model.inference.history import AnyHistory
from model.inference.predictor import Predictor
from model.inference.search import Decoded, Until, Wish, decode
from model.silence import Silence
from tests.model.inference.scripted_history import (
    BASE,
    MADE,
    ONE,
    STOP,
    TWO,
    Said,
    ScriptedHistory,
    ask,
    scripted,
    spell,
)
from tests.tokenizing import texts

TEXT = """def total(items):
    result = 0
    for item in items:
        result += item.price
    return result
"""


def test_a_hunk_that_gets_too_unlikely_is_not_shown() -> None:
    steps: list[Said] = [({7: 0.9}, {DELETE: 1.0}), ({6: 0.9}, {ONE: 0.3, TWO: 0.3})]
    assert ask(scripted(*steps), Wish(until="hunk")) == Decoded([], Silence.BELOW_THRESHOLD)
    assert ask(scripted(*steps), Wish(until="token")).predictions


@pytest.mark.parametrize(("threshold", "is_shown"), [(0.0, True), (0.7, True), (0.74, False), (1.0, False)])
def test_what_is_below_the_threshold_is_not_shown(threshold: float, is_shown: bool) -> None:
    decoded = ask(scripted(({5: 0.9}, {TWO: 0.8})), Wish(threshold=threshold))
    assert bool(decoded.predictions) == is_shown
    assert decoded.silence == (None if is_shown else "below-threshold")


def test_the_threshold_is_of_the_calibrated_confidence() -> None:
    calibration = Calibration({"token": ((-2.0, 0.0), (-0.4, 0.95))})
    history = scripted(({5: 0.9}, {TWO: 0.8}))
    (prediction,) = ask(history, Wish(threshold=0.9), calibration).predictions
    assert prediction.confidence == pytest.approx(0.95)
    assert prediction.log_probability == pytest.approx(math.log(0.72), abs=1e-4)


def test_nothing_edited_nothing_suggested() -> None:
    assert ask(scripted(({5: 0.9}, {TWO: 0.9}), made=[]), Wish()) == Decoded([], Silence.NOTHING_EDITED)


def test_stop_is_silence() -> None:
    end = len(spell(BASE)) + 1
    assert ask(scripted(({end: 0.9}, {END: 1.0})), Wish()) == Decoded([], Silence.STOP_PREDICTED)


@pytest.mark.parametrize("until", ["token", "hunk"])
def test_stop_is_the_reason_when_it_is_likeliest_and_only_then(until: Until) -> None:
    """Also where the places are too unlikely to be looked at."""
    wish = Wish(until=until, threshold=0.8)
    assert ask(scripted(({STOP: 0.6, 5: 0.3}, {TWO: 1.0})), wish) == Decoded([], Silence.STOP_PREDICTED)
    assert ask(scripted(({STOP: 0.3, 5: 0.6}, {TWO: 1.0})), wish) == Decoded([], Silence.BELOW_THRESHOLD)


def test_several_places_come_best_first() -> None:
    history = scripted(({11: 0.3, 5: 0.5, 4: 0.1, 9: 0.1}, {TWO: 1.0}))
    decoded = ask(history, Wish(limit=3, threshold=0.05))
    positions = [prediction.edits[0].position for prediction in decoded.predictions]
    assert positions[:2] == [5, 11]
    assert len(positions) == 3
    confidences = [prediction.confidence for prediction in decoded.predictions]
    assert confidences == sorted(confidences, reverse=True)


def test_the_same_change_at_several_places_is_as_sure_as_all_of_them() -> None:
    history = scripted(({11: 0.5, 3: 0.4, 8: 0.001}, {TWO: 1.0}))
    (best,) = ask(history, Wish(until="hunk", threshold=0.8)).predictions
    assert best.edits == (Edit(11, TWO),)
    assert best.confidence == pytest.approx(0.9 * 0.99, abs=0.02)
    assert best.log_probability == pytest.approx(math.log(0.5), abs=0.02)
    several = ask(history, Wish(until="hunk", limit=3, threshold=0.0)).predictions
    assert [each.confidence > 0.8 for each in several[:3]] == [True, True, False]
    # To the end of a token it is the paper's confidence: that of this place alone.
    assert ask(history, Wish(until="token", threshold=0.8)).silence == "below-threshold"


def test_of_suggestions_that_touch_the_likelier_is_shown() -> None:
    def script(edits: Sequence[Edit]) -> Said:
        if not edits:
            return {7: 0.5, 6: 0.4}, {DELETE: 1.0}
        return {0: 1.0}, {}

    decoded = ask(ScriptedHistory(BASE, MADE, script), Wish(limit=3, threshold=0.05))
    assert [prediction.edits for prediction in decoded.predictions] == [(Edit(7, DELETE),)]


def test_because_names_the_edits_attended_to_most() -> None:
    made = [Edit(5, ONE)] * 5
    (prediction,) = ask(scripted(({5: 1.0}, {TWO: 1.0}), made=made), Wish()).predictions
    assert prediction.because == (4, 3, 2)


# With the tiny bundle.


def edited(predictor: Predictor, text: str, changes: Sequence[Change]) -> tuple[AnyHistory, str]:
    tokens = TokenText(predictor.bundle.require_tokenizer(), text)
    slots = Slots(tokens.state())
    for change in changes:
        for edit in Burst(tokens, tokens.replace(change)).edits():
            slots.apply_explicit(edit)
    history = predictor.open(slots.contents[: slots.state_length])
    history.append(slots.edits)
    return history, tokens.text


def renames(text: str, old: str, new: str, count: int) -> list[Change]:
    """The first so many places of a name, from the top."""
    places = [match.start() for match in re.finditer(rf"\b{old}\b", text)][:count]
    grown = len(new) - len(old)
    return [Change(place + n * grown, place + n * grown + len(old), new) for n, place in enumerate(places)]


def decoded_text(predictor: Predictor, history: AnyHistory, text: str, wish: Wish) -> str:
    bundle = predictor.bundle
    decoded = decode(history, wish, bundle.require_tokenizer(), bundle.calibration)
    (prediction,) = decoded.predictions
    change = render(history.slots, prediction.edits, bundle.require_tokenizer())
    return text[: change.start] + change.text + text[change.end :]


@pytest.mark.parametrize(("old", "new"), [("result", "total"), ("result", "answer"), ("items", "rows")])
def test_after_some_renames_the_next_is_suggested(predictor: Predictor, old: str, new: str) -> None:
    count = len(re.findall(rf"\b{old}\b", TEXT))
    history, text = edited(predictor, TEXT, renames(TEXT, old, new, count - 1))
    wish = Wish(until="hunk", threshold=predictor.bundle.calibration.threshold("hunk"))
    assert decoded_text(predictor, history, text, wish) == TEXT.replace(old, new)


def test_when_all_is_renamed_it_stops(predictor: Predictor) -> None:
    history, _ = edited(predictor, TEXT, renames(TEXT, "result", "total", 3))
    bundle = predictor.bundle
    decoded = decode(history, Wish(until="hunk"), bundle.require_tokenizer(), bundle.calibration)
    assert decoded == Decoded([], Silence.STOP_PREDICTED)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=texts,
    data=st.data(),
    until=st.sampled_from(["token", "hunk"]),
    limit=st.integers(1, 3),
    prefix=st.sampled_from(["", "", "re", "x"]),
)
def test_whatever_is_predicted_is_whole_new_and_leaves_no_trace(
    predictor: Predictor, text: str, data: st.DataObject, until: Until, limit: int, prefix: str
) -> None:
    tokenizer: Tokenizer = predictor.bundle.require_tokenizer()
    start = data.draw(st.integers(0, len(text)))
    history, _ = edited(predictor, text, [Change(start, start, "result")])
    edits, predicted = list(history.slots.edits), history.predict()
    wish = Wish(until=until, limit=limit, threshold=0.001, cursor=0, prefix=prefix)
    decoded = decode(history, wish, tokenizer, predictor.bundle.calibration)
    assert history.slots.edits == edits
    np.testing.assert_allclose(history.predict().positions, predicted.positions, atol=1e-4)
    # Exactly one of the three: edits, a reason, or a prefix that is a whole name.
    assert [bool(decoded.predictions), decoded.silence is not None, bool(decoded.name)].count(True) == 1
    state = history.slots.contents[: history.slots.state_length]
    for prediction in decoded.predictions:
        after = apply(state, [*edits, *prediction.edits])
        assert tokenizer.ends[after[-2]]
        assert after != apply(state, edits)
        assert 0 < prediction.confidence <= 1
        assert set(prediction.because) <= set(range(len(edits)))
