"""All open files: routes each message of the editor to a file's session, and each answer to the editor.

Knows nothing of the protocol. Everything here runs in one thread: notifications are taken at once and in
order, answers come later.
"""

import asyncio
import logging
import time
from collections import Counter, deque
from collections.abc import Iterable
from contextlib import aclosing
from typing import TYPE_CHECKING, Protocol

from lsprotocol import types

from lsp.data_paths import dismissals_file, recordings_folder
from lsp.dismissals import Dismissals
from lsp.document import Document
from lsp.exclusions import Exclusions
from lsp.failures import describe_failure, watch_tasks
from lsp.fetch import ServiceUnavailable
from lsp.file_session import FileSession
from lsp.question import QuestionState
from lsp.recording_writer import RecordingWriter
from lsp.settings import Settings
from lsp.snooze import Snooze
from lsp.status import STARTING, THINKING, EditorStatus, ready_with, status_from_problem, status_from_silence
from lsp.suggestions import Answer, Suggestion
from model.silence import Silence

if TYPE_CHECKING:
    from lsp.everywhere import LikelyChange
    from lsp.predictions import Predictions, ServedModel

_THINKING_SECONDS = 0.25  # a sooner answer needs no "thinking": the status must not flicker at each key
_SWITCH_SECONDS = 2.0  # an editor takes up to this long to read files again after a checkout
# More files opened at once than this are a restored session, not files to edit now.
_CROWD_FILES = 3
_CROWD_SECONDS = 1.0
_RETRY_SECONDS = (0.5, 30.0)  # first and longest pause after a failure of our own
_log = logging.getLogger(__name__)


class Editor(Protocol):
    """The receiver of everything that the workspace says by itself."""

    def show(self, document: Document, answer: Answer) -> None: ...

    def tell(self, status: EditorStatus) -> None: ...

    def log(self, message: str) -> None: ...


