"""Is an offered change right? The same for every suggester, whatever way it cuts a difference into changes.

An offer is *right* when the text that it makes is the text after a hunk that the author still makes, or after a run of such hunks on
one line. It is a *piece* when it is not right but lies on a shortest way to the author's text: a part of a hunk, or hunks of several lines.
"""

from collections.abc import Sequence
from math import inf

from model.editing.change import Change
from model.editing.tokenizer import lex
from training.trajectories.lexical_hunks import apply_all, lexical_hunks

_LIMIT_CELLS = 400_000  # tokens of one text times those of another; a larger comparison takes a second


def is_right(now: str, final: str, change: Change) -> bool:
    """Does the change make a hunk, or a run of hunks on one line, that is left between two texts?"""
    hunks = lexical_hunks(now, final)
    return hunks is not None and find_run(now, hunks, change) is not None


def find_run(now: str, remaining: Sequence[Change], change: Change) -> range | None:
    """Find the hunks that a change makes: indices into `remaining` (top to bottom, offsets in `now`).

    A difference can be told in several ways (insert "b, " or ", b"), so the resulting texts are compared."""
    growth = _growth(change)
    for first, hunk in enumerate(remaining):
        grown = 0
        for last in range(first, len(remaining)):
            if last > first and not _are_on_one_line(now, hunk, remaining[last]):
                break
            grown += _growth(remaining[last])
            if grown == growth and _make_the_same(now, remaining[first : last + 1], change):
                return range(first, last + 1)
    return None


def find_word(now: str, remaining: Sequence[Change], change: Change) -> range | None:
    """Find the hunk whose text has the word that a change completes, where the half-typed word stands."""
    begin = change.start
    while begin and (now[begin - 1].isalnum() or now[begin - 1] == "_"):
        begin -= 1
    word = now[begin : change.start] + change.text
    for index, hunk in enumerate(remaining):
        if hunk.start <= begin and hunk.end >= change.start:
            wanted = now[hunk.start : begin] + word
            behind = hunk.text[len(wanted) : len(wanted) + 1]
            if hunk.text.startswith(wanted) and not (behind.isalnum() or behind == "_"):
                return range(index, index + 1)
    return None


def is_piece(now: str, remaining: Sequence[Change], change: Change) -> bool:
    """Does the change lie on a shortest way, in lexical tokens, from `now` to the text with all remaining hunks made?"""
    start, end = _line_edges(now, change.start, change.end)
    touched: list[Change] = []
    for hunk in remaining:
        if hunk.start <= end and hunk.end >= start:
            touched.append(hunk)
            start, end = min(start, hunk.start), max(end, hunk.end)
    if not touched:
        return False
    old = lex(now[start:end])
    made = lex(apply_all(now[start:end], [_moved(change, -start)]))
    final = lex(apply_all(now[start:end], [_moved(hunk, -start) for hunk in touched]))
    whole, there, on = _distance(old, final), _distance(old, made), _distance(made, final)
    return whole < inf and there > 0 and whole == there + on


def _growth(change: Change) -> int:
    return len(change.text) - (change.end - change.start)


def _moved(change: Change, by: int) -> Change:
    return Change(change.start + by, change.end + by, change.text)


def _are_on_one_line(now: str, first: Change, last: Change) -> bool:
    between = now[first.start : last.end] + first.text + last.text
    return "\n" not in between and "\r" not in between


def _make_the_same(now: str, hunks: Sequence[Change], change: Change) -> bool:
    start, end = min(hunks[0].start, change.start), max(hunks[-1].end, change.end)
    part = now[start:end]
    made = apply_all(part, [_moved(change, -start)])
    return made == apply_all(part, [_moved(hunk, -start) for hunk in hunks])


def _line_edges(text: str, start: int, end: int) -> tuple[int, int]:
    """The range widened to whole lines."""
    start = text.rfind("\n", 0, start) + 1
    end = text.find("\n", end)
    return start, len(text) if end < 0 else end


def _distance(old: Sequence[str], new: Sequence[str]) -> float:
    """The least number of tokens to delete and insert; infinite when that takes too long to compute."""
    shorter = min(len(old), len(new))
    head = next((n for n in range(shorter) if old[n] != new[n]), shorter)
    tail = next((n for n in range(shorter - head) if old[-1 - n] != new[-1 - n]), shorter - head)
    one, two = old[head : len(old) - tail], new[head : len(new) - tail]
    if len(one) * len(two) > _LIMIT_CELLS:
        return inf
    row = [0] * (len(two) + 1)  # longest common subsequence of the tokens so far with the first of `two`
    for token in one:
        diagonal = 0
        for column, other in enumerate(two, start=1):
            diagonal, row[column] = (
                row[column],
                diagonal + 1 if token == other else max(row[column], row[column - 1]),
            )
    return len(one) + len(two) - 2 * row[-1]
