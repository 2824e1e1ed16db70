"""Precedents: the changes that the user has made, read from the edits of a history.

Edits come in bursts. The edits of a burst that touch one another are one region: some tokens went, others came. Inside a
region whole lexical tokens are compared, so that retyping an expression to change one name counts as changing the name.
The *parts* that result are what can be made again elsewhere. Changes of several parts of one line, made one after the
other, are also read together as one precedent: taking away `Optional[` and turning `]` into `| None` belong together. A word
that goes in one part and comes in another was moved, as `user` is in `'%s' % user` to `f'{user}'`: elsewhere the word there moves.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from model.editing.edits import DELETE, END, Slots, opcodes
from model.proposals.lexical_text import MOVED_WORDS, Kind, Lexical, LexicalTables
from model.proposals.unfinished import looks_unfinished

LIMIT_PARTS = 6  # parts of one line that are read together
_CONTEXT_TOKENS = 24  # tokens on each side that are kept as context
CONTEXT = 6  # lexical tokens of them
_BURSTS_OF_LINE = 3  # bursts within which parts of a line are read together
_LIMIT_LINE_TOKENS = 200
_LIMIT_LEXICAL = 60  # lexical tokens of a region that are compared; a larger one is a block


@dataclass(frozen=True, slots=True)
class Part:
    """One replacement of lexical tokens, and the lexical tokens that it stood between (nearest first)."""

    gone: tuple[Lexical, ...]
    come: tuple[Lexical, ...]
    left: tuple[Lexical, ...]
    right: tuple[Lexical, ...]
    come_slots: tuple[int, ...]
    left_slot: int
    right_slot: int

    @property
    def key(self) -> tuple[tuple[Lexical, ...], tuple[Lexical, ...]]:
        return self.gone, self.come


Key = tuple[tuple[tuple[Lexical, ...], tuple[Lexical, ...]], ...]


@dataclass(frozen=True, slots=True)
class Precedent:
    """A change that was made once: its parts from left to right, and the burst that finished it."""

    parts: tuple[Part, ...]
    first_burst: int
    burst: int

    @property
    def key(self) -> Key:
        return tuple(part.key for part in self.parts)


@dataclass(slots=True)
class Pattern:
    """The same change, made once or several times."""

    key: Key
    precedents: list[Precedent] = field(default_factory=list)  # oldest first

    @property
    def newest(self) -> Precedent:
        return self.precedents[-1]


@dataclass(slots=True)
class _Region:
    """A run of touching edits while it is being read. `first` and `count` are explicit positions of what came."""

    first_burst: int
    burst: int
    first: int
    count: int = 0
    gone: list[int] = field(default_factory=list)  # slots, in the order of the text

    def copy(self, burst: int) -> "_Region":
        return _Region(self.first_burst, burst, self.first, self.count, list(self.gone))

    def is_touched_by(self, position: int, content: int) -> bool:
        at = position if content == DELETE else position + 1
        before = 1 if content == DELETE else 0
        return self.first - before <= at <= self.first + self.count

    def take(self, position: int, content: int, slot: int) -> None:
        """Take in an edit that touches the region. `slot` is the deleted slot."""
        if content != DELETE:
            self.count += 1
        elif position < self.first:
            self.first -= 1
            self.gone.insert(0, slot)
        elif position < self.first + self.count:
            self.count -= 1  # typed and deleted again
        else:
            self.gone.append(slot)


def read_precedents(slots: Slots, burst_ends: Sequence[int], tables: LexicalTables) -> list[Precedent]:
    """The changes that the edits of a history made, oldest first.

    `burst_ends` holds, for each burst, the number of edits up to its end. A burst that goes on where the one before stopped
    is read twice: alone, and together with it. The one before is forgotten if it looks unfinished: its author only paused.
    """
    reader = _Reader(slots, tables)
    begin = 0
    for burst, end in enumerate(_with_last(burst_ends, len(slots.edits))):
        reader.read(burst, begin, end)
        begin = end
    return reader.precedents


def group_patterns(precedents: Iterable[Precedent]) -> list[Pattern]:
    """Patterns, the one made last first."""
    patterns: dict[Key, Pattern] = {}
    for precedent in precedents:
        pattern = patterns.pop(precedent.key, None) or Pattern(precedent.key)
        left_slot = precedent.parts[0].left_slot  # a region that is read twice counts once
        if not any(known.parts[0].left_slot == left_slot for known in pattern.precedents):
            pattern.precedents.append(precedent)
        patterns[precedent.key] = pattern
    return list(reversed(patterns.values()))


class _Reader:
    def __init__(self, slots: Slots, tables: LexicalTables) -> None:
        self._contents, self._edits = slots.contents, slots.edits
        self._positions, self._state_length = slots.explicit_positions(), slots.state_length
        self._order = list(range(slots.state_length))
        self._applied = 0  # edits in the order
        self._tables = tables
        self._last: _Region | None = None  # the newest region of the burst before
        self._first_of_last = 0  # the precedents from here on are those of that region
        self.precedents: list[Precedent] = []
        self._line: list[tuple[Part, int]] = []  # the newest parts of one line and their bursts

    def read(self, burst: int, begin: int, end: int) -> None:
        own: _Region | None = None
        joined: _Region | None = None
        last, self._last = self._last, None
        halves = range(self._first_of_last, len(self.precedents))
        is_continued = False
        for index in range(begin, end):
            position, content = self._positions[index], self._edits[index].content
            if content == END:
                continue
            if own is not None and not own.is_touched_by(position, content):
                self._finish(own, is_half=joined is not None)
                own = None
            if joined is not None and not joined.is_touched_by(position, content):
                self._finish(joined)
                joined = None
            if own is None:
                at = position if content == DELETE else position + 1
                own = _Region(burst, burst, at)
                if last is not None and last.is_touched_by(position, content):
                    joined, last, is_continued = last.copy(burst), None, True
            elif last is not None:
                last = self._shift(last, position, content)
            deleted = self._order[position]
            own.take(position, content, deleted)
            if joined is not None:
                joined.take(position, content, deleted)
            if content == DELETE:
                del self._order[position]
            else:
                self._order.insert(position + 1, self._state_length + index)
            self._applied = index + 1
        self._first_of_last = len(self.precedents)
        if own is not None:
            self._finish(own, is_half=joined is not None)
        if joined is not None:
            self._finish(joined)
        self._last = joined or own
        if is_continued:
            self._forget_unfinished(halves)

    def _forget_unfinished(self, halves: range) -> None:
        """Forget those of the precedents that look unfinished."""
        kept = [
            precedent
            for precedent in self.precedents[halves.start : halves.stop]
            if not looks_unfinished(precedent.key, (), self._tables)
        ]
        self.precedents[halves.start : halves.stop] = kept
        self._first_of_last -= len(halves) - len(kept)

    def _shift(self, region: _Region, position: int, content: int) -> _Region:
        """A region after an edit elsewhere."""
        if position < region.first:
            region.first += -1 if content == DELETE else 1
        return region

    def _finish(self, region: _Region, *, is_half: bool = False) -> None:
        """Read the change of a region. A half of a region that is read as a whole too has no part in its line."""
        order, contents = self._order, self._contents
        end = region.first + region.count
        come_slots = order[region.first : end]
        gone = [contents[slot] for slot in region.gone]
        come = [contents[slot] for slot in come_slots]
        if gone == come:
            return
        left_tokens = [
            contents[slot] for slot in order[max(0, region.first - _CONTEXT_TOKENS) : region.first]
        ]
        right_tokens = [contents[slot] for slot in order[end : end + _CONTEXT_TOKENS]]
        ends = self._tables.tokenizer.ends
        if (
            not left_tokens
            or not right_tokens
            or not all(ends[run[-1]] for run in (gone, come, left_tokens) if run)
        ):
            return  # half of a lexical token: the word is still being typed
        left = tuple(self._tables.split_backwards(left_tokens, CONTEXT))
        right = tuple(self._tables.split(right_tokens, CONTEXT))
        parts = _split_parts(
            self._tables.split(gone),
            self._tables.split(come),
            left,
            right,
            come_slots,
            order[region.first - 1],
            order[end],
        )
        for part in parts:
            self.precedents.append(Precedent((part,), region.first_burst, region.burst))
        if parts and not is_half:
            self._join_line(parts, region)

    def _join_line(self, parts: Sequence[Part], region: _Region) -> None:
        """Keep all parts of the line together."""
        first_burst, burst = region.first_burst, region.burst
        if first_burst != burst:  # this reading takes the place of its halves
            self._line = [known for known in self._line if not self._is_within(known[0], region)]
        fresh = [(part, burst) for part in parts]
        slots = {part.left_slot for part in parts}  # a region that is read twice counts once
        near = [
            known
            for known in self._line
            if known[1] >= first_burst - _BURSTS_OF_LINE and known[0].left_slot not in slots
        ]
        self._line = [known for known in near if self._are_on_one_line(known[0], parts[0])] + fresh
        if 1 < len(self._line) <= LIMIT_PARTS:
            known = sorted(self._line, key=lambda pair: self._index_of(pair[0].left_slot))
            together = _with_moved_words([part for part, _ in known], self._tables)
            self.precedents.append(Precedent(together, self._line[0][1], burst))

    def _is_within(self, part: Part, region: _Region) -> bool:
        """Was the part read in this region?"""
        try:
            return region.first - 1 <= self._index_of(part.left_slot) < region.first + region.count
        except ValueError:
            return True  # its left neighbour came with the region, and is gone

    def _are_on_one_line(self, one: Part, other: Part) -> bool:
        """Do both stand on one line of the text as it is after these edits?"""
        try:
            first, last = sorted([self._index_of(one.left_slot), self._index_of(other.left_slot)])
        except ValueError:
            return False
        if last - first > _LIMIT_LINE_TOKENS:
            return False
        between = map(self._contents.__getitem__, self._order[first + 1 : last + 1])
        changed = [lexical[0] for part in (one, other) for side in (part.gone, part.come) for lexical in side]
        newlines = self._tables.newlines
        return newlines.isdisjoint(changed) and newlines.isdisjoint(between)

    def _index_of(self, slot: int) -> int:
        """The explicit position of a slot in the text as it is after these edits; a ValueError when it is gone."""
        made = slot - self._state_length  # by which edit; negative if by none
        begin = slot if made < 0 else self._positions[made] + 1
        moves = self._applied - max(0, made)  # each edit since moved it by one at most
        return self._order.index(slot, max(0, begin - moves), begin + moves + 1)


def _split_parts(
    gone: Sequence[Lexical],
    come: Sequence[Lexical],
    left: tuple[Lexical, ...],
    right: tuple[Lexical, ...],
    come_slots: Sequence[int],
    left_slot: int,
    right_slot: int,
) -> tuple[Part, ...]:
    """The parts of a region: runs of lexical tokens that differ."""
    if not gone or not come or max(len(gone), len(come)) > _LIMIT_LEXICAL:
        return (Part(tuple(gone), tuple(come), left, right, tuple(come_slots), left_slot, right_slot),)
    starts = [0]
    for lexical in come:
        starts.append(starts[-1] + len(lexical))
    parts = []
    is_all_new = set(gone).isdisjoint(come)
    codes = [("replace", 0, len(gone), 0, len(come))] if is_all_new else opcodes(gone, come)
    for tag, a, b, c, d in codes:
        if tag == "equal":
            continue
        before = (*reversed(come[:c]), *left)[:CONTEXT]
        after = (*come[d:], *right)[:CONTEXT]
        parts.append(
            Part(
                tuple(gone[a:b]),
                tuple(come[c:d]),
                before,
                after,
                tuple(come_slots[starts[c] : starts[d]]),
                come_slots[starts[c] - 1] if starts[c] else left_slot,
                come_slots[starts[d]] if starts[d] < len(come_slots) else right_slot,
            )
        )
    return tuple(parts)


def _with_moved_words(parts: Sequence[Part], tables: LexicalTables) -> tuple[Part, ...]:
    """The parts of one precedent, with a stand-in for each word that goes in one of them and comes in another."""
    gone = [lexical for part in parts for lexical in part.gone]
    come = [lexical for part in parts for lexical in part.come]
    moved = [
        lexical
        for lexical in dict.fromkeys(gone)
        if lexical in come and gone.count(lexical) == 1 and tables.kind_of(lexical) == Kind.WORD
    ]
    if not moved or len(moved) > len(MOVED_WORDS):
        return tuple(parts)
    stands_for = dict(zip(moved, MOVED_WORDS, strict=False))
    return tuple(
        replace(
            part,
            gone=tuple(stands_for.get(lexical, lexical) for lexical in part.gone),
            come=tuple(stands_for.get(lexical, lexical) for lexical in part.come),
        )
        for part in parts
    )


def _with_last(burst_ends: Sequence[int], count: int) -> list[int]:
    ends = [end for end in burst_ends if 0 < end <= count]
    if count and (not ends or ends[-1] != count):
        ends.append(count)
    return ends