class Workspace:
    """All open files."""

    def __init__(
        self, editor: Editor, settings: Settings, root: str | None = None, encoding: str = "utf-16"
    ) -> None:
        self.settings = settings
        self.files: dict[str, FileSession] = {}
        self.counters: Counter[str] = Counter()
        self.status = STARTING
        self._focused = ""  # the uri of the file that the status is about
        self._is_focus_told = False  # does this editor tell it?
        self._editor = editor
        self._root = root
        self._encoding = encoding
        self._exclusions = Exclusions(settings.exclude)
        self._recording = self._create_recording()
        self._predictions: Predictions | None = None
        self._following: asyncio.Task[None] | None = None
        self._bundle = ""
        self._snooze = Snooze(on_end=lambda: self.snooze(0))
        self._switched_until = 0.0
        self._opened_times: deque[float] = deque(maxlen=_CROWD_FILES)
        self._logged_problems: set[str] = set()

    # --- beginning and end ---

    @property
    def is_started(self) -> bool:
        return self._following is not None

    def start(self) -> None:
        """Look for the service. Needs a running event loop."""
        from lsp.predictions import Predictions

        watch_tasks()
        self._logged_problems.clear()
        self._bundle = ""
        self._predictions = Predictions(self.settings, Dismissals(dismissals_file()), self.counters)
        self._following = asyncio.create_task(self._follow(self._predictions))
        self._editor.tell(self.status)

    async def stop(self) -> None:
        predictions, self._predictions = self._predictions, None
        following, self._following = self._following, None
        if predictions is None or following is None:
            return
        for file in self.files.values():
            file.close()
            predictions.close(file.uri)
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        await predictions.stop()

    def kill(self) -> None:
        if self._predictions is not None:
            self._predictions.kill()

    async def configure(self, settings: Settings) -> None:
        """Use new settings. Those about the service mean another service."""
        before, self.settings = self.settings, settings
        self._exclusions = Exclusions(settings.exclude)
        if settings.record != before.record:
            self._recording = self._create_recording()
        for file in self.files.values():
            self._check_exclusion(file)
        if self._predictions is not None:
            if before.service != settings.service:
                await self.stop()
                self.start()
            else:
                self._predictions.configure(settings)
        for file in self.files.values():
            file.forget_shown()  # it may not be good enough now
            self._ask(file)
        self._refresh_status()

    # --- notifications of the editor ---

    def open(self, uri: str, language: str, version: int, text: str) -> None:
        self.close(uri)
        excluded = self._exclusions.reason_for(uri, text)
        document = Document(uri, language, version, "" if excluded else text, self._encoding)
        file = self.files[uri] = FileSession(document, excluded, self._publish)
        if excluded:
            _log.info("a file is left alone: %s", excluded)
            return
        if self._recording is not None:
            self._recording.write_document(document)
        self._begin_stream(file)
        if not self._is_crowded():
            self._prepare(file)

    def change(
        self, uri: str, events: Iterable[types.TextDocumentContentChangeEvent], version: int | None
    ) -> None:
        """Take in the changes of one notification. An editor that names no version counts none: we count them."""
        file = self.files.get(uri)
        if file is None:
            _log.warning("a change of a file that is not open")
            return
        version = file.document.version + 1 if version is None else version
        if not self._is_focus_told:
            self._focused = uri
        before = file.document.text if self._recording is not None else ""
        now = time.monotonic()
        changes = file.change(events, version, now, rewrite=now < self._switched_until)
        if file.excluded is not None:
            self._release(file)
            self._refresh_status()
            return
        if self._recording is not None:
            self._recording.write_changes(file.document, before, changes)
        if self._predictions is None:
            return
        silence = self._find_silence(file)
        if silence is not None or not file.answer_at_once(self._predictions):
            self._ask(file)

    def lose(self, uri: str) -> None:
        """Leave a file alone after a change that could not be taken in: our text of it may not be the editor's."""
        file = self._find_file(uri)
        if file is not None:
            file.exclude(Silence.INTERNAL)
            self._release(file)

    def save(self, uri: str) -> None:
        file = self._find_file(uri)
        if file is None:
            return
        if file.save(time.monotonic()):
            self._ask(file)
        if self._recording is not None:
            self._recording.write_event(file.document, "saved")

    def close(self, uri: str) -> None:
        file = self.files.pop(uri, None)
        if file is not None:
            file.close()
            self._release(file)

    def focus(self, uri: str) -> None:
        """Note that the user looks at another file: bursts end everywhere."""
        for each in self.files.values():
            each.end_burst()
        self._focused, self._is_focus_told = uri, True
        self._refresh_status()
        file = self._find_file(uri)
        if file is None:
            return
        if self._recording is not None:
            self._recording.write_event(file.document, "focused")
        self._prepare(file)

    def move_cursor(self, uri: str, version: int | None, position: types.Position) -> None:
        file = self._find_file(uri)
        if file is None or version not in (None, file.document.version):
            return
        offset = file.document.offset_from_position(position)
        if self._recording is not None:
            self._recording.write_selection(file.document, offset)
        if file.leave_name(offset):
            self._ask(file)

    def switch_branch(self) -> None:
        """Forget the newest changes: other files were checked out, and those are not the user's edits."""
        now = time.monotonic()
        self._switched_until = now + _SWITCH_SECONDS
        for file in self.files.values():
            if file.forget_changes_since(now - _SWITCH_SECONDS):
                self._ask(file)

    # --- requests of the editor ---

    async def answer(self, uri: str, version: int | None, position: types.Position) -> Answer:
        """Find the answer for the current text; the same for each request."""
        file = self._find_file(uri)
        if file is None:
            return Answer(silence=Silence.NOT_OPEN)
        if self._predictions is None:
            return Answer(silence=Silence.NO_SERVICE)
        if version not in (None, file.document.version):
            return Answer(silence=Silence.STALE)
        if file.leave_name(file.document.offset_from_position(position)) or file.state is QuestionState.IDLE:
            self._ask(file)
        return await file.wait_for_answer()

    def find(self, suggestion_id: str) -> tuple[FileSession, Suggestion] | None:
        """Find a suggestion that was offered lately, and its file."""
        for file in self.files.values():
            if (suggestion := file.find_offered(suggestion_id)) is not None:
                return file, suggestion
        return None

    def count_shown(self, suggestion_id: str) -> None:
        """Count a suggestion that the editor has drawn."""
        if (found := self.find(suggestion_id)) is not None:
            self._count("shown", *found)

    def accept(self, suggestion_id: str) -> None:
        """Count a suggestion that the editor has applied, or is about to."""
        if (found := self.find(suggestion_id)) is not None:
            found[0].accept(suggestion_id)
            self._count("accepted", *found)
            if self._predictions is not None:
                self._predictions.accept(found[1])

    def accept_word(self, suggestion_id: str) -> None:
        if (found := self.find(suggestion_id)) is not None:
            self._count("accepted-word", *found)

    def dismiss(self, suggestion_id: str) -> None:
        found = self.find(suggestion_id)
        if found is None or self._predictions is None:
            return
        file, suggestion = found
        was_asking = file.state is QuestionState.ASKING
        suggestion = file.dismiss(suggestion)
        self._predictions.dismiss(file.document, suggestion)
        self._count("dismissed", file, suggestion)
        if was_asking:
            self._ask(file)

    def forget_dismissed(self) -> None:
        """Let everything that was ever dismissed be suggested again."""
        if self._predictions is None:
            return
        self._predictions.forget_dismissed()
        for file in self.files.values():
            file.forget_dismissed()
            self._ask(file)

    async def find_unsure(self, uri: str) -> Suggestion | None:
        """Find the likeliest next edit of a file where nothing is sure enough."""
        file = self._find_file(uri)
        if file is None or self._predictions is None or self._find_silence(file) is not None:
            return None
        found = await file.find_unsure(self._predictions)
        if self.files.get(uri) is file and file.state is QuestionState.IDLE:
            self._ask(file)  # not earlier: the service drops a question when a newer one comes
        return found

    async def find_everywhere(self, uri: str, version: int | None) -> "list[LikelyChange]":
        """Find all changes that would come next."""
        file = self._find_file(uri)
        if file is None or self._predictions is None or version not in (None, file.document.version):
            return []
        self.counters["everywhere"] += 1
        if self._find_silence(file) is not None:
            return []
        is_left = file.leave_name(-1)
        found = await file.find_everywhere(self._predictions)
        is_open = self.files.get(uri) is file
        if is_open and (
            file.state is QuestionState.IDLE or (is_left and file.state is QuestionState.ANSWERED)
        ):
            self._ask(file)  # not earlier: the service drops a question when a newer one comes
        return found

    def snooze(self, minutes: float) -> None:
        """Keep quiet for a while; zero wakes."""
        self._snooze.begin(60 * minutes)
        for file in self.files.values():
            self._ask(file)
        self._refresh_status()

    # --- the service ---

    async def _follow(self, predictions: "Predictions") -> None:
        """Note each connection to the service, and each loss, until we stop."""
        pause, longest = _RETRY_SECONDS
        while self._predictions is predictions:
            try:
                async with aclosing(predictions.run()) as events:
                    async for event in events:
                        if isinstance(event, ServiceUnavailable):
                            self._note_loss(event)
                        else:
                            self._note_connection(event)
            except (
                Exception
            ) as error:  # whatever it is: without this task nothing would ever be suggested again
                _log.error("the connection failed: %s", describe_failure(error))
                problem = ServiceUnavailable(
                    "internal", f"the language server failed: {type(error).__name__}"
                )
                self._note_loss(problem)
            await asyncio.sleep(pause)
            pause = min(2 * pause, longest)

    def _note_connection(self, model: "ServedModel") -> None:
        is_other = model.bundle != self._bundle
        if is_other:  # another tokenizer
            self._bundle = model.bundle
            for file in self.files.values():
                self._begin_stream(file)
        if self._logged_problems:
            self._editor.log("Likewise: the service is back")
            self._logged_problems.clear()
        for file in self.files.values():
            # A question that is still open has moved with us, and somebody may wait for its answer.
            if file.is_edited and (is_other or file.state is not QuestionState.ASKING):
                self._ask(file)
        self._refresh_status()

    def _note_loss(self, problem: ServiceUnavailable) -> None:
        if problem.reason not in self._logged_problems:  # say it once, not at each attempt
            self._logged_problems.add(problem.reason)
            _log.warning("no service: %s (%s); trying again", problem, problem.reason)
            self._editor.log(f"Likewise: {problem}; trying again")
        self._set_status(status_from_problem(problem))

    def _begin_stream(self, file: FileSession) -> None:
        if self._predictions is None or self._predictions.model is None or file.excluded is not None:
            return
        reading = file.begin_stream(self._predictions)
        if reading is not None:
            reading.add_done_callback(lambda _: self._prepare(file))

    def _prepare(self, file: FileSession) -> None:
        """Let the service encode a file before the first question, unless it was closed meanwhile."""
        is_open = self.files.get(file.uri) is file
        if is_open and self._predictions is not None and self._find_silence(file) is None:
            file.prepare(self._predictions)

    # --- questions and answers ---

    def _ask(self, file: FileSession) -> None:
        if self._predictions is None:
            return
        silence = self._find_silence(file)
        if silence is not None:
            file.keep_silent(silence)
            return
        file.ask(self._predictions)
        if file.state is QuestionState.ASKING:
            loop = asyncio.get_running_loop()
            loop.call_later(_THINKING_SECONDS, self._show_thinking, file, file.question_number)

    def _find_silence(self, file: FileSession) -> Silence | None:
        """Find a reason for not asking about a file."""
        if file.excluded is not None:
            return file.excluded
        if not self.settings.is_on_for(file.document.language):
            return Silence.LANGUAGE_OFF
        if self._snooze.is_on:
            return Silence.SNOOZED
        if file.recorder is None or self._predictions is None or not self._predictions.is_connected:
            return Silence.NO_SERVICE
        return None

    def _publish(self, file: FileSession, answer: Answer, is_new: bool) -> None:
        if is_new and answer.best is not None and self._recording is not None:
            self._recording.write_suggestion(file.document, answer.best.id, answer.best.change)
        self._editor.show(file.document, answer)
        self._refresh_status()

    def _count(self, event: str, file: FileSession, suggestion: Suggestion) -> None:
        self.counters[event] += 1
        if self._recording is not None and file.excluded is None:
            self._recording.write_event(file.document, event, suggestion=suggestion.id)
        if event in ("shown", "accepted", "dismissed") and self._predictions is not None:
            self._predictions.report(event)

    # --- the status ---

    def _show_thinking(self, file: FileSession, number: int) -> None:
        """Say that the newest question of a file has no answer yet, if this is it."""
        is_open = file.state is QuestionState.ASKING and file.question_number == number
        if is_open and self.status.state in ("ready", "quiet"):
            self._set_status(THINKING)

    def _refresh_status(self) -> None:
        """Say how it is about the file in focus."""
        if self._snooze.is_on:
            self._set_status(status_from_silence(Silence.SNOOZED))
        elif self._predictions is None or not self._predictions.is_connected:
            if self.status.state != "trouble":
                self._set_status(STARTING)
        else:
            file = self.files.get(self._focused)
            silence = None if file is None else self._find_current_silence(file)
            ready = ready_with(self._predictions.bundle_name)
            self._set_status(ready if silence is None else status_from_silence(silence))

    def _find_current_silence(self, file: FileSession) -> Silence | None:
        """Find the reason why nothing is shown in a file, if there is one that is known already."""
        if file.excluded is not None:
            return file.excluded
        if not self.settings.is_on_for(file.document.language):
            return Silence.LANGUAGE_OFF
        return None if file.answer is None else file.answer.silence

    def _set_status(self, status: EditorStatus) -> None:
        if status != self.status:
            self.status = status
            self._editor.tell(status)

    # --- files ---

    def _find_file(self, uri: str) -> FileSession | None:
        """Find an open file that is not excluded."""
        file = self.files.get(uri)
        return file if file is not None and file.excluded is None else None

    def _check_exclusion(self, file: FileSession) -> None:
        """Apply new globs. An excluded file stays so until it is opened again: we do not have its text."""
        reason = None if file.excluded else self._exclusions.reason_for(file.uri, file.document.text)
        if reason is not None:
            file.exclude(reason)
            self._release(file)

    def _release(self, file: FileSession) -> None:
        """Let the service and the recording forget a file."""
        if self._predictions is not None:
            self._predictions.close(file.uri)
        if self._recording is not None:
            if file.excluded is Silence.SECRET:
                self._recording.erase(file.document)  # the keys before the last one of the secret
            self._recording.close(file.document)

    def _is_crowded(self) -> bool:
        """Are so many files being opened that the user cannot mean each of them?"""
        now = time.monotonic()
        times = self._opened_times
        is_crowded = len(times) == _CROWD_FILES and now - times[0] < _CROWD_SECONDS
        times.append(now)
        return is_crowded

    def _create_recording(self) -> RecordingWriter | None:
        return RecordingWriter(recordings_folder(), self._root) if self.settings.record else None
