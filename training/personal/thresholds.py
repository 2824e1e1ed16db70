"""Thresholds for a personal bundle: as few wrong offers as before, and then as many offers as possible.

The confidence of a judge shifts when it learns from a user, or gets evidence of another network. The thresholds are
chosen on the checking changes, never on the held-out ones.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from model.inference.bundle import Bundle, seal
from training.personal.predictor import open_predictor
from training.suite.commit_figures import AskedOnce, play_file
from training.suite.commits import CommitFile
from training.suite.engine import EngineSuggest
from training.suite.kept_results import KeptResults

_OFFSETS = (-0.2, -0.16, -0.12, -0.08, -0.04, 0.0, 0.04, 0.08)  # from the threshold of the bundle before
_LEAST, _MOST = 0.05, 0.99
_MARGIN = 0.9  # of the wrong offers before: what is chosen on some changes is a little worse on others


def match_thresholds(
    base: Path,
    bundle: Path,
    cases: Sequence[CommitFile],
    kept: Path,
    note: Callable[[int], None] = lambda done: None,
    *,
    threads: int = 1,
) -> dict[str, float]:
    """For each eagerness the lowest threshold with at most as many wrong offers as the base bundle has."""
    before = Bundle.load(base).calibration.eagerness
    tried = {name: [_bound(threshold + offset) for offset in _OFFSETS] for name, threshold in before.items()}
    old = count_wrong(base, cases, list(before.values()), kept, lambda done: note(done // 2), threads)
    every = sorted({threshold for thresholds in tried.values() for threshold in thresholds})
    new = count_wrong(bundle, cases, every, kept, lambda done: note((len(cases) + done) // 2), threads)
    return {
        name: choose_threshold(old[threshold], {each: new[each] for each in tried[name]})
        for name, threshold in before.items()
    }


def choose_threshold(allowed: int, wrong: dict[float, int]) -> float:
    """The lowest threshold from which on upwards no more wrong offers are made than allowed, with a margin."""
    chosen = max(wrong)
    for threshold in sorted(wrong, reverse=True):
        if wrong[threshold] > _MARGIN * allowed:
            break
        chosen = threshold
    return chosen


def write_thresholds(bundle: Path, thresholds: dict[str, float]) -> None:
    """Write named thresholds into a bundle; balanced is also the default for whole hunks."""
    loaded = Bundle.load(bundle)
    default = {"hunk": thresholds["balanced"]} if "balanced" in thresholds else {}
    calibration = replace(
        loaded.calibration, eagerness=thresholds, thresholds=loaded.calibration.thresholds | default
    )
    (bundle / "calibration.json").write_text(json.dumps(calibration.to_json()) + "\n")
    seal(bundle, loaded.name)


def count_wrong(
    bundle: Path,
    cases: Sequence[CommitFile],
    thresholds: Sequence[float],
    kept: Path,
    note: Callable[[int], None],
    threads: int,
) -> dict[float, int]:
    """The wrong offers of a bundle over all cases at each threshold."""
    loaded = Bundle.load(bundle)
    asked = AskedOnce(EngineSuggest(open_predictor(loaded, threads)), thresholds)
    results = KeptResults(kept)
    totals = dict.fromkeys(thresholds, 0)
    for number, case in enumerate(cases):
        key = f"{loaded.sha256}:{case.repository}:{case.commit}:{case.path}"
        counts = results.get(key, partial(_count_case, case, asked, thresholds))
        for threshold, count in zip(thresholds, counts, strict=True):
            totals[threshold] += count
        note(number + 1)
    return totals


def _count_case(case: CommitFile, asked: AskedOnce, thresholds: Sequence[float]) -> list[int]:
    return [play_file(case, asked.at(threshold)).wrong for threshold in thresholds]


def _bound(threshold: float) -> float:
    return round(min(max(threshold, _LEAST), _MOST), 4)
