"""From changes to the stream of one document: a base state and the implicit edits since.

Changes to one region without a pause or a jump are a burst. While it is open its edits are the token diff of the region since
it began, so only the tail of the stream ever changes; when it closes they are frozen. The name still being typed is
not part of the stream: it is a prefix that a prediction continues. At any moment

    text of (state + edits), with the prefix put in at its place  ==  the editor's text.
"""

from collections import deque
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from model.editing.burst import Burst, Replaced, TokenText, half_typed
from model.editing.change import Change, common_length
from model.editing.edits import Edit, Slots, State
from model.editing.tokenizer import Tokenizer

PAUSE_SECONDS = 1.0  # a longer pause ends a burst
JUMP_LINES = 8  # so does a change farther away than this
_LIMIT_BURST_LINES = (
    400  # several cursors make long regions; beyond this, diffing one at each keystroke is felt
)
_LIMIT_BURST_EDITS = (
    40  # of one cursor; a longer burst has made its point, and is diffed anew at each keystroke
)
_LIMIT_CHECKPOINTS = 200  # how far back undo is recognised, in changes
_REWRITTEN_SHARE = 0.25  # a change of more of the file than this is a new beginning ...
_REWRITTEN_LENGTH = 400  # ... unless it is so short that someone may have typed or pasted it in a small file
_FORMATTER_SECONDS = 1.0  # a formatter on save works between the last keystroke and the save
_NOBODY_SECONDS = 0.3  # nobody goes elsewhere or indents some lines, and saves within this
_LIMIT_NAME = 64  # code points; the tokenizer splits longer names
_TYPED_AT_ONCE = (
    3  # an editor that gathers keystrokes sends this many; a longer whole name was pasted or completed
)


class Run(NamedTuple):
    """A frozen burst: where its edits end in the stream, and whether they were our own suggestion."""

    end: int
    accepted: bool


class _Checkpoint(NamedTuple):
    """The stream as it was after some change: undo returns to it."""

    fingerprint: int
    length: int
    edits: tuple[Edit, ...]
    runs: tuple[Run, ...]
    partial: Change | None


