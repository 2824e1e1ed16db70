"""Versions of a file to sessions that fit a model: which hunks together, seen through which window.

Most files are longer than a state may be. A session sees a window of whole lines around some hunks. Every other hunk that falls
into the window counts as made before the session began, so that when the session's own hunks are made, the window is
as the author left it: only then is *stop* honest.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from random import Random
from typing import Any

from model.editing.tokenizer import Tokenizer
from training.data.dataset import Kind
from training.trajectories.hunks import Hunk, changes_in_order, fold, hunks_between, lines_of
from training.trajectories.ordering import realistic_order
from training.trajectories.trajectory import Session

_LARGE_LINES = 60  # a hunk of more lines is large without a count of its tokens
_SESSIONS_OF_A_CHANGE = 4  # a change of forty places would otherwise weigh as forty changes
_GROW = 0.8  # chance to take in the next hunk that still fits


@dataclass(frozen=True)
class Setting:
    """How instances are cut from histories."""

    name: str = "product"
    limit_state: int = 768  # tokens of the initial state
    limit_edits: int = 64
    large_hunk: int = 40  # edits; a larger hunk is mostly new code
    keep_new_code: float = 0.3  # share of the sessions that only write new code that is kept
    keep_single: float = (
        0.6  # share of the sessions of one hunk that is kept: they say nothing about the next one
    )
    chain: float = 0.25  # chance to go on with the file's next change, where it falls into the window
    refactorings: float = 0.5  # synthetic refactorings for each session of the history

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


PRODUCT = Setting()
PAPER = Setting(name="paper", limit_state=1000, limit_edits=100, chain=1.0, refactorings=0.0)
SETTINGS = {setting.name: setting for setting in (PRODUCT, PAPER)}
# How two versions are compared decides the labels where a difference can be told in several ways.
DIFFERENCES = {
    "product": "difflib without autojunk: lines first, then lexical tokens in each hunk",
    "paper": "difflib without autojunk: subtokens of the whole file, left to right",
}


class Windows:
    """Cuts sessions out of the versions of a file."""

    def __init__(self, tokenizer: Tokenizer, setting: Setting) -> None:
        self.tokenizer = tokenizer
        self.setting = setting

    def length(self, line: str) -> int:
        """Tokens of a line."""
        return len(self.tokenizer.encode_segment(line))

    def cost(self, lines: Sequence[str], hunk: Hunk) -> int:
        """About how many edits a hunk takes; a number beyond every limit for a large one.

        The tokens of one side that the other does not have: a difference proper would cost as much as all the rest.
        """
        if hunk.last - hunk.first > _LARGE_LINES or len(hunk.new) > _LARGE_LINES:
            return 1 << 20
        old, new = self._tokens(lines[hunk.first : hunk.last]), self._tokens(hunk.new)
        return (old - new).total() + (new - old).total()

    def _tokens(self, lines: Sequence[str]) -> Counter[int]:
        return Counter(token for line in lines for token in self.tokenizer.encode_segment(line))

    def sessions(self, versions: Sequence[str], hunks: Sequence[Hunk], random: Random) -> list[Session]:
        """Sessions that begin in the first of the versions (the hunks are those to the second)."""
        lines = lines_of(versions[0])
        costs = [self.cost(lines, hunk) for hunk in hunks]
        large = {n for n, cost in enumerate(costs) if cost > self.setting.large_hunk}
        # The product predicts edits from edits: of large new blocks only a few are learned, the rest is there at once.
        free = {n for n in range(len(hunks)) if n not in large or self._keeps_large(costs[n], random)}
        result: list[Session] = []
        while free and len(result) < _SESSIONS_OF_A_CHANGE:
            chosen = self._choose(lines, hunks, costs, free, random)
            free -= chosen
            session = self._session(lines, hunks, chosen, large, versions[1:], random)
            if session is not None:
                result.append(session)
        return result

    def _choose(
        self,
        lines: Sequence[str],
        hunks: Sequence[Hunk],
        costs: Sequence[int],
        free: set[int],
        random: Random,
    ) -> set[int]:
        """A hunk and those of its neighbours that one window can hold."""
        setting = self.setting
        seed = random.choice(sorted(free))
        chosen, cost = {seed}, costs[seed]
        first, last = hunks[seed].first, hunks[seed].last
        length = sum(map(self.length, lines[first:last]))
        while random.random() < _GROW or len(hunks) <= 3:
            near = [n for n in (min(chosen) - 1, max(chosen) + 1) if n in free]
            near.sort(key=lambda n: min(abs(hunks[n].first - last), abs(hunks[n].last - first)))
            for n in near:
                gap = lines[last : hunks[n].last] if n > seed else lines[hunks[n].first : first]
                if len(gap) > setting.limit_state or costs[n] > setting.large_hunk:
                    continue
                grown = length + sum(map(self.length, gap))
                if cost + costs[n] < setting.limit_edits and grown < 0.9 * setting.limit_state:
                    chosen.add(n)
                    cost, length = cost + costs[n], grown
                    first, last = min(first, hunks[n].first), max(last, hunks[n].last)
                    break
            else:
                break
        return chosen

    def _keeps_large(self, cost: int, random: Random) -> bool:
        return cost < 4 * self.setting.limit_edits and random.random() < 0.5 * self.setting.keep_new_code

    def _session(
        self,
        lines: Sequence[str],
        hunks: Sequence[Hunk],
        chosen: set[int],
        large: set[int],
        later: Sequence[str],
        random: Random,
    ) -> Session | None:
        others = set(range(len(hunks))) - chosen
        # Whether small hunks elsewhere were made before or come after nobody knows: either way, at random.
        folded = others if random.random() < 0.5 else others & large
        base, remaining = fold(lines, hunks, folded)
        numbers = sorted(set(range(len(hunks))) - folded)
        inside = [h for n, h in zip(numbers, remaining, strict=True) if n in chosen]
        outside = [h for n, h in zip(numbers, remaining, strict=True) if n not in chosen]
        window = self._window(base, inside, outside, random)
        if window is None:
            return None
        first, last = window
        session = _made(base, first, last, inside, random)
        if len(later) > 1 and random.random() < self.setting.chain:
            start = first + sum(hunk.growth for hunk in outside if hunk.last <= first)
            size = last - first + sum(hunk.growth for hunk in inside)
            session = self._chained(session, later, start, size, random)
        return session

    def _window(
        self, lines: Sequence[str], inside: Sequence[Hunk], outside: Sequence[Hunk], random: Random
    ) -> tuple[int, int] | None:
        """Lines around the hunks, up to the limit; never over a hunk that is not the session's."""
        floor = max((hunk.last for hunk in outside if hunk.last <= inside[0].first), default=0)
        ceiling = min((hunk.first for hunk in outside if hunk.first >= inside[-1].last), default=len(lines))
        first, last = max(inside[0].first - 1, floor), inside[-1].last
        return grow_window(
            lines, (first, last), (floor, ceiling), self.setting.limit_state - 2, self.length, random
        )

    def _chained(
        self, session: Session, later: Sequence[str], first: int, size: int, random: Random
    ) -> Session:
        """The session, going on with the file's next changes as far as they stay in the window."""
        changes, kind = list(session.changes), session.kind
        for old, new in pairwise(later):
            lines = lines_of(old)
            hunks = hunks_between(lines, lines_of(new)) or []
            touching = [h for h in hunks if h.last >= first and h.first <= first + size]
            inside = [h for h in touching if h.first > first and h.last <= first + size]
            if not inside or len(inside) < len(touching) or len(inside) > 8:
                break
            if any(self.cost(lines, hunk) > self.setting.large_hunk for hunk in inside):
                break
            changes.extend(_made(lines, first, first + size, inside, random).changes)
            kind = Kind.HISTORY_SEVERAL
            size += sum(hunk.growth for hunk in inside)
            first += sum(hunk.growth for hunk in hunks if hunk.last < first)
        return session._replace(changes=tuple(changes), kind=kind)


