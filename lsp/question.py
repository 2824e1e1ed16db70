"""The newest question about a document: idle, asking, answered, or looking ahead of the answer.

    idle --ask--> asking --answer--> answered --look_ahead--> looking ahead
     ^-----------------------withdraw or cancel-----------------------'

A question runs in a task of its own. An answer comes from that task, or at any time if it is known without
asking.
"""

import asyncio
from collections.abc import Coroutine
from enum import Enum

from lsp.suggestions import Answer
from model.silence import Silence

Work = Coroutine[None, None, None]


class QuestionState(Enum):
    IDLE = "idle"
    ASKING = "asking"
    ANSWERED = "answered"
    LOOKING_AHEAD = "looking ahead"


class Question:
    """The newest question about one document. `number` counts the questions asked so far."""

    def __init__(self) -> None:
        self.number = 0
        self._answer: Answer | None = None
        self._waiting: asyncio.Future[Answer] | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def answer(self) -> Answer | None:
        """The answer for the current text."""
        return self._answer

    @property
    def state(self) -> QuestionState:
        if self._waiting is not None:
            return QuestionState.ASKING
        if self._answer is None:
            return QuestionState.IDLE
        if self._task is not None and not self._task.done():
            return QuestionState.LOOKING_AHEAD
        return QuestionState.ANSWERED

    def ask(self, work: Work) -> None:
        """Ask: `work` must find an answer for the current text."""
        self.withdraw()
        self.number += 1
        self._waiting = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(work)

    def settle(self, answer: Answer) -> None:
        """Set the answer for the current text, and give it to those who wait."""
        self._answer = answer
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)

    def look_ahead(self, work: Work) -> None:
        """Go on with `work` after an answer that was known without asking."""
        assert self._answer is not None
        self._cancel_task()
        self._task = asyncio.create_task(work)

    def cancel(self) -> None:
        """Stop looking for an answer; tell those who wait that the text has changed. A known answer stays."""
        self._cancel_task()
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not waiting.done():
            waiting.set_result(Answer(silence=Silence.STALE))

    def withdraw(self) -> None:
        """Cancel the question, and forget its answer: it is about another text."""
        self.cancel()
        self._answer = None

    async def wait(self) -> Answer:
        """Wait for the answer to the question that has been asked."""
        if self._answer is not None:
            return self._answer
        assert self._waiting is not None, "no question has been asked"
        return await asyncio.shield(self._waiting)

    def _cancel_task(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None
