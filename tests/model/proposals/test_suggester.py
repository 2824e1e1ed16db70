"""The suggester with the shipped judge, as a user meets it."""

import pytest

from model.editing.change import Change
from model.inference.bundle import DEFAULT, Bundle
from model.inference.predictor import Predictor
from model.proposals.suggester import JudgedChange, StreamFacts, Suggester, find_bursts
from model.silence import Silence
from tests.model.proposals.stream import Stream

LOGS = """\
import logging

log = logging.getLogger(__name__)


def start(settings):
    log.info("starting")
    log.info("reading the settings")
    log.info("opening the files")
    log.info("connecting")
    log.info("ready")
"""


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    return Predictor(Bundle.load(DEFAULT), "cpu")


def suggest(
    predictor: Predictor, stream: Stream, pause_seconds: float | None, limit: int = 9
) -> list[JudgedChange]:
    assert isinstance(predictor.suggester, Suggester)
    recorder = stream.recorder
    history = predictor.open(recorder.state)
    history.append(recorder.edits)
    facts = StreamFacts(recorder.burst_ends, pause_seconds, recorder.cursor, recorder.prefix)
    threshold = predictor.bundle.calibration.threshold("hunk", "balanced")
    return predictor.suggester.suggest(history, facts, threshold, limit).changes


def test_a_change_made_twice_is_offered_at_the_next_line_first(predictor: Predictor) -> None:
    stream = (
        Stream(predictor.bundle.require_tokenizer(), LOGS).replace("info", "debug").replace("info", "debug")
    )
    changes = suggest(predictor, stream, None)
    assert [stream.after(each.change) for each in changes[:1]] == [stream.text.replace("info", "debug", 1)]
    assert len(changes) == 3
    assert all(each.because for each in changes)


def test_the_edits_of_a_suggestion_make_its_change(predictor: Predictor) -> None:
    stream = (
        Stream(predictor.bundle.require_tokenizer(), LOGS).replace("info", "debug").replace("info", "debug")
    )
    for judged in suggest(predictor, stream, None):
        history = predictor.open(stream.recorder.state)
        history.append([*stream.recorder.edits, *judged.edits])
        spelled = stream.tables.tokenizer.decode(history.slots.tokens()[1:-1])
        assert spelled == stream.after(judged.change)


def test_a_change_that_is_still_being_made_is_not_repeated_before_a_pause(predictor: Predictor) -> None:
    stream = Stream(predictor.bundle.require_tokenizer(), LOGS).replace("info", "debug")
    assert suggest(predictor, stream, 0.0) == []
    assert suggest(predictor, stream, 0.9)


def test_a_repeat_that_was_begun_is_completed_at_once(predictor: Predictor) -> None:
    stream = Stream(predictor.bundle.require_tokenizer(), LOGS).replace("info", "debug")
    offset = stream.text.index("info")
    stream.apply(Change(offset, offset + 4, ""))
    stream.type("d", offset)
    (first, *_) = suggest(predictor, stream, 0.0)
    assert first.change == Change(offset + 1, offset + 1, "ebug")


def test_nothing_is_offered_before_the_first_edit(predictor: Predictor) -> None:
    assert predictor.suggester is not None
    history = predictor.open(Stream(predictor.bundle.require_tokenizer(), LOGS).recorder.state)
    assert predictor.suggester.suggest(history, StreamFacts(), 0.5, 1).silence is Silence.NOTHING_EDITED


def test_bursts_are_found_from_edits_that_touch(predictor: Predictor) -> None:
    stream = (
        Stream(predictor.bundle.require_tokenizer(), LOGS).replace("info", "debug").replace("ready", "done")
    )
    assert find_bursts(stream.recorder.slots) == stream.recorder.burst_ends
