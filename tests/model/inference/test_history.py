"""A history is incremental: its answers depend on the state and the edits alone."""

import gc
import os
from concurrent.futures import ThreadPoolExecutor
from random import Random

import numpy as np
import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model.editing.edits import DELETE, END, START, Edit, Instance, Slots, apply
from model.inference.history import AnyHistory, NextPosition
from model.inference.predictor import Predictor

# The predictor is the same for all examples: it has no memory of its own.
many = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def random_instance(seed: int, *, length: int, edits: int, vocabulary_size: int) -> Instance:
    random = Random(seed)
    slots = Slots((START, *(random.randrange(4, vocabulary_size) for _ in range(length - 2)), END))
    for _ in range(edits):
        place = random.randrange(0, len(slots.order) - 1)
        delete = place > 0 and random.random() < 0.4
        slots.apply_explicit(Edit(place, DELETE if delete else random.randrange(4, vocabulary_size)))
    return Instance(tuple(slots.contents[:length]), tuple(slots.edits))


def make_instance(predictor: Predictor, seed: int, *, length: int = 47, edits: int = 7) -> Instance:
    size = predictor.bundle.config.vocabulary_size
    return random_instance(seed, length=length, edits=edits, vocabulary_size=size)


def agree(one: NextPosition, other: NextPosition) -> None:
    np.testing.assert_allclose(np.exp(one.positions), np.exp(other.positions), atol=1e-5)
    np.testing.assert_allclose(one.because, other.because, atol=1e-5)


def answers_agree(one: AnyHistory, other: AnyHistory) -> None:
    predicted, expected = one.predict(), other.predict()
    agree(predicted, expected)
    position = int(expected.positions[:-1].argmax())
    contents, expected_contents = one.content(predicted, position), other.content(expected, position)
    np.testing.assert_allclose(np.exp(contents), np.exp(expected_contents), atol=1e-5)


def test_an_empty_history_has_a_next_position(predictor: Predictor) -> None:
    history = predictor.open((START, END))
    predicted = history.predict()
    assert predicted.positions.shape == (2,)
    assert predicted.because.shape == (0,)
    assert np.exp(predicted.positions).sum() == pytest.approx(1, abs=1e-5)
    content = history.content(predicted, 0)
    assert content.shape == (predictor.bundle.config.vocabulary_size,)
    assert np.exp(content).sum() == pytest.approx(1, abs=1e-4)


@many
@given(seed=st.integers(0, 10_000), length=st.sampled_from([2, 3, 16, 17, 61]), edits=st.integers(1, 9))
def test_edits_one_by_one_are_edits_all_at_once(
    predictor: Predictor, seed: int, length: int, edits: int
) -> None:
    instance = make_instance(predictor, seed, length=length, edits=edits)
    stepwise, whole = predictor.open(instance.state), predictor.open(instance.state)
    for edit in instance.edits:
        stepwise.append([edit])
    whole.append(instance.edits)
    answers_agree(stepwise, whole)


@many
@given(seed=st.integers(0, 10_000), data=st.data())
def test_any_way_to_a_history_gives_the_answers_of_a_fresh_one(
    predictor: Predictor, seed: int, data: st.DataObject
) -> None:
    one, other = (make_instance(predictor, number, edits=6) for number in (seed, seed))
    history = predictor.open(one.state)
    edits: list[Edit] = []
    for _ in range(data.draw(st.integers(1, 4))):
        kept = data.draw(st.integers(0, len(edits)))
        history.keep(kept)
        slots = Slots(one.state)
        for edit in edits[:kept]:
            slots.apply(edit)
        random = Random(data.draw(st.integers(0, 100)))
        for _ in range(data.draw(st.integers(0, 3))):
            place = random.randrange(1, len(slots.order) - 1)
            slots.apply_explicit(Edit(place, random.choice([DELETE, 4, 5, 6])))
        history.append(slots.edits[kept:])
        edits = list(slots.edits)
        if data.draw(st.booleans()):
            history.predict()
    fresh = predictor.open(other.state)
    fresh.append(edits)
    assert history.slots.edits == edits
    assert history.slots.tokens() == list(apply(one.state, edits))
    answers_agree(history, fresh)


def test_a_prediction_in_the_middle_of_an_append_is_found_again(predictor: Predictor) -> None:
    instance = make_instance(predictor, 3, edits=5)
    history, fresh = predictor.open(instance.state), predictor.open(instance.state)
    history.append(instance.edits)
    history.keep(3)
    fresh.append(instance.edits[:3])
    answers_agree(history, fresh)
    assert history.slots.edits == list(instance.edits[:3])


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ([Edit(1, 5), Edit(999, 5)], "position 999 is outside a state of 48 tokens"),
        ([Edit(1, DELETE), Edit(1, 5)], "position 1 is not in the current state"),
        ([Edit(1, 5), Edit(0, DELETE)], "cannot be deleted"),
        ([Edit(1, 5), Edit(2, 4000)], "token 4000 is outside a vocabulary of"),
        ([Edit(1, -1)], "token -1 is outside a vocabulary of"),
    ],
)
def test_of_wrong_edits_none_is_added(predictor: Predictor, edits: list[Edit], message: str) -> None:
    instance = make_instance(predictor, 5, edits=0)
    history = predictor.open(instance.state)
    before = history.predict()
    with pytest.raises(ValueError, match=message):
        history.append(edits)
    assert history.slots.edits == []
    agree(history.predict(), before)
    history.append([Edit(1, 5)])
    fresh = predictor.open(instance.state)
    fresh.append([Edit(1, 5)])
    answers_agree(history, fresh)


