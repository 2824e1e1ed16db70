"""One open file: its text, its recorder, the state of its question and the suggestion in view."""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from lsprotocol import types

from lsp.document import Document
from lsp.exclusions import LIMIT_CHARACTERS, LIMIT_LINE
from lsp.failures import describe_failure
from lsp.fetch import ServiceUnavailable
from lsp.file_view import FileView
from lsp.question import Question, QuestionState
from lsp.suggestions import Answer, Suggestion, follow, is_along, is_whole
from model.editing.change import Change, trimmed
from model.editing.lines import Splice
from model.secret_text import has_secret
from model.silence import Silence

if TYPE_CHECKING:  # imported when the service is there: they bring the tokenizer and the wire with them
    from lsp.everywhere import LikelyChange
    from lsp.predictions import Ahead, Predictions
    from model.editing.recorder import Recorder

_LIMIT_OFFERED = 50  # suggestions that a client may still name by their id
_LIMIT_DISMISSED = 50
_LIMIT_AT_ONCE = 50_000  # code points; tokenizing so many takes some hundredths of a second
# After so much quiet a change counts as made, and one that looks unfinished too; a little more than the service waits for.
_QUIET_SECONDS = (0.85, 2.55)
_LIMIT_PAUSE_SECONDS = 3600.0
_READING_SECONDS = 0.05  # a user who types on within this does not read: the next key needs the service
_log = logging.getLogger(__name__)

Publish = Callable[["FileSession", Answer, bool], None]


