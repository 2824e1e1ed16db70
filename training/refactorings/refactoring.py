"""Synthetic refactorings of real code: one intent, made at every place it applies to, in a person's order."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from random import Random

from model.editing.change import Change
from training.data.dataset import Kind
from training.refactorings.intents import LIMIT_PLACES, MAKERS, Place
from training.refactorings.source import Source
from training.trajectories.ordering import walk
from training.trajectories.trajectory import Session

_TRIES = 12
# Share of the refactorings that stay in one function or class, as those of local names do.
_IN_ONE_BLOCK = 0.25
# Where a function, a method or a class begins, in many languages.
_BLOCK = re.compile(
    r"(?m)^[ \t]*(?:@\w|(?:(?:async|export|default|public|private|protected|static|final|pub|abstract)\s)*"
    r"(?:def|class|func|function|fn|impl|struct|interface|it|describe|test|void)\b)"
)


def refactor(text: str, random: Random, *, in_one_block: float = _IN_ONE_BLOCK) -> Session | None:
    """A refactoring of the text as a session: its places in a realistic order, and nothing after.

    A share `in_one_block` leaves out the places in other functions than one; so do those with too many places.
    """
    source = Source(text)
    for _ in range(_TRIES):
        maker = random.choices([maker for maker, _ in MAKERS], [weight for _, weight in MAKERS])[0]
        found = maker(source, random)
        if found is None:
            continue
        kind, places = found
        places = _disjoint([place for place in places if text[place.start : place.end] != place.text])
        if random.random() < in_one_block or (in_one_block and len(places) > LIMIT_PLACES):
            places = _in_one_block(source, places, random)
        if 2 <= len(places) <= LIMIT_PLACES:
            return _session(source, kind, places, random)
    return None


def _in_one_block(source: Source, places: list[Place], random: Random) -> list[Place]:
    """The places in one of the blocks that have at least two of them; all places, when there is no such block."""
    edges = [match.start() for match in _BLOCK.finditer(source.text)]
    blocks: dict[int, list[Place]] = {}
    for place in places:
        blocks.setdefault(bisect_right(edges, place.start), []).append(place)
    fitting = [block for block in blocks.values() if len(block) > 1]
    return random.choice(fitting) if fitting else places


def _disjoint(places: list[Place]) -> list[Place]:
    result: list[Place] = []
    for place in sorted(set(places)):
        if not result or (place.start >= result[-1].end and place.start > result[-1].start):
            result.append(place)
    return result


def _session(source: Source, kind: Kind, places: list[Place], random: Random) -> Session:
    order = _order(source, places, random)
    grown = [0] * len(places)
    changes: list[Change] = []
    for number in order:
        place = places[number]
        shift = sum(grown[:number])
        changes.append(Change(place.start + shift, place.end + shift, place.text))
        grown[number] = len(place.text) - (place.end - place.start)
    # The first place is the user's idea. Sometimes it takes two places until the idea is plain.
    given = 1 if len(places) < 4 or random.random() < 0.7 else 2
    return Session(source.text, tuple(changes), kind, conditioning=given)


def _order(source: Source, places: Sequence[Place], random: Random) -> list[int]:
    """Mostly a sweep from the first place made: down, round the end, or up; else from near place to near place."""
    count = len(places)
    draw = random.random()
    if draw < 0.35:
        start = 0 if random.random() < 0.6 else random.randrange(count)
        return [(start + step) % count for step in range(count)]
    if draw < 0.5:
        start = count - 1 if random.random() < 0.6 else random.randrange(count)
        return [(start - step) % count for step in range(count)]
    return walk([float(source.line_of(place.start)) for place in places], [frozenset()] * count, random)
