"""Changes of one document to a stream: a base state and the implicit edits since.

The same recorder serves the language server, a request to the service, the suite, and the mining of recordings and commits.
It is told the changes step by step, with their time where it is known. Changes that touch one region are a burst (see
`model.editing.burst`). While a burst is open its edits are the token difference of its lines since it began, so only the tail of
the stream ever changes; when it ends they are frozen. Bursts keep the order in which they began. The name still being typed
is not part of the stream: it is a prefix that a prediction continues. At any moment

    text of (state + edits), with the prefix put in  ==  the editor's text.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from typing import NamedTuple

from model.editing.burst import Burst
from model.editing.change import Change, common_length
from model.editing.edits import Edit, Slots, State
from model.editing.fold import count_to_fold, fold
from model.editing.lines import Lines, Splice
from model.editing.name_borders import half_typed, is_in_name
from model.editing.token_text import HalfTyped, Replaced, Tokens, TokenText
from model.editing.tokenizer import Tokenizer

PAUSE_SECONDS = 1.0  # a longer pause ends a burst
_LIMIT_BURST_EDITS = 40  # of one cursor; a longer burst would be compared as a whole at each key
_LIMIT_CHECKPOINTS = 200  # undo is recognised so many steps back
_REWRITTEN_SHARE = 0.25  # a step that changes more of the file than this is a new beginning ...
_REWRITTEN_LENGTH = 400  # ... unless it is so short that a user may have typed or pasted it in a small file
_FORMATTER_SECONDS = 1.0  # a formatter on save works between the last key and the save
_SUDDEN_SECONDS = 0.3  # no user goes elsewhere or indents some lines, and saves within this
_FAR_LINES = 8  # a formatter changes lines farther away than this from those that the user changed
_LIMIT_NAME = 64  # code points; the tokenizer splits longer names
_TYPED_AT_ONCE = 3  # an editor that gathers keys sends so many; a longer whole name was pasted or completed


class RecordedBurst(NamedTuple):
    """The edits of one burst in the stream: they begin at the end of the burst before."""

    end: int
    accepted: bool  # it was a suggestion that the user accepted
    time: float | None  # of its last change, in seconds; None if unknown
    changes: range  # the numbers of its changes among all that the recorder was told


class _Checkpoint(NamedTuple):
    """The stream as it was after some step: undo returns to it."""

    fingerprint: int
    token_count: int
    edits: tuple[Edit, ...]
    bursts: tuple[RecordedBurst, ...]
    name: HalfTyped | None
    name_begin: int  # the number of the first change in the burst that the name is of


def steps_of(
    changes: Sequence[Change], times: Sequence[float] | None
) -> Iterator[tuple[list[Change], float | None]]:
    """Changes of one time are one step, such as one key at several cursors; without times each change is a step."""
    if times is None:
        yield from (([change], None) for change in changes)
        return
    for time, timed in groupby(zip(changes, times, strict=True), key=lambda pair: pair[1]):
        yield [change for change, _ in timed], time


class Recorder:
    """The stream of one document.

    `is_typed` is false for changes that were mined and not typed, such as the hunks of a commit: each is a burst of its own however
    large it is, and a return to an earlier text is no undo."""

    state: State  # the base
    slots: Slots
    partial: HalfTyped | None  # the half-typed name
    _frozen: list[RecordedBurst]
    _burst: Burst | None  # the open one
    _time: float | None  # of the newest step
    _formatter_seconds: float  # a save within this makes the newest step a formatter's
    _checkpoints: deque[_Checkpoint]

    def __init__(
        self, tokenizer: Tokenizer, text: str, limit_edits: int = 100, *, is_typed: bool = True
    ) -> None:
        self._limit_edits = limit_edits
        self._is_typed = is_typed
        self.text = TokenText(tokenizer, text)
        self._fingerprint = sum(map(hash, self.text.tokens))
        self._told = 0  # changes so far
        self._burst_begin = 0  # the number of the first change in the open burst
        self.generation = 0  # counts bases
        self.last_rebase = (
            0  # the number of changes that the newest base had seen when the edits were forgotten
        )
        self._begin()

    # --- the stream ---

    @property
    def edits(self) -> list[Edit]:
        return self.slots.edits

    @property
    def bursts(self) -> list[RecordedBurst]:
        """The bursts that the edits came in, oldest first; the open one is the last."""
        if len(self.edits) == self._frozen_end:
            return list(self._frozen)
        return [*self._frozen, self._recorded(accepted=False)]

    @property
    def burst_ends(self) -> list[int]:
        """The indices in the stream at which bursts end."""
        return [burst.end for burst in self.bursts]

    @property
    def prefix(self) -> str:
        """The half-typed name."""
        return self.partial.text if self.partial is not None else ""

    @property
    def cursor(self) -> int | None:
        """The implicit position of the token left of the half-typed name."""
        if self.partial is None:
            return None
        return self.slots.order[self.text.tokens_before(self.partial.segment) + len(self.partial.left)]

    # --- events ---

    def record(
        self,
        changes: Sequence[Change],
        now: float | None = None,
        *,
        accepted: bool = False,
        rewrite: bool = False,
    ) -> None:
        """Make the changes of one step, oldest first, and take them into the stream. Times, in seconds, never decrease."""
        splices = [self.text.lines.replace(change) for change in changes]
        self.follow(splices, now, accepted=accepted, rewrite=rewrite)

    def follow(
        self, splices: Sequence[Splice], now: float | None, *, accepted: bool = False, rewrite: bool = False
    ) -> None:
        """Take in the changes of one step that are made to the lines already."""
        if not splices:
            return
        if rewrite or self._is_rewrite(splices):
            for splice in splices:
                self._tokenize(splice)
            self._told += len(splices)
            self.rebase()
            return
        is_own_burst = accepted or not self._is_typed
        self._formatter_seconds = self._find_formatter_seconds(splices)
        self._end_burst_before(splices, now, is_own_burst=is_own_burst)
        self._time = now
        for splice in splices:
            self._extend(splice)
        self.partial = None if is_own_burst or len(splices) != 1 else self._find_half_typed(splices[0])
        self._update()
        if self._burst is not None:
            self._burst.settle()
        if is_own_burst:
            self._freeze(accepted)
        self._return_to_checkpoint()
        self._fold()
        self._add_checkpoint()

    def move_cursor(self, offset: int) -> None:
        """Finish the half-typed name if the cursor left it."""
        if self.partial is not None and offset != self.partial.end:
            self.finish_name()

    def finish_name(self) -> None:
        """Take the half-typed name into the stream as it is."""
        if self.partial is None:
            return
        self._burst = self._burst or self._burst_of_name()
        self.partial = None
        self._update()
        self._fold()

    def resume_name(self, cursor: int) -> None:
        """Take the name left of the cursor out of the stream as half typed, if the open burst typed some of it."""
        name = half_typed(self.text.lines, cursor)
        begin = cursor - len(name)
        if self._burst is not None and self._burst.has_typed_in(begin, cursor):
            self.partial = self.text.take_out(begin, cursor)
            self._update()

    def freeze(self) -> None:
        """End the burst. A name still half typed is carried over to the next."""
        self._freeze(accepted=False)

    def save(self, now: float) -> None:
        """End the burst. If a formatter made the newest step, begin with a new base: its changes show no intent."""
        if self.changed_since(now - self._formatter_seconds):
            self.rebase()
        self.freeze()

    def rebase(self) -> None:
        """Forget the edits: the current text is the new base."""
        self.generation += 1
        self.last_rebase = self._told
        self._begin()

    def share(self, lines: Lines) -> None:
        """Use another store of the same text. Its owner makes changes there and then tells `follow`."""
        assert lines.segments == self.text.lines.segments
        self.text.lines = lines

    # --- questions about the stream ---

    def changed_since(self, then: float) -> bool:
        return self._time is not None and self._time > then

    def offsets_of_tokens(self, explicit: Sequence[int]) -> list[int]:
        """The offsets, in the text, at which tokens of the current state begin."""
        return [self._offset_of_token(each) for each in explicit]

    def with_prefix(self, offset: int) -> int:
        """An offset in the stream's text as an offset in the editor's, which has the half-typed name as well."""
        if self.partial is None or offset <= self.partial.start:
            return offset
        return offset + len(self.partial.text)

    def slot_before(self, offset: int) -> int:
        """The slot of the last token that begins before an offset in the text; nothing is half typed there."""
        segment = self.text.lines.segment_at(max(0, offset - 1))
        count, begin = self.text.tokens_before(segment), self.text.lines.start_of(segment)
        for token in self.text.tokens[segment]:
            if begin >= offset:
                break
            begin += self.text.tokenizer.lengths[token]
            count += 1
        return self.slots.order[count]

    def _offset_of_token(self, explicit: int) -> int:
        index, text, name = max(0, explicit - 1), self.text, self.partial  # one for START
        if name is not None:
            first, count = text.tokens_before(name.segment), len(name.left) + len(name.right)
            if first <= index < first + count:
                before = (*name.left, *name.right)[: index - first]
                return self.with_prefix(text.lines.start_of(name.segment) + text.length_of(before))
            if index >= first + count:  # the text has the half-typed name's tokens as well
                index += len(text.tokens[name.segment]) - count
        if index >= text.token_count:
            return len(text)
        segment = text.segment_of_token(index)
        before = text.tokens[segment][: index - text.tokens_before(segment)]
        return text.lines.start_of(segment) + text.length_of(before)

    # --- from a step to a burst ---

    def _begin(self) -> None:
        self.slots = Slots(self.text.state())
        self.state = tuple(self.slots.contents)
        self.partial = None
        self._frozen = []
        self._burst = None
        self._time = None
        self._formatter_seconds = 0.0
        self._checkpoints = deque(maxlen=_LIMIT_CHECKPOINTS if self._is_typed else 0)
        self._add_checkpoint()

    def _is_rewrite(self, splices: Sequence[Splice]) -> bool:
        """Is a step so large that it shows no intent: a checkout, a formatter, a generated text?"""
        if not self._is_typed:
            return False
        removed = sum(len(splice.removed) for splice in splices)
        inserted = sum(len(splice.change.text) for splice in splices)
        size, after = max(removed, inserted), len(self.text)
        before = after + removed - inserted
        is_most = size > _REWRITTEN_LENGTH and size > _REWRITTEN_SHARE * max(before, after)
        return is_most or len(splices) > self._limit_edits

    def _find_formatter_seconds(self, splices: Sequence[Splice]) -> float:
        """The time within which a save makes this step a formatter's; zero if no formatter makes such changes."""
        if len(splices) > 1:
            if len({(len(splice.removed), splice.change.text) for splice in splices}) > 1:
                return _FORMATTER_SECONDS
            if not any((splice.removed + splice.change.text).strip() for splice in splices):
                return _SUDDEN_SECONDS
        is_far = self._burst is not None and not any(
            self._burst.is_within(_FAR_LINES, splice.first, splice.first + len(splice.old))
            for splice in splices
        )
        return _SUDDEN_SECONDS if is_far else 0.0

    def _end_burst_before(self, splices: Sequence[Splice], now: float | None, *, is_own_burst: bool) -> None:
        """End the open burst if this step does not continue it. A half-typed name that it continues is carried over."""
        if self._burst is None and self.partial is None:
            return
        changes = [splice.change for splice in splices]
        is_long = len(splices) == 1 and len(self.edits) - self._frozen_end > _LIMIT_BURST_EDITS
        is_paused = now is not None and self._time is not None and now - self._time > PAUSE_SECONDS
        if not (is_own_burst or is_long or is_paused):
            burst = self._burst or self._burst_of_name()
            if burst is not None and burst.is_continued_by(changes):
                self._burst = burst
                return
        carried = self._burst_of_name()
        if carried is not None and not carried.is_continued_by(changes):
            carried = None
            self.finish_name()
        self.freeze()
        self._burst = carried

    def _burst_of_name(self) -> Burst | None:
        """A burst that has done nothing but type the half-typed name."""
        return None if self.partial is None else Burst.of_name(self.text, self.partial)

    def _extend(self, splice: Splice) -> None:
        if self._burst is not None and not self._burst.has_room_for(
            splice.first, splice.first + len(splice.old)
        ):
            self.partial = None
            self._update()  # the changes of this step so far are not in the stream yet
            self.freeze()
        replaced = self._tokenize(splice)
        if self._burst is None:
            self._burst = Burst(self.text, replaced)
            self._burst_begin = self._told
        else:
            self._burst.extend(replaced)
        self._told += 1

    def _tokenize(self, splice: Splice) -> Replaced:
        replaced = self.text.follow(splice)
        fresh = self.text.tokens[replaced.first : replaced.first + replaced.new_count]
        self._fingerprint += sum(map(hash, fresh)) - sum(map(hash, replaced.old))
        return replaced

    def _find_half_typed(self, splice: Splice) -> HalfTyped | None:
        """The name that a change, already made, left half typed at its end."""
        change = splice.change
        if not change.text and not (splice.removed and is_in_name(splice.removed[0])):
            return None  # a deletion that takes the end of a name leaves the rest of it half typed; others do not
        cursor = change.new_end
        name = half_typed(self.text.lines, cursor)
        is_whole = name == change.text and len(name) > _TYPED_AT_ONCE
        if not name or is_whole or len(name) > _LIMIT_NAME:
            return None
        return self.text.take_out(cursor - len(name), cursor)

    # --- from a burst to the stream ---

    @property
    def _frozen_end(self) -> int:
        return self._frozen[-1].end if self._frozen else 0

    def _recorded(self, accepted: bool) -> RecordedBurst:
        return RecordedBurst(len(self.edits), accepted, self._time, range(self._burst_begin, self._told))

    def _freeze(self, accepted: bool) -> None:
        if len(self.edits) > self._frozen_end:
            self._frozen.append(self._recorded(accepted))
        self._burst = None

    def _update(self) -> None:
        """Bring the edits of the open burst up to date."""
        assert self._burst is not None
        # More than the stream holds is a new beginning. A region that certainly has more is not even compared.
        is_large = self._is_typed and self._burst.is_large
        if is_large or len(fresh := self._burst.edits(self.partial)) > self._limit_edits:
            self.rebase()
            return
        frozen = self._frozen_end
        contents = [edit.content for edit in self.edits[frozen:]]
        known = zip(self.slots.explicit_positions()[frozen:], contents, fresh, strict=False)
        kept = 0
        for position, content, edit in known:
            if edit != (position, content):
                break
            kept += 1
        self.slots.keep(frozen + kept)
        for edit in fresh[kept:]:
            self.slots.apply_explicit(edit)

    def _fold(self) -> None:
        if len(self.edits) <= self._limit_edits:
            return
        count = count_to_fold(self.burst_ends, self._frozen_end, self._limit_edits)
        self.slots = fold(self.slots, count)
        self.state = tuple(self.slots.contents[: self.slots.state_length])
        self._frozen = [burst._replace(end=burst.end - count) for burst in self._frozen if burst.end > count]
        self._checkpoints.clear()
        self.generation += 1

    # --- undo ---

    def _add_checkpoint(self) -> None:
        self._checkpoints.append(
            _Checkpoint(
                self._fingerprint,
                self.text.token_count,
                tuple(self.edits),
                tuple(self.bursts),
                self.partial,
                self._burst_begin,
            )
        )

    def _return_to_checkpoint(self) -> None:
        """Undo and redo are not new intent: a text that was there before has the stream that it had then."""
        count = self.text.token_count
        for checkpoint in reversed(self._checkpoints):
            if checkpoint.fingerprint == self._fingerprint and checkpoint.token_count == count:
                if checkpoint.edits != tuple(self.edits):
                    self._restore(checkpoint)
                return

    def _restore(self, checkpoint: _Checkpoint) -> None:
        current, name = list(self.edits), checkpoint.name
        self._replay(checkpoint.edits)
        if name is not None and name.end <= len(self.text):
            name = self.text.take_out(name.start, name.end)
        if name == checkpoint.name and self._spells_text(name):
            self.partial = name
            self._burst = None
            self._frozen = list(checkpoint.bursts)
            self._burst_begin = checkpoint.name_begin
        else:  # the same lines in another order
            self._replay(current)

    def _replay(self, edits: Sequence[Edit]) -> None:
        kept = common_length(tuple(edits), tuple(self.edits))
        self.slots.keep(kept)
        for edit in edits[kept:]:
            self.slots.apply(edit)

    def _spells_text(self, name: HalfTyped | None) -> bool:
        """Is state + edits, with this name put in, the text?"""
        lines: list[Tokens] = self.text.tokens
        if name is not None:
            lines = [*lines[: name.segment], name.left + name.right, *lines[name.segment + 1 :]]
        return self.slots.tokens()[1:-1] == list(chain.from_iterable(lines))
