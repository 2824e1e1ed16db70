"""Asked moments: answers are compared with the hunks that the author still makes."""

from random import Random

from model.editing.change import Change
from tests.tokenizing import small_tokenizer
from training.judge.moments import FileChange, play_commit, play_typed
from training.suite.asked_moments import _replay, judge_answer
from training.suite.whole_commits import Offer
from training.trajectories.hands import TEST_HANDS

CHANGE = FileChange("a/b", "python", "a = one\nb = one\nc = one\n", "a = two\nb = two\nc = two\n")


def test_a_hunk_that_is_left_is_right_and_the_upcoming_one_is_next() -> None:
    for moment in play_commit(CHANGE, small_tokenizer(), TEST_HANDS, Random(1), ordinary_share=1.0):
        for hunk in moment.remaining:
            assert judge_answer(moment, Offer(hunk, 0.7)) == (0.7, True, hunk in moment.upcoming)
        assert judge_answer(moment, Offer(Change(0, 1, "wrong"), 0.7)) == (0.7, False, False)
        assert judge_answer(moment, None) is None


def test_replaying_the_newest_hunk_is_right_where_it_is_repeated() -> None:
    outcomes = []
    for moment in play_commit(CHANGE, small_tokenizer(), TEST_HANDS, Random(1), ordinary_share=1.0):
        assert moment.newest.apply_to(moment.text_before) == moment.text
        answer = judge_answer(moment, _replay(moment))
        outcomes.append(answer is not None and answer[1])
    assert outcomes == [True, True, False]


def test_a_typed_moment_tells_its_newest_change() -> None:
    for seed in range(5):
        for moment in play_typed(CHANGE, small_tokenizer(), TEST_HANDS, Random(seed), ordinary_share=1.0):
            assert moment.newest.apply_to(moment.text_before) == moment.text


def test_completing_the_typed_word_is_right() -> None:
    change = FileChange("a/b", "python", "x = 1\ny = 2\n", "x = 3\ny = connection.closed\n")
    found = 0
    for seed in range(40):
        for moment in play_typed(change, small_tokenizer(), TEST_HANDS, Random(seed), ordinary_share=1.0):
            prefix = moment.recorder.prefix
            if len(prefix) > 1 and "connection".startswith(prefix):
                at = moment.text.index(prefix) + len(prefix)
                answer = judge_answer(moment, Offer(Change(at, at, "connection"[len(prefix) :]), 0.9))
                assert answer is not None
                assert answer[1]
                found += 1
    assert found
