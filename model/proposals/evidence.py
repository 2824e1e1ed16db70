"""Evidence: plain facts about each candidate, the input of the judge.

The facts describe the pattern (how often and when it was made), the site (where it lies, seen from the user, and how much
it looks like the precedents' sites), the moment (how long ago the last key was), and the opinion of the network.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from model.editing.edits import DELETE
from model.proposals.candidates import Candidate, Origin, Situation
from model.proposals.lexical_text import Hashes, Kind, Lexical, LexicalText
from model.proposals.network_opinion import NetworkOpinion
from model.proposals.precedents import CONTEXT, Part, Pattern, Precedent

Floats = NDArray[np.float32]

FEATURES = (
    # the pattern
    "count",
    "age",
    "recency",
    "is_only_open",
    "intact_share",
    "parts",
    "gone_tokens",
    "come_tokens",
    "gone_letters",
    "come_letters",
    "gone_words",
    "come_words",
    "gone_kind",
    "come_kind",
    "come_lines",
    "gone_lines",
    "shared_left",
    "shared_right",
    "is_joined",
    "recent_share",
    "is_reversed",
    "come_elsewhere",
    # the site
    "sites",
    "sites_below",
    "sites_above",
    "rank_below",
    "rank_above",
    "rank_in_travel",
    "is_below",
    "lines_away",
    "lines_signed",
    "is_passed_over",
    "passed_over",
    "passed_share",
    "left_likeness",
    "right_likeness",
    "both_likeness",
    "left_kinds",
    "right_kinds",
    "line_likeness",
    "same_indentation",
    "in_comment",
    "in_string",
    "same_string",
    "line_is_touched",
    "is_new_text",
    "same_line",
    "near_sites",
    # the moment
    "bursts",
    "patterns",
    "pause",
    "is_open",
    "prefix_letters",
    "file_size",
    "candidates",
    # how it was found
    "origin",
    "typed_letters",
    "rest_letters",
    # the network
    "network_slot",
    "network_gap",
    "network_rank",
    "network_stop",
    "network_sequence",
    "network_content",
)
COLUMNS = {name: number for number, name in enumerate(FEATURES)}
_TELLING = (Kind.WORD, Kind.NUMBER, Kind.SYMBOL, Kind.NEWLINE, Kind.BLANK)
_RECENT = 6
_LIMIT_CONTENTS = 4  # candidates whose content the network is asked for: those at its likeliest slots
_UNKNOWN = -1.0
LEAST = -30.0  # a smaller log-probability says nothing more


@dataclass(frozen=True, slots=True)
class Moment:
    """The circumstances of a question."""

    pause_seconds: float | None = None  # since the last change; None when times are unknown
    is_open: bool = False  # the newest burst may go on
    prefix: str = ""


def gather_evidence(
    situation: Situation, candidates: Sequence[Candidate], moment: Moment, network: NetworkOpinion | None
) -> Floats:
    """One row of features for each candidate."""
    rows = np.full((len(candidates), len(FEATURES)), _UNKNOWN, dtype=np.float32)
    if not candidates:
        return rows
    tell_moment(rows, situation, moment, len(candidates))
    groups: dict[tuple[int, Origin], list[int]] = {}
    for number, candidate in enumerate(candidates):
        groups.setdefault((id(candidate.pattern), candidate.origin), []).append(number)
    for numbers in groups.values():
        first = candidates[numbers[0]]
        part = rows[numbers]
        part[:, COLUMNS["origin"]] = first.origin
        if first.pattern is not None:
            _tell_pattern(part, situation, first.pattern, moment)
        _tell_sites(part, situation, [candidates[number] for number in numbers], first.pattern)
        rows[numbers] = part
    if network is not None:
        _tell_network(rows, situation, candidates, network)
    return rows


def tell_moment(rows: Floats, situation: Situation, moment: Moment, count: int) -> None:
    """The circumstances of the question: the same for all candidates."""
    pause = _UNKNOWN if moment.pause_seconds is None else min(60.0, moment.pause_seconds)
    _set(rows, "bursts", min(40, situation.bursts))
    _set(rows, "patterns", len(situation.patterns))
    _set(rows, "pause", pause)
    _set(rows, "is_open", moment.is_open)
    _set(rows, "prefix_letters", len(moment.prefix))
    _set(rows, "file_size", math.log2(1 + len(situation.text)))
    _set(rows, "candidates", math.log2(1 + count))


def _tell_pattern(rows: Floats, situation: Situation, pattern: Pattern, moment: Moment) -> None:
    tables, newest = situation.text.tables, pattern.newest
    gone = [lexical for old, _ in pattern.key for lexical in old]
    come = [lexical for _, new in pattern.key for lexical in new]
    kinds = [[tables.kind_of(lexical) for lexical in side] for side in (gone, come)]
    count = len(pattern.precedents)
    _set(rows, "count", min(12, count))
    _set(rows, "age", min(30, situation.bursts - 1 - newest.burst))
    _set(rows, "recency", situation.patterns.index(pattern) if pattern in situation.patterns else 30)
    is_newest = newest.burst == situation.bursts - 1
    _set(rows, "is_only_open", moment.is_open and is_newest and count == 1)
    _set(rows, "intact_share", sum(_is_intact(each, situation) for each in pattern.precedents) / count)
    _set(rows, "parts", len(pattern.key))
    _set(rows, "gone_tokens", len(gone))
    _set(rows, "come_tokens", len(come))
    _set(rows, "gone_letters", sum(len(tables.text_of(lexical)) for lexical in gone))
    _set(rows, "come_letters", sum(len(tables.text_of(lexical)) for lexical in come))
    _set(rows, "gone_words", sum(kind == Kind.WORD for kind in kinds[0]))
    _set(rows, "come_words", sum(kind == Kind.WORD for kind in kinds[1]))
    _set(rows, "gone_kind", _main_kind(kinds[0]))
    _set(rows, "come_kind", _main_kind(kinds[1]))
    _set(rows, "gone_lines", sum(kind == Kind.NEWLINE for kind in kinds[0]))
    _set(rows, "come_lines", sum(kind == Kind.NEWLINE for kind in kinds[1]))
    if count > 1:
        before = pattern.precedents[-2]
        _set(rows, "shared_left", _common(newest.parts[0].left, before.parts[0].left))
        _set(rows, "shared_right", _common(newest.parts[-1].right, before.parts[-1].right))
    _set(rows, "is_joined", newest.first_burst != newest.burst)
    recent = {each.burst for each in pattern.precedents if each.burst >= situation.bursts - _RECENT}
    _set(rows, "recent_share", len(recent) / max(1, min(_RECENT, situation.bursts)))
    reverse = tuple((new, old) for old, new in pattern.key)
    _set(rows, "is_reversed", any(other.key == reverse for other in situation.patterns))
    if come:
        found = situation.text.find(tables.hashes_of(come))
        _set(rows, "come_elsewhere", min(10, max(0, len(found) - count)))


def _tell_sites(
    rows: Floats, situation: Situation, group: Sequence[Candidate], pattern: Pattern | None
) -> None:
    text = situation.text
    firsts = np.array([candidate.site[0].first for candidate in group])
    lasts = np.array([candidate.site[-1].last for candidate in group])
    lines, count = text.lines[np.minimum(firsts, len(text) - 1)], len(group)
    cursor = min(situation.cursor, len(text) - 1)
    is_below = firsts >= cursor
    below = int(is_below.sum())
    rank_below = np.where(is_below, np.cumsum(is_below) - 1, _UNKNOWN)
    above = ~is_below
    rank_above = np.where(above, above[::-1].cumsum()[::-1] - 1, _UNKNOWN)
    _set(rows, "sites", math.log2(1 + count))
    _set(rows, "sites_below", min(50, below))
    _set(rows, "sites_above", min(50, count - below))
    _set(rows, "rank_below", np.minimum(rank_below, 50))
    _set(rows, "rank_above", np.minimum(rank_above, 50))
    _set(rows, "is_below", is_below)
    distances = (lines - text.lines[cursor]).astype(np.float64)
    _set(rows, "lines_away", np.log2(1 + np.abs(distances)))
    _set(rows, "lines_signed", np.sign(distances) * np.log2(1 + np.abs(distances)))
    _set(rows, "same_line", distances == 0)
    near = np.abs(distances[:, None] - distances[None, :]) <= 3 if count <= 64 else np.zeros((count, 1))
    _set(rows, "near_sites", near.sum(axis=1))
    rank = np.where(is_below, rank_below, below + rank_above)
    if pattern is not None:
        made = sorted(_positions(pattern, situation))
        _set(rows, "rank_in_travel", np.minimum(_travel_rank(pattern, situation, firsts, cursor, rank), 50))
        if made:
            passed = (firsts >= made[0]) & (firsts < made[-1])
            _set(rows, "is_passed_over", passed)
            _set(rows, "passed_over", min(50, int(passed.sum())))
            _set(rows, "passed_share", passed.sum() / (passed.sum() + len(made)))
        _tell_likeness(rows, text, firsts, lasts, pattern)
    else:
        _set(rows, "rank_in_travel", np.minimum(rank, 50))
    _tell_lines(rows, situation, lines, firsts, pattern)


def _travel_rank(
    pattern: Pattern, situation: Situation, firsts: NDArray[np.int64], cursor: int, rank: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The rank of each site for somebody who goes on in the direction of the last two precedents."""
    positions = [index for each in pattern.precedents[-2:] if (index := _position(each, situation)) >= 0]
    if len(positions) == 2 and positions[1] < positions[0]:  # upwards
        above = firsts < cursor
        up = above[::-1].cumsum()[::-1] - 1
        return np.where(above, up, above.sum() + np.cumsum(~above) - 1)
    return rank


