"""Candidates: edits that may come next, each a replacement of lexical tokens at a site of the current text."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from model.editing.change import Change
from model.editing.edits import Slots
from model.proposals.lexical_text import Lexical, LexicalTables, LexicalText
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


@dataclass(slots=True)
class Candidate:
    """A replacement of lexical tokens, and the pattern that it repeats."""

    origin: Origin
    site: Site
    come: tuple[tuple[Lexical, ...], ...]  # for each span of the site
    pattern: Pattern | None
    site_number: int = 0  # among the sites of its pattern, from top to bottom
    site_count: int = 1


@dataclass(slots=True)
class Situation:
    """The current text and the changes that led to it."""

    text: LexicalText
    slots: Slots
    position_of: np.ndarray  # explicit position of each slot, -1 when it is gone
    is_new: np.ndarray  # for each explicit position: was the token inserted by an edit?
    patterns: list[Pattern]
    bursts: int
    cursor: int  # the lexical token at which the user is: just behind the newest change, or at the cursor

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
    patterns = group_patterns(precedents)[:LIMIT_PATTERNS]
    bursts = max((precedent.burst for precedent in precedents), default=-1) + 1
    situation = Situation(text, slots, position_of, order >= slots.state_length, patterns, bursts, 1)
    if cursor_slot is not None and position_of[cursor_slot] >= 0:
        situation.cursor = situation.index_of_slot(cursor_slot) + 1
    elif precedents:
        situation.cursor = _behind(situation, precedents[-1].parts[-1].right_slot, slots)
    return situation


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

    def add(
        origin: Origin, sites: Sequence[tuple[Site, tuple[tuple[Lexical, ...], ...]]], pattern: Pattern
    ) -> None:
        for number, (site, come) in enumerate(sites):
            is_wanted = line is None or text.lines[min(site[0].first, len(text) - 1)] == line
            if is_wanted and (site, come) not in seen:
                seen.add((site, come))
                result.append(Candidate(origin, site, come, pattern, number, len(sites)))

    part_patterns = 0
    for pattern in situation.patterns:
        sites = find_sites(pattern, text, situation.cursor)
        add(Origin.REPLAY, [(site, come_at(pattern, site, text)) for site in sites], pattern)
        if part_patterns < _LIMIT_PART_PATTERNS:
            found = sorted((site, (new,)) for site, new in find_part_sites(pattern, text))
            part_patterns += bool(found)
            if len(found) <= _LIMIT_PART_SITES:
                add(Origin.WORD_PART, found, pattern)
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
