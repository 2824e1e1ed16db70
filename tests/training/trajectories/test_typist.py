"""Typed histories end with the text that was wanted, whatever the hands do on the way."""

import sysconfig
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.editing.recorder import Recorder
from model.inference.bundle import Bundle
from training.trajectories.hands import TEST_HANDS, TRAINING_HANDS, Hands, HandsRange
from training.trajectories.typist import TypedTrajectory, record_step, texts_after, type_change

PIECES = st.sampled_from(
    ["a", "name", "value_of", "(", ")", "[]", "{", "}", '"', "'", '"""', " ", "    ", "\t", "\n", "\r\n", "\n    ", ":", ",", "é", "😀", "12", "if x:\n    y()\n"]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=30).map("".join)
SEEDS = st.integers(0, 2**32)
RANGES = st.sampled_from([TRAINING_HANDS, TEST_HANDS])
TINY_BUNDLE = Path(__file__).parents[2] / "data" / "tiny_bundle"
STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))

# Hands to which everything happens all the time.
WILD = dict.fromkeys(
    (
        "typo",
        "undo",
        "completion",
        "auto_close",
        "change_of_mind",
        "retype_line",
        "retype_expression",
        "several_cursors",
        "interleave",
        "wander",
    ),
    0.5,
)


def check(trajectory: TypedTrajectory | None, after: str) -> None:
    assert trajectory is not None
    text = trajectory.text
    for step, now in zip(trajectory.steps, texts_after(trajectory), strict=True):
        for change in step.changes:
            assert 0 <= change.start <= change.end <= len(text)
            text = text[: change.start] + change.text + text[change.end :]
        assert text == now
        assert 0 <= step.cursor <= len(text)
    assert text == after
    assert all(one.time <= other.time for one, other in pairwise(trajectory.steps))
    completed = [hunk for step in trajectory.steps for hunk in step.completed]
    assert sorted(completed) == list(range(len(trajectory.hunks)))


@given(TEXTS, TEXTS, SEEDS, RANGES, st.booleans())
@settings(max_examples=200, deadline=None)
def test_typed_changes_end_with_the_text_after(
    before: str, after: str, seed: int, hands: HandsRange, is_wild: bool
) -> None:
    random = Random(seed)
    drawn = hands.draw(random)
    drawn = replace(drawn, **WILD) if is_wild else drawn
    check(type_change(before, after, random, drawn), after)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("queue.py", "sched.py"),
        ("shlex.py", "cmd.py"),
        ("abc.py", "contextlib.py"),
        ("glob.py", "fnmatch.py"),
    ],
)
def test_one_real_file_is_typed_into_another(one: str, other: str) -> None:
    before, after = ((STANDARD_LIBRARY / name).read_text(encoding="utf-8") for name in (one, other))
    check(type_change(before, after, Random(one), TRAINING_HANDS.draw(Random(other))), after)


@given(SEEDS, RANGES)
@settings(max_examples=8, deadline=None)
def test_a_real_file_with_changed_words_is_typed(seed: int, hands: HandsRange) -> None:
    random = Random(seed)
    before = (STANDARD_LIBRARY / "queue.py").read_text(encoding="utf-8")
    after = before.replace("self.queue", "self._items").replace("timeout", "timeout_seconds")
    after = after.replace("not_empty.wait(", "not_empty.wait_for(check, ")
    check(type_change(before, after, random, replace(hands.draw(random), **WILD)), after)


def test_the_hands_of_tests_differ_in_every_parameter() -> None:
    for field in fields(Hands):
        train = sorted((getattr(TRAINING_HANDS.low, field.name), getattr(TRAINING_HANDS.high, field.name)))
        test = sorted((getattr(TEST_HANDS.low, field.name), getattr(TEST_HANDS.high, field.name)))
        assert train[1] < test[0] or test[1] < train[0], field.name


def test_the_same_seed_types_the_same_steps() -> None:
    texts = "a = old(1)\nb = old(2)\n", "a = new(1)\nb = new(2)\n"
    hands = TRAINING_HANDS.draw(Random(1))
    assert type_change(*texts, Random(5), hands) == type_change(*texts, Random(5), hands)


@given(SEEDS, RANGES)
@settings(max_examples=4, deadline=None)
def test_the_recorder_follows_every_step(seed: int, hands: HandsRange) -> None:
    random = Random(seed)
    before = (STANDARD_LIBRARY / "sched.py").read_text(encoding="utf-8")
    after = before.replace("self._queue", "self._events").replace("priority", "rank")
    after = after.replace(
        "        with self._lock:\n", "        with self._lock:\n            self._check()\n"
    )
    trajectory = type_change(before, after, random, replace(hands.draw(random), **WILD))
    assert trajectory is not None
    recorder = Recorder(Bundle.load(TINY_BUNDLE).require_tokenizer(), before)
    for step, now in zip(trajectory.steps, texts_after(trajectory), strict=True):
        record_step(recorder, step)
        if step.completed:
            assert recorder.text.text == now
    assert recorder.text.text == after
