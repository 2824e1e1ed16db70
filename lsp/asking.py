"""Looking for answers: what is asked of the service about a file, when, and what is made of what it says.

An answer is looked for in a task of the file's own, which the next change cancels. Imported once `initialize` is answered: it
brings the tokenizer, the wire and the connection with it.
"""

import asyncio
import logging
import time
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from functools import partial
from typing import Protocol

from lsp.client import Client, Listener, Question
from lsp.document import trimmed
from lsp.everywhere import Place, find_places
from lsp.fetch import Address, ServiceUnavailable
from lsp.judgement import is_dismissed, judge, surroundings
from lsp.memory import Memory
from lsp.open_file import Ahead, OpenFile
from lsp.service import Service
from lsp.settings import Settings
from lsp.suggestions import STAYING_SHARE, Answer, Suggestion
from model.editing.change import Change
from model.editing.edits import Edit
from model.editing.recorder import Recorder
from model.editing.tokenizer import Tokenizer
from server import schema

_LIMIT_EDITS = 100  # of a stream, as in the paper; less if the service says so
_UNCALIBRATED_THRESHOLD = 0.5  # when the bundle names none
_LIMIT_AT_ONCE = 50_000  # code points; tokenizing so many takes some hundredths of a second
_ALTERNATIVES = 3
_READING_SECONDS = 0.05  # who types on within this did not stop to read: the service is for the next key then
_TOKEN_COMPLETE = "token-complete"  # the half-typed name is a whole one: it is an edit after all
_log = logging.getLogger(__name__)


class Audience(Protocol):
    """Who wants the answers, and to know how the service does."""

    settings: Settings

    def is_snoozed(self) -> bool: ...

    def settle(self, file: OpenFile, answer: Answer) -> None: ...

    def on_model(self) -> None: ...

    def on_connected(self) -> None: ...

    def on_lost(self, problem: ServiceUnavailable) -> None: ...


