"""Sites: where in the current text a pattern could be made once more."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.proposals.lexical_text import MOVED_WORDS, Ints, Kind, Lexical, LexicalText
from model.proposals.precedents import Part, Pattern

LIMIT_SITES = 48  # sites of one pattern that are looked at; the nearest to the cursor are kept
_LIMIT_LOOSE = 60  # sites that one neighbour alone may bring: more mean that the neighbour says nothing
_CONTEXTS = 3  # precedents whose neighbours are searched for
_WORDS = (Kind.WORD, Kind.NUMBER)


class Span(NamedTuple):
    """Lexical tokens from first to last (exclusive) that would be replaced; empty for an insertion before `first`."""

    first: int
    last: int


Site = tuple[Span, ...]  # one span for each part of the pattern, from left to right


def find_sites(pattern: Pattern, text: LexicalText, near: int) -> list[Site]:
    """The sites of a pattern, from top to bottom; at most LIMIT_SITES, those nearest to the lexical token `near`."""
    parts = [precedent.parts for precedent in pattern.precedents[-_CONTEXTS:]]
    if len(parts[0]) == 1:
        firsts = _part_sites([each[0] for each in parts], text, is_alone=True)
        firsts = _nearest(firsts, near)
        length = len(pattern.key[0][0])
        return [(Span(first, first + length),) for first in firsts.tolist()]
    return _joint_sites(parts, text, near)


def come_at(pattern: Pattern, site: Site, text: LexicalText) -> tuple[tuple[Lexical, ...], ...]:
    """The lexical tokens that come in each span of a site: those of the pattern, with the words that are moved there."""
    words = {
        lexical: text.lexical(span.first + number)
        for span, (gone, _) in zip(site, pattern.key, strict=True)
        for number, lexical in enumerate(gone)
        if lexical[0] < 0  # one of MOVED_WORDS
    }
    if not words:
        return tuple(come for _, come in pattern.key)
    return tuple(tuple(words.get(lexical, lexical) for lexical in come) for _, come in pattern.key)


def _find(wanted: Sequence[Lexical], text: LexicalText) -> Ints:
    """Every index at which lexical tokens begin; a moved word is any word."""
    known = next((number for number, lexical in enumerate(wanted) if lexical not in MOVED_WORDS), None)
    if known is None:
        return np.zeros(0, np.int64)  # any word at all
    found = text.find(text.tables.hashes_of(wanted[known : known + 1])) - known
    found = found[(found >= 0) & (found + len(wanted) <= len(text))]
    for step, lexical in enumerate(wanted):
        if lexical in MOVED_WORDS:
            found = found[text.kinds[found + step] == Kind.WORD]
        else:
            found = found[text.hashes[found + step] == np.uint64(text.tables.hash_of(lexical))]
    return found


def _part_sites(examples: Sequence[Part], text: LexicalText, *, is_alone: bool) -> Ints:
    """The first lexical token of each site of one part."""
    gone, come = examples[0].key
    if not gone:
        found = _insertion_sites(examples, text, is_alone=is_alone)
        fresh: Ints = found[~_has_already(found, come, text)]
        return fresh
    found = _find(gone, text)
    if is_alone and not any(text.tables.kind_of(lexical) in _WORDS for lexical in gone):
        found = found[_has_neighbour(found, len(gone), examples, text)]
    unmade: Ints = found[~_is_made(found, gone, come, text)]
    return unmade


def _has_neighbour(
    found: Ints, length: int, examples: Iterable[Part], text: LexicalText
) -> NDArray[np.bool_]:
    """Does the lexical token on the left or on the right agree with a precedent's?"""
    result = np.zeros(len(found), dtype=np.bool_)
    for part in examples:
        result |= text.hashes[found - 1] == np.uint64(text.tables.hash_of(part.left[0]))
        after = np.minimum(found + length, len(text) - 1)
        result |= text.hashes[after] == np.uint64(text.tables.hash_of(part.right[0]))
    return result


