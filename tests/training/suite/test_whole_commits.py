"""Whole commits played with suggesters whose every answer is known."""

import sysconfig
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.editing.change import Change
from model.inference.bundle import Bundle
from model.inference.predictor import Predictor
from training.suite.commit_figures import REPLAY, AskedOnce, play_all, play_file, replay_newest
from training.suite.commits import CommitFile
from training.suite.engine import EngineSuggest
from training.suite.kept_results import KeptResults
from training.suite.whole_commits import Offer, Suggest, play
from training.trajectories.hands import TEST_HANDS, TRAINING_HANDS, HandsRange
from training.trajectories.keyboard import Step
from training.trajectories.lexical_hunks import lexical_hunks

SEEDS = st.integers(0, 2**32)
BUNDLE = Path(__file__).parents[2] / "data" / "tiny_bundle"


def commit_file(before: str, after: str) -> CommitFile:
    return CommitFile(
        "owner/name", "c0ffee", "a.py", before, after, tuple(lexical_hunks(before, after) or ())
    )


def real_file() -> CommitFile:
    before = (Path(sysconfig.get_path("stdlib")) / "queue.py").read_text(encoding="utf-8")
    after = before.replace("self.queue", "self._items").replace("raise Empty", "raise EmptyQueue")
    return commit_file(before, after)


QUEUE = real_file()
SMALL = commit_file(
    "log.info(a)\nuse(b)\nlog.info(c)\nlog.info(d)\nx = 1\n",
    "log.debug(a)\nuse(b)\nlog.debug(c)\nlog.debug(d)\nx = 2\n",
)


def text_after(text: str, steps: Sequence[Step]) -> str:
    for step in steps:
        for change in step.changes:
            text = text[: change.start] + change.text + text[change.end :]
    return text


def oracle(file: CommitFile) -> Suggest:
    """Knows the text after; offers the first hunk that is left."""

    def suggest(text: str, steps: Sequence[Step], cursor: int, time: float) -> list[Offer]:
        hunks = lexical_hunks(text_after(text, steps), file.after) or []
        return [Offer(hunk, 0.9) for hunk in hunks[:1]]

    return suggest


def silent(text: str, steps: Sequence[Step], cursor: int, time: float) -> list[Offer]:
    return []


def stubborn(text: str, steps: Sequence[Step], cursor: int, time: float) -> list[Offer]:
    """Wants one thing, at the start of the text, and it is wrong."""
    return [Offer(Change(0, 0, "nonsense "), 0.9)]


def replace_all(text: str, steps: Sequence[Step], cursor: int, time: float) -> list[Offer]:
    """Offers the same replacement wherever the word is left."""
    now = text_after(text, steps)
    at = now.find("info")
    return [Offer(Change(at, at + 4, "debug"), 0.6)] if at >= 0 else []


@given(SEEDS, st.booleans(), st.sampled_from([TRAINING_HANDS, TEST_HANDS]))
@settings(max_examples=8, deadline=None)
def test_without_offers_every_edit_is_made_by_hand(seed: int, by_keys: bool, hands: HandsRange) -> None:
    random = Random(seed)
    for file in (QUEUE, SMALL):
        played = play(file, silent, hands.draw(random), random, by_keys=by_keys)
        assert played.edits == len(file.hunks)
        assert played.reachable == file.reachable
        assert (played.by_tab, played.wrong, played.pieces, played.finished_by_tab) == (0, 0, 0, 0)
        assert played.moments >= len(file.hunks) - 1


@given(SEEDS)
@settings(max_examples=5, deadline=None)
def test_with_an_oracle_only_the_first_edit_is_made_by_hand(seed: int) -> None:
    random = Random(seed)
    for file in (QUEUE, SMALL):
        played = play(file, oracle(file), TEST_HANDS.draw(random), random)
        assert played.by_tab == played.edits - 1
        assert played.reachable_by_tab <= played.reachable
        assert played.wrong == played.pieces == 0


@given(SEEDS)
@settings(max_examples=5, deadline=None)
def test_a_half_typed_edit_is_finished_by_tab(seed: int) -> None:
    random = Random(seed)
    played = play(SMALL, oracle(SMALL), TEST_HANDS.draw(random), random, by_keys=True)
    assert played.by_tab + played.finished_by_tab >= played.edits - 1
    assert played.wrong == 0


@pytest.mark.parametrize("by_keys", [False, True])
def test_a_wrong_offer_is_counted_once(by_keys: bool) -> None:
    random = Random(3)
    played = play(QUEUE, stubborn, TEST_HANDS.draw(random), random, by_keys=by_keys)
    assert (played.wrong, played.by_tab) == (1, 0)


def test_the_floor_repeats_the_newest_edit() -> None:
    steps = [Step(0.0, (Change(4, 8, "debug"),), 9, 0)]
    assert replay_newest(SMALL.before, steps, 9, 1.0)[0].change == Change(24, 28, "debug")


class CountingEngine(EngineSuggest):
    """Offers the same replacement at the lower thresholds, and counts its questions."""

    def __init__(self) -> None:
        self.asked = 0

    def ask(
        self, text: str, steps: Sequence[Step], time: float, thresholds: Sequence[float]
    ) -> list[list[Offer]]:
        self.asked += 1
        offers = replace_all(text, steps, 0, time)
        return [[offer for offer in offers if offer.confidence >= least] for least in thresholds]


def test_plays_at_other_thresholds_ask_nothing_twice() -> None:
    engine = CountingEngine()
    asked = AskedOnce(engine, [0.4, 0.5, 0.7])
    low = play_file(SMALL, asked.at(0.4))
    # The first question comes after one edit: two "info" are left, or three when the number was changed first.
    assert low.by_tab >= 2
    count = engine.asked
    assert play_file(SMALL, asked.at(0.5)) == low
    assert engine.asked == count
    assert play_file(SMALL, asked.at(0.7)).by_tab == 0
    assert engine.asked > count


@pytest.mark.parametrize("by_keys", [False, True])
def test_the_engine_answers_the_same_from_the_start_and_step_by_step(by_keys: bool) -> None:
    predictor = Predictor(Bundle.load(BUNDLE))
    step_by_step = EngineSuggest(predictor)
    asked = 0

    def both(text: str, steps: Sequence[Step], cursor: int, time: float) -> list[Offer]:
        nonlocal asked
        offers = step_by_step(text, steps, cursor, time)
        now = text_after(text, steps)
        assert all(0 <= offer.change.start <= offer.change.end <= len(now) for offer in offers)
        if (
            not by_keys
        ):  # between keys, the recorder remembers the questions: a name that was asked about is whole
            fresh = EngineSuggest(predictor)(text, steps, cursor, time)
            assert [offer.change for offer in offers] == [offer.change for offer in fresh]
        asked += 1
        return offers

    random = Random(2)
    play(SMALL, both, TEST_HANDS.draw(random), random, by_keys=by_keys)
    assert asked


def test_what_was_played_is_not_played_again(tmp_path: Path) -> None:
    first, second = CountingEngine(), CountingEngine()
    thresholds = {"balanced": 0.5}
    rows = play_all([SMALL], first, thresholds, KeptResults(tmp_path / "kept.jsonl"))
    assert rows["balanced"].by_tab >= 2
    assert rows[REPLAY].edits == 4
    assert first.asked
    assert play_all([SMALL], second, thresholds, KeptResults(tmp_path / "kept.jsonl")) == rows
    assert not second.asked
    play_all([SMALL], second, {"balanced": 0.55}, KeptResults(tmp_path / "kept.jsonl"))
    assert second.asked