def grow_window(
    lines: Sequence[str],
    window: tuple[int, int],
    bounds: tuple[int, int],
    limit: int,
    length: Callable[[str], int],
    random: Random,
) -> tuple[int, int] | None:
    """The window with lines added on both sides, as many as fit; None when it is too long already."""
    first, last = window
    total = sum(map(length, lines[first:last]))
    if total > limit:
        return None
    # Files are seen in every size and with the hunks anywhere in them, as they are when a person edits.
    target = limit if random.random() < 0.5 else random.uniform(min(total + 64, limit), limit)
    above = random.random()
    is_open = [first > bounds[0], last < bounds[1]]
    while any(is_open):
        upwards = is_open[0] and (not is_open[1] or random.random() < above)
        line = lines[first - 1] if upwards else lines[last]
        total += length(line)
        if total > target:
            break
        if upwards:
            first -= 1
            is_open[0] = first > bounds[0]
        else:
            last += 1
            is_open[1] = last < bounds[1]
    return first, last


def _made(lines: Sequence[str], first: int, last: int, hunks: Sequence[Hunk], random: Random) -> Session:
    """The hunks in a realistic order, in the window from first to last."""
    view = lines[first:last]
    moved = [Hunk(hunk.first - first, hunk.last - first, hunk.new) for hunk in hunks]
    order = realistic_order(view, moved, random)
    return Session("".join(view), tuple(changes_in_order(view, moved, order)), Kind.HISTORY)