def _is_made(
    found: Ints, gone: Sequence[Lexical], come: Sequence[Lexical], text: LexicalText
) -> NDArray[np.bool_]:
    """Is the match a piece of the change already made? So it is when the new tokens contain the old ones."""
    result = np.zeros(len(found), dtype=np.bool_)
    for shift in range(len(come) - len(gone) + 1):
        if tuple(come[shift : shift + len(gone)]) == tuple(gone):
            wanted = text.tables.hashes_of(come)
            begins = np.clip(found - shift, 0, max(0, len(text) - len(come)))
            inside = np.ones(len(found), dtype=np.bool_)
            for step, value in enumerate(wanted):
                inside &= text.hashes[begins + step] == value
            result |= inside
    return result


def _insertion_sites(examples: Sequence[Part], text: LexicalText, *, is_alone: bool) -> Ints:
    """Find the sites whose neighbours are like those of an inserted precedent."""
    runs: list[Ints] = []
    for part in examples:
        left, right = text.tables.hashes_of(part.left[:3]), text.tables.hashes_of(part.right[:3])
        kinds_left = [text.tables.kind_of(lexical) for lexical in part.left[:3]]
        kinds_right = [text.tables.kind_of(lexical) for lexical in part.right[:3]]
        for lefts, rights in ((1, 1), (2, 0), (0, 2), (1, 0), (0, 1), (3, 0), (0, 3)):
            if lefts > len(left) or rights > len(right):
                continue
            has_word = any(kind in _WORDS for kind in (*kinds_left[:lefts], *kinds_right[:rights]))
            if not has_word and (is_alone and lefts + rights < 3 and (lefts, rights) != (1, 1)):
                continue
            wanted = np.concatenate([left[:lefts][::-1], right[:rights]])
            found = text.find(wanted) + lefts
            if is_alone and (not has_word or lefts + rights == 1) and len(found) > _LIMIT_LOOSE:
                continue
            runs.append(found)
        if is_alone and kinds_left and len(right) > 1:
            runs.append(_similar_sites(part, text))
    return np.unique(np.concatenate(runs)) if runs else np.zeros(0, np.int64)


def _similar_sites(part: Part, text: LexicalText) -> Ints:
    """Sites whose left neighbour is equal and whose right neighbour is another word followed by the same token."""
    kind = text.tables.kind_of(part.right[0])
    if kind not in _WORDS:
        return np.zeros(0, np.int64)
    found = text.find(text.tables.hashes_of(part.left[:1])) + 1
    found = found[found + 1 < len(text)]
    after = np.uint64(text.tables.hash_of(part.right[1]))
    found = found[(text.kinds[found] == kind) & (text.hashes[found + 1] == after)]
    return found if len(found) <= _LIMIT_LOOSE else np.zeros(0, np.int64)


def _has_already(found: Ints, come: Sequence[Lexical], text: LexicalText) -> NDArray[np.bool_]:
    """Do the inserted tokens stand there already, before or behind the site?"""
    wanted = text.tables.hashes_of(come)
    result = np.zeros(len(found), dtype=np.bool_)
    for begins in (found, found - len(come)):
        fits = (begins >= 0) & (begins + len(come) <= len(text))
        at = np.where(fits, begins, 0)
        for step, value in enumerate(wanted[: len(text)]):
            fits &= text.hashes[np.minimum(at + step, len(text) - 1)] == value
        result |= fits
    return result


def _nearest(found: Ints, near: int) -> Ints:
    if len(found) <= LIMIT_SITES:
        return found
    keep = np.argpartition(np.abs(found - near), LIMIT_SITES)[:LIMIT_SITES]
    return np.sort(found[keep])


