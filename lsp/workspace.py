"""All open files and what is said to the editor about them. Knows nothing of the protocol.

Everything here runs in one thread. What an editor notifies is taken in at once and in order; answers come when they come.
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
from lsp.exclusions import LIMIT_CHARACTERS, Exclusions, has_private_key
from lsp.fetch import ServiceUnavailable
from lsp.memory import Memory
from lsp.open_file import OpenFile
from lsp.places import dismissed_file, recordings_folder
from lsp.recordings import Recordings
from lsp.settings import Settings
from lsp.suggestions import Answer, Suggestion

if TYPE_CHECKING:
    from lsp.asking import Asking
    from lsp.everywhere import Place

_THINKING_SECONDS = 0.25  # an answer that comes sooner needs no word: the status must not flicker at each key
_SWITCH_SECONDS = 2.0  # how long an editor may take to read files again after another branch was checked out
_CROWD_SECONDS, _CROWD_FILES = (
    1.0,
    3,
)  # more files opened at once are a session restored: nobody edits them all
_OFF = frozenset({"language-off", "excluded", "excluded-scheme", "too-large"})
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Status:
    state: str  # starting, ready, thinking, quiet, snoozed, off or trouble
    reason: str
    message: str


_STARTING = Status("starting", "starting", "the service is being started")
_READY = Status("ready", "connected", "ready")
_THINKING = Status("thinking", "asked", "waiting for the model")
_SNOOZED = Status("snoozed", "snoozed", "snoozed")


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
        self.settings = settings
        self.files: dict[str, OpenFile] = {}
        self.counters: Counter[str] = Counter()
        self.status = _STARTING
        self._editor = editor
        self._root = root
        self._encoding = encoding
        self._exclusions = Exclusions(settings.exclude)
        self._recordings = self._new_recordings()
        self._asking: Asking | None = None
        self._snoozed_until = 0.0
        self._waking: asyncio.TimerHandle | None = None
        self._switched_until = 0.0
        self._opened_times: list[float] = []
        self._told_problems: set[str] = set()

    # --- beginning and end ---

    def start(self) -> None:
        """Look for the service. Needs a running event loop."""
        from lsp.asking import Asking

        self._told_problems.clear()
        self._asking = Asking(self, Memory(dismissed_file()), self.counters)
        self._editor.tell(self.status)

    async def stop(self) -> None:
        asking, self._asking = self._asking, None
        if asking is not None:
            for file in self.files.values():
                asking.close(file)
            await asking.stop()

    def kill(self) -> None:
        if self._asking is not None:
            self._asking.kill()

    async def configure(self, settings: Settings) -> None:
        """New settings. Those about the service mean another service."""
        before, self.settings = self.settings, settings
        self._exclusions = Exclusions(settings.exclude)
        if settings.record != before.record:
            self._recordings = self._new_recordings()
        for file in list(self.files.values()):
            self._exclude_anew(file)
        if before.service != settings.service and self._asking is not None:
            await self.stop()
            self.start()
        for file in self.files.values():
            file.shown = None  # what was good enough before may not be now
            self._ask(file)
        self._refresh_status()

    # --- what the editor notifies ---

    def open(self, uri: str, language: str, version: int, text: str) -> None:
        self.close(uri)
        excluded = self._exclusions.reason_for(uri, text)
        document = Document(uri, language, version, "" if excluded else text, self._encoding)
        file = self.files[uri] = OpenFile(document, excluded)
        if excluded:
            _log.info("a file is left alone: %s", excluded)
            return
        if self._recordings is not None:
            self._recordings.opened(document)
        if self._asking is not None:
            self._asking.begin_stream(file)
            if not self._is_crowded():
                self._asking.prepare(file)

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
        if any(has_private_key(change.text) for change in changes):
            self._exclude(file, "excluded")
            return
        if self._recordings is not None:
            self._recordings.changed(file.document, before, changes)
        now = time.monotonic()
        file.record(edited, now, rewrite=now < self._switched_until)
        is_along = file.follow(changes)
        if self._asking is None:
            return
        if is_along and file.shown is not None and self._asking.silence(file) is None:
            self._asking.cancel(file)  # what is on its way is about the text before
            self.settle(file, Answer((file.shown,)))  # the rest remains: nothing to ask, nothing to flicker
        elif not self._asking.answer_from_ahead(file):
            self._ask(file)

    def save(self, uri: str) -> None:
        file = self._known(uri)
        if file is None:
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
        if self._asking is not None:
            self._asking.close(file)
        if self._recordings is not None:
            self._recordings.closed(file.document)

    def focus(self, uri: str) -> None:
        """The user looks at another file: bursts end everywhere."""
        for each in self.files.values():
            if each.recorder is not None:
                each.recorder.freeze()
        file = self._known(uri)
        if file is None:
            return
        if self._recordings is not None:
            self._recordings.event(file.document, "focused")
        if self._asking is not None:
            self._asking.prepare(file)

    def move_cursor(self, uri: str, version: int | None, position: types.Position) -> None:
        file = self._known(uri)
        if file is None or version not in (None, file.document.version):
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

    async def answer(self, uri: str, version: int | None, position: types.Position) -> Answer:
        """The answer for the text of now; the same whoever asks."""
        file = self._known(uri)
        if file is None or self._asking is None:
            return Answer(silence="not-open")
        if version not in (None, file.document.version):
            return Answer(silence="stale")
        self._leave_name(file, file.document.offset_from_position(position))
        if file.answer is None and file.waiting is None:
            self._ask(file)
        if file.answer is not None:
            return file.answer
        assert file.waiting is not None
        return await asyncio.shield(file.waiting)

    def find(self, suggestion_id: str) -> tuple[OpenFile, Suggestion] | None:
        """A suggestion made lately, and the file it is for."""
        for file in self.files.values():
            if (suggestion := file.offered(suggestion_id)) is not None:
                return file, suggestion
        return None

    def shown(self, suggestion_id: str) -> None:
        """The editor has drawn it."""
        if (found := self.find(suggestion_id)) is not None:
            self._count("shown", *found)

    def accept(self, suggestion_id: str) -> None:
        """The editor has applied it, or is about to."""
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
        found = self.find(suggestion_id)
        if found is None or self._asking is None:
            return
        file, suggestion = found
        if file.shown is not None and file.shown.id == suggestion_id:
            suggestion = file.shown  # where it stands now
        self._asking.dismiss(file, suggestion)
        file.dismiss(suggestion)
        self._count("dismissed", file, suggestion)
        known = file.answer.suggestions if file.answer is not None else ()
        rest = tuple(each for each in known if each.id != suggestion_id)
        self.settle(file, Answer(rest, None if rest else "dismissed"))

    async def everywhere(self, uri: str, version: int | None) -> "list[Place]":
        """All places where the same would be done next."""
        file = self._known(uri)
        if file is None or self._asking is None or version not in (None, file.document.version):
            return []
        self._leave_name(file, -1)
        self.counters["everywhere"] += 1
        return await self._asking.everywhere(file)

    def snooze(self, minutes: float) -> None:
        """Keep quiet for a while; zero wakes."""
        if self._waking is not None:
            self._waking.cancel()
            self._waking = None
        self._snoozed_until = time.monotonic() + 60 * minutes
        if minutes > 0:
            self._waking = asyncio.get_running_loop().call_later(60 * minutes + 0.05, self.snooze, 0)
        for file in self.files.values():
            self._ask(file)
        self._refresh_status()

    # --- what is told by the asking ---

    def is_snoozed(self) -> bool:
        return time.monotonic() < self._snoozed_until

    def settle(self, file: OpenFile, answer: Answer) -> None:
        """This is the answer for the text of now."""
        is_new = answer.best is not None and file.offered(answer.best.id) is None
        file.offer(answer)
        waiting, file.waiting = file.waiting, None
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)
        if is_new and answer.best is not None and self._recordings is not None:
            self._recordings.suggested(file.document, answer.best.id, answer.best.change)
        self._editor.show(file, answer)
        self._refresh_status(answer)

    def on_model(self) -> None:
        """There is a tokenizer, or another one: streams begin anew."""
        if self._asking is not None:
            for file in self.files.values():
                self._asking.begin_stream(file)

    def on_connected(self) -> None:
        if self._told_problems:
            self._editor.log("Likewise: the service is back")
            self._told_problems.clear()
        self._set_status(_SNOOZED if self.is_snoozed() else _READY)
        for file in self.files.values():
            if file.recorder is not None and (file.recorder.edits or file.recorder.prefix):
                self._ask(file)

    def on_lost(self, problem: ServiceUnavailable) -> None:
        if problem.reason not in self._told_problems:  # say it once, not at each attempt
            self._told_problems.add(problem.reason)
            _log.warning("no service: %s (%s); trying again", problem, problem.reason)
            self._editor.log(f"Likewise: {problem}; trying again")
        self._set_status(Status("trouble", problem.reason, str(problem)))

    # --- how ---

    def _known(self, uri: str) -> OpenFile | None:
        """An open file that is not excluded."""
        file = self.files.get(uri)
        return file if file is not None and file.excluded is None else None

    def _ask(self, file: OpenFile) -> None:
        if self._asking is not None:
            self._asking.ask(file)
            if file.waiting is not None:
                asyncio.get_running_loop().call_later(_THINKING_SECONDS, self._think, file, file.waiting)

    def _think(self, file: OpenFile, waiting: asyncio.Future[Answer]) -> None:
        """Say so when this question is still the newest and has no answer yet."""
        if file.waiting is waiting and not waiting.done() and self.status.state in ("ready", "quiet"):
            self._set_status(_THINKING)

    def _leave_name(self, file: OpenFile, offset: int) -> None:
        """The cursor is here: a name half typed elsewhere is finished."""
        recorder = file.recorder
        if recorder is not None and recorder.partial is not None and recorder.partial.end != offset:
            recorder.move_cursor(offset)
            self._ask(file)

    def _is_crowded(self) -> bool:
        """Are so many files being opened that each cannot be meant?"""
        now = time.monotonic()
        self._opened_times = [then for then in self._opened_times if now - then < _CROWD_SECONDS] + [now]
        return len(self._opened_times) > _CROWD_FILES

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
        self.settle(self.files[file.uri], Answer(silence=reason))

    def _count(self, event: str, file: OpenFile, suggestion: Suggestion) -> None:
        self.counters[event] += 1
        if self._recordings is not None and file.excluded is None:
            self._recordings.event(file.document, event, suggestion=suggestion.id)
        if event in ("shown", "accepted", "dismissed") and self._asking is not None:
            self._asking.report(event)

    def _refresh_status(self, answer: Answer | None = None) -> None:
        if self.is_snoozed():
            self._set_status(_SNOOZED)
        elif self._asking is None or not self._asking.is_connected:
            if self.status.state != "trouble":
                self._set_status(_STARTING)
        elif answer is not None and answer.silence in _OFF:
            self._set_status(Status("off", answer.silence or "", "off for this file"))
        elif answer is not None and answer.best is None:
            self._set_status(Status("quiet", answer.silence or "", "nothing to suggest"))
        else:
            self._set_status(_READY)

    def _set_status(self, status: Status) -> None:
        if status != self.status:
            self.status = status
            self._editor.tell(status)
