"""Synthetic refactorings of real code: one intent, carried out throughout a file in a person's order."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from random import Random

from model.editing.change import Change
from training.data.dataset import Kind
from training.refactorings.intents import LIMIT_CHANGES, MAKERS
from training.refactorings.source import Source
from training.trajectories.ordering import draw_walk
from training.trajectories.trajectory import Trajectory

_TRIES = 12
# Share of the refactorings that stay in one function or class, as those of local names do.
_IN_ONE_BLOCK = 0.25
# The beginning of a function, a method or a class, in many languages.
_BLOCK = re.compile(
    r"(?m)^[ \t]*(?:@\w|(?:(?:async|export|default|public|private|protected|static|final|pub|abstract)\s)*"
    r"(?:def|class|func|function|fn|impl|struct|interface|it|describe|test|void)\b)"
)


def refactor(text: str, random: Random, *, in_one_block: float = _IN_ONE_BLOCK) -> Trajectory | None:
    """A refactoring of the text as a trajectory: its changes in a realistic order, and nothing after.

    A share `in_one_block` keeps to one function; so do refactorings of too many changes.
    """
    source = Source(text)
    for _ in range(_TRIES):
        maker = random.choices([maker for maker, _ in MAKERS], [weight for _, weight in MAKERS])[0]
        found = maker(source, random)
        if found is None:
            continue
        kind, changes = found
        changes = _drop_overlapping([c for c in changes if text[c.start : c.end] != c.text])
        if random.random() < in_one_block or (in_one_block and len(changes) > LIMIT_CHANGES):
            changes = _choose_block(source, changes, random)
        if 2 <= len(changes) <= LIMIT_CHANGES:
            return _make_trajectory(source, kind, changes, random)
    return None


def _choose_block(source: Source, changes: list[Change], random: Random) -> list[Change]:
    """The changes in one of the blocks that have at least two of them; all changes, when there is no such block."""
    edges = [match.start() for match in _BLOCK.finditer(source.text)]
    blocks: dict[int, list[Change]] = {}
    for change in changes:
        blocks.setdefault(bisect_right(edges, change.start), []).append(change)
    fitting = [block for block in blocks.values() if len(block) > 1]
    return random.choice(fitting) if fitting else changes


def _drop_overlapping(changes: list[Change]) -> list[Change]:
    """The changes from top to bottom, without those that overlap the one before."""
    result: list[Change] = []
    for change in sorted(set(changes)):
        if not result or (change.start >= result[-1].end and change.start > result[-1].start):
            result.append(change)
    return result


def _make_trajectory(source: Source, kind: Kind, changes: list[Change], random: Random) -> Trajectory:
    """The changes (top to bottom, all in one text) made one after another."""
    grown = [0] * len(changes)  # by how many characters each change has moved the text after it
    ordered: list[Change] = []
    for number in _draw_order(source, changes, random):
        change = changes[number]
        ordered.append(change.shifted(sum(grown[:number])))
        grown[number] = change.growth
    # The first change is the user's idea. Sometimes it takes two changes until the idea is plain.
    given = 1 if len(changes) < 4 or random.random() < 0.7 else 2
    return Trajectory(source.text, tuple(ordered), kind, conditioning=given)


def _draw_order(source: Source, changes: Sequence[Change], random: Random) -> list[int]:
    """Mostly a sweep from the first change made: down, round the end, or up; else each time to a near change."""
    count = len(changes)
    draw = random.random()
    if draw < 0.35:
        start = 0 if random.random() < 0.6 else random.randrange(count)
        return [(start + step) % count for step in range(count)]
    if draw < 0.5:
        start = count - 1 if random.random() < 0.6 else random.randrange(count)
        return [(start - step) % count for step in range(count)]
    lines = [float(source.line_of(change.start)) for change in changes]
    return draw_walk(lines, [frozenset()] * count, random)
