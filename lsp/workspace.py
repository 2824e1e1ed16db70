"""All open files, the service behind them, and what is said to the editor about them. Knows nothing of the protocol.

Everything here runs in one thread. What an editor notifies is taken in at once, in order; answers are looked for in tasks
that the next change cancels.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from lsprotocol import types

from lsp.document import Document
from lsp.exclusions import LIMIT_CHARACTERS, Exclusions
from lsp.fetch import Address, ServiceUnavailable
from lsp.memory import Memory
from lsp.open_file import Ahead, OpenFile
from lsp.places import dismissed_file, recordings_folder
from lsp.recordings import Recordings
from lsp.service import Service
from lsp.settings import Settings
from lsp.suggestions import STAYING_SHARE, Answer, Suggestion

if TYPE_CHECKING:
    from lsp.client import Client, Question
    from lsp.everywhere import Place
    from model.edits import Edit
    from model.tokenizer import Tokenizer
    from server import schema

_LIMIT_EDITS = 100  # of a stream, as in the paper; less if the service says so
_UNCALIBRATED_THRESHOLD = 0.5  # the service's own, when its bundle has none
_SWITCH_SECONDS = 2.0  # how long an editor may take to read files again after another branch was checked out
_CROWD_SECONDS, _CROWD_FILES = (
    1.0,
    3,
)  # more files opened within this are a session restored: nobody edits them all
_ALTERNATIVES = 3
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Status:
    state: str  # starting, ready, thinking, quiet, snoozed, off or trouble
    reason: str
    message: str


class Editor(Protocol):
    """What the workspace says by itself."""

    def show(self, file: OpenFile, answer: Answer) -> None: ...

    def tell(self, status: Status) -> None: ...

    def log(self, message: str) -> None: ...


class Workspace:
    """All open files."""

    def __init__(
        self, editor: Editor, settings: Settings, root: str | None = None, encoding: str = "utf-16"
    ) -> None:
        self._editor = editor
        self._root = root
        self._encoding = encoding
        self.settings = settings
        self.files: dict[str, OpenFile] = {}
        self.counters: Counter[str] = Counter()
        self.status = Status("starting", "starting", "the service is being started")
        self._exclusions = Exclusions(settings.exclude)
        self._recordings = self._new_recordings()
        self._memory: Memory | None = None
        self._service: Service | None = None
        self._client: Client | None = None
        self._running: asyncio.Task[None] | None = None
        self._tokenizer: Tokenizer | None = None
        self._bundle = ""
        self._limit_edits = _LIMIT_EDITS
        self._default_threshold = _UNCALIBRATED_THRESHOLD
        self._snoozed_until = 0.0
        self._waking: asyncio.TimerHandle | None = None
        self._switched_until = 0.0
        self._opened_times: list[float] = []
        self._lost_reasons: set[str] = set()
        self._background: set[asyncio.Task[None]] = set()

    # --- beginning and end ---

    def start(self) -> None:
        """Look for the service. Needs a running event loop."""
        from lsp.client import (  # brings pydantic and websockets: after `initialize` is answered
            Client,
            Listener,
        )

        settings = self.settings
        self._memory = Memory(dismissed_file())
        if settings.service_address is None:
            self._service = Service(settings.bundle, settings.device, settings.log_level)
        listener = Listener(self._on_model, self._on_connected, self._on_lost)
        self._client = Client(self._locate, listener)
        self._running = asyncio.create_task(self._client.run())
        self._refresh_status()

    async def stop(self) -> None:
        for file in self.files.values():
            self._cancel(file)
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)
        if self._service is not None:
            await self._service.stop()

    def kill(self) -> None:
        if self._service is not None:
            self._service.kill()

    async def configure(self, settings: Settings) -> None:
        """New settings. Those about the service mean another service."""
        before, self.settings = self.settings, settings
        self._exclusions = Exclusions(settings.exclude)
        if settings.record != before.record:
            self._recordings = self._new_recordings()
        for file in list(self.files.values()):
            self._exclude_anew(file)
        if _service_settings(before) != _service_settings(settings) and self._running is not None:
            await self.stop()
            self._service = self._client = None
            self._lost_reasons.clear()
            self.start()
        else:
            for file in self.files.values():
                file.shown = None  # what was good enough before may not be now
                self._ask(file)
        self._refresh_status()

    # --- what the editor notifies ---

    def open(self, uri: str, language: str, version: int, text: str) -> None:
        self.close(uri)
        excluded = self._exclusions.reason_for(uri, text)
        document = Document(uri, language, version, "" if excluded else text, self._encoding)
        file = OpenFile(document, excluded)
        self.files[uri] = file
        if excluded:
            _log.info("a file is left alone: %s", excluded)
            return
        if self._recordings is not None:
            self._recordings.opened(document)
        self._record(file)
        now = time.monotonic()
        self._opened_times = [t for t in self._opened_times if now - t < _CROWD_SECONDS] + [now]
        if len(self._opened_times) <= _CROWD_FILES:
            self._prepare(file)

    def change(self, uri: str, events: Iterable[types.TextDocumentContentChangeEvent], version: int) -> None:
        file = self.files.get(uri)
        if file is None:
            _log.warning("a change of a file that is not open")
            return
        if file.excluded is not None:
            file.document.version = version
            return
        before = file.document.text if self._recordings is not None else ""
        edited = file.document.update(events, version)
        if len(file.document) > LIMIT_CHARACTERS:
            self._exclude(file, "too-large")
            return
        changes = [change for change, _ in edited]
        if self._recordings is not None:
            self._recordings.changed(file.document, before, changes)
        now = time.monotonic()
        file.record(edited, now, rewrite=now < self._switched_until)
        is_along = file.follow(changes)
        if is_along and file.shown is not None and self._silence(file) is None:
            self._settle(file, Answer((file.shown,)))  # the rest remains: nothing to ask, nothing to flicker
        elif not self._answer_from_ahead(file):
            self._ask(file)

    def save(self, uri: str) -> None:
        file = self.files.get(uri)
        if file is None or file.excluded is not None:
            return
        if file.recorder is not None:
            generation = file.recorder.generation
            file.recorder.save(time.monotonic())
            if file.recorder.generation != generation:
                self._ask(file)
        if self._recordings is not None:
            self._recordings.event(file.document, "saved")

    def close(self, uri: str) -> None:
        file = self.files.pop(uri, None)
        if file is None:
            return
        self._cancel(file)
        if self._client is not None:
            self._client.close(uri)
        if self._recordings is not None:
            self._recordings.closed(file.document)

    def focus(self, uri: str) -> None:
        """The user looks at another file: bursts end everywhere."""
        for each in self.files.values():
            if each.recorder is not None:
                each.recorder.freeze()
        file = self.files.get(uri)
        if file is None or file.excluded is not None:
            return
        if self._recordings is not None:
            self._recordings.event(file.document, "focused")
        self._prepare(file)

    def move_cursor(self, uri: str, version: int | None, position: types.Position) -> None:
        file = self.files.get(uri)
        if file is None or file.excluded is not None or version not in (None, file.document.version):
            return
        offset = file.document.offset_from_position(position)
        if self._recordings is not None:
            self._recordings.selected(file.document, offset)
        self._leave_name(file, offset)

    def switch_branch(self) -> None:
        """Other files were checked out: what changes around now is nobody's intent."""
        now = time.monotonic()
        self._switched_until = now + _SWITCH_SECONDS
        for file in self.files.values():
            if file.recorder is not None and file.recorder.changed_since(now - _SWITCH_SECONDS):
                file.recorder.rebase()
                self._ask(file)

    # --- what the editor asks ---

    async def answer(self, uri: str, version: int | None, position: types.Position | None) -> Answer:
        """The answer for the text of now; the same whoever asks."""
        file = self.files.get(uri)
        if file is None:
            return Answer(silence="not-open")
        if version is not None and version != file.document.version:
            return Answer(silence="stale")
        if position is not None and file.excluded is None:
            self._leave_name(file, file.document.offset_from_position(position))
        if file.answer is None and file.waiting is None:
            self._ask(file)
        if file.answer is not None:
            return file.answer
        assert file.waiting is not None
        return await asyncio.shield(file.waiting)

    def find(self, suggestion_id: str) -> tuple[OpenFile, Suggestion] | None:
        for file in self.files.values():
            if (suggestion := file.offered(suggestion_id)) is not None:
                return file, suggestion
        return None

    def shown(self, suggestion_id: str) -> None:
        """The editor has drawn it."""
        if (found := self.find(suggestion_id)) is not None:
            self._count("shown", *found)

    def accept(self, suggestion_id: str) -> None:
        if (found := self.find(suggestion_id)) is None:
            return
        file, suggestion = found
        if file.shown is not None and file.shown.id == suggestion_id:  # not applied yet
            file.accepting = file.shown
        self._count("accepted", file, suggestion)

    def accept_word(self, suggestion_id: str) -> None:
        if (found := self.find(suggestion_id)) is not None:
            self._count("accepted-word", *found)

    def dismiss(self, suggestion_id: str) -> None:
        if (found := self.find(suggestion_id)) is None:
            return
        file, suggestion = found
        if file.shown is not None and file.shown.id == suggestion_id:
            suggestion = file.shown  # where it stands now
        from lsp.judgement import surroundings

        if self._memory is not None:
            self._memory.dismiss(*surroundings(file.document, suggestion))
        file.dismiss(suggestion)
        self._count("dismissed", file, suggestion)
        rest = tuple(each for each in (file.answer or Answer()).suggestions if each.id != suggestion_id)
        self._settle(file, Answer(rest, None if rest else "dismissed"))

    async def everywhere(self, uri: str, version: int | None) -> "list[Place]":
        """All places where the same would be done next."""
        from lsp.everywhere import find_places

        file = self.files.get(uri)
        if file is None or file.recorder is None or self._client is None or self._silence(file) is not None:
            return []
        if version is not None and version != file.document.version:
            return []
        self._leave_name(file, -1)
        recorder, client, asked = file.recorder, self._client, file.document.version

        async def ask(edits: "tuple[Edit, ...]") -> "schema.Prediction":
            return await client.ask(self._question(file, edits, threshold=self._threshold))

        try:
            places = await find_places(recorder, self._limit_edits, ask)
        except ServiceUnavailable as error:
            _log.info("not everywhere: %s", error)
            return []
        if file.document.version != asked or file.recorder is not recorder:
            return []
        self.counters["everywhere"] += 1
        return places

    def snooze(self, minutes: float) -> None:
        """Keep quiet for a while; zero wakes."""
        if self._waking is not None:
            self._waking.cancel()
            self._waking = None
        self._snoozed_until = time.monotonic() + 60 * minutes if minutes > 0 else 0.0
        if minutes > 0:
            self._waking = asyncio.get_running_loop().call_later(60 * minutes + 0.05, self._wake)
        for file in self.files.values():
            self._ask(file)
        self._refresh_status()

    # --- the service ---

    async def _locate(self) -> Address:
        if self._service is not None:
            return await self._service.address()
        return Address(self.settings.service_address or "", self.settings.service_token or "")

    def _on_model(self, model: "schema.ModelResponse") -> None:
        from model.tokenizer import Tokenizer

        thresholds = model.calibration.get("thresholds", {})
        self._default_threshold = float(thresholds.get("hunk", _UNCALIBRATED_THRESHOLD))
        self._limit_edits = min(_LIMIT_EDITS, model.limit_edits)
        if self._tokenizer is None or model.sha256 != self._bundle:
            self._tokenizer = Tokenizer(model.tokenizer)
            self._bundle = model.sha256
            for file in self.files.values():
                self._record(file)

    def _on_connected(self) -> None:
        if self._lost_reasons:
            self._editor.log("Likewise: the service is back")
            self._lost_reasons.clear()
        self._set_status(Status("ready", "connected", "ready"))
        for file in self.files.values():
            if file.recorder is not None and (file.recorder.edits or file.recorder.prefix):
                self._ask(file)

    def _on_lost(self, problem: ServiceUnavailable) -> None:
        if problem.reason not in self._lost_reasons:  # say it once, not at each attempt
            self._lost_reasons.add(problem.reason)
            _log.warning("no service: %s (%s); trying again", problem, problem.reason)
            self._editor.log(f"Likewise: {problem}; trying again")
        self._set_status(Status("trouble", problem.reason, str(problem)))

    # --- answers ---

    @property
    def _threshold(self) -> float:
        return self.settings.threshold if self.settings.threshold is not None else self._default_threshold

    def _record(self, file: OpenFile) -> None:
        """Begin the stream of a file, if we know the tokens already."""
        if self._tokenizer is None or file.excluded is not None:
            return
        from lsp.recorder import Recorder

        file.recorder = Recorder(self._tokenizer, file.document.text, self._limit_edits)

    def _prepare(self, file: OpenFile) -> None:
        """Let the service encode the file before the first question."""
        if self._client is not None and self._client.is_connected and self._silence(file) is None:
            assert file.recorder is not None
            self._client.prepare(self._question(file, tuple(file.recorder.edits)))

    def _silence(self, file: OpenFile) -> str | None:
        """Why nothing is to be asked."""
        if file.excluded is not None:
            return file.excluded
        if not self.settings.is_on_for(file.document.language):
            return "language-off"
        if time.monotonic() < self._snoozed_until:
            return "snoozed"
        if file.recorder is None or self._client is None or not self._client.is_connected:
            return "no-service"
        return None

    def _ask(self, file: OpenFile) -> None:
        """Look for an answer for the text of now; what was looked for is of no use any more."""
        self._cancel(file)
        file.answer = None
        file.waiting = asyncio.get_running_loop().create_future()
        silence = self._silence(file)
        if silence is None:
            assert file.recorder is not None
            if not file.recorder.edits and not file.recorder.prefix:
                silence = "nothing-edited"
        if silence is not None:
            self._settle(file, Answer(silence=silence))
        else:
            file.task = asyncio.create_task(self._find_answer(file))

    async def _find_answer(self, file: OpenFile) -> None:
        from lsp.judgement import judge

        if self.settings.debounce_milliseconds:
            await asyncio.sleep(self.settings.debounce_milliseconds / 1000)
        assert self._client is not None and file.recorder is not None and self._memory is not None
        threshold = self._threshold
        staying = threshold * STAYING_SHARE if file.shown is not None else threshold
        question = self._question(
            file, tuple(file.recorder.edits), threshold=staying, limit=self.settings.limit_suggestions
        )
        began = time.perf_counter()
        try:
            prediction = await self._client.ask(question)
            answer = judge(file, prediction, question.edits, self._memory, threshold)
        except ServiceUnavailable as error:
            _log.info("no answer: %s", error)
            answer = Answer(silence=error.reason)
        self.counters["answers"] += 1
        _log.debug(
            "answer in %.1f ms: %s", 1000 * (time.perf_counter() - began), answer.silence or "suggestion"
        )
        self._settle(file, answer)
        if answer.best is not None:
            await self._look_further(file, question, answer.best)

    async def _look_further(self, file: OpenFile, question: "Question", best: Suggestion) -> None:
        """While the user reads: what comes next if they accept, and what else there is."""
        try:
            await self._look_ahead(file, question.edits, best)
            if self.settings.push and self.settings.limit_suggestions == 1:
                await self._find_alternatives(file, question, best)
        except ServiceUnavailable as error:
            _log.debug("nothing further: %s", error)

    async def _look_ahead(self, file: OpenFile, edits: "tuple[Edit, ...]", best: Suggestion) -> None:
        edits = (*edits, *best.edits)
        if not best.edits or len(edits) > self._limit_edits or self._client is None:
            return
        start, end, new = best.change
        text = file.document.text
        prediction = await self._client.ask(
            self._question(file, edits, prefix=False, threshold=self._threshold)
        )
        file.ahead = Ahead(text[:start] + new + text[end:], edits, prediction)

    async def _find_alternatives(self, file: OpenFile, question: "Question", best: Suggestion) -> None:
        from dataclasses import replace

        from lsp.judgement import judge

        assert self._client is not None and self._memory is not None
        prediction = await self._client.ask(replace(question, limit=_ALTERNATIVES))
        answer = judge(file, prediction, question.edits, self._memory, self._threshold)
        others = tuple(each for each in answer.suggestions if each.id != best.id)
        if others and file.shown is not None and file.shown.id == best.id:
            self._settle(file, Answer((file.shown, *others)))

    def _answer_from_ahead(self, file: OpenFile) -> bool:
        """The text is the one that we looked ahead to: the answer is there already."""
        ahead, file.ahead = file.ahead, None
        if ahead is None or len(ahead.text) != len(file.document) or ahead.text != file.document.text:
            file.ahead = ahead if ahead is not None and file.shown is not None else None
            return False
        if (
            self._silence(file) is not None
            or self._memory is None
            or file.recorder is None
            or file.recorder.prefix
        ):
            return False
        from lsp.judgement import judge

        answer = judge(file, ahead.prediction, ahead.edits, self._memory, self._threshold)
        self._cancel(file)
        self.counters["ahead"] += 1
        self._settle(file, answer)
        if answer.best is not None and tuple(file.recorder.edits) == ahead.edits:
            question = self._question(file, ahead.edits)
            file.task = asyncio.create_task(self._look_further(file, question, answer.best))
        return True

    def _question(
        self,
        file: OpenFile,
        edits: "tuple[Edit, ...]",
        *,
        prefix: bool = True,
        threshold: float | None = None,
        limit: int = 1,
    ) -> "Question":
        from lsp.client import Question

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

    def _settle(self, file: OpenFile, answer: Answer) -> None:
        """This is the answer for the text of now."""
        file.offer(answer)
        waiting, file.waiting = file.waiting, None
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)
        if answer.best is not None and self._recordings is not None:
            edit = self._recordings.edit_of(file.document, answer.best.change)
            self._recordings.event(file.document, "suggested", suggestion=answer.best.id, edit=edit)
        self._editor.show(file, answer)
        self._refresh_status(answer)

    def _cancel(self, file: OpenFile) -> None:
        if file.task is not None:
            file.task.cancel()
            file.task = None
        waiting, file.waiting = file.waiting, None
        if waiting is not None and not waiting.done():
            waiting.set_result(Answer(silence="stale"))

    def _leave_name(self, file: OpenFile, offset: int) -> None:
        """The cursor is here: a name half typed elsewhere is finished."""
        if (
            file.recorder is not None
            and file.recorder.partial is not None
            and file.recorder.partial.end != offset
        ):
            file.recorder.move_cursor(offset)
            self._ask(file)

    # --- what is kept ---

    def _new_recordings(self) -> Recordings | None:
        return Recordings(recordings_folder(), self._root) if self.settings.record else None

    def _exclude_anew(self, file: OpenFile) -> None:
        """After new globs. What was excluded stays so until it is opened again: we do not have its text."""
        reason = None if file.excluded else self._exclusions.reason_for(file.uri, file.document.text)
        if reason is not None:
            self._exclude(file, reason)

    def _exclude(self, file: OpenFile, reason: str) -> None:
        document = file.document
        self.close(file.uri)
        empty = Document(document.uri, document.language, document.version, "", self._encoding)
        self.files[file.uri] = OpenFile(empty, reason)
        _log.info("a file is left alone from now on: %s", reason)
        self._settle(self.files[file.uri], Answer(silence=reason))

    def _count(self, event: str, file: OpenFile, suggestion: Suggestion) -> None:
        self.counters[event] += 1
        if self._recordings is not None and file.excluded is None:
            self._recordings.event(file.document, event, suggestion=suggestion.id)
        if event in ("shown", "accepted", "dismissed") and self._client is not None:
            task = asyncio.create_task(self._client.report(event))
            self._background.add(task)
            task.add_done_callback(self._background.discard)

    # --- status ---

    def _wake(self) -> None:
        self._waking = None
        self.snooze(0)

    def _refresh_status(self, answer: Answer | None = None) -> None:
        if time.monotonic() < self._snoozed_until:
            self._set_status(Status("snoozed", "snoozed", "snoozed"))
        elif self._client is None or not self._client.is_connected:
            if self.status.state != "trouble":
                self._set_status(Status("starting", "starting", "the service is being started"))
        elif answer is not None and answer.silence in (
            "language-off",
            "excluded",
            "too-large",
            "excluded-scheme",
        ):
            self._set_status(Status("off", answer.silence, "off for this file"))
        elif answer is not None and answer.best is None:
            self._set_status(Status("quiet", answer.silence or "", "nothing to suggest"))
        else:
            self._set_status(Status("ready", "connected", "ready"))

    def _set_status(self, status: Status) -> None:
        if status != self.status:
            self.status = status
            self._editor.tell(status)


def _service_settings(settings: Settings) -> tuple[str | None, str | None, str | None, str]:
    return settings.service_address, settings.service_token, settings.bundle, settings.device
