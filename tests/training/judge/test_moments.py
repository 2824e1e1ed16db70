"""Moments are what a user meets: the recorder holds the text, and the remaining hunks lead to the author's text."""

from random import Random

import pytest

from model.editing.tokenizer import Tokenizer
from tests.tokenizing import small_tokenizer
from training.judge.moments import FileChange, Play, play_commit, play_repeats, play_typed, play_words
from training.trajectories.hands import TRAINING_HANDS
from training.trajectories.lexical_hunks import apply_all

BEFORE = """\
import logging

log = logging.getLogger(__name__)


def read(path, size):
    log.info("reading %s", path)
    with open(path) as file:
        return file.read(size)


def copy(path, target, size):
    log.info("copying %s", path)
    data = read(path, size)
    with open(target, "w") as file:
        file.write(data)
    log.info("done")
"""
AFTER = BEFORE.replace("log.info", "log.debug").replace("size", "limit")
CHANGE = FileChange("a/b", "python", BEFORE, AFTER)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return small_tokenizer()


@pytest.mark.parametrize("play", [play_commit, play_typed, play_repeats, play_words])
def test_the_remaining_hunks_lead_to_the_final_text(play: Play, tokenizer: Tokenizer) -> None:
    for seed in range(5):
        finals = set()
        for moment in play(CHANGE, tokenizer, TRAINING_HANDS, Random(seed)):
            assert moment.recorder.text.text == moment.text
            finals.add(apply_all(moment.text, moment.remaining))
            assert (moment.kind == "done") == (not moment.remaining)
            assert all(hunk.start <= len(moment.text) for hunk in moment.upcoming)
        assert len(finals) <= 1
        if play is not play_repeats and finals:
            assert finals == {AFTER}


def test_a_repeat_is_reachable_and_the_first_of_its_kind_is_not(tokenizer: Tokenizer) -> None:
    once = FileChange("a/b", "python", "a = 1\nb = 2\nc = 3\n", "x = 1\ny = 2\nz = 3\n")
    again = FileChange("a/b", "python", "a = 1\na = 2\na = 3\n", "x = 1\nx = 2\nx = 3\n")
    for change, wanted in ((once, False), (again, True)):
        moments = [
            (moment.is_reachable, moment.kind)
            for seed in range(8)
            for moment in play_commit(change, tokenizer, TRAINING_HANDS, Random(seed))
        ]
        assert {is_reachable for is_reachable, kind in moments if kind == "commit"} <= {wanted}
