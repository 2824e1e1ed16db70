"""Excerpts of a file that fit a model: trajectories of some hunks, seen through a window of whole lines.

Most files are longer than a state may be. An excerpt is a window of whole lines around some hunks. Every other hunk that
falls into it counts as made before the trajectory began. So when the trajectory's own hunks are made, the excerpt is as
the author left it: only then is *stop* honest.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from random import Random

from model.editing.tokenizer import Tokenizer
from training.data.dataset import Kind
from training.trajectories.hunks import Hunk, changes_in_order, fold, hunks_between, lines_of
from training.trajectories.mining_setting import MiningSetting
from training.trajectories.ordering import draw_order
from training.trajectories.trajectory import Trajectory

_LARGE_LINES = 60  # a hunk of more lines is large without a count of its tokens
_TRAJECTORIES_OF_A_COMMIT = 4  # a file with forty hunks would otherwise weigh as forty files
_GROW = 0.8  # chance to take in the next hunk that still fits


class ExcerptCutter:
    """Cuts trajectories out of the versions of a file."""

    def __init__(self, tokenizer: Tokenizer, setting: MiningSetting) -> None:
        self.tokenizer = tokenizer
        self.setting = setting

    def count_tokens(self, line: str) -> int:
        """The number of tokens of a line."""
        return len(self.tokenizer.encode_segment(line))

    def estimate_edits(self, lines: Sequence[str], hunk: Hunk) -> int:
        """About how many edits a hunk takes; a number beyond every limit for a large one.

        It counts the tokens of one side that the other does not have. A real difference would cost as much as all the rest.
        """
        if hunk.last - hunk.first > _LARGE_LINES or len(hunk.new) > _LARGE_LINES:
            return 1 << 20
        old, new = self._token_counts(lines[hunk.first : hunk.last]), self._token_counts(hunk.new)
        return (old - new).total() + (new - old).total()

    def _token_counts(self, lines: Sequence[str]) -> Counter[int]:
        return Counter(token for line in lines for token in self.tokenizer.encode_segment(line))

    def cut(self, versions: Sequence[str], hunks: Sequence[Hunk], random: Random) -> list[Trajectory]:
        """Trajectories that begin in the first of the versions; the hunks are those from it to the second."""
        lines = lines_of(versions[0])
        costs = [self.estimate_edits(lines, hunk) for hunk in hunks]
        large = {n for n, cost in enumerate(costs) if cost > self.setting.large_hunk}
        # The product predicts edits from edits: of large new blocks only a few are learned, the rest is there at once.
        free = {n for n in range(len(hunks)) if n not in large or self._keep_large(costs[n], random)}
        result: list[Trajectory] = []
        while free and len(result) < _TRAJECTORIES_OF_A_COMMIT:
            chosen = self._choose(lines, hunks, costs, free, random)
            free -= chosen
            trajectory = self._make_trajectory(lines, hunks, chosen, large, versions[1:], random)
            if trajectory is not None:
                result.append(trajectory)
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
        length = sum(map(self.count_tokens, lines[first:last]))
        while random.random() < _GROW or len(hunks) <= 3:
            near = [n for n in (min(chosen) - 1, max(chosen) + 1) if n in free]
            near.sort(key=lambda n: min(abs(hunks[n].first - last), abs(hunks[n].last - first)))
            for n in near:
                gap = lines[last : hunks[n].last] if n > seed else lines[hunks[n].first : first]
                if len(gap) > setting.limit_state or costs[n] > setting.large_hunk:
                    continue
                grown = length + sum(map(self.count_tokens, gap))
                if cost + costs[n] < setting.limit_edits and grown < 0.9 * setting.limit_state:
                    chosen.add(n)
                    cost, length = cost + costs[n], grown
                    first, last = min(first, hunks[n].first), max(last, hunks[n].last)
                    break
            else:
                break
        return chosen

    def _keep_large(self, cost: int, random: Random) -> bool:
        return cost < 4 * self.setting.limit_edits and random.random() < 0.5 * self.setting.keep_new_code

    def _make_trajectory(
        self,
        lines: Sequence[str],
        hunks: Sequence[Hunk],
        chosen: set[int],
        large: set[int],
        later: Sequence[str],
        random: Random,
    ) -> Trajectory | None:
        others = set(range(len(hunks))) - chosen
        # Small hunks elsewhere may have been made before or come after: decide at random.
        folded = others if random.random() < 0.5 else others & large
        base, remaining = fold(lines, hunks, folded)
        numbers = sorted(set(range(len(hunks))) - folded)
        inside = [h for n, h in zip(numbers, remaining, strict=True) if n in chosen]
        outside = [h for n, h in zip(numbers, remaining, strict=True) if n not in chosen]
        window = self._choose_window(base, inside, outside, random)
        if window is None:
            return None
        first, last = window
        trajectory = _order_hunks(base, first, last, inside, random)
        if len(later) > 1 and random.random() < self.setting.chain:
            start = first + sum(hunk.growth for hunk in outside if hunk.last <= first)
            size = last - first + sum(hunk.growth for hunk in inside)
            trajectory = self._continue(trajectory, later, start, size, random)
        return trajectory

    def _choose_window(
        self, lines: Sequence[str], inside: Sequence[Hunk], outside: Sequence[Hunk], random: Random
    ) -> tuple[int, int] | None:
        """Lines around the hunks, up to the limit; never over a hunk that is not the trajectory's."""
        floor = max((hunk.last for hunk in outside if hunk.last <= inside[0].first), default=0)
        ceiling = min((hunk.first for hunk in outside if hunk.first >= inside[-1].last), default=len(lines))
        first, last = max(inside[0].first - 1, floor), inside[-1].last
        return grow_excerpt(
            lines, (first, last), (floor, ceiling), self.setting.limit_state - 2, self.count_tokens, random
        )

    def _continue(
        self, trajectory: Trajectory, later: Sequence[str], first: int, size: int, random: Random
    ) -> Trajectory:
        """The trajectory, going on with the file's next versions as far as their hunks stay in the window."""
        changes, kind = list(trajectory.changes), trajectory.kind
        for old, new in pairwise(later):
            lines = lines_of(old)
            hunks = hunks_between(lines, lines_of(new)) or []
            touching = [h for h in hunks if h.last >= first and h.first <= first + size]
            inside = [h for h in touching if h.first > first and h.last <= first + size]
            if not inside or len(inside) < len(touching) or len(inside) > 8:
                break
            if any(self.estimate_edits(lines, hunk) > self.setting.large_hunk for hunk in inside):
                break
            changes.extend(_order_hunks(lines, first, first + size, inside, random).changes)
            kind = Kind.HISTORY_SEVERAL
            size += sum(hunk.growth for hunk in inside)
            first += sum(hunk.growth for hunk in hunks if hunk.last < first)
        return trajectory._replace(changes=tuple(changes), kind=kind)


