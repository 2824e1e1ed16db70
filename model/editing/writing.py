"""A text and the changes made to it, as a question to the model: its state, its edits, and the half-typed name at the cursor.

Changes that touch one region are one burst. The service asks this way for a request that brings all at once, and so do the
measurements of training; the language server, which sees the changes as they happen, has its recorder.
"""

from bisect import bisect_left
from itertools import accumulate
from typing import NamedTuple

from model.editing.burst import Burst, TokenText, half_typed
from model.editing.change import Change
from model.editing.edits import Edit, Slots, State
from model.editing.tokenizer import Tokenizer

TOO_LONG = "too-long"


class Question(NamedTuple):
    """A request in the model's terms."""

    state: State
    edits: list[Edit]
    sources: list[tuple[int, ...]]  # for each edit: the request's edits that it came from
    cursor: int | None = None  # slot to the left of the cursor
    prefix: str = ""
    prefix_start: int | None = None  # offset, when the request's text holds the prefix
    silence: str | None = None  # known before the model is asked


class Writer:
    """Writes a request's changes into its text, and tells what they are as token edits, burst by burst."""

    def __init__(self, text: TokenText) -> None:
        self.text = text
        self._slots = Slots(text.state())
        self._sources: list[tuple[int, ...]] = []
        self._burst: Burst | None = None
        self._indices: list[int] = []  # of the changes in the open burst
        self._start = self._end = 0  # its region in the text
        self._is_rewritten = False  # by the newest burst, beyond what a diff can tell

    def write(self, index: int, change: Change) -> None:
        if self._burst is not None and not (change.start <= self._end and change.end >= self._start):
            self._freeze(None)
        replaced = self.text.replace(change)
        if self._burst is None:
            self._burst = Burst(self.text, replaced)
            self._start, self._end = change.start, change.end
        else:
            self._burst.extend(replaced)
        grown = len(change.text) - (change.end - change.start)
        self._start, self._end = min(self._start, change.start), max(self._end, change.end) + grown
        self._indices.append(index)
        self._is_rewritten = self._burst.is_large
        if self._is_rewritten:  # a new start, as if the text had been opened now
            self._slots, self._sources = Slots(self.text.state()), []
            self._burst, self._indices = None, []

    def question(self, cursor: int | None, limit: int, *, has_prefix: bool = True) -> Question:
        prefix = self._prefix(cursor) if has_prefix else ""
        begin = None if cursor is None else cursor - len(prefix)
        partial = Change(begin, begin + len(prefix), "") if prefix and begin is not None else None
        self._freeze(partial)
        slots = folded(self._slots, limit)
        return Question(
            state=tuple(slots.contents[: slots.state_length]),
            edits=list(slots.edits),
            sources=self._sources[len(self._sources) - len(slots.edits) :],
            cursor=None if begin is None else slot_before(slots, begin, self.text.tokenizer),
            prefix=prefix,
            prefix_start=begin if prefix else None,
            silence=TOO_LONG if self._is_rewritten else None,
        )

    def _prefix(self, cursor: int | None) -> str:
        """A name at the cursor is half-typed when some of it was just typed."""
        if cursor is None or self._burst is None:
            return ""
        name = half_typed(self.text, cursor)
        is_typed = max(self._start, cursor - len(name)) < min(self._end, cursor)
        return name if is_typed else ""

    def _freeze(self, partial: Change | None) -> None:
        burst, self._burst = self._burst, None
        if burst is None:
            return
        edits = burst.edits(partial)
        for edit in edits:
            self._slots.apply_explicit(edit)
        self._sources += [tuple(self._indices)] * len(edits)
        self._indices = []


def slot_before(slots: Slots, offset: int, tokenizer: Tokenizer) -> int:
    """The slot of the last token that begins before an offset in the text of the current state."""
    ends = list(accumulate(map(tokenizer.lengths.__getitem__, slots.tokens())))
    # The token after the last one that ends before the offset holds it; at a token's end that is the token itself.
    return slots.order[min(bisect_left(ends, offset), len(ends) - 2)]


def folded(slots: Slots, limit: int) -> Slots:
    """Past the limit the oldest edits become part of the state."""
    count = len(slots.edits) - limit
    if count <= 0:
        return slots
    left = [
        Edit(position, edit.content)
        for position, edit in zip(slots.explicit_positions(), slots.edits, strict=True)
    ]
    base = Slots(slots.contents[: slots.state_length])
    for edit in left[:count]:
        base.apply_explicit(edit)
    result = Slots(base.tokens())
    for edit in left[count:]:
        result.apply_explicit(edit)
    return result
