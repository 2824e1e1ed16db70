"""Lexical hunks: the differences between two versions of a text, each a run of changed lexical tokens.

Lines are compared first, so that a long file costs no more than its changed lines. Inside a changed run of lines, each old line is
paired with its new version if it has one, and only paired lines are compared token by token: two unrelated lines share brackets and
commas, but no author edits one into the other around them.
"""

from collections.abc import Iterable, Iterator, Sequence

from model.editing.change import Change
from model.editing.edits import opcodes
from model.editing.tokenizer import lex
from training.trajectories.hunks import are_alike, hunks_between, lines_of
from training.trajectories.trajectory import offsets_of

_LIMIT_PAIRS = 2500  # comparisons of old with new lines in one changed run; a larger run is one hunk


def lexical_hunks(before: str, after: str) -> list[Change] | None:
    """Find the hunks that turn one text into the other, top to bottom, with offsets in the text before.

    Hunks neither overlap nor touch. None when the texts differ in too many lines to compare them."""
    lines = lines_of(before)
    line_hunks = hunks_between(lines, lines_of(after))
    if line_hunks is None:
        return None
    offsets = offsets_of(lines)
    found = [
        change
        for hunk in line_hunks
        for change in _hunks_of_lines(lines[hunk.first : hunk.last], hunk.new, offsets[hunk.first])
    ]
    return _join_neighbours(before, found)


def apply_all(text: str, hunks: Iterable[Change]) -> str:
    """Make hunks (top to bottom, all with offsets in this text) at once."""
    pieces: list[str] = []
    done = 0
    for hunk in hunks:
        pieces += [text[done : hunk.start], hunk.text]
        done = hunk.end
    return "".join([*pieces, text[done:]])


def _hunks_of_lines(old: Sequence[str], new: Sequence[str], offset: int) -> Iterator[Change]:
    """The hunks of one changed run of lines, the first of which begins at `offset`."""
    starts = offsets_of(old)
    done_old = done_new = 0
    for in_old, in_new in [*_pairs(old, new), (len(old), len(new))]:
        between = "".join(old[done_old:in_old]), "".join(new[done_new:in_new])
        yield from _hunk_of_unpaired(*between, offset + starts[done_old])
        if in_old < len(old):
            yield from _hunks_of_line(old[in_old], new[in_new], offset + starts[in_old])
        done_old, done_new = in_old + 1, in_new + 1


def _pairs(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """The longest list of pairs of lines, in the order of both runs, in which each is a version of the other."""
    if len(old) * len(new) > _LIMIT_PAIRS:
        return []
    alike = [[are_alike(one, other) for other in new] for one in old]
    longest = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for a in reversed(range(len(old))):
        for b in reversed(range(len(new))):
            skipped = max(longest[a + 1][b], longest[a][b + 1])
            longest[a][b] = max(skipped, longest[a + 1][b + 1] + alike[a][b])
    result: list[tuple[int, int]] = []
    a = b = 0
    while a < len(old) and b < len(new):
        if alike[a][b] and longest[a][b] == longest[a + 1][b + 1] + 1:
            result.append((a, b))
            a, b = a + 1, b + 1
        elif longest[a + 1][b] >= longest[a][b + 1]:
            a += 1
        else:
            b += 1
    return result


def _hunk_of_unpaired(old: str, new: str, offset: int) -> Iterator[Change]:
    """At most one hunk: lines that have no new version, and new lines without an old one, but for equal tokens at both ends."""
    if old == new:
        return
    one, two = lex(old), lex(new)
    shorter = min(len(one), len(two))
    head = next((n for n in range(shorter) if one[n] != two[n]), shorter)
    tail = next((n for n in range(shorter - head) if one[-1 - n] != two[-1 - n]), shorter - head)
    start, end = sum(map(len, one[:head])), len(old) - sum(map(len, one[len(one) - tail :]))
    yield Change(offset + start, offset + end, "".join(two[head : len(two) - tail]))


def _hunks_of_line(old: str, new: str, offset: int) -> Iterator[Change]:
    """The hunks of a line and its new version."""
    if old == new:
        return
    one, two = lex(old), lex(new)
    starts = offsets_of(one)
    for tag, a, b, c, d in opcodes(one, two):
        if tag != "equal":
            yield Change(offset + starts[a], offset + starts[b], "".join(two[c:d]))


def _join_neighbours(before: str, hunks: Iterable[Change]) -> list[Change]:
    """Hunks that touch, or that only blanks of one line separate, are one run of changed tokens."""
    result: list[Change] = []
    for hunk in hunks:
        gap = before[result[-1].end : hunk.start] if result else "-"
        if gap and (gap.strip(" \t") or _is_line_edge(before, result[-1].end, hunk.start)):
            result.append(hunk)
        elif result:
            result[-1] = Change(result[-1].start, hunk.end, result[-1].text + gap + hunk.text)
        else:
            result.append(hunk)
    return result


def _is_line_edge(before: str, start: int, end: int) -> bool:
    """Is the gap an indentation, or blanks at the end of a line? Neither joins two words."""
    return (start > 0 and before[start - 1] in "\r\n") or before[end : end + 1] in ("", "\r", "\n")
