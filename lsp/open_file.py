"""One open file: its text, its stream, and what is in view there."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lsp.document import Document, Edited
from lsp.suggestions import Answer, Suggestion, follow, is_along, is_whole
from model.editing.change import Change
from model.editing.edits import Edit

if TYPE_CHECKING:  # imported when the service is there: they bring the tokenizer and the wire with them
    from model.editing.recorder import Recorder
    from server import schema

_LIMIT_REMEMBERED = 50  # suggestions that a client may still name by their id
_LIMIT_DISMISSED = 50


@dataclass(frozen=True)
class Ahead:
    """The answer to a question not asked yet: what comes next once the text is this."""

    text: str
    edits: tuple[Edit, ...]
    prediction: "schema.Prediction"


class OpenFile:
    """What the language server knows of one open file. An excluded file has no text here."""

    def __init__(self, document: Document, excluded: str | None) -> None:
        self.document = document
        self.excluded = excluded
        self.recorder: Recorder | None = None
        self.answer: Answer | None = None  # for the text of now
        self.waiting: asyncio.Future[Answer] | None = None  # the answer that is being looked for
        self.task: asyncio.Task[None] | None = None
        self.shown: Suggestion | None = None
        self.ahead: Ahead | None = None
        self.accepting: Suggestion | None = None  # the client said that it will apply it
        self._dismissed: list[Suggestion] = []
        self._offered: OrderedDict[str, Suggestion] = OrderedDict()

    @property
    def uri(self) -> str:
        return self.document.uri

    def offered(self, suggestion_id: str) -> Suggestion | None:
        """A suggestion made for this file lately, where it stands now."""
        return self._offered.get(suggestion_id)

    def offer(self, answer: Answer) -> None:
        """This answer is given to the editor."""
        self.answer = answer
        self.shown = answer.best
        for suggestion in answer.suggestions:
            self._offered[suggestion.id] = suggestion
            self._offered.move_to_end(suggestion.id)
        while len(self._offered) > _LIMIT_REMEMBERED:
            self._offered.popitem(last=False)

    def dismiss(self, suggestion: Suggestion) -> None:
        self._dismissed = [*self._dismissed[1 - _LIMIT_DISMISSED :], suggestion]
        if self.shown is not None and self.shown.id == suggestion.id:
            self.shown = None

    def is_dismissed(self, suggestion: Suggestion) -> bool:
        """Dismissed here, even if the user has typed along with it since."""
        return any(suggestion.is_same(each) for each in self._dismissed)

    def record(self, edited: Sequence[Edited], now: float, *, rewrite: bool) -> None:
        """The document has changed: tell the stream and move what stands in the text."""
        changes = [change for change, _ in edited]
        accepted = self._is_acceptance(edited)
        if self.recorder is not None:
            self.recorder.record(changes, now, accepted=accepted, rewrite=rewrite)
        self.answer = self.accepting = None

    def follow(self, changes: Sequence[Change]) -> bool:
        """Carry suggestions over the changes. True if the user typed along with the one in view and some of it is left."""
        along = self.shown is not None and len(changes) == 1 and is_along(self.shown, changes[0])
        for change in changes:
            self.shown = follow(self.shown, change) if self.shown is not None else None
            self._dismissed = [f for each in self._dismissed if (f := follow(each, change)) is not None]
        if along and self.shown is not None:
            self.shown = replace(self.shown, edits=())  # they were for the text before
        return along and self.shown is not None

    def _is_acceptance(self, edited: Sequence[Edited]) -> bool:
        if (
            len(edited) != 1 or len(edited[0].change.text) == 1
        ):  # one key is typing, even if it is all that was offered
            return self.accepting is not None and bool(edited)
        candidates = [self.shown, self.accepting]
        if self.answer is not None:
            candidates += self.answer.suggestions
        changes = [edited[0].change]
        return any(each is not None and is_whole(each, changes, edited[0].removed) for each in candidates)
