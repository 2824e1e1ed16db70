"""Completions: the rest of a repeat that the user has begun to type.

The newest burst is taken back, candidates are found in the text before it, and those are kept whose result begins like
the text that the user has typed so far. What is left of them is offered at the cursor.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model.editing.change import Change
from model.editing.edits import Slots
from model.proposals.candidates import (
    Candidate,
    Origin,
    Situation,
    change_of,
    read_situation,
    replay_candidates,
)
from model.proposals.lexical_text import LexicalTables, LexicalText

_LEAST_REST = 2  # letters that are worth a suggestion
_LIMIT_WINDOW = 2_000  # characters of the lines that are compared


@dataclass(frozen=True, slots=True)
class Completion:
    """A candidate of the text before the newest burst, and what is left of it to type."""

    candidate: Candidate
    change: Change  # in the current text
    typed_letters: int
    rest_letters: int


@dataclass(frozen=True, slots=True)
class Completions:
    """The text before the newest burst, and the candidates there that the user has begun to make."""

    before: Situation
    found: tuple[Completion, ...]


def find_completions(
    situation: Situation, burst_ends: Sequence[int], tables: LexicalTables, cursor: int
) -> Completions | None:
    """Candidates that go on from what was typed last. `cursor` is an offset in the current text."""
    slots = situation.slots
    begin = burst_ends[-2] if len(burst_ends) > 1 else 0
    if not begin:
        return None  # no change was made before this one
    earlier = _taken_back(slots, begin)
    before = read_situation(earlier, [end for end in burst_ends if end <= begin], tables)
    before.cursor = before.text.index_of_token(
        min(_first_difference(before.text, situation.text), len(before.text.tokens) - 1)
    )
    old_line = _line_at(before.text, cursor, situation.text)
    found = []
    for candidate in replay_candidates(before, old_line):
        completion = _complete(candidate, before.text, situation.text, cursor)
        if completion is not None:
            found.append(completion)
    return Completions(before, tuple(found))


def _complete(candidate: Candidate, before: LexicalText, now: LexicalText, cursor: int) -> Completion | None:
    """Find the rest of a candidate; None when the user typed something else."""
    change = change_of(candidate, before)
    tail_before, tail_now = _window(before, now, change, cursor)
    if tail_before is None or tail_now is None:
        return None
    begin, old = tail_before
    _, current = tail_now
    wanted = change._replace(start=change.start - begin, end=change.end - begin)
    result = old[: wanted.start] + wanted.text + old[wanted.end :]
    at = cursor - begin
    typed = current[:at]
    if not result.startswith(typed) or not wanted.start < at <= wanted.start + len(wanted.text):
        return None  # behind the new text there is only what the user has just deleted
    rest, remaining = result[len(typed) :], current[at:]
    tail = _common_end(rest, remaining)
    new, end = rest[: len(rest) - tail], len(remaining) - tail
    if len(new) < _LEAST_REST and not end:
        return None
    return Completion(
        Candidate(
            Origin.COMPLETION,
            candidate.site,
            candidate.come,
            candidate.pattern,
            candidate.site_number,
            candidate.site_count,
        ),
        Change(cursor, cursor + end, new),
        len(typed) - wanted.start,
        len(new),
    )


def _window(
    before: LexicalText, now: LexicalText, change: Change, cursor: int
) -> tuple[tuple[int, str] | None, tuple[int, str] | None]:
    """The lines around the change and the cursor, before the newest burst and now; both begin at one offset."""
    first = _first_difference(before, now)
    start_offset = min(change.start, cursor, int(_offset(before, first)))
    line = int(before.lines[before.index_at(start_offset)])
    begin = int(before.offsets[before.line_starts[line]])
    behind = _common_suffix_tokens(before, now)
    length_before = int(before.offsets[-1])
    length_now = int(now.offsets[-1])
    least = min(
        length_before - max(change.end, int(_offset(before, len(before.tokens) - behind))),
        length_now - cursor,
    )
    end_index = int(np.searchsorted(before.offsets, length_before - max(0, least), side="left"))
    last_line = int(before.lines[min(max(0, end_index - 1), len(before) - 1)])
    end = length_before - int(before.offsets[before.line_starts[last_line + 1]])
    if length_before - end - begin > _LIMIT_WINDOW or length_now - end < cursor or begin > cursor:
        return None, None
    return (begin, _text_between(before, begin, length_before - end)), (
        begin,
        _text_between(now, begin, length_now - end),
    )


def _text_between(text: LexicalText, start: int, end: int) -> str:
    first = text.index_at(start)
    last = int(np.searchsorted(text.offsets, end, side="left"))
    joined = "".join(text.text_of(index) for index in range(first, min(last, len(text))))
    shift = start - int(text.offsets[first])
    return joined[shift : shift + end - start]


def _offset(text: LexicalText, token: int) -> int:
    index = min(text.index_of_token(min(token, len(text.tokens) - 1)), len(text) - 1)
    return int(text.offsets[index])


def _first_difference(one: LexicalText, other: LexicalText) -> int:
    """The first token in which two texts differ."""
    length = min(len(one.tokens), len(other.tokens))
    differs = one.tokens[:length] != other.tokens[:length]
    return int(differs.argmax()) if differs.any() else length


def _common_suffix_tokens(one: LexicalText, other: LexicalText) -> int:
    first = _first_difference(one, other)
    length = min(len(one.tokens), len(other.tokens)) - first
    if length <= 0:
        return 0
    differs = one.tokens[::-1][:length] != other.tokens[::-1][:length]
    return int(differs.argmax()) if differs.any() else length


def _line_at(before: LexicalText, cursor: int, now: LexicalText) -> int:
    """The line before the newest burst that the cursor's line has come from."""
    first = _first_difference(before, now)
    offset = min(cursor, int(_offset(now, first)))
    return int(before.lines[before.index_at(offset)])


def _taken_back(slots: Slots, count: int) -> Slots:
    """The slots as they were after the first `count` edits."""
    earlier = slots.copy()
    earlier.keep(min(count, len(slots.edits)))
    return earlier


def _common_end(one: str, other: str) -> int:
    count = 0
    while count < min(len(one), len(other)) and one[-1 - count] == other[-1 - count]:
        count += 1
    return count
