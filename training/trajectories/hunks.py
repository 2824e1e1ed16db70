"""Hunks: the runs of lines in which two versions of a text differ.

Lines are segments, each with the line break before it. Tokens are compared later, inside of hunks.
"""

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import NamedTuple

from model.editing.change import Change
from model.editing.edits import opcodes
from model.editing.lines import segments
from model.editing.tokenizer import lex
from training.trajectories.trajectory import offsets_of

_LIMIT_LINES = 4000  # lines that differ at the ends of the difference; difflib takes seconds beyond that
_ALIKE = 0.5  # share of lexical tokens that two lines must have in common to be versions of one line


class Hunk(NamedTuple):
    """The lines from first to last (exclusive) of the old text become `new`."""

    first: int
    last: int
    new: tuple[str, ...]

    @property
    def growth(self) -> int:
        return len(self.new) - (self.last - self.first)


lines_of = lru_cache(maxsize=16)(segments)  # a version is compared with the one before and with the one after


def hunks_between(old: Sequence[str], new: Sequence[str]) -> list[Hunk] | None:
    """The hunks that turn the old lines into the new ones, top to bottom; None when they are too many to compare."""
    shorter = min(len(old), len(new))
    head = 0
    while head < shorter and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    middle, changed = old[head : len(old) - tail], new[head : len(new) - tail]
    if max(len(middle), len(changed)) > _LIMIT_LINES:
        return None
    result: list[Hunk] = []
    for tag, a, b, c, d in opcodes(middle, changed):
        if tag != "equal":
            result.extend(_split(head + a, middle[a:b], changed[c:d]))
    return result


def _split(first: int, old: Sequence[str], new: Sequence[str]) -> list[Hunk]:
    """One hunk; or one for each line, when every line has its own new version."""
    if len(old) == len(new) > 1 and all(are_alike(a, b) for a, b in zip(old, new, strict=True)):
        return [Hunk(first + number, first + number + 1, (line,)) for number, line in enumerate(new)]
    return [Hunk(first, first + len(old), tuple(new))]


def are_alike(old: str, new: str) -> bool:
    """Is one line a version of the other?"""
    one, two = set(lex(old.strip())), set(lex(new.strip()))
    return len(one & two) >= _ALIKE * max(len(one), len(two), 1)


def fold(
    lines: Sequence[str], hunks: Sequence[Hunk], folded: Collection[int]
) -> tuple[list[str], list[Hunk]]:
    """Apply the hunks of the given numbers to the lines; the other hunks, moved accordingly, remain."""
    result: list[str] = []
    remaining: list[Hunk] = []
    done = 0
    for number, hunk in enumerate(hunks):
        result.extend(lines[done : hunk.first])
        first = len(result)
        if number in folded:
            result.extend(hunk.new)
        else:
            result.extend(lines[hunk.first : hunk.last])
            remaining.append(Hunk(first, len(result), hunk.new))
        done = hunk.last
    result.extend(lines[done:])
    return result, remaining


def changes_in_order(lines: Sequence[str], hunks: Sequence[Hunk], order: Sequence[int]) -> list[Change]:
    """The hunks (top to bottom, in these lines) as changes of the text, made in the given order."""
    offsets = offsets_of(lines)
    grown = [0] * len(hunks)  # by how many characters each hunk has moved what follows
    result: list[Change] = []
    for number in order:
        hunk = hunks[number]
        shift = sum(grown[:number])
        text = "".join(hunk.new)
        change = Change(offsets[hunk.first] + shift, offsets[hunk.last] + shift, text)
        grown[number] = change.growth
        result.append(change)
    return result


def is_move(lines: Sequence[str], hunks: Sequence[Hunk]) -> bool:
    """Are the same lines merely elsewhere?"""
    gone = sorted(line.strip() for hunk in hunks for line in lines[hunk.first : hunk.last] if line.strip())
    come = sorted(line.strip() for hunk in hunks for line in hunk.new if line.strip())
    return bool(gone) and gone == come


Signature = tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]


def hunk_signature(lines: Sequence[str], hunk: Hunk) -> Signature:
    """The effect of a hunk: the runs of lexical tokens that go and come. Empty for blanks alone."""
    old, new = lex("".join(lines[hunk.first : hunk.last])), lex("".join(hunk.new))
    steps = [(tuple(old[a:b]), tuple(new[c:d])) for tag, a, b, c, d in opcodes(old, new) if tag != "equal"]
    return tuple(step for step in steps if "".join((*step[0], *step[1])).strip())