def _joint_sites(examples: Sequence[tuple[Part, ...]], text: LexicalText, near: int) -> list[Site]:
    """Sites of several parts: all of them on one line, in order."""
    count = len(examples[0])
    by_part = [
        _part_sites([each[number] for each in examples], text, is_alone=False) for number in range(count)
    ]
    if any(not len(found) for found in by_part):
        return []
    by_part[0] = by_part[0][_has_all_on_line(by_part, text)]
    if not examples[0][0].gone:
        by_part[0] = _best_of_lines(by_part[0], examples[-1][0], text)
    lengths = [len(part.gone) for part in examples[0]]
    steps = _steps(examples[-1])
    result: list[Site] = []
    free = 0  # the first lexical token that no site has taken
    for first in _nearest(by_part[0], near).tolist():
        if first < free or not _has_same_quotes(examples[-1][0], first, text):
            continue
        spans = [Span(first, first + lengths[0])]
        line_end = int(text.line_starts[int(text.lines[first]) + 1])
        for number in range(1, count):
            begin = spans[-1].last
            found = by_part[number]
            inside = found[
                np.searchsorted(found, begin) : np.searchsorted(found, line_end + (lengths[number] == 0))
            ]
            if not len(inside):
                break
            next_first = _choose(inside, begin, steps[number - 1], text)
            spans.append(Span(next_first, next_first + lengths[number]))
        if len(spans) == count:
            result.append(tuple(spans))
            free = max(spans[-1].last, first + 1)
    return result


def _has_all_on_line(by_part: Sequence[Ints], text: LexicalText) -> NDArray[np.bool_]:
    """For each site of the first part: may every other part be made on its line?"""
    lines = text.lines[np.minimum(by_part[0], len(text) - 1)]
    result = np.ones(len(lines), dtype=np.bool_)
    for found in by_part[1:]:
        at = np.minimum(found, len(text) - 1)
        # What is inserted at the end of a line stands before the line break, which belongs to the next line.
        result &= np.isin(lines, text.lines[at]) | np.isin(lines, text.lines[np.maximum(at - 1, 0)])
    return result


def _best_of_lines(found: Ints, part: Part, text: LexicalText) -> Ints:
    """The insertion sites whose neighbours agree with the precedent's as well as those of any other on their line."""
    agreeing = np.zeros(len(found), dtype=np.int64)
    for context, begins, step in ((part.left, found - 1, -1), (part.right, found, 1)):
        agrees = np.ones(len(found), dtype=np.bool_)
        for number, value in enumerate(text.tables.hashes_of(context)):
            agrees &= text.hashes[np.clip(begins + step * number, 0, len(text) - 1)] == value
            agreeing += agrees
    lines = text.lines[np.minimum(found, len(text) - 1)]
    best = np.zeros(int(lines.max(initial=0)) + 1, dtype=np.int64)
    np.maximum.at(best, lines, agreeing)
    chosen: Ints = found[agreeing == best[lines]]
    return chosen


def _steps(parts: Sequence[Part]) -> list[int]:
    """Count the lexical tokens between neighbouring parts, as far as their contexts tell; -1 when it is unknown."""
    result = []
    for one, other in pairwise(parts):
        between = [
            count
            for count in range(min(len(one.right), len(other.left)) + 1)
            if one.right[:count] == tuple(reversed(other.left[:count]))
        ]
        result.append(between[-1] if between and between[-1] else -1)
    return result


def _choose(found: Ints, begin: int, step: int, text: LexicalText) -> int:
    """Choose the match that is as far away as in the precedent, or the first that leaves no bracket open."""
    if step >= 0 and begin + step in found:
        return begin + step
    depth, at = 0, begin
    for each in found.tolist():
        while at < each:
            depth += _DEPTHS.get(text.text_of(at), 0)
            at += 1
        if depth == 0:
            return int(each)
    return int(found[0])


_DEPTHS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
_QUOTES = {"'", '"', "`"}


def _has_same_quotes(part: Part, first: int, text: LexicalText) -> bool:
    """For a change of quotes: does the site open a string? A closing quote looks the same."""
    if not part.gone or text.tables.text_of(part.gone[0]) not in _QUOTES:
        return True
    quote = text.tables.text_of(part.gone[0])
    begin = int(text.line_starts[int(text.lines[first])])
    return sum(text.text_of(index) == quote for index in range(begin, first)) % 2 == 0
