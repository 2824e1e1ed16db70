"""Personal training from a plan to a bundle that is installed or refused.

Every stage keeps what it made in the work folder: a command that was stopped or killed goes on where it was.
"""

import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any

from model.inference.bundle import Bundle, seal
from model.proposals import judge
from training.judge.examples import Examples
from training.judge.plays import examine_changes
from training.personal.changes import OwnChange, split_by_time
from training.personal.gate import Outcome, PlayedCase, compare, play_cases, refuse_too_few
from training.personal.judge_correction import Correction, fit_correction, write_corrected
from training.personal.library import Entry, Library
from training.personal.plan import Plan
from training.personal.predictor import open_predictor
from training.personal.progress import Progress
from training.personal.report import ReportData, write_report
from training.personal.thresholds import match_thresholds, write_thresholds
from training.suite.commits import CommitFile
from training.trajectories.hands import TEST_HANDS, TRAINING_HANDS, HandsRange

_CHUNK = 25  # changes that are played before something is kept: a kill loses no more
_CHECK_SHARE = 5  # one change checks for so many that are learned from
_NETWORK_SHARE = (
    5  # the network reads so many changes for each one that the judge reads: it learns more slowly
)
_CASE_SHARE = 20  # held-out changes that are read for each case: most are too small to be one
_LIMIT_OF_PATH = 4  # cases of one file, so that no file decides the gate
_OWN = "+own"

# Trains the network of a bundle: changes to learn from and to check with, a work folder; the bundle, or None when it is not better.
TuneNetwork = Callable[[Sequence[OwnChange], Sequence[OwnChange], Path], Path | None]


@dataclass(frozen=True)
class Learned:
    """The end of a personal training."""

    entry: Entry
    outcome: Outcome
    is_installed: bool