class Asking:
    """The service, and the questions to it."""

    def __init__(self, audience: Audience, memory: Memory, counters: Counter[str]) -> None:
        self._audience = audience
        self._memory = memory
        self._counters = counters
        settings = audience.settings
        self._address = Address(settings.service_address or "", settings.service_token or "")
        self._service: Service | None = None
        if settings.service_address is None:
            self._service = Service(settings.bundle, settings.device, settings.log_level)
        self._client = Client(self._locate, Listener(self._on_model, audience.on_connected, audience.on_lost))
        self._running = asyncio.create_task(self._client.run())
        self._tokenizer: Tokenizer | None = None
        self._bundle = ""
        self._limit_edits = _LIMIT_EDITS
        self._default_threshold = _UNCALIBRATED_THRESHOLD
        self._background: set[asyncio.Task[None]] = set()

    @property
    def is_connected(self) -> bool:
        return self._client.is_connected

    async def stop(self) -> None:
        self._running.cancel()
        await asyncio.gather(self._running, return_exceptions=True)
        if self._service is not None:
            await self._service.stop()

    def kill(self) -> None:
        if self._service is not None:
            self._service.kill()

    # --- files ---

    def begin_stream(self, file: OpenFile) -> None:
        """From the text of now on, if we know the tokens already."""
        if self._tokenizer is None or file.excluded is not None:
            return
        if len(file.document) <= _LIMIT_AT_ONCE:
            file.recorder = Recorder(self._tokenizer, file.document.text, self._limit_edits)
        else:
            file.recorder = None
            self._in_background(self._begin_long_stream(file, self._tokenizer, file.document.text))

    async def _begin_long_stream(self, file: OpenFile, tokenizer: Tokenizer, text: str) -> None:
        """A long text is tokenized in a thread: typing does not wait for it. What was typed meanwhile is one change."""
        recorder = await asyncio.to_thread(Recorder, tokenizer, text, self._limit_edits)
        if tokenizer is not self._tokenizer or file.excluded is not None:
            return
        now = file.document.text
        if now != text:
            recorder.record([trimmed(Change(0, len(text), now), text)], time.monotonic())
        file.recorder = recorder
        self.prepare(file)

    def prepare(self, file: OpenFile) -> None:
        """Let the service encode the file before the first question."""
        if file.recorder is not None and self.silence(file) is None:
            self._client.prepare(self._question(file, tuple(file.recorder.edits)))

    def close(self, file: OpenFile) -> None:
        self.cancel(file)
        self._client.close(file.uri)

    def dismiss(self, file: OpenFile, suggestion: Suggestion) -> None:
        self._memory.dismiss(*surroundings(file.document, suggestion))

    def report(self, event: str) -> None:
        """Let the service count what became of a suggestion."""
        self._in_background(self._client.report(event))

    def _in_background(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)  # the loop itself does not hold on to tasks
        task.add_done_callback(self._background.discard)

    # --- answers ---

    def silence(self, file: OpenFile) -> str | None:
        """Why nothing is to be asked about a file."""
        if file.excluded is not None:
            return file.excluded
        if not self._audience.settings.is_on_for(file.document.language):
            return "language-off"
        if self._audience.is_snoozed():
            return "snoozed"
        if file.recorder is None or not self._client.is_connected:
            return "no-service"
        return None

    def ask(self, file: OpenFile) -> None:
        """Look for an answer for the text of now; what was looked for is of no use any more."""
        self.cancel(file)
        file.answer = None
        if file.shown is None:  # they went another way than we looked
            file.ahead = None
        file.waiting = asyncio.get_running_loop().create_future()
        silence = self.silence(file)
        if (
            silence is None
            and file.recorder is not None
            and not (file.recorder.edits or file.recorder.prefix)
        ):
            silence = "nothing-edited"
        if silence is not None:
            self._audience.settle(file, Answer(silence=silence))
        else:
            file.task = asyncio.create_task(self._guarded(file, self._find_answer))

    def cancel(self, file: OpenFile) -> None:
        """Stop looking for an answer; who waits for it is told that the text has moved on."""
        if file.task is not None:
            file.task.cancel()
            file.task = None
        waiting, file.waiting = file.waiting, None
        if waiting is not None and not waiting.done():
            waiting.set_result(Answer(silence="stale"))

    def answer_from_ahead(self, file: OpenFile) -> bool:
        """If the text is the one that we looked ahead to, the answer is there already."""
        ahead, recorder = file.ahead, file.recorder
        if ahead is None or recorder is None or self.silence(file) is not None:
            return False
        if len(ahead.text) != len(file.document) or ahead.text != file.document.text or recorder.prefix:
            return False
        file.ahead = None
        self.cancel(file)
        answer = judge(file, ahead.prediction, ahead.edits, self._memory, self._threshold)
        self._counters["ahead"] += 1
        self._audience.settle(file, answer)
        if answer.best is not None and tuple(recorder.edits) == ahead.edits:
            question = self._question(file, ahead.edits, threshold=self._threshold)
            further = partial(self._look_further, question=question, best=answer.best)
            file.task = asyncio.create_task(self._guarded(file, further))
        return True

    async def everywhere(self, file: OpenFile) -> list[Place]:
        """All places where the same would be done next, in the text of now."""
        recorder, version = file.recorder, file.document.version
        if recorder is None or self.silence(file) is not None:
            return []

        async def ask(edits: tuple[Edit, ...]) -> schema.Prediction:
            return await self._client.ask(
                self._question(file, edits, prefix=False, threshold=self._threshold)
            )

        try:
            places = await find_places(recorder, self._limit_edits, ask)
        except ServiceUnavailable as error:
            _log.info("not everywhere: %s", error)
            return []
        moved_on = file.document.version != version or file.recorder is not recorder
        return [] if moved_on else [each for each in places if not self._is_dismissed(file, each.change)]

    def _is_dismissed(self, file: OpenFile, change: Change) -> bool:
        suggestion = Suggestion(change, old=file.document.slice(change.start, change.end), confidence=0.0)
        return is_dismissed(file, suggestion, self._memory)

    @property
    def _threshold(self) -> float:
        chosen = self._audience.settings.threshold
        return chosen if chosen is not None else self._default_threshold

    async def _guarded(self, file: OpenFile, work: Callable[[OpenFile], Awaitable[None]]) -> None:
        """Whatever goes wrong about one file, those who wait for its answer get one, and the log says where it was."""
        try:
            await work(file)
        except Exception as error:
            frames = [f"{frame.name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
            _log.error("no answer: %s at %s", type(error).__name__, " ".join(frames))
            self._audience.settle(file, Answer(silence="internal"))

    async def _find_answer(self, file: OpenFile) -> None:
        settings, recorder = self._audience.settings, file.recorder
        assert recorder is not None
        if settings.debounce_milliseconds:
            await asyncio.sleep(settings.debounce_milliseconds / 1000)
        # One in view may stay with less than a new one needs.
        threshold = self._threshold * (STAYING_SHARE if file.shown is not None else 1)
        edits = tuple(recorder.edits)
        question = self._question(file, edits, threshold=threshold, limit=settings.limit_suggestions)
        began = time.perf_counter()
        try:
            prediction = await self._client.ask(question)
            if prediction.silence == _TOKEN_COMPLETE:
                recorder.move_cursor(-1)
                edits = tuple(recorder.edits)
                question = self._question(file, edits, threshold=threshold, limit=settings.limit_suggestions)
                prediction = await self._client.ask(question)
            answer = judge(file, prediction, edits, self._memory, self._threshold)
        except ServiceUnavailable as error:
            _log.info("no answer: %s", error)
            answer = Answer(silence=error.reason)
        self._counters["answers"] += 1
        took = 1000 * (time.perf_counter() - began)
        _log.debug("answer after %.1f ms: %s", took, answer.silence or "suggestion")
        self._audience.settle(file, answer)
        if answer.best is not None:
            await self._look_further(file, question, answer.best)

    async def _look_further(self, file: OpenFile, question: Question, best: Suggestion) -> None:
        """While the user reads: what comes next if they accept, and what else there is."""
        settings = self._audience.settings
        await asyncio.sleep(_READING_SECONDS)
        try:
            await self._look_ahead(file, question, best)
            if settings.push and settings.limit_suggestions == 1:
                await self._find_alternatives(file, question, best)
        except ServiceUnavailable as error:
            _log.debug("nothing further: %s", error)

    async def _look_ahead(self, file: OpenFile, question: Question, best: Suggestion) -> None:
        edits = (*question.edits, *best.edits)
        if not best.edits or len(edits) > self._limit_edits:
            return
        start, end, new = best.change
        text = file.document.text
        ahead = self._question(file, edits, prefix=False, threshold=self._threshold)
        prediction = await self._client.ask(ahead)
        file.ahead = Ahead(text[:start] + new + text[end:], edits, prediction)

    async def _find_alternatives(self, file: OpenFile, question: Question, best: Suggestion) -> None:
        prediction = await self._client.ask(replace(question, limit=_ALTERNATIVES))
        answer = judge(file, prediction, question.edits, self._memory, self._threshold)
        others = tuple(each for each in answer.suggestions if each.id != best.id)
        if others and file.shown is not None and file.shown.id == best.id:
            self._audience.settle(file, Answer((file.shown, *others)))

    def _question(
        self,
        file: OpenFile,
        edits: tuple[Edit, ...],
        *,
        prefix: bool = True,
        threshold: float | None = None,
        limit: int = 1,
    ) -> Question:
        recorder = file.recorder
        assert recorder is not None
        return Question(
            document=file.uri,
            state=recorder.state,
            edits=edits,
            cursor=recorder.cursor if prefix else None,
            prefix=recorder.prefix if prefix else "",
            threshold=threshold,
            limit=limit,
        )

    # --- the service ---

    async def _locate(self) -> Address:
        return self._address if self._service is None else await self._service.address()

    def _on_model(self, model: schema.ModelResponse) -> None:
        thresholds = model.calibration.get("thresholds", {})
        self._default_threshold = float(thresholds.get("hunk", _UNCALIBRATED_THRESHOLD))
        self._limit_edits = min(_LIMIT_EDITS, model.limit_edits)
        if model.sha256 != self._bundle:
            self._tokenizer = Tokenizer(model.tokenizer)
            self._bundle = model.sha256
            self._audience.on_model()