def test_wrong_states_are_refused(predictor: Predictor) -> None:
    size = predictor.bundle.config.vocabulary_size
    for token in (-1, size):
        with pytest.raises(ValueError, match=f"token {token} is outside a vocabulary of {size}"):
            predictor.open((START, token, END))
    with pytest.raises(ValueError, match="begins with START"):
        predictor.open((4, 5))


@pytest.mark.parametrize("count", [-1, 3])
def test_more_than_there_is_cannot_be_kept(predictor: Predictor, count: int) -> None:
    instance = make_instance(predictor, 5, edits=2)
    history = predictor.open(instance.state)
    history.append(instance.edits)
    with pytest.raises(ValueError, match=f"cannot keep {count} of 2 edits"):
        history.keep(count)
    fresh = predictor.open(instance.state)
    fresh.append(instance.edits)
    answers_agree(history, fresh)


def test_a_long_history_can_be_taken_back_edit_by_edit(predictor: Predictor) -> None:
    instance = make_instance(predictor, 11, edits=40)
    history = predictor.open(instance.state)
    for edit in instance.edits:
        history.append([edit])
        history.predict()
    for count in (40, 39, 33, 20, 2, 1, 0):  # some are remembered, others are said again
        history.keep(count)
        fresh = predictor.open(instance.state)
        fresh.append(instance.edits[:count])
        answers_agree(history, fresh)


@pytest.mark.parametrize("position", [-1, 49, 100_000])
def test_a_content_where_nothing_was_is_refused(predictor: Predictor, position: int) -> None:
    instance = make_instance(predictor, 13, length=47, edits=3)
    history = predictor.open(instance.state)
    history.append(instance.edits[:2])
    predicted = history.predict()
    history.append(instance.edits[2:])
    with pytest.raises(ValueError, match=f"position {position} was not there"):
        history.content(predicted, position)


def test_a_prediction_outlives_what_is_tried_after_it(predictor: Predictor) -> None:
    instance = make_instance(predictor, 14, edits=30)
    history = predictor.open(instance.state)
    history.append(instance.edits[:10])
    predicted = history.predict()
    with history.try_edits():
        for edit in instance.edits[10:]:
            history.append([edit])
            history.predict()
    assert history.predict() is predicted


def test_what_was_answered_stays_what_it_was(predictor: Predictor) -> None:
    instance = make_instance(predictor, 12)
    history = predictor.open(instance.state)
    history.append(instance.edits[:-1])
    predicted = history.predict()
    content = history.content(predicted, 1)
    before = predicted.positions.copy(), predicted.because.copy(), content.copy()
    history.keep(len(instance.edits) - 2)
    history.append(instance.edits[-1:])  # as long as before: the graphs write to the same places
    history.content(history.predict(), 0)
    for array, earlier in zip((predicted.positions, predicted.because, content), before, strict=True):
        np.testing.assert_array_equal(array, earlier)


def test_appending_nothing_changes_nothing(predictor: Predictor) -> None:
    history = predictor.open(make_instance(predictor, 5).state)
    before = history.predict()
    history.append([])
    assert history.predict() is before


def test_many_threads_with_histories_of_their_own(predictor: Predictor) -> None:
    def run(seed: int) -> NextPosition:
        instance = make_instance(predictor, seed, length=20 + seed, edits=6)
        history = predictor.open(instance.state)
        for edit in instance.edits:
            history.append([edit])
            history.content(history.predict(), 1)
        return history.predict()

    alone = [run(seed) for seed in range(12)]
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(run, range(12)))
    for one, other in zip(alone, together, strict=True):
        agree(one, other)


def test_more_edits_than_the_limit_still_work(predictor: Predictor) -> None:
    """Room is made as edits come, one by one or all at once."""
    instance = make_instance(predictor, 5, edits=2 * predictor.bundle.config.limit_edits + 3)
    one_by_one, at_once = predictor.open(instance.state), predictor.open(instance.state)
    for edit in instance.edits:
        one_by_one.append([edit])
        predicted = one_by_one.predict()
    assert np.exp(predicted.positions).sum() == pytest.approx(1, abs=1e-4)
    at_once.append(instance.edits)
    answers_agree(one_by_one, at_once)


def test_memory_stays_flat_over_many_steps(predictor: Predictor) -> None:
    instance = make_instance(predictor, 1, length=61, edits=4)
    history = predictor.open(instance.state)
    process = psutil.Process(os.getpid())

    def work(steps: int) -> int:
        for _ in range(steps):
            history.keep(2)
            history.append([Edit(1, 5)])
            history.content(history.predict(), 1)
        gc.collect()
        return int(process.memory_info().rss)

    history.append(instance.edits)
    before = work(200)
    assert work(600) - before < 3_000_000


def test_the_size_of_a_history_grows_with_its_state(predictor: Predictor) -> None:
    small, large = (predictor.open(make_instance(predictor, 1, length=n).state) for n in (50, 500))
    grown = large.nbytes - small.nbytes
    hiddens = (
        4 * 450 * 3 * predictor.bundle.config.hidden_size
    )  # hidden states, keys and values of so many tokens
    assert hiddens < grown < 4 * hiddens
