"""A long file through a window."""

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from model.editing.edits import DELETE, END, START, Edit, Slots, stop_edit
from model.inference.calibration import Calibration
from model.inference.history import History, NextPosition
from model.inference.predictor import Predictor
from model.inference.search import Decoded, Until, Wish, decode
from model.inference.window import WindowedHistory
from model.silence import Silence
from tests.model.inference.test_history import answers_agree

LIMIT = 32  # 30 tokens of the file are seen, three at each border are its margin
many = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


class Opened:
    """Windowed histories of a predictor, and how many times a window was encoded."""

    def __init__(self, predictor: Predictor) -> None:
        self._predictor = predictor
        self.encoded: list[Sequence[int]] = []

    def open(self, state: Sequence[int]) -> WindowedHistory:
        config = replace(self._predictor.bundle.config, limit_tokens=LIMIT)
        return WindowedHistory(self._encode, state, config)

    def _encode(self, window: Sequence[int]) -> History:
        self.encoded.append(window)
        return self.open_plain(window)

    def open_plain(self, state: Sequence[int]) -> History:
        history = self._predictor.open(state)
        assert isinstance(history, History)
        return history


@pytest.fixture
def opened(predictor: Predictor) -> Opened:
    return Opened(predictor)


def file(length: int) -> tuple[int, ...]:
    return (START, *(4 + index % 100 for index in range(length - 2)), END)


def test_the_predictor_opens_long_files_through_a_window(predictor: Predictor) -> None:
    limit = predictor.bundle.config.limit_tokens
    history = predictor.open(file(20 * limit))
    assert isinstance(history, WindowedHistory)
    history.append([Edit(10 * limit, 5), Edit(20 * limit, 6)])
    predicted = history.predict()
    assert predicted.positions.shape == (20 * limit + 2,)
    assert np.exp(predicted.positions).sum() == pytest.approx(1, abs=1e-4)
    assert predicted.because.shape == (2,)


@many
@given(first=st.integers(31, 60), data=st.data())
def test_what_it_sees_it_sees_like_a_plain_history(opened: Opened, first: int, data: st.DataObject) -> None:
    """The window alone, as a whole file, gets the same answers slot by slot."""
    state = file(101)
    windowed = opened.open(state)
    windowed.append([Edit(first, 5)])
    windowed.predict()
    window = opened.encoded[-1]
    begin = state.index(window[1])
    plain = opened.open_plain(window)
    plain.append([Edit(first - begin + 1, 5)])
    with windowed.try_edits():
        for _ in range(data.draw(st.integers(0, 3))):
            slot = data.draw(st.sampled_from(plain.slots.order[5:-5]))
            content = data.draw(st.sampled_from([DELETE, 6, 7]))
            plain.append([Edit(slot, content)])
            position = slot + begin - 1 if slot < len(window) else slot - len(window) + len(state)
            windowed.append([Edit(position, content)])
        predicted, expected = windowed.predict(), plain.predict()
        inner = expected.positions[1 : len(window) - 1]
        seen = [
            *range(begin, begin + len(inner)),
            *range(len(state) - 1, len(state) + len(plain.slots.edits)),
        ]
        np.testing.assert_allclose(
            np.exp(predicted.positions[seen]), np.exp(expected.positions[1:]), atol=1e-5
        )
        np.testing.assert_allclose(predicted.because, expected.because, atol=1e-4)
        contents = windowed.content(predicted, begin + 4)
        np.testing.assert_allclose(np.exp(contents), np.exp(plain.content(expected, 5)), atol=1e-5)


@many
@given(data=st.data())
def test_where_the_window_is_follows_from_the_edits_alone(opened: Opened, data: st.DataObject) -> None:
    state = file(131)
    history = opened.open(state)
    edits: list[Edit] = []
    for _ in range(data.draw(st.integers(1, 5))):
        kept = data.draw(st.integers(0, len(edits)))
        history.keep(kept)
        slots = Slots(state)
        for edit in edits[:kept]:
            slots.apply(edit)
        for _ in range(data.draw(st.integers(0, 3))):
            place = data.draw(st.integers(1, len(slots.order) - 2))
            slots.apply_explicit(Edit(place, data.draw(st.sampled_from([DELETE, 5, 6]))))
        history.append(slots.edits[kept:])
        edits = list(slots.edits)
        if data.draw(st.booleans()):
            place = data.draw(st.integers(1, 100))
            with history.try_edits():
                history.append([Edit(history.slots.order[place], 7)])
                history.predict()
    fresh = opened.open(state)
    fresh.append(edits)
    assert history.slots.tokens() == fresh.slots.tokens()
    predicted, expected = history.predict(), fresh.predict()
    np.testing.assert_allclose(np.exp(predicted.positions), np.exp(expected.positions), atol=1e-5)
    np.testing.assert_allclose(predicted.because, expected.because, atol=1e-5)


@many
@given(data=st.data())
def test_only_slots_of_the_current_state_are_likely(opened: Opened, data: st.DataObject) -> None:
    history = opened.open(file(91))
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(1, len(history.slots.order) - 2))
        history.append([Edit(history.slots.order[place], data.draw(st.sampled_from([DELETE, DELETE, 6])))])
    predicted = history.predict()
    possible = np.flatnonzero(predicted.positions > -1e8).tolist()
    assert set(possible) <= set(history.slots.order)
    for slot in possible[:2]:
        history.content(predicted, slot)


