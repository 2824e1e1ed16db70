"""The network's opinion: it leaves the history alone, and its own hunk becomes a candidate with its evidence."""

import numpy as np
import pytest

from model.editing.change import Change
from model.inference.bundle import DEFAULT, Bundle
from model.inference.history import AnyHistory
from model.inference.predictor import Predictor
from model.inference.window import WindowedHistory
from model.proposals.candidates import Origin, change_of
from model.proposals.evidence import COLUMNS, LEAST, Moment
from model.proposals.network_opinion import NetworkOpinion, Sequence
from model.proposals.proposals import propose
from model.proposals.sequences import describe_sequence
from tests.model.proposals.stream import Stream

LINES = "".join(f"    log.info('step {number}', value)\n" for number in range(8))


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    return Predictor(Bundle.load(DEFAULT), "cpu", with_judge=False)


def opened(predictor: Predictor, stream: Stream) -> AnyHistory:
    history = predictor.open(stream.recorder.state)
    history.append(stream.recorder.edits)
    return history


@pytest.fixture
def stream(predictor: Predictor) -> Stream:
    stream = Stream(predictor.bundle.require_tokenizer(), "def run(value):\n" + LINES)
    for _ in range(3):
        stream.replace("info", "debug")
    return stream


def test_the_hunk_of_the_network_changes_the_text_and_not_the_history(
    predictor: Predictor, stream: Stream
) -> None:
    history = opened(predictor, stream)
    tokens, edits = history.slots.tokens(), list(history.slots.edits)
    sequence = NetworkOpinion(history, stream.tables.tokenizer).sequence
    assert sequence is not None
    assert stream.after(sequence.change) == stream.text.replace("info", "debug", 1)
    assert sequence.log_probability < 0
    assert list(history.slots.tokens()) == list(tokens)
    assert history.slots.edits == edits


def test_the_candidate_with_the_hunk_of_the_network_is_marked_and_no_other(
    predictor: Predictor, stream: Stream
) -> None:
    opinion = NetworkOpinion(opened(predictor, stream), stream.tables.tokenizer)
    recorder = stream.recorder
    found = propose(
        recorder.slots, recorder.burst_ends, stream.tables, Moment(5.0, False, ""), network=opinion
    )
    assert opinion.sequence is not None
    column = found.rows[:, COLUMNS["network_sequence"]]
    for number, change in enumerate(found.changes):
        expected = opinion.sequence.log_probability if change == opinion.sequence.change else LEAST
        assert column[number] == pytest.approx(expected)
    assert (column > LEAST).any()


def test_a_hunk_that_no_precedent_makes_is_a_candidate_of_its_own(
    predictor: Predictor, stream: Stream
) -> None:
    opinion = NetworkOpinion(opened(predictor, stream), stream.tables.tokenizer)
    start = stream.text.index("info")
    sequence = Sequence(Change(start, start + 4, "warning"), -1.5)
    situation = stream.proposals().situation
    candidate, row = describe_sequence(situation, sequence, Moment(5.0, False, ""), opinion)
    assert candidate.origin == Origin.NETWORK
    assert change_of(candidate, situation.text) == sequence.change
    assert row[0, COLUMNS["network_sequence"]] == -1.5
    assert row[0, COLUMNS["come_letters"]] == len("warning")


def test_the_network_says_nothing_about_slots_outside_its_window(predictor: Predictor) -> None:
    stream = Stream(predictor.bundle.require_tokenizer(), LINES * 300)
    stream.replace("info", "debug")
    history = opened(predictor, stream)
    assert isinstance(history, WindowedHistory)
    opinion = NetworkOpinion(history, stream.tables.tokenizer)
    far = len(stream.recorder.state) - 2
    assert opinion.content(far) is None
    near = int(np.argmax(opinion.positions))
    assert opinion.content(near) is not None
