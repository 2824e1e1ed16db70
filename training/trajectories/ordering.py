"""The order in which a person makes the hunks of a change.

A commit does not record it. Recorded edits go backwards about as often as forwards, and more often to the nearest
related hunk than to a random one. So: some changes are swept downwards, some upwards, and in the rest each next hunk is
drawn by nearness and by the names it shares with the hunk just made.
"""

import re
from collections.abc import Sequence
from random import Random

from training.trajectories.hunks import Hunk

_DOWNWARDS = 0.3
_UPWARDS = 0.2
_NEAR_LINES = 12.0  # a hunk that much farther away is half as likely
_RELATED = 6.0  # a hunk that changes the same names is so many times likelier
_NAME = re.compile(r"[^\W\d]\w{2,}")


def draw_order(lines: Sequence[str], hunks: Sequence[Hunk], random: Random) -> list[int]:
    """Numbers of the hunks (given top to bottom) in an order in which they may have been made."""
    numbers = list(range(len(hunks)))
    if len(hunks) < 2:
        return numbers
    draw = random.random()
    if draw < _DOWNWARDS:
        return numbers
    if draw < _DOWNWARDS + _UPWARDS:
        return numbers[::-1]
    names = [find_changed_names(lines, hunk) for hunk in hunks]
    return draw_walk([float(hunk.first) for hunk in hunks], names, random)


def draw_walk(
    line_numbers: Sequence[float],
    names: Sequence[frozenset[str]],
    random: Random,
    near_lines: float = _NEAR_LINES,
    related: float = _RELATED,
) -> list[int]:
    """An order of hunks, given the line and the names of each: from a random one, each time to a near or related one."""
    remaining = list(range(len(line_numbers)))
    current = remaining.pop(random.randrange(len(remaining)))
    order = [current]
    while remaining:
        weights = [
            2.0 ** (-min(abs(line_numbers[n] - line_numbers[current]) / near_lines, 30.0))
            * (related if names[n] & names[current] else 1.0)
            + 1e-6
            for n in remaining
        ]
        chosen = random.choices(range(len(remaining)), weights)[0]
        current = remaining.pop(chosen)
        order.append(current)
    return order


def find_changed_names(lines: Sequence[str], hunk: Hunk) -> frozenset[str]:
    """The names that a hunk takes away or brings in."""
    old = set(_NAME.findall("".join(lines[hunk.first : hunk.last])))
    new = set(_NAME.findall("".join(hunk.new)))
    return frozenset(old ^ new)