class FileSession:
    """Everything about one open file. Only its own methods change it. An excluded file has no text here.

    `publish` gets each answer for the current text, and whether its best suggestion was never offered before.
    """

    def __init__(
        self,
        document: Document,
        excluded: Silence | None,
        publish: Publish,
    ) -> None:
        self._document = document
        self._excluded = excluded
        self._publish = publish
        self._recorder: Recorder | None = None
        self._reading: asyncio.Task[None] | None = None  # of a long text
        self._question = Question()
        self._shown: Suggestion | None = None
        self._changed_time = float("-inf")
        self._is_along = False  # the newest change did a part of the suggestion in view
        self._ahead: Ahead | None = None
        self._accepting: Suggestion | None = None  # the client said that it will apply it
        self._dismissed: list[Suggestion] = []
        self._offered: OrderedDict[str, Suggestion] = OrderedDict()

    @property
    def uri(self) -> str:
        return self._document.uri

    @property
    def document(self) -> Document:
        return self._document

    @property
    def recorder(self) -> "Recorder | None":
        """The stream of the file; None while the tokens are unknown."""
        return self._recorder

    @property
    def excluded(self) -> Silence | None:
        """The reason for leaving this file alone."""
        return self._excluded

    @property
    def shown(self) -> Suggestion | None:
        """The suggestion in view, where it stands in the current text."""
        return self._shown

    @property
    def answer(self) -> Answer | None:
        """The answer for the current text."""
        return self._question.answer

    @property
    def state(self) -> QuestionState:
        return self._question.state

    @property
    def question_number(self) -> int:
        return self._question.number

    @property
    def is_edited(self) -> bool:
        """Is there anything in the stream to predict from?"""
        return self._recorder is not None and bool(self._recorder.edits or self._recorder.prefix)

    # --- the text ---

    def change(
        self,
        events: Iterable[types.TextDocumentContentChangeEvent],
        version: int,
        now: float,
        *,
        rewrite: bool = False,
    ) -> list[Change]:
        """Apply the changes of one notification. They may be a reason to exclude the file."""
        if self._excluded is not None:
            self._document.version = version
            return []
        splices = self._document.update(events, version)
        changes = [splice.change for splice in splices]
        if (reason := self._find_reason(splices)) is not None:
            self.exclude(reason)
        else:
            self._changed_time = now
            accepted = self._is_acceptance(splices)
            self._accepting = None
            self._question.withdraw()
            if self._recorder is not None:
                self._recorder.follow(splices, now, accepted=accepted, rewrite=rewrite)
            self._follow(changes)
        return changes

    def _find_reason(self, splices: Sequence[Splice]) -> Silence | None:
        """Find a reason to exclude the file in the lines that changes left. A key may complete a secret."""
        if len(self._document) > LIMIT_CHARACTERS:
            return Silence.TOO_LARGE
        if any(len(line) > LIMIT_LINE for splice in splices for line in splice.new):
            return Silence.LONG_LINE
        return Silence.SECRET if any(has_secret("".join(splice.new)) for splice in splices) else None

    def exclude(self, reason: Silence) -> None:
        """Forget the text and everything that was made from it."""
        self._stop_reading()
        document = self._document
        self._document = Document(document.uri, document.language, document.version, "")
        self._excluded = reason
        self._recorder = self._shown = self._ahead = self._accepting = None
        self._dismissed = []
        self._offered.clear()
        _log.info("a file is left alone from now on: %s", reason)
        self.keep_silent(reason)

    def save(self, now: float) -> bool:
        """End the burst. True if the stream began again, because a formatter made the last changes."""
        if self._recorder is None:
            return False
        generation = self._recorder.generation
        self._recorder.save(now)
        return self._recorder.generation != generation

    def end_burst(self) -> None:
        if self._recorder is not None:
            self._recorder.freeze()

    def forget_changes_since(self, then: float) -> bool:
        """Begin the stream again if it has changes as new as this. Returns whether it had."""
        if self._recorder is None or not self._recorder.changed_since(then):
            return False
        self._recorder.rebase()
        return True

    def leave_name(self, offset: int) -> bool:
        """Finish the half-typed name if the cursor is not at its end. Returns whether there was one."""
        recorder = self._recorder
        if recorder is None or recorder.partial is None or recorder.partial.end == offset:
            return False
        recorder.move_cursor(offset)
        return True

    # --- the stream ---

    def begin_stream(self, predictions: "Predictions") -> asyncio.Task[None] | None:
        """Record from the current text on. The task, if there is one, tokenizes a long text in a thread."""
        self._stop_reading()
        text = self._document.text
        if len(text) <= _LIMIT_AT_ONCE:
            self._use(predictions.create_recorder(text))
        else:
            self._recorder = None
            self._reading = asyncio.create_task(self._read_long_text(predictions, text))
        return self._reading

    async def _read_long_text(self, predictions: "Predictions", text: str) -> None:
        recorder = await asyncio.to_thread(predictions.create_recorder, text)
        current = self._document.text
        if recorder is not None and current != text:  # all that was typed meanwhile is one change
            recorder.record([trimmed(Change(0, len(text), current), text)], time.monotonic())
        self._use(recorder)

    def _use(self, recorder: "Recorder | None") -> None:
        """Record the file with this recorder, which keeps its tokens beside the lines of the document."""
        self._recorder = recorder
        if recorder is not None:
            recorder.share(self._document.store)

    def _stop_reading(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    # --- the question ---

    def ask(self, predictions: "Predictions") -> None:
        """Look for an answer for the current text."""
        if not self.is_edited:
            self.keep_silent(Silence.NOTHING_EDITED)
            return
        if self._shown is None:  # the user did something else than we looked ahead to
            self._ahead = None
        self._question.ask(self._guard(partial(self._find_answer, predictions)))

    def keep_silent(self, reason: Silence) -> None:
        """Answer with a silence, without asking."""
        self._question.withdraw()
        if self._shown is None:
            self._ahead = None
        self._settle(Answer(silence=reason))

    def answer_at_once(self, predictions: "Predictions") -> bool:
        """Answer without asking if the newest changes follow the suggestion in view. Returns whether so."""
        if self._is_along and self._shown is not None:
            self._settle(Answer((self._shown,)))  # the rest remains, so nothing flickers
            return True
        ahead, recorder = self._ahead, self._recorder
        if ahead is None or recorder is None or recorder.prefix or not ahead.is_for(self._document):
            return False
        self._ahead = None
        answer = predictions.answer_from_ahead(self._view(recorder), ahead)
        self._settle(answer)
        if answer.best is not None and tuple(recorder.edits) == ahead.edits:
            further = partial(self._look_further, predictions, answer.best)
            self._question.look_ahead(self._guard(further))
        return True

    async def wait_for_answer(self) -> Answer:
        return await self._question.wait()

    async def find_unsure(self, predictions: "Predictions") -> Suggestion | None:
        """Find the likeliest next edit, sure or not; none if the text changes meanwhile. A client may accept it."""
        recorder, version = self._recorder, self._document.version
        if recorder is None or not self.is_edited:
            return None
        self._question.cancel()
        found = await predictions.find_unsure(self._view(recorder))
        if found is None or self._document.version != version:
            return None
        self._remember([found])
        return found

    async def find_everywhere(self, predictions: "Predictions") -> "list[LikelyChange]":
        """Find all changes that would come next; none if the text changes meanwhile.

        The file's own question is cancelled: the service drops a question when a newer one comes.
        """
        self._question.cancel()
        recorder, version = self._recorder, self._document.version
        if recorder is None:
            return []
        found = await predictions.find_everywhere(self._view(recorder))
        if self._document.version != version or self._recorder is not recorder:
            return []
        view = self._view(recorder)
        return [each for each in found if not predictions.is_dismissed(view, each)]

    def prepare(self, predictions: "Predictions") -> None:
        """Let the service encode the file before the first question."""
        if self._recorder is not None:
            predictions.prepare(self._view(self._recorder))

    def close(self) -> None:
        """Stop everything that is under way."""
        self._stop_reading()
        self._question.cancel()

    async def _find_answer(self, predictions: "Predictions") -> None:
        assert self._recorder is not None
        answer = await predictions.find_answer(self._view(self._recorder), self._pause_seconds)
        self._settle(answer)
        if answer.best is None and answer.silence == Silence.BELOW_THRESHOLD:
            answer = await self._ask_when_quiet(predictions)
        if answer.best is not None:
            await self._look_further(predictions, answer.best)

    @property
    def _pause_seconds(self) -> float:
        """The time since the last change."""
        return min(_LIMIT_PAUSE_SECONDS, time.monotonic() - self._changed_time)

    async def _ask_when_quiet(self, predictions: "Predictions") -> Answer:
        """Ask again when the user pauses: a change that is still being made is not repeated before that."""
        answer = Answer(silence=Silence.BELOW_THRESHOLD)
        for seconds in _QUIET_SECONDS:
            wait = seconds - self._pause_seconds
            if wait <= 0 or answer.silence != Silence.BELOW_THRESHOLD:
                continue
            await asyncio.sleep(wait)
            assert self._recorder is not None
            answer = await predictions.find_answer(self._view(self._recorder), self._pause_seconds)
            if answer.best is not None:
                self._settle(answer)
        return answer

    async def _look_further(self, predictions: "Predictions", best: Suggestion) -> None:
        """While the user reads: find the edit that follows an acceptance, and alternatives."""
        await asyncio.sleep(_READING_SECONDS)
        assert self._recorder is not None
        view = self._view(self._recorder)
        try:
            ahead = await predictions.look_ahead(view, best)
            if ahead is not None:
                self._ahead = ahead
            found = await predictions.find_alternatives(view, self._pause_seconds)
        except ServiceUnavailable as error:
            _log.debug("nothing further: %s", error)
            return
        others = tuple(each for each in found if each.id != best.id)
        if others and self._shown is not None and self._shown.id == best.id:
            self._settle(Answer((self._shown, *others)))

    async def _guard(self, work: Callable[[], Awaitable[None]]) -> None:
        """Give those who wait an answer whatever fails, and log where it failed, without the user's text."""
        try:
            await work()
        except Exception as error:
            _log.error("no answer: %s", describe_failure(error))
            self._settle(Answer(silence=Silence.INTERNAL))

    def _view(self, recorder: "Recorder") -> FileView:
        return FileView(self._document, recorder, self._shown, self._dismissed)

    # --- suggestions ---

    def find_offered(self, suggestion_id: str) -> Suggestion | None:
        """Find a suggestion that was offered for this file lately."""
        return self._offered.get(suggestion_id)

    def accept(self, suggestion_id: str) -> None:
        """Expect the suggestion in view as the next change: the client is about to apply it."""
        if self._shown is not None and self._shown.id == suggestion_id:  # otherwise it is applied already
            self._accepting = self._shown

    def dismiss(self, suggestion: Suggestion) -> Suggestion:
        """Take a suggestion out of view for good, and all others until the text changes.

        Returns it where it stands now.
        """
        if self._shown is not None and self._shown.id == suggestion.id:
            suggestion = self._shown
        self._dismissed = [*self._dismissed[1 - _LIMIT_DISMISSED :], suggestion]
        self._question.cancel()
        self._settle(Answer(silence=Silence.DISMISSED))
        return suggestion

    def forget_dismissed(self) -> None:
        self._dismissed = []

    def forget_shown(self) -> None:
        """Let the next answer be judged as if nothing were in view."""
        self._shown = None

    def _settle(self, answer: Answer) -> None:
        """Make this the answer for the current text."""
        is_new = answer.best is not None and answer.best.id not in self._offered
        self._shown = answer.best
        self._remember(answer.suggestions)
        self._question.settle(answer)
        self._publish(self, answer, is_new)

    def _remember(self, suggestions: Iterable[Suggestion]) -> None:
        """Keep these suggestions, so that a client can name them by their id."""
        for suggestion in suggestions:
            self._offered[suggestion.id] = suggestion
            self._offered.move_to_end(suggestion.id)
        while len(self._offered) > _LIMIT_OFFERED:
            self._offered.popitem(last=False)

    def _follow(self, changes: Sequence[Change]) -> None:
        """Carry suggestions over the changes."""
        along = self._shown is not None and len(changes) == 1 and is_along(self._shown, changes[0])
        for change in changes:
            self._shown = follow(self._shown, change) if self._shown is not None else None
            self._dismissed = [f for each in self._dismissed if (f := follow(each, change)) is not None]
        if along and self._shown is not None:
            self._shown = replace(self._shown, edits=())  # they were for the text before
        self._is_along = along

    def _is_acceptance(self, splices: Sequence[Splice]) -> bool:
        """Do these changes apply a suggestion? One key is typing, even if it is all that was offered."""
        if len(splices) != 1 or len(splices[0].change.text) == 1:
            return self._accepting is not None and bool(splices)
        candidates = [self._shown, self._accepting]
        if self.answer is not None:
            candidates += self.answer.suggestions
        change, removed = splices[0].change, splices[0].removed
        return any(each is not None and is_whole(each, change, removed) for each in candidates)