def test_a_token_deleted_just_before_the_window_cannot_be_pointed_at(opened: Opened) -> None:
    history = opened.open(file(201))
    history.append([Edit(100, 5)])  # the window begins at 85
    with history.try_edits():
        history.append([Edit(84, DELETE)])
        assert history.predict().positions[84] < -1e8
    assert history.predict().positions[84] > -1e8


def test_near_edits_leave_the_window_and_far_ones_move_it(opened: Opened) -> None:
    history = opened.open(file(201))
    history.append([Edit(5, 6)])
    history.append([Edit(201, 6)])  # after what was just inserted
    history.predict()
    assert len(opened.encoded) == 1
    assert not history.needs_encoding
    history.append([Edit(100, 6)])
    assert history.needs_encoding
    history.predict()
    assert len(opened.encoded) == 2
    assert 4 + 99 in opened.encoded[-1]
    history.append([Edit(92, 6), Edit(110, 6)])
    history.predict()
    assert len(opened.encoded) == 2


def test_to_take_back_and_type_again_encodes_nothing_anew(opened: Opened) -> None:
    history = opened.open(file(201))
    history.append([Edit(5, 6)])
    history.predict()
    for token in range(10, 20):
        history.keep(1)
        history.append([Edit(150, token)])
        history.predict()
    assert len(opened.encoded) == 2


def test_edits_that_are_only_tried_never_move_the_window(opened: Opened) -> None:
    history = opened.open(file(201))
    history.append([Edit(100, 6)])
    history.predict()
    before = len(opened.encoded)
    with history.try_edits():
        history.append([Edit(86, 7)])  # at its border
        with history.try_edits():
            history.append([Edit(3, 7)])  # out of sight
            history.predict()
        history.append([Edit(3, 7)])
        history.predict()
    assert len(history.slots.edits) == 1
    history.predict()
    assert len(opened.encoded) == before


def test_to_look_somewhere_moves_the_window_for_as_long_as_one_looks(opened: Opened) -> None:
    history, fresh = opened.open(file(201)), opened.open(file(201))
    history.append([Edit(5, 6)])
    before = history.predict()
    history.look_at(150)
    assert history.needs_encoding
    predicted = history.predict()
    assert np.exp(history.content(predicted, 150)).sum() == pytest.approx(1, abs=1e-4)
    history.look_at(201)  # what was inserted: the window is where it would be without looking
    assert np.allclose(history.predict().positions, before.positions, atol=1e-4)
    history.look_at(150)
    history.append([Edit(151, 7)])
    history.look_at(None)
    fresh.append([Edit(5, 6), Edit(151, 7)])
    assert np.allclose(history.predict().positions, fresh.predict().positions, atol=1e-4)


def test_stop_moves_nothing(opened: Opened) -> None:
    history = opened.open(file(201))
    history.append([Edit(100, 6), stop_edit(201)])
    history.predict()
    assert 4 + 99 in opened.encoded[-1]


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ([Edit(100, 5), Edit(999, 5)], "position 999 is outside a state of 203 tokens"),
        ([Edit(100, 5), Edit(101, 4000)], "token 4000 is outside a vocabulary"),
    ],
)
def test_of_wrong_edits_none_is_added(opened: Opened, edits: list[Edit], message: str) -> None:
    history, fresh = opened.open(file(201)), opened.open(file(201))
    for each in (history, fresh):
        each.append([Edit(8, 6)])
    with pytest.raises(ValueError, match=message):
        history.append(edits)
    assert history.slots.edits == [Edit(8, 6)]
    answers_agree(history, fresh)
    for each in (history, fresh):
        each.append([Edit(120, 6)])
    answers_agree(history, fresh)


def test_a_content_out_of_sight_is_refused(opened: Opened) -> None:
    history = opened.open(file(201))
    with pytest.raises(ValueError, match="position 150 is outside the window of the model"):
        history.content(history.predict(), 150)


def test_the_end_of_the_file_is_seen_whole(opened: Opened) -> None:
    state: Any = file(201)
    history = opened.open(state)
    history.append([Edit(198, 6)])
    history.predict()
    assert tuple(opened.encoded[-1]) == (START, *state[170:])
    history.append([Edit(1, 6)])
    history.predict()
    assert tuple(opened.encoded[-1]) == (*state[:31], END)


class Deleting(WindowedHistory):
    """A history that deletes at every position."""

    def content(self, predicted: NextPosition, position: int) -> NDArray[np.float32]:
        scores = super().content(predicted, position)
        scores[DELETE] = 0.0
        return scores


def test_a_token_that_goes_on_beyond_the_window_is_not_suggested(predictor: Predictor) -> None:
    config = replace(predictor.bundle.config, limit_tokens=LIMIT)
    history = Deleting(predictor.open, file(100), config)
    history.append([Edit(50, 5)])
    tokenizer = predictor.bundle.require_tokenizer()
    endless: Any = SimpleNamespace(ends=[False] * len(tokenizer), bytes_of=tokenizer.bytes_of)
    untils: tuple[Until, ...] = ("token", "hunk")
    for until in untils:
        wish = Wish(until=until, limit=3, threshold=0.0)
        assert decode(history, wish, endless, Calibration()) == Decoded([], Silence.BELOW_THRESHOLD)