class Learning:
    """One personal training in its work folder."""

    def __init__(self, plan: Plan, work: Path, library: Library, progress: Progress) -> None:
        self.plan, self.work, self.library, self.progress = plan, work, library, progress
        self.base = Path(plan.base)

    def run(self, tune_network: TuneNetwork | None = None) -> Learned:
        """Learn, measure, and install or refuse."""
        parts = self.read_changes()
        cases = choose_cases(parts["held_out"], self.plan.cases)
        refuse_too_few(cases)
        network = self.base
        if tune_network is not None:
            older = self._read("learn", _NETWORK_SHARE * self.plan.changes)
            network = tune_network(older, parts["check"], self.work / "network") or self.base
        bundle, correction = self._fit_judge(network, parts)
        self._choose_thresholds(bundle, choose_cases(parts["check"], self.plan.cases))
        before = self._play("play the newest changes as it is now", Path(self.plan.in_use), cases, "before")
        after = self._play("play them with what was learned", bundle, cases, "after")
        outcome = compare(cases, before, after, self.plan.seed)
        return self._decide(bundle, correction, network != self.base, cases, before, after, outcome)

    def read_changes(self) -> dict[str, list[OwnChange]]:
        """The changes of all sources: to learn from, to check with, and the newest tenth, which is held out."""
        return {
            "learn": self._read("learn", self.plan.changes),
            "check": self._read("check", max(1, self.plan.changes // _CHECK_SHARE)),
            "held_out": self._read("held_out", _CASE_SHARE * self.plan.cases),
        }

    def _read(self, part: str, limit: int) -> list[OwnChange]:
        """The changes of one part of each source, the newest ones, about as many from each."""
        of_source = max(1, limit // len(self.plan.sources))
        return [
            change
            for source in self.plan.sources
            for change in source.read(getattr(split_by_time(source.units), part), of_source)
        ]

    def _fit_judge(self, network: Path, parts: dict[str, list[OwnChange]]) -> tuple[Path, Correction]:
        """A bundle whose judge has learned from the changes."""
        learn = self._examine("play your changes to learn from them", network, parts["learn"], TRAINING_HANDS)
        check = self._examine("play later changes to check it", network, parts["check"], TEST_HANDS)
        if not len(learn.rows) or not len(check.rows):
            raise ValueError(
                "no change of your history repeats anything: there is nothing for the judge to learn from."
                " Add more history: python -m training.fit --repo PATH --repo OTHER"
            )
        old_judge = self.base / judge.FILE
        correction = fit_correction(old_judge, learn, check, seed=self.plan.seed, threads=self.plan.threads)
        bundle = self.work / "bundle"
        shutil.rmtree(bundle, ignore_errors=True)
        shutil.copytree(network, bundle)
        write_corrected(old_judge, correction, bundle / judge.FILE)
        shutil.copy(self.base / "calibration.json", bundle / "calibration.json")
        seal(bundle, Bundle.load(self.base).name.partition(_OWN)[0] + _OWN)
        return bundle, correction

    def _choose_thresholds(self, bundle: Path, cases: Sequence[CommitFile]) -> None:
        """Let the new judge speak as often as it can with as few wrong offers as before."""
        self.progress.begin("choose how sure it must be", len(cases))
        if cases:
            kept = self.work / "thresholds.jsonl"
            write_thresholds(
                bundle,
                match_thresholds(
                    self.base, bundle, cases, kept, self.progress.reach, threads=self.plan.threads
                ),
            )

    def _examine(
        self, title: str, network: Path, changes: Sequence[OwnChange], hands: HandsRange
    ) -> Examples:
        """Examples of changes, in chunks that are kept."""
        loaded = Bundle.load(network)
        folder = self.work / "examples" / loaded.sha256[:12]
        folder.mkdir(parents=True, exist_ok=True)
        chunks = [changes[start : start + _CHUNK] for start in range(0, len(changes), _CHUNK)]
        predictor = open_predictor(loaded, self.plan.threads, with_judge=False)
        parts = []
        for number, chunk in enumerate(self.progress.over(title, chunks, len(chunks))):
            path = folder / f"{title.split()[1]}-{number:04d}.npz"
            if not path.exists():
                random = Random(f"{self.plan.seed}:{title}:{number}")
                examples = examine_changes([each.file_change() for each in chunk], predictor, hands, random)
                partial = path.with_suffix(".partial.npz")
                examples.save(partial)
                partial.rename(path)
            parts.append(Examples.load(path))
        return Examples.join(parts)

    def _play(self, title: str, bundle: Path, cases: Sequence[CommitFile], name: str) -> list[PlayedCase]:
        self.progress.begin(title, len(cases))
        kept = self.work / f"{name}.jsonl"
        return play_cases(
            bundle, cases, self.plan.eagerness, kept, self.progress.reach, threads=self.plan.threads
        )

    def _decide(
        self,
        bundle: Path,
        correction: Correction,
        is_network_tuned: bool,
        cases: Sequence[CommitFile],
        before: Sequence[PlayedCase],
        after: Sequence[PlayedCase],
        outcome: Outcome,
    ) -> Learned:
        """Put the bundle into the library, and use it if it is better."""
        self.progress.end()
        about = self._describe(outcome, is_network_tuned)
        data = ReportData(about, correction.most_telling(), cases, before, after, outcome)
        name = f"{datetime.now():%Y-%m-%d-%H%M%S}"
        entry = self.library.add(name, bundle, write_report(data), about)
        if outcome.is_better:
            self.library.use(entry.name)
        self.library.trim()
        return Learned(entry, outcome, outcome.is_better)

    def _describe(self, outcome: Outcome, is_network_tuned: bool) -> dict[str, Any]:
        """All that is known about the bundle, as JSON."""
        of = outcome.before, outcome.after
        shares = [100 * each.by_tab / max(1, each.edits) for each in of]
        wrong = [10 * each.wrong / max(1, each.edits) for each in of]
        return {
            "made": f"{datetime.now():%Y-%m-%d %H:%M}",
            "sources": [source.describe() for source in self.plan.sources],
            "commits": {source.name: source.commit for source in self.plan.sources if source.commit},
            "seed": self.plan.seed,
            "began_with": {"name": Bundle.load(self.base).name, "sha256": self.plan.base_sha256},
            "learned": ["judge", *(["network"] if is_network_tuned else [])],
            "eagerness": self.plan.eagerness,
            "is_better": outcome.is_better,
            "reason": outcome.explain(),
            "summary": (
                f"{'installed' if outcome.is_better else 'refused'}: edits with Tab {shares[0]:.1f} -> {shares[1]:.1f} %,"
                f" wrong offers per ten edits {wrong[0]:.2f} -> {wrong[1]:.2f}"
                f" ({of[0].files} files, {of[0].edits} edits)"
            ),
            "outcome": outcome.to_json(),
        }


def choose_cases(changes: Sequence[OwnChange], limit: int) -> list[CommitFile]:
    """Changes that can be played, the newest `limit` of them, at most a few of one file."""
    cases: list[CommitFile] = []
    of_path: Counter[str] = Counter()
    for change in reversed(changes):
        case = change.commit_file() if of_path[change.path] < _LIMIT_OF_PATH else None
        if case is not None:
            of_path[change.path] += 1
            cases.append(case)
        if len(cases) == limit:
            break
    return cases
