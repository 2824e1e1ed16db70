"""From changes in text to token edits: what the service does for a request and the language server at each keystroke.

An editor's changes are characters, the model's edits are tokens. A *burst* is a run of changes to one region. While it is
open its edits are the token diff of that region since the burst began, computed anew at each change; what was typed and
deleted again leaves nothing. `render` goes the other way: predicted edits to one replacement in the text.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from model.editing.change import Change as Change
from model.editing.edits import DELETE, END, START, Edit, Slots, lexical_edits_between, picked
from model.editing.line_index import Starts
from model.editing.tokenizer import Tokenizer, segments

_LIMIT_REGION_TOKENS = 2_000


class Replaced(NamedTuple):
    """What a change did to the segments of a text: `old` at `first` became `new_count` others."""

    first: int
    old: tuple[tuple[int, ...], ...]  # token ids by segment, as they were
    new_count: int


class Sides(NamedTuple):
    """The token ids around a part of a segment."""

    left: tuple[int, ...]
    right: tuple[int, ...]


class TokenText:
    """A text by segments, each with its token ids; a change re-tokenizes the segments it touches and no others."""

    def __init__(self, tokenizer: Tokenizer, text: str) -> None:
        self.tokenizer = tokenizer
        self.segments = segments(text)
        self.tokens: list[tuple[int, ...]] = [tuple(tokenizer.encode_segment(s)) for s in self.segments]
        self._starts = Starts(map(len, self.segments))
        self._token_starts = Starts(map(len, self.tokens))
        self._around: tuple[tuple[str, int, int], Sides] | None = None  # the newest answer of `around`

    def __len__(self) -> int:
        return self._starts.end

    @property
    def text(self) -> str:
        return "".join(self.segments)

    def between(self, start: int, end: int) -> str:
        """A part of the text."""
        first = self.segment_at(start)
        window = "".join(self.segments[first : self.segment_at(end) + 1])
        return window[start - self.start_of(first) : end - self.start_of(first)]

    def state(self) -> tuple[int, ...]:
        """The text as a state of the model."""
        return (START, *(token for line in self.tokens for token in line), END)

    def segment_at(self, offset: int) -> int:
        """The segment that holds the character at an offset; the last one, at the end of the text."""
        return self._starts.piece_at(offset)

    def start_of(self, segment: int) -> int:
        """The offset of a segment's first character."""
        return self._starts[segment]

    def segment_of_token(self, index: int) -> int:
        """The segment that holds a token of the text."""
        return self._token_starts.piece_at(index)

    def tokens_before(self, segment: int) -> int:
        """How many tokens the segments before this one have."""
        return self._token_starts[segment]

    def around(self, partial: Change) -> Sides:
        """The tokens of a segment to the left and to the right of a part of it: a half-typed name is not an edit yet.

        Two blanks around it stay two tokens, as they are when a name between them was deleted: it has its place there."""
        segment = self.segment_at(partial.start)
        begin, whole = self.start_of(segment), self.segments[segment]
        place = whole, partial.start - begin, partial.end - begin
        if self._around is None or self._around[0] != place:  # it is asked for more than once at each key
            encode = self.tokenizer.encode_segment
            self._around = place, Sides(tuple(encode(whole[: place[1]])), tuple(encode(whole[place[2] :])))
        return self._around[1]

    def replace(self, change: Change) -> Replaced:
        """Apply a change."""
        if not 0 <= change.start <= change.end <= len(self):
            raise ValueError(
                f"change from {change.start} to {change.end} is outside a text of {len(self)} characters"
            )
        # The neighbours of the change belong to it: a "\n" after a "\r" is one line break, not two.
        first = self.segment_at(change.start - 1) if change.start else 0
        last = self.segment_at(change.end)
        begin = self._starts[first]
        window = "".join(self.segments[first : last + 1])
        fresh = segments(window[: change.start - begin] + change.text + window[change.end - begin :])
        if (
            first > 0 and not fresh[0]
        ):  # the window began with a line break: the empty head is not a segment here
            fresh = fresh[1:]
        replaced = Replaced(first, tuple(self.tokens[first : last + 1]), len(fresh))
        self.segments[first : last + 1] = fresh
        fresh_tokens = [tuple(self.tokenizer.encode_segment(s)) for s in fresh]
        self.tokens[first : last + 1] = fresh_tokens
        self._starts.replace(first, last + 1, map(len, fresh))
        self._token_starts.replace(first, last + 1, map(len, fresh_tokens))
        return replaced


