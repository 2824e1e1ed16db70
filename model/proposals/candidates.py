"""Candidates: edits that may come next, each a replacement of lexical tokens at a site of the current text."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

import numpy as np

from model.editing.change import Change
from model.editing.edits import Slots
from model.proposals.lexical_text import Ints, Lexical, LexicalTables, LexicalText
from model.proposals.precedents import Pattern, group_patterns, read_precedents
from model.proposals.sites import Site, come_at, find_sites
from model.proposals.word_parts import find_part_sites

LIMIT_PATTERNS = 24  # the newest are replayed
_LIMIT_PART_PATTERNS = 3  # of them, those whose word parts are searched for in other names
_LIMIT_PART_SITES = 40


class Origin(IntEnum):
    """The way in which a candidate was found."""

    REPLAY = 0
    WORD_PART = 1
    COMPLETION = 2
    NETWORK = 3
    WORD = 4


@dataclass(slots=True)
class Candidate:
    """A replacement of lexical tokens, and the pattern that it repeats."""

    origin: Origin
    site: Site
    come: tuple[tuple[Lexical, ...], ...]  # for each span of the site
    pattern: Pattern | None
    site_number: int = 0  # among the sites of its pattern, from top to bottom
    site_count: int = 1


@dataclass
class Situation:
    """The current text and the changes that led to it."""

    text: LexicalText
    slots: Slots
    position_of: np.ndarray  # explicit position of each slot, -1 when it is gone
    is_new: np.ndarray  # for each explicit position: was the token inserted by an edit?
    patterns: list[Pattern]
    bursts: int
    cursor: int  # the lexical token at which the user is: just behind the newest change, or at the cursor
    newest: int  # the first edit of the newest burst

    @cached_property
    def new_before(self) -> Ints:
        """For each explicit position: the number of inserted tokens before it."""
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(self.is_new)])

    def index_of_slot(self, slot: int) -> int:
        """The lexical token that holds a slot; -1 when the slot is gone."""
        position = int(self.position_of[slot])
        return -1 if position < 0 else self.text.index_of_token(position)


def read_situation(
    slots: Slots, burst_ends: Sequence[int], tables: LexicalTables, cursor_slot: int | None = None
) -> Situation:
    """Read the current text and the patterns of a history."""
    order = np.array(slots.order, dtype=np.int64)
    contents = np.array(slots.contents, dtype=np.int32)
    position_of = np.full(len(contents), -1, dtype=np.int64)
    position_of[order] = np.arange(len(order))
    text = LexicalText(tables, contents[order])
    precedents = read_precedents(slots, burst_ends, tables)
    patterns = [each for each in group_patterns(precedents) if _stands(each, position_of)][:LIMIT_PATTERNS]
    bursts = max((precedent.burst for precedent in precedents), default=-1) + 1
    newest = burst_ends[-2] if len(burst_ends) > 1 else 0
    is_new = order >= slots.state_length
    situation = Situation(text, slots, position_of, is_new, patterns, bursts, cursor=1, newest=newest)
    if cursor_slot is not None and position_of[cursor_slot] >= 0:
        situation.cursor = situation.index_of_slot(cursor_slot) + 1
    elif precedents:
        situation.cursor = _behind(situation, precedents[-1].parts[-1].right_slot, slots)
    return situation


def _stands(pattern: Pattern, position_of: np.ndarray) -> bool:
    """Is the result of a pattern still in the text where it was made? One that was only a step on the way is not."""
    return any(
        all(position_of[slot] >= 0 for part in precedent.parts for slot in part.come_slots)
        for precedent in pattern.precedents
    )


def _behind(situation: Situation, right_slot: int, slots: Slots) -> int:
    index = situation.index_of_slot(right_slot)
    if index >= 0:
        return index
    position = slots.explicit_positions()[-1] if slots.edits else 0
    return situation.text.index_of_token(min(position + 1, len(situation.text.tokens) - 1))


def replay_candidates(situation: Situation, line: int | None = None) -> list[Candidate]:
    """Every pattern at every site where it fits; with `line`, only at sites that begin on that line."""
    text, result = situation.text, []
    seen: set[tuple[Site, tuple[tuple[Lexical, ...], ...]]] = set()
    begin, end = (0, len(text)) if line is None else text.line_starts[line : line + 2].tolist()
    last = len(text) - 1

    def add(
        origin: Origin, site: Site, come: tuple[tuple[Lexical, ...], ...], number: int, count: int
    ) -> None:
        if (site, come) not in seen:
            seen.add((site, come))
            result.append(Candidate(origin, site, come, pattern, number, count))

    part_patterns = 0
    for pattern in situation.patterns:
        sites = find_sites(pattern, text, situation.cursor)
        for number, site in enumerate(sites):
            if begin <= min(site[0].first, last) < end:
                add(Origin.REPLAY, site, come_at(pattern, site, text), number, len(sites))
        if part_patterns < _LIMIT_PART_PATTERNS:
            found = sorted((site, (new,)) for site, new in find_part_sites(pattern, text))
            part_patterns += bool(found)
            for number, (site, come) in enumerate(found if len(found) <= _LIMIT_PART_SITES else ()):
                if begin <= min(site[0].first, last) < end:
                    add(Origin.WORD_PART, site, come, number, len(found))
    return result


def change_of(candidate: Candidate, text: LexicalText) -> Change:
    """The candidate as one replacement in the text of the current state."""
    offsets, tables = text.offsets, text.tables
    pieces: list[str] = []
    at = candidate.site[0].first
    for span, come in zip(candidate.site, candidate.come, strict=True):
        pieces += [text.text_of(index) for index in range(at, span.first)]
        pieces += [tables.text_of(lexical) for lexical in come]
        at = span.last
    return Change(int(offsets[candidate.site[0].first]), int(offsets[at]), "".join(pieces))
