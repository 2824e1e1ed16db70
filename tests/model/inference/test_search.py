"""From scores to edits: with scores that a test can choose, and with the tiny bundle's."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from model.editing.burst import Burst, Change, TokenText, render
from model.editing.edits import DELETE, END, START, Edit, Slots, apply
from model.editing.tokenizer import Tokenizer, train
from model.inference.calibration import Calibration
from model.inference.history import AnyHistory, NextPosition
from model.inference.predictor import Predictor
from model.inference.search import Decoded, Until, Wish, decode
from model.silence import Silence
from tests.tokenizing import texts

TEXT = """def total(items):
    result = 0
    for item in items:
        result += item.price
    return result
"""
PLAIN = Calibration()
# In its vocabulary these words, operators and digits are one token each, others are spelled letter by letter.
TOKENIZER = train(["a = 1\nb = 2\nresult total item\n"] * 9, 320)

# What a scripted model says after the edits since the question: at which slot, and which content, each with its probability.
Said = tuple[dict[int, float], dict[int, float]]
Script = Callable[[Sequence[Edit]], Said]
STOP = -1  # the slot of the end token


@dataclass(frozen=True)
class SaidPosition(NextPosition):
    """A scripted distribution, and after how many edits it was asked for."""

    edits: int


class ScriptedHistory:
    """A history whose scores come from a script."""

    def __init__(self, text: str, edits: Sequence[Edit], script: Script) -> None:
        self.slots = Slots((START, *TOKENIZER.encode(text), END))
        self.nbytes = 0
        self.repeats_after: dict[int, int] = {}  # by the number of edits since the question
        self._script = script
        self.append(edits)
        self._known = len(edits)

    @property
    def repeats(self) -> int:
        return self.repeats_after.get(len(self.slots.edits) - self._known, 0)

    def keep(self, count: int) -> None:
        self.slots.keep(count)

    def append(self, edits: Sequence[Edit]) -> None:
        for edit in edits:
            self.slots.apply(edit)

    @contextmanager
    def try_edits(self) -> Iterator[None]:
        known = len(self.slots.edits)
        yield
        self.keep(known)

    def predict(self) -> NextPosition:
        said = self._script(self.slots.edits[self._known :])[0]
        said = {self.slots.state_length - 1 if slot == STOP else slot: p for slot, p in said.items()}
        weights = np.arange(len(self.slots.edits), dtype=np.float32)
        return SaidPosition(self._scores(said, len(self.slots.contents)), weights, len(self.slots.edits))

    def content(self, predicted: NextPosition, position: int) -> NDArray[np.float32]:
        assert isinstance(predicted, SaidPosition)
        since = self.slots.edits[self._known : predicted.edits]
        return self._scores(self._script(since)[1], len(TOKENIZER))

    @staticmethod
    def _scores(said: dict[int, float], size: int) -> NDArray[np.float32]:
        scores = np.full(size, -30.0, dtype=np.float32)
        for index, probability in said.items():
            scores[index] = math.log(probability)
        return scores


def say(*steps: Said) -> Script:
    """One thing after each number of edits; then to stop."""
    return lambda edits: steps[len(edits)] if len(edits) < len(steps) else ({STOP: 0.99}, {DELETE + 1: 0.5})


def spell(text: str) -> list[int]:
    return TOKENIZER.encode(text)


def ask(history: AnyHistory, wish: Wish, calibration: Calibration = PLAIN) -> Decoded:
    before, edits = history.slots.tokens(), list(history.slots.edits)
    decoded = decode(history, wish, TOKENIZER, calibration)
    assert (history.slots.tokens(), history.slots.edits) == (before, edits)  # left as it was found
    return decoded


# "a = 1" and an edit already made: a second "1" after the first.
BASE = "a = 1\nb = 2\n"
ONE, TWO = spell("1")[0], spell("2")[0]
MADE = [Edit(5, ONE)]
NEWEST = 2 + len(spell(BASE)) + 1  # slot of the first edit that will be decoded


def scripted(*steps: Said, made: Sequence[Edit] = MADE, text: str = BASE) -> ScriptedHistory:
    return ScriptedHistory(text, made, say(*steps))


def test_a_token_is_decoded_to_its_end_and_no_further() -> None:
    parts = spell("zebra")
    assert len(parts) > 2  # no word of the small vocabulary
    steps = [({5: 0.9}, {parts[0]: 0.9})]
    steps += [({NEWEST + n: 1.0}, {part: 1.0}) for n, part in enumerate(parts[1:])]
    steps += [({NEWEST + len(parts) - 1: 1.0}, {TWO: 1.0})]  # it would go on
    (prediction,) = ask(scripted(*steps), Wish()).predictions
    assert [edit.content for edit in prediction.edits] == parts
    assert [edit.position for edit in prediction.edits] == [5, *range(NEWEST, NEWEST + len(parts) - 1)]
    assert prediction.confidence == pytest.approx(0.81, abs=1e-4)
    assert prediction.log_probability == pytest.approx(math.log(0.81), abs=1e-4)


def test_a_name_is_deleted_to_its_end() -> None:
    parts = spell("zebra")
    steps: list[Said] = [({slot: 1.0}, {DELETE: 0.98}) for slot in range(1, 1 + len(parts))]
    (prediction,) = ask(scripted(*steps, made=[Edit(len(parts), ONE)], text="zebra = 1"), Wish()).predictions
    assert prediction.edits == tuple(Edit(slot, DELETE) for slot in range(1, 1 + len(parts)))


def test_a_hunk_goes_on_while_positions_touch_it() -> None:
    eleven, name = spell("b")[0], spell("a")[0]
    steps: list[Said] = [
        ({7: 0.95}, {DELETE: 1.0}),  # the b of the second line
        ({6: 0.95}, {name: 1.0}),  # its replacement, after the line break
        ({NEWEST + 1: 0.9, 3: 0.1}, {ONE: 1.0}),  # and on, after the replacement
        ({3: 0.8, NEWEST + 2: 0.2}, {TWO: 1.0}),  # then elsewhere
    ]
    history = scripted(*steps)
    assert history.slots.contents[7] == eleven
    (token,) = ask(history, Wish(until="token")).predictions
    assert token.edits == (Edit(7, DELETE),)
    (hunk,) = ask(history, Wish(until="hunk")).predictions
    assert hunk.edits == (Edit(7, DELETE), Edit(6, name), Edit(NEWEST + 1, ONE))
    # That it ends is part of its probability.
    assert hunk.confidence == pytest.approx(0.95 * 0.95 * 0.9 * 0.8, abs=1e-3)
    assert render(history.slots, hunk.edits, TOKENIZER) == Change(7, 8, "a1")


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


def test_specials_are_never_written_and_the_start_is_never_deleted() -> None:
    history = scripted(({0: 0.9}, {START: 0.5, END: 0.2, DELETE: 0.2, 0: 0.05, TWO: 0.05}))
    (prediction,) = ask(history, Wish(threshold=0.0)).predictions
    assert prediction.edits == (Edit(0, TWO),)


def test_what_undoes_the_newest_edit_is_not_suggested() -> None:
    newest = NEWEST - 1
    assert ask(scripted(({newest: 1.0}, {DELETE: 1.0})), Wish()) == Decoded([], Silence.UNDO)


def test_what_undoes_a_whole_replacement_is_not_suggested() -> None:
    made = [Edit(5, DELETE), Edit(4, TWO)]  # a = 1 became a = 2
    steps: list[Said] = [({NEWEST: 1.0}, {DELETE: 1.0}), ({4: 1.0}, {ONE: 1.0})]
    assert ask(scripted(*steps, made=made), Wish(until="hunk")) == Decoded([], Silence.UNDO)


def test_what_brings_back_a_whole_block_is_not_suggested() -> None:
    text = "a = 1\n" * 9
    block = spell(text)[:35]
    made = [Edit(slot, DELETE) for slot in range(1, 36)]
    first = 2 + len(spell(text)) + len(made)  # slot of the first edit that is decoded
    steps: list[Said] = [({first + n - 1 if n else 0: 1.0}, {token: 1.0}) for n, token in enumerate(block)]
    assert ask(scripted(*steps, made=made, text=text), Wish(until="hunk")) == Decoded([], Silence.UNDO)


def test_what_changes_nothing_is_not_suggested() -> None:
    steps: list[Said] = [({9: 1.0}, {DELETE: 1.0}), ({8: 1.0}, {spell("=")[0]: 1.0})]
    history = scripted(*steps)
    assert history.slots.contents[9] == spell("=")[0]
    assert ask(history, Wish(until="hunk")) == Decoded([], Silence.NO_OP)


def test_half_of_a_token_is_not_changed() -> None:
    parts = spell("zebra")
    steps: list[Said] = [({slot: 1.0}, {DELETE: 1.0}) for slot in range(2, 1 + len(parts))]
    history = scripted(*steps, made=[Edit(len(parts), ONE)], text="zebra = 1")
    assert ask(history, Wish()) == Decoded([], Silence.BELOW_THRESHOLD)


def test_the_unfinished_token_of_the_newest_edit_is_finished() -> None:
    parts = spell("zebra")
    history = scripted(
        *[({NEWEST - 1 + n: 1.0}, {part: 1.0}) for n, part in enumerate(parts[1:])], made=[Edit(5, parts[0])]
    )
    (prediction,) = ask(history, Wish()).predictions
    assert [edit.content for edit in prediction.edits] == parts[1:]


def test_what_never_ends_is_too_long() -> None:
    part = spell("zebra")[0]
    assert not TOKENIZER.ends[part]

    def for_ever(edits: Sequence[Edit]) -> Said:
        return {NEWEST + len(edits) - 1 if edits else 5: 1.0}, {part: 1.0}

    assert ask(ScriptedHistory(BASE, MADE, for_ever), Wish()) == Decoded([], Silence.TOO_LONG)


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


def test_a_hunk_goes_on_where_its_line_does() -> None:
    # Lines of BASE: slots 1 to 5 and 6 to 11; 6 is the line break and "b" is 7.
    steps: list[Said] = [({7: 1.0}, {DELETE: 1.0}), ({11: 0.9}, {TWO: 1.0})]
    (both,) = ask(scripted(*steps), Wish(until="hunk")).predictions
    assert both.edits == (Edit(7, DELETE), Edit(11, TWO))
    assert both.log_probability == pytest.approx(math.log(0.9) + math.log(0.99), abs=0.02)
    (first,) = ask(
        scripted(({7: 1.0}, {DELETE: 1.0}), ({3: 0.9}, {TWO: 1.0})), Wish(until="hunk")
    ).predictions
    assert first.edits == (Edit(7, DELETE),)  # the other line is another hunk
    # Right after the hunk stands the break before the next line: to write after it is to change that line.
    for content, edits in ((TWO, (Edit(5, DELETE),)), (DELETE, (Edit(5, DELETE), Edit(6, DELETE)))):
        steps = [({5: 1.0}, {DELETE: 1.0}), ({6: 0.9}, {content: 1.0})]
        (found,) = ask(scripted(*steps, made=[Edit(9, ONE)]), Wish(until="hunk")).predictions
        assert found.edits == edits


def test_a_line_that_repeats_in_part_repeats_as_often_as_its_rarest_part() -> None:
    steps: list[Said] = [({7: 1.0}, {DELETE: 1.0}), ({11: 1.0}, {TWO: 1.0})]
    history = scripted(*steps)
    for first, second, least in ((1, 3, 1), (2, 1, 1), (2, 2, 2)):
        history.repeats_after = {1: first, 2: second}
        (both,) = ask(history, Wish(until="hunk")).predictions
        assert both.evidence.repeats == least


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
