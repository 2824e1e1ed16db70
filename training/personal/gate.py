"""The gate: a personal bundle is installed only if it is better for its user.

The held-out changes are played edit by edit with the bundle in use and with the new one. The difference in the share of edits done
with Tab gets a 90 % interval by a paired bootstrap over units (commits, saves, sessions): files of one commit are alike.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.inference.bundle import Bundle
from training.personal.predictor import open_predictor
from training.suite.commit_figures import play_file
from training.suite.commits import CommitFile
from training.suite.engine import EngineSuggest
from training.suite.kept_results import KeptResults
from training.suite.rightness import find_run
from training.suite.whole_commits import Offer, Played
from training.trajectories.keyboard import Step
from training.trajectories.lexical_hunks import lexical_hunks

LEAST_CASES, LEAST_EDITS = 5, 30  # fewer cannot tell two bundles apart
_DRAWS = 4000
_TAIL = 5.0  # per cent on each side of a 90 % interval


class ShownOffer(NamedTuple):
    """An offer that was shown while a case was played."""

    before: str  # the line as it was
    after: str  # the lines that the offer makes of it
    is_right: bool


class PlayedCase(NamedTuple):
    """The counts of one case and the offers that were shown."""

    played: Played
    offers: tuple[ShownOffer, ...]


class Interval(NamedTuple):
    """A difference with its 90 % interval."""

    difference: float
    low: float
    high: float


@dataclass(frozen=True)
class Outcome:
    """Two bundles on the same cases."""

    before: Played
    after: Played
    by_tab: Interval  # difference of the shares of edits done with Tab
    wrong: Interval  # difference of the wrong offers per ten edits
    units: int

    @property
    def is_better(self) -> bool:
        """More edits with Tab beyond chance, and no more wrong offers."""
        return self.by_tab.low > 0 and self.after.wrong <= self.before.wrong

    def explain(self) -> str:
        """The reason for installing or refusing, in a sentence."""
        share = f"{100 * self.by_tab.difference:+.1f} points ({100 * self.by_tab.low:+.1f} to {100 * self.by_tab.high:+.1f})"
        if self.is_better:
            return f"more edits are done with Tab: {share}, and wrong offers did not grow"
        if self.by_tab.low > 0:
            return (
                f"more edits are done with Tab ({share}), but wrong offers grew from {self.before.wrong} to"
                f" {self.after.wrong}"
            )
        if self.by_tab.high < 0:
            return f"fewer edits are done with Tab: {share}"
        return f"the difference in edits done with Tab may be chance: {share} includes zero"

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {
            "by_tab": self.by_tab._asdict(),
            "wrong": self.wrong._asdict(),
            "is_better": self.is_better,
        }


class ShowingEngine:
    """An engine that notes the first offer of each question, and whether the author made it."""

    def __init__(self, engine: EngineSuggest, file: CommitFile) -> None:
        self._engine, self._file = engine, file
        self.offers: dict[tuple[str, str], ShownOffer] = {}

    def __call__(self, text: str, steps: Sequence[Step], cursor: int, time: float) -> list[Offer]:
        offers = self._engine(text, steps, cursor, time)
        if offers:
            self._note(_apply(text, steps), offers[0])
        return offers

    def _note(self, text: str, offer: Offer) -> None:
        change = offer.change
        start = text.rfind("\n", 0, change.start) + 1
        end = text.find("\n", change.end)
        end = len(text) if end < 0 else end
        before = text[start:end]
        after = text[start : change.start] + change.text + text[change.end : end]
        if (before, after) not in self.offers:
            remaining = lexical_hunks(text, self._file.after) or []
            is_right = find_run(text, remaining, change) is not None
            self.offers[before, after] = ShownOffer(before, after, is_right)


def _apply(text: str, steps: Sequence[Step]) -> str:
    for step in steps:
        for change in step.changes:
            text = change.apply_to(text)
    return text


def play_cases(
    bundle: Path,
    cases: Sequence[CommitFile],
    eagerness: str,
    kept: Path,
    note: Callable[[int], None] = lambda done: None,
    *,
    threads: int = 1,
) -> list[PlayedCase]:
    """Play the cases with a bundle at an eagerness. Results are kept in a file, so a broken run goes on."""
    loaded = Bundle.load(bundle)
    engine = EngineSuggest(open_predictor(loaded, threads), threshold_of(loaded, eagerness))
    results = KeptResults(kept)
    played = []
    for number, case in enumerate(cases):
        key = f"{loaded.sha256}:{case.repository}:{case.commit}:{case.path}"
        counts, offers = results.get(key, partial(_play_case, engine, case))
        played.append(PlayedCase(Played(**counts), tuple(ShownOffer(*offer) for offer in offers)))
        note(number + 1)
    return played


def threshold_of(bundle: Bundle, eagerness: str) -> float:
    """The threshold that a bundle has for an eagerness."""
    thresholds = bundle.calibration.eagerness
    if eagerness not in thresholds:
        raise ValueError(
            f"the bundle {bundle.name} has no eagerness {eagerness!r}; it has {', '.join(thresholds) or 'none'}"
        )
    return thresholds[eagerness]


def _play_case(engine: EngineSuggest, case: CommitFile) -> list[Any]:
    showing = ShowingEngine(engine, case)
    counts = asdict(play_file(case, showing))
    return [counts, list(showing.offers.values())]


def compare(
    cases: Sequence[CommitFile], before: Sequence[PlayedCase], after: Sequence[PlayedCase], seed: int = 0
) -> Outcome:
    """Compare two bundles that played the same cases."""
    units = {name: number for number, name in enumerate(dict.fromkeys(case.commit for case in cases))}
    counts = np.zeros(
        (len(units), 5)
    )  # of each unit: edits, Tabs before and after, wrong offers before and after
    for case, one, two in zip(cases, before, after, strict=True):
        old, new = one.played, two.played
        counts[units[case.commit]] += (old.edits, old.by_tab, new.by_tab, old.wrong, new.wrong)
    random = np.random.default_rng(seed)
    drawn = counts[random.integers(0, len(units), (_DRAWS, len(units)))].sum(axis=1)
    return Outcome(
        sum((each.played for each in before), Played()),
        sum((each.played for each in after), Played()),
        _interval(counts.sum(axis=0), drawn, 1, 2, 1.0),
        _interval(counts.sum(axis=0), drawn, 3, 4, 10.0),
        len(units),
    )


def _interval(
    total: NDArray[np.float64], drawn: NDArray[np.float64], before: int, after: int, scale: float
) -> Interval:
    differences = scale * (drawn[:, after] - drawn[:, before]) / np.maximum(1.0, drawn[:, 0])
    low, high = np.percentile(differences, (_TAIL, 100 - _TAIL))
    return Interval(
        float(scale * (total[after] - total[before]) / max(1.0, total[0])), float(low), float(high)
    )


def refuse_too_few(cases: Sequence[CommitFile]) -> None:
    """Refuse cases that are too few to tell two bundles apart."""
    edits = sum(len(case.hunks) for case in cases)
    if len(cases) < LEAST_CASES or edits < LEAST_EDITS:
        raise ValueError(
            f"the newest tenth of your history has {len(cases)} changes of code files with three edits or more"
            f" ({edits} edits together); {LEAST_CASES} with {LEAST_EDITS} edits are needed to tell whether a new"
            " bundle is better. Add more history: python -m training.fit --repo PATH --repo OTHER"
        )


def group_counts(
    cases: Sequence[CommitFile], played: Sequence[PlayedCase], by: Callable[[CommitFile], str]
) -> dict[str, Played]:
    """The counts of each group of cases, largest group first."""
    groups: dict[str, Played] = {}
    for case, each in zip(cases, played, strict=True):
        groups[by(case)] = groups.get(by(case), Played()) + each.played
    order = Counter({name: counts.edits for name, counts in groups.items()})
    return {name: groups[name] for name, _ in order.most_common()}
