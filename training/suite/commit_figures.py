"""Program: whole commits played with a bundle at several thresholds, beside the ceiling and the floor.

    python -m training.suite.commit_figures BUNDLE --mirrors DIR [--split dev] [--count 40] [--by-keys]

The ceiling is the share of reachable edits: what any engine that only repeats the author can do with Tab. The floor makes
the newest edit again at its next same text range. Prints tables in Markdown.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from random import Random

from tqdm import tqdm

from model.inference.bundle import Bundle
from model.inference.predictor import Predictor
from training.sources.corpus import read_corpus
from training.suite.commits import CommitFile, choose_commit_files
from training.suite.engine import EngineSuggest
from training.suite.floors import find_replays
from training.suite.whole_commits import Offer, Played, Suggest, play
from training.trajectories.hands import TEST_HANDS
from training.trajectories.keyboard import Step

THRESHOLDS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.82)


class RememberedSuggest:
    """A suggester that is not asked the same again: plays at other thresholds begin alike."""

    def __init__(self, suggest: Suggest) -> None:
        self._suggest = suggest
        self._text = ""
        self._answers: dict[tuple[tuple[Step, ...], float], Sequence[Offer]] = {}

    def __call__(self, text: str, steps: Sequence[Step], cursor: int, time: float) -> Sequence[Offer]:
        if text != self._text:
            self._text, self._answers = text, {}
        key = (tuple(steps), time)
        if key not in self._answers:
            self._answers[key] = self._suggest(text, steps, cursor, time)
        return self._answers[key]


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


def play_all(
    files: Iterable[CommitFile], suggest: Suggest, threshold: float, *, by_keys: bool = False
) -> Played:
    """Play files one after another. Each has its own hands and order, the same for every suggester."""
    result = Played()
    for file in files:
        random = Random(f"{file.commit}:{file.path}")
        hands = TEST_HANDS.draw(random)
        result += play(file, suggest, hands, random, threshold=threshold, by_keys=by_keys)
    return result


def table(rows: dict[str, Played]) -> str:
    """The counts as a Markdown table, one row for each name."""
    lines = [
        "| | edits by Tab | of the reachable ones | wrong offers per ten edits | pieces per ten edits | moments |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, of in rows.items():
        lines.append(
            f"| {name} | {100 * of.by_tab / max(1, of.edits):.1f} % | {100 * of.reachable_by_tab / max(1, of.reachable):.1f} %"
            f" | {10 * of.wrong / max(1, of.edits):.2f} | {10 * of.pieces / max(1, of.edits):.2f} | {of.moments} |"
        )
    return "\n".join(lines)


class Results:
    """Counts by file and by suggester, kept in a file of JSON lines: a broken run goes on where it was broken off."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._known: dict[tuple[str, str], Played] = {}
        if path is not None and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                file, name, counts = json.loads(line)
                self._known[file, name] = Played(**counts)

    def get(self, file: CommitFile, name: str, measure: Callable[[], Played]) -> Played:
        """The counts of a file with a suggester, measured when they are not known."""
        key = (f"{file.repository}:{file.commit}:{file.path}", name)
        if key not in self._known:
            self._known[key] = measure()
            if self._path is not None:
                with self._path.open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps([*key, asdict(self._known[key])]) + "\n")
        return self._known[key]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m training.suite.commit_figures")
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--mirrors", type=Path, required=True, help="folder with the clones of the corpus")
    parser.add_argument("--corpus", type=Path, default=Path(__file__).parents[1] / "corpora" / "default.toml")
    parser.add_argument("--split", default="dev")
    parser.add_argument("--count", type=int, default=40, help="files of each kind")
    parser.add_argument("--by-keys", action="store_true", help="type each edit, with questions between keys")
    parser.add_argument("--threshold", type=float, action="append", help="repeatable")
    parser.add_argument("--results", type=Path, metavar="FILE", help="keep counts here, and go on from them")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    repositories = read_corpus(options.corpus, options.mirrors, split=options.split)
    chosen = choose_commit_files(repositories, options.count, options.seed)
    thresholds = options.threshold or THRESHOLDS
    engine = EngineSuggest(Predictor(Bundle.load(options.bundle)), least_confidence=min(thresholds))
    results = Results(options.results)
    for kind, is_repetitive in (("repetitive", True), ("ordinary", False)):
        files = [file for file in chosen if file.is_repetitive == is_repetitive]
        rows = {"replay the newest": Played()}
        for file in tqdm(files, unit=" files"):
            remembered = RememberedSuggest(engine)
            suggesters: list[tuple[str, Suggest, float]] = [
                ("replay the newest", replay_newest, 0.0),
                *((f"{threshold:.2f}", remembered, threshold) for threshold in thresholds),
            ]
            for name, suggest, threshold in suggesters:
                measure = partial(play_all, [file], suggest, threshold, by_keys=options.by_keys)
                rows[name] = rows.get(name, Played()) + results.get(file, name, measure)
        edits, reachable = rows["replay the newest"].edits, rows["replay the newest"].reachable
        share = 100 * reachable / max(1, edits)
        print(f"\n{len(files)} {kind} files, {edits} edits, {reachable} reachable ({share:.1f} %)\n")
        print(table(rows), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