def grow_excerpt(
    lines: Sequence[str],
    window: tuple[int, int],
    bounds: tuple[int, int],
    limit: int,
    count_tokens: Callable[[str], int],
    random: Random,
) -> tuple[int, int] | None:
    """The window with lines added on both sides, as many as fit; None when it is too long already."""
    first, last = window
    total = sum(map(count_tokens, lines[first:last]))
    if total > limit:
        return None
    # Files are seen in every size and with the hunks anywhere in them, as they are when a person edits.
    target = limit if random.random() < 0.5 else random.uniform(min(total + 64, limit), limit)
    above = random.random()
    is_open = [first > bounds[0], last < bounds[1]]
    while any(is_open):
        upwards = is_open[0] and (not is_open[1] or random.random() < above)
        line = lines[first - 1] if upwards else lines[last]
        total += count_tokens(line)
        if total > target:
            break
        if upwards:
            first -= 1
            is_open[0] = first > bounds[0]
        else:
            last += 1
            is_open[1] = last < bounds[1]
    return first, last


def _order_hunks(
    lines: Sequence[str], first: int, last: int, hunks: Sequence[Hunk], random: Random
) -> Trajectory:
    """The trajectory of the hunks in a realistic order, in the window from first to last."""
    view = lines[first:last]
    moved = [Hunk(hunk.first - first, hunk.last - first, hunk.new) for hunk in hunks]
    order = draw_order(view, moved, random)
    return Trajectory("".join(view), tuple(changes_in_order(view, moved, order)), Kind.HISTORY)