def _tell_likeness(
    rows: Floats, text: LexicalText, firsts: NDArray[np.int64], lasts: NDArray[np.int64], pattern: Pattern
) -> None:
    """Count the neighbours that agree with those of the precedent that agrees best."""
    sides = [text.around(firsts - 1, -1, CONTEXT), text.around(lasts, 1, CONTEXT)]
    best = np.zeros((5, len(firsts)))
    for precedent in pattern.precedents[-4:]:
        left, left_kinds = _agreeing(text, sides[0], precedent.parts[0].left)
        right, right_kinds = _agreeing(text, sides[1], precedent.parts[-1].right)
        best = np.maximum(best, [left, right, left + right, left_kinds, right_kinds])
    names = ("left_likeness", "right_likeness", "both_likeness", "left_kinds", "right_kinds")
    for name, values in zip(names, best, strict=True):
        _set(rows, name, values)


def _agreeing(
    text: LexicalText, neighbours: tuple[Hashes, NDArray[np.uint8]], context: Sequence[Lexical]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the neighbours of each site that agree with a context, the nearest first, exactly and by kind."""
    hashes, kinds = _context_arrays(text, tuple(context))
    exact = neighbours[0][:, : len(hashes)] == hashes
    alike = neighbours[1][:, : len(kinds)] == kinds
    return np.logical_and.accumulate(exact, axis=1).sum(axis=1), np.logical_and.accumulate(alike, axis=1).sum(
        axis=1
    )


def _context_arrays(text: LexicalText, context: tuple[Lexical, ...]) -> tuple[np.ndarray, np.ndarray]:
    tables = text.tables
    return tables.hashes_of(context), np.array([tables.kind_of(lexical) for lexical in context], np.uint8)


def _tell_lines(
    rows: Floats,
    situation: Situation,
    lines: NDArray[np.int64],
    firsts: NDArray[np.int64],
    pattern: Pattern | None,
) -> None:
    text, at = situation.text, np.minimum(firsts, len(situation.text) - 1)
    new_before = situation.new_before
    begins, ends = text.starts[text.line_starts[lines]], text.starts[text.line_starts[lines + 1]]
    _set(rows, "line_is_touched", new_before[ends] > new_before[begins])
    _set(rows, "is_new_text", situation.is_new[text.starts[at]])
    _set(rows, "in_comment", text.comment_lines[lines])
    _set(rows, "in_string", text.in_string[at])
    example = _position(pattern.newest, situation) if pattern is not None else -1
    if example < 0:
        return
    example_line = int(text.lines[example])
    words = text.words_of(example_line)
    known = {line: text.words_of(line) for line in set(lines.tolist())}
    likeness = {line: len(words & here) / max(1, len(words | here)) for line, here in known.items()}
    _set(rows, "line_likeness", [likeness[line] for line in lines.tolist()])
    indentation = text.hashes[text.line_starts[lines]]
    _set(rows, "same_indentation", indentation == text.hashes[text.line_starts[example_line]])
    _set(rows, "same_string", text.in_string[at] == text.in_string[example])


def _tell_network(
    rows: Floats, situation: Situation, candidates: Sequence[Candidate], network: NetworkOpinion
) -> None:
    """The network's log-probability of each candidate's first slot, and of its first content at the likeliest slots."""
    text, positions = situation.text, network.positions
    stop = float(positions[network.stop_slot])
    others = positions.copy()
    others[network.stop_slot] = -np.inf
    ranked = np.sort(others)[::-1][:64]
    spans = [candidate.site[0] for candidate in candidates]
    # A deletion points at the first token that goes, an insertion at the token before.
    tokens = [int(text.starts[span.first]) - (span.last == span.first) for span in spans]
    order = situation.slots.order
    slots = np.array([order[token] for token in tokens])
    # The network has not seen the word that is being typed.
    scores = np.where(slots < len(positions), positions[np.minimum(slots, len(positions) - 1)], LEAST)
    _set(rows, "network_slot", np.maximum(LEAST, scores))
    _set(rows, "network_gap", np.maximum(LEAST, scores - ranked[0]))
    _set(rows, "network_rank", (ranked[None, :] > scores[:, None]).sum(axis=1))
    _set(rows, "network_stop", max(LEAST, stop))
    for number in np.argsort(-scores, kind="stable")[:_LIMIT_CONTENTS].tolist():
        contents = network.content(int(slots[number]))
        if contents is not None:
            first = _first_content(candidates[number])
            rows[number, COLUMNS["network_content"]] = max(LEAST, float(contents[first]))


def _first_content(candidate: Candidate) -> int:
    """The content of the first edit that makes a candidate."""
    span, come = candidate.site[0], candidate.come[0]
    return DELETE if span.last > span.first or not come else come[0][0]


def _position(precedent: Precedent, situation: Situation) -> int:
    """The lexical token at which a precedent stands now; -1 when it is gone."""
    part: Part = precedent.parts[0]
    slots = (*part.come_slots[:1], part.left_slot, part.right_slot)
    return next((index for slot in slots if (index := situation.index_of_slot(slot)) >= 0), -1)


def _positions(pattern: Pattern, situation: Situation) -> list[int]:
    return [index for each in pattern.precedents if (index := _position(each, situation)) >= 0]


def _is_intact(precedent: Precedent, situation: Situation) -> bool:
    """Does the text still hold everything that this change brought in?"""
    return all(situation.position_of[slot] >= 0 for part in precedent.parts for slot in part.come_slots)


def _common(one: Sequence[Lexical], other: Sequence[Lexical]) -> int:
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


def _main_kind(kinds: Sequence[int]) -> float:
    """The most telling kind among some lexical tokens; -1 for none."""
    return next((float(kind) for kind in _TELLING if kind in kinds), _UNKNOWN)


def _set(rows: Floats, name: str, values: ArrayLike) -> None:
    rows[:, COLUMNS[name]] = np.asarray(values, dtype=np.float32)