class Recorder:
    """The stream of one document."""

    state: State  # the base snapshot
    slots: Slots
    _frozen: int  # edits of closed bursts
    _runs: list[Run]
    _burst: Burst | None
    _partial: Change | None
    _accepting: bool  # the open burst is our own suggestion
    _jumped: bool  # the newest changes went elsewhere than those before
    _scattered: bool  # they were several, and not the same in several places
    _blank: bool  # they were several, and nothing but blanks came and went
    _time: float  # of the newest changes
    _checkpoints: deque[_Checkpoint]

    def __init__(self, tokenizer: Tokenizer, text: str, limit_edits: int = 100) -> None:
        self._limit_edits = limit_edits
        self.text = TokenText(tokenizer, text)
        self._fingerprint = sum(map(hash, self.text.tokens))
        self.generation = 0  # counts base snapshots
        self._begin()

    # --- what the stream is ---

    @property
    def edits(self) -> list[Edit]:
        return self.slots.edits

    @property
    def partial(self) -> Change | None:
        """The place of the half-typed name in the text."""
        return self._partial

    @property
    def prefix(self) -> str:
        """The half-typed name."""
        return self.text.between(self._partial.start, self._partial.end) if self._partial is not None else ""

    @property
    def cursor(self) -> int | None:
        """The implicit position of the token left of the half-typed name."""
        if self._partial is None:
            return None
        segment = self.text.segment_at(self._partial.start)
        left = self.text.around(self._partial).left
        return self.slots.order[self.text.tokens_before(segment) + len(left)]

    # --- what happens ---

    def record(
        self, changes: Sequence[Change], now: float, *, accepted: bool = False, rewrite: bool = False
    ) -> None:
        """Take in the changes of one notification, oldest first."""
        if rewrite or len(changes) > self._limit_edits or self._is_rewrite(changes):
            for change in changes:
                self._replace(change)
            self.rebase()
            return
        if accepted:
            self.freeze()
        cut = len(changes) == 1 and self._cuts_name(changes[0])
        self._jumped, self._blank = self._take(changes, now)
        self._scattered = len({(change.end - change.start, change.text) for change in changes}) > 1
        self._time = now
        self._partial = None if accepted or len(changes) != 1 else self._half_typed(changes[0], cut)
        self._update()
        self._accepting = accepted
        if accepted:
            self.freeze()
        self._return_to_checkpoint()
        self._fold()
        self._checkpoint()

    def move_cursor(self, offset: int) -> None:
        """The cursor left the half-typed name: it is as it shall be."""
        if self._partial is not None and offset != self._partial.end:
            if self._burst is None:
                self._burst = self._burst_of_partial(self._partial)
            self._partial = None
            self._update()
            self._fold()

    def freeze(self) -> None:
        """End the burst. A name still half typed is carried over to the next."""
        if self._burst is not None and (not self._runs or self._runs[-1].end < len(self.edits)):
            self._runs.append(Run(len(self.edits), self._accepting))
        self._burst = None
        self._accepting = False
        self._frozen = len(self.edits)

    def save(self, now: float) -> None:
        """A save ends the burst; what a formatter did right before it is a new beginning, nobody's intent."""
        pause = now - self._time
        is_sudden = (self._jumped or self._blank) and pause < _NOBODY_SECONDS
        if is_sudden or (self._scattered and pause < _FORMATTER_SECONDS):
            self.rebase()
        self.freeze()

    def rebase(self) -> None:
        """Forget the edits: the text of now is the new base snapshot."""
        self.generation += 1
        self._begin()

    # --- what others ask about the stream; see lsp.hunks as well ---

    def changed_since(self, then: float) -> bool:
        return self._time >= then

    def is_accepted(self, index: int) -> bool:
        """Was this edit of the stream our own suggestion?"""
        return next((run.accepted for run in self._runs if index < run.end), False)

    @property
    def run_ends(self) -> set[int]:
        """Where frozen bursts end in the stream."""
        return {run.end for run in self._runs}

    def offsets_of_tokens(self, explicit: Sequence[int]) -> list[int]:
        """The offsets, in the text, at which tokens of the current state begin."""
        return [self._offset_of_token(each) for each in explicit]

    def _offset_of_token(self, explicit: int) -> int:
        index = max(0, explicit - 1)  # one for START
        if self._partial is not None:
            segment = self.text.segment_at(self._partial.start)
            left, right = self.text.around(self._partial)
            first, count = self.text.tokens_before(segment), len(left) + len(right)
            if first <= index < first + count:
                before = (*left, *right)[: index - first]
                return self.with_prefix(self.text.start_of(segment) + self._length(before))
            if index >= first + count:  # the text has the half-typed name's tokens as well
                index += len(self.text.tokens[segment]) - count
        if index >= self.text.tokens_before(len(self.text.tokens)):
            return len(self.text)
        segment = self.text.segment_of_token(index)
        before = self.text.tokens[segment][: index - self.text.tokens_before(segment)]
        return self.text.start_of(segment) + self._length(before)

    def _length(self, tokens: Sequence[int]) -> int:
        return sum(self.text.tokenizer.lengths[token] for token in tokens)

    def with_prefix(self, offset: int) -> int:
        """An offset in the stream's text as an offset in the editor's, which has the half-typed name as well."""
        if self._partial is None or offset <= self._partial.start:
            return offset
        return offset + self._partial.end - self._partial.start

    # --- how ---

    def _begin(self) -> None:
        self.slots = Slots(self.text.state())
        self.state = tuple(self.slots.contents)
        self._frozen = 0
        self._runs = []
        self._burst = None
        self._partial = None
        self._accepting = False
        self._jumped = self._scattered = self._blank = False
        self._time = float("-inf")
        self._checkpoints = deque(maxlen=_LIMIT_CHECKPOINTS)
        self._checkpoint()

    def _is_rewrite(self, changes: Sequence[Change]) -> bool:
        length = len(self.text)
        removed = sum(change.end - change.start for change in changes)
        inserted = sum(len(change.text) for change in changes)
        size = max(removed, inserted)
        return size > _REWRITTEN_LENGTH and size > _REWRITTEN_SHARE * max(length, length + inserted - removed)

    def _take(self, changes: Sequence[Change], now: float) -> tuple[bool, bool]:
        """Apply changes to the text and to the burst that is open then. Did they jump away from the burst, and were they
        several and of blanks alone?"""
        jumped = self._burst is not None and not any(map(self._is_near, changes))
        is_long = len(changes) == 1 and len(self.edits) - self._frozen > _LIMIT_BURST_EDITS
        if jumped or is_long or now - self._time > PAUSE_SECONDS:
            self.freeze()
        blank = len(changes) > 1
        for number, change in enumerate(changes):
            blank = blank and not (self.text.between(change.start, change.end) + change.text).strip()
            if self._burst is not None and not self._fits(change):
                if number:  # what the changes before this one did is not in the stream yet
                    self._partial = None
                    self._update()
                self.freeze()
            self._extend(change)
        return jumped, blank

    def _extend(self, change: Change) -> None:
        first, last = self._touched(change)
        partial, segment = self._partial, -1
        if self._burst is None and partial is not None:
            segment = self.text.segment_at(partial.start)
            if not first <= segment <= last:  # finished after all, before this change
                self._burst, self._partial = self._burst_of_partial(partial), None
                self._update()
                self.freeze()
        carried: tuple[int, ...] | None = None
        if self._burst is None and self._partial is not None:
            left, right = self.text.around(self._partial)
            carried = (*left, *right)
        replaced = self._replace(change)
        if self._burst is not None:
            self._burst.extend(replaced)
            return
        if carried is not None:  # the name being typed is not in the stream yet: the burst begins without it
            old = list(replaced.old)
            old[segment - replaced.first] = carried
            replaced = replaced._replace(old=tuple(old))
        self._partial = None
        self._burst = Burst(self.text, replaced)

    def _replace(self, change: Change) -> Replaced:
        replaced = self.text.replace(change)
        fresh = self.text.tokens[replaced.first : replaced.first + replaced.new_count]
        self._fingerprint += sum(map(hash, fresh)) - sum(map(hash, replaced.old))
        return replaced

    def _touched(self, change: Change) -> tuple[int, int]:
        """The segments that a change will touch, as TokenText.replace will find them."""
        first = self.text.segment_at(change.start - 1) if change.start else 0
        return first, self.text.segment_at(change.end)

    def _is_near(self, change: Change) -> bool:
        assert self._burst is not None
        first, last = self._touched(change)
        end = self._burst.first + self._burst.count - 1
        return first <= end + JUMP_LINES and last >= self._burst.first - JUMP_LINES

    def _fits(self, change: Change) -> bool:
        assert self._burst is not None
        first, last = self._touched(change)
        end = self._burst.first + self._burst.count
        return max(end, last + 1) - min(first, self._burst.first) <= _LIMIT_BURST_LINES

    def _cuts_name(self, change: Change) -> bool:
        """Will this deletion take the end of a name? Then what is left of it is being typed anew."""
        if change.text or change.start == change.end:
            return False
        segment = self.text.segment_at(change.start)
        first = self.text.segments[segment][change.start - self.text.start_of(segment)]
        return first == "_" or first.isalnum()

    def _half_typed(self, change: Change, cut: bool) -> Change | None:
        """The name that this change, already applied, left half typed at its end."""
        cursor = change.start + len(change.text)
        name = half_typed(self.text, cursor)
        whole = name == change.text and len(name) > _TYPED_AT_ONCE
        if not name or whole or len(name) > _LIMIT_NAME or not (change.text or cut):
            return None
        return Change(cursor - len(name), cursor, "")

    def _burst_of_partial(self, partial: Change) -> Burst:
        """A burst that has done nothing yet but type the half-typed name."""
        segment = self.text.segment_at(partial.start)
        left, right = self.text.around(partial)
        return Burst(self.text, Replaced(segment, ((*left, *right),), 1))

    def _update(self) -> None:
        """Compute the edits of the open burst anew."""
        assert self._burst is not None
        # More than the stream holds is a new beginning; what is certainly more is not even compared.
        if self._burst.is_large or len(fresh := self._burst.edits(self._partial)) > self._limit_edits:
            self.rebase()
            return
        contents = [edit.content for edit in self.edits[self._frozen :]]
        known = zip(self.slots.explicit_positions()[self._frozen :], contents, fresh, strict=False)
        kept = 0
        for position, content, edit in known:
            if edit != (position, content):
                break
            kept += 1
        self.slots.keep(self._frozen + kept)
        for edit in fresh[kept:]:
            self.slots.apply_explicit(edit)

    def _return_to_checkpoint(self) -> None:
        """Undo and redo are not new intent: a text that was there before has the stream that it had then."""
        length = len(self.text)
        for checkpoint in reversed(self._checkpoints):
            if checkpoint.fingerprint == self._fingerprint and checkpoint.length == length:
                if checkpoint.edits != tuple(self.edits):
                    self._restore(checkpoint)
                return

    def _restore(self, checkpoint: _Checkpoint) -> None:
        current, partial = list(self.edits), self._partial
        self._replay(checkpoint.edits)
        self._partial = checkpoint.partial
        if self._spells_text():
            self._burst = None
            self._runs = list(checkpoint.runs)
            self._frozen = len(self.edits)
        else:  # the same lines in another order
            self._replay(current)
            self._partial = partial

    def _replay(self, edits: Sequence[Edit]) -> None:
        kept = common_length(tuple(edits), tuple(self.edits))
        self.slots.keep(kept)
        for edit in edits[kept:]:
            self.slots.apply(edit)

    def _spells_text(self) -> bool:
        """Is state + edits + prefix the text?"""
        return self.slots.tokens()[1:-1] == list(chain.from_iterable(self._tokens_of_stream()))

    def _tokens_of_stream(self) -> list[tuple[int, ...]]:
        """The tokens of the text by segment, without the half-typed name."""
        if self._partial is None:
            return self.text.tokens
        segment = self.text.segment_at(self._partial.start)
        left, right = self.text.around(self._partial)
        return [*self.text.tokens[:segment], (*left, *right), *self.text.tokens[segment + 1 :]]

    def _fold(self) -> None:
        """Let the oldest edits become part of the base when there are too many. Half at once: it costs an encoding."""
        if len(self.edits) <= self._limit_edits:
            return
        room = self._limit_edits // 2
        ends = [
            run.end for run in self._runs if run.end <= self._frozen and len(self.edits) - run.end <= room
        ]
        count = min(ends, default=min(self._frozen, len(self.edits) - room))
        explicit = self.slots.explicit_positions()[count:]
        contents = [edit.content for edit in self.edits[count:]]
        self.slots.keep(count)
        self.state = tuple(self.slots.tokens())
        self.slots = Slots(self.state)
        for position, content in zip(explicit, contents, strict=True):
            self.slots.apply_explicit(Edit(position, content))
        self._frozen -= count
        self._runs = [Run(run.end - count, run.accepted) for run in self._runs if run.end > count]
        self._checkpoints.clear()
        self.generation += 1

    def _checkpoint(self) -> None:
        self._checkpoints.append(
            _Checkpoint(
                self._fingerprint, len(self.text), tuple(self.edits), tuple(self._runs), self._partial
            )
        )