class Burst:
    """A run of changes to one region of a text, and its edits so far."""

    def __init__(self, text: TokenText, replaced: Replaced) -> None:
        self._text = text
        self.first = replaced.first
        self.count = replaced.new_count
        self.before: list[tuple[int, ...]] = list(replaced.old)  # the region's tokens when the burst began

    @property
    def is_large(self) -> bool:
        """Too large to be compared with what it was: the time grows with its square, and its edits would fill the model's
        memory alone."""
        after = self._text.tokens[self.first : self.first + self.count]
        return max(sum(map(len, self.before)), sum(map(len, after))) > _LIMIT_REGION_TOKENS

    def extend(self, replaced: Replaced) -> None:
        """Take in one more change, already applied to the text. What lies between joins the region."""
        end = self.first + self.count
        old_end = replaced.first + len(replaced.old)  # both in segments as they were before this change
        grown = replaced.new_count - len(replaced.old)
        head, tail = self._outside(replaced, end, old_end, grown)
        self.before = [*head, *self.before, *tail]
        self.first = min(self.first, replaced.first)
        self.count = max(end, old_end) + grown - self.first

    def _outside(
        self, replaced: Replaced, end: int, old_end: int, grown: int
    ) -> tuple[Sequence[tuple[int, ...]], Sequence[tuple[int, ...]]]:
        """The tokens, as before the change, of what the region grows by above and below."""
        old, tokens = replaced.old, self._text.tokens
        head: list[tuple[int, ...]] = []
        tail: list[tuple[int, ...]] = []
        if replaced.first < self.first:
            head = list(old[: self.first - replaced.first])
            # What lies between, where it is now; nothing, and no negative index, when the change reaches into the region.
            head += tokens[replaced.first + replaced.new_count : max(0, self.first + grown)]
        if old_end > end:
            tail = list(tokens[end : max(end, replaced.first)])
            tail += old[max(0, end - replaced.first) :]
        return head, tail

    def edits(self, partial: Change | None = None) -> list[Edit]:
        """Explicit edits since the burst began. `partial` takes a half-typed token out: it is not an edit yet."""
        after = list(self._text.tokens[self.first : self.first + self.count])
        if partial is not None:
            segment = self._text.segment_at(partial.start)
            sides = self._text.around(partial)
            after[segment - self.first] = sides.left + sides.right
        offset = 1 + self._text.tokens_before(self.first)  # one for START
        return lexical_edits_between(self.before, after, self._text.tokenizer.ends, offset)


def half_typed(text: TokenText, cursor: int) -> str:
    """The beginning of the name that is being typed at an offset; empty when none is."""
    segment = text.segment_at(max(0, cursor - 1))
    line, column = text.segments[segment], cursor - text.start_of(segment)
    if column < len(line) and _in_name(line[column]):
        return ""
    begin = column
    while begin > 0 and _in_name(line[begin - 1]):
        begin -= 1
    name = line[begin:column]
    return name if name and not name[0].isdigit() else ""


def _in_name(character: str) -> bool:
    return character == "_" or character.isalnum()


def render(slots: Slots, edits: Iterable[Edit], tokenizer: Tokenizer) -> Change:
    """The one replacement, in the text of the current state, that the edits amount to. The slots are left as they were."""
    kept, size, contents = len(slots.edits), len(slots.order), slots.contents
    try:
        explicit = [Edit(slots.apply(edit), edit.content) for edit in edits]
        grown = len(slots.order) - size
        first, last = _span(explicit, size, size + grown)
        text = tokenizer.decode([contents[slot] for slot in slots.order[first : last + grown]])
    finally:
        slots.keep(kept)
    lengths = picked(tokenizer.lengths, picked(contents, slots.order[:last]))
    return Change(sum(lengths[:first]), sum(lengths), text)


def _span(explicit: Sequence[Edit], old_length: int, new_length: int) -> tuple[int, int]:
    """The range of the old state that the edits touch."""
    first, last = old_length, 0  # in the state as the edits so far have left it
    for position, content in explicit:
        if content == END:
            continue
        first = min(first, position if content == DELETE else position + 1)
        last = max(last, position + 1) + (-1 if content == DELETE else 1)
    if first > last:
        return old_length, old_length
    return first, last - (new_length - old_length)
