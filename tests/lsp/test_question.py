import asyncio

import pytest

from lsp.question import Question, QuestionState
from lsp.suggestions import Answer
from model.silence import Silence

pytestmark = pytest.mark.asyncio

FIRST, SECOND = Answer(silence=Silence.STOP_PREDICTED), Answer(silence=Silence.BELOW_THRESHOLD)


def state_of(question: Question) -> QuestionState:
    return question.state  # mypy takes a property for a constant


async def forever() -> None:
    await asyncio.Event().wait()


async def test_a_question_goes_from_idle_to_looking_ahead_and_back() -> None:
    question = Question()
    assert state_of(question) is QuestionState.IDLE
    question.ask(forever())
    assert state_of(question) is QuestionState.ASKING
    question.settle(FIRST)
    assert state_of(question) is QuestionState.LOOKING_AHEAD
    question.cancel()
    assert state_of(question) is QuestionState.ANSWERED
    assert question.answer is FIRST
    question.withdraw()
    assert state_of(question) is QuestionState.IDLE


async def test_all_who_wait_get_the_same_answer_and_later_ones_get_it_at_once() -> None:
    question = Question()
    question.ask(forever())
    waiting = [asyncio.create_task(question.wait()) for _ in range(3)]
    await asyncio.sleep(0)
    question.settle(FIRST)
    assert await asyncio.gather(*waiting) == [FIRST] * 3
    assert await question.wait() is FIRST
    question.withdraw()


async def test_who_waits_hears_that_a_later_question_took_over() -> None:
    question = Question()
    question.ask(forever())
    waiting = asyncio.create_task(question.wait())
    await asyncio.sleep(0)
    first = question.number
    question.ask(forever())
    assert (await waiting).silence is Silence.STALE
    assert question.number > first
    question.settle(SECOND)
    assert await question.wait() is SECOND
    question.withdraw()


async def test_one_who_stops_waiting_harms_no_other() -> None:
    question = Question()
    question.ask(forever())
    impatient, patient = (asyncio.create_task(question.wait()) for _ in range(2))
    await asyncio.sleep(0)
    impatient.cancel()
    await asyncio.sleep(0)
    question.settle(FIRST)
    assert await patient is FIRST
    question.withdraw()


async def test_cancelled_work_is_never_finished() -> None:
    finished: list[str] = []

    async def work() -> None:
        await asyncio.sleep(0)
        finished.append("work")

    question = Question()
    question.ask(work())  # cancelled before it begins
    question.cancel()
    question.ask(work())
    await asyncio.sleep(0)
    question.cancel()
    await asyncio.sleep(0.01)
    assert finished == []


async def test_an_answer_that_is_known_needs_no_question_and_may_be_followed_by_work() -> None:
    question = Question()
    question.settle(FIRST)
    assert state_of(question) is QuestionState.ANSWERED
    question.look_ahead(asyncio.sleep(0))
    assert state_of(question) is QuestionState.LOOKING_AHEAD
    await asyncio.sleep(0.01)
    assert state_of(question) is QuestionState.ANSWERED
