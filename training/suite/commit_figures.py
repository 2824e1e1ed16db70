"""Whole commits played with a bundle at several thresholds, beside a floor, as counts and as tables.

The ceiling is the share of reachable edits: what any engine that only repeats the author can do with Tab. The floor makes
the newest edit again at its next same text range.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from random import Random

from tqdm import tqdm

from training.sources.corpus import Repository
from training.suite.commits import CommitFile, choose_commit_files
from training.suite.engine import EngineSuggest
from training.suite.floors import find_replays
from training.suite.kept_results import KeptResults, keep_list
from training.suite.whole_commits import Offer, Played, Suggest, play
from training.trajectories.hands import TEST_HANDS
from training.trajectories.keyboard import Step

REPLAY = "replay the last edit"
_LIMIT_TYPED = 500  # characters that a file's edits insert, where they are typed: a long block says no more than a short one


class AskedOnce:
    """An engine that keeps its answers: plays at several thresholds begin with the same questions."""

    def __init__(self, engine: EngineSuggest, thresholds: Sequence[float]) -> None:
        self._engine = engine
        self._thresholds = list(thresholds)
        self._text = ""
        self._answers: dict[tuple[int, float], list[list[Offer]]] = {}

    def at(self, threshold: float) -> Suggest:
        """The suggester at one of the thresholds."""
        number = self._thresholds.index(threshold)

        def suggest(text: str, steps: Sequence[Step], cursor: int, time: float) -> list[Offer]:
            if text != self._text:
                self._text, self._answers = text, {}
            key = (hash(tuple(steps)), time)  # the steps themselves would fill the memory
            if key not in self._answers:
                self._answers[key] = self._engine.ask(text, steps, time, self._thresholds)
            return self._answers[key][number]

        return suggest


def replay_newest(text: str, steps: Sequence[Step], cursor: int, time: float) -> list[Offer]:
    """The floor: make the newest edit again at its next same text range, always sure."""
    now = text
    before, newest = now, None
    for step in steps:
        for change in step.changes:
            before, newest = now, change
            now = now[: change.start] + change.text + now[change.end :]
    if newest is None:
        return []
    return [Offer(change, 1.0) for change in find_replays(before, now, newest)]


def play_file(file: CommitFile, suggest: Suggest, *, by_keys: bool = False) -> Played:
    """Play a file. It has its own hands and order, the same for every suggester."""
    random = Random(f"{file.commit}:{file.path}")
    return play(file, suggest, TEST_HANDS.draw(random), random, by_keys=by_keys)


def read_commit_files(
    repositories: Sequence[Repository], count: int, seed: int, cache: Path
) -> list[CommitFile]:
    """The chosen files of a split's repositories, from the cache when they were chosen before."""
    split = "+".join(sorted({repository.split for repository in repositories}))
    path = cache / f"commits-{split}-{len(repositories)}-{count}-{seed}.jsonl"
    found = keep_list(path, lambda: choose_commit_files(repositories, count, seed))
    return [CommitFile.from_json(values) for values in found]


def can_be_typed(file: CommitFile) -> bool:
    """Are the edits short enough to be typed key by key?"""
    return sum(len(hunk.text) for hunk in file.hunks) <= _LIMIT_TYPED


def play_all(
    files: Iterable[CommitFile],
    engine: EngineSuggest,
    thresholds: Mapping[str, float],
    results: KeptResults,
    *,
    by_keys: bool = False,
    title: str = "",
) -> dict[str, Played]:
    """The counts of all files with the floor and at each named threshold."""
    asked = AskedOnce(engine, list(thresholds.values()))
    names = {REPLAY: "replay", **{name: f"{threshold:.4f}" for name, threshold in thresholds.items()}}
    rows = dict.fromkeys(names, Played())
    way = "keys" if by_keys else "edits"
    for file in tqdm(list(files), unit=" files", desc=title):
        for name, mark in names.items():
            suggest = replay_newest if name == REPLAY else asked.at(thresholds[name])
            measure = partial(play_file, file, suggest, by_keys=by_keys)
            key = f"{file.repository}:{file.commit}:{file.path}:{way}:{mark}"
            rows[name] += Played(**results.get(key, partial(_count, measure)))
    return rows


def _count(measure: Callable[[], Played]) -> dict[str, int]:
    return asdict(measure())


def table(rows: Mapping[str, Played]) -> str:
    """The counts as a Markdown table, one row for each name."""
    lines = [
        "| | edits by Tab | of the reachable ones | wrong offers per ten edits | pieces per ten edits | moments |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, of in rows.items():
        lines.append(
            f"| {name} | {100 * of.by_tab / max(1, of.edits):.1f} % | {100 * of.reachable_by_tab / max(1, of.reachable):.1f} %"
            f" | {wrong_per_ten(of):.2f} | {10 * of.pieces / max(1, of.edits):.2f} | {of.moments} |"
        )
    return "\n".join(lines)


def wrong_per_ten(counts: Played) -> float:
    """Wrong offers for every ten edits."""
    return 10 * counts.wrong / max(1, counts.edits)


def title_of(kind: str, rows: Mapping[str, Played]) -> str:
    """A sentence about what was played."""
    of = rows[REPLAY]
    share = 100 * of.reachable / max(1, of.edits)
    return f"{of.files} {kind} files, {of.edits} edits, {of.reachable} reachable ({share:.1f} %)"
