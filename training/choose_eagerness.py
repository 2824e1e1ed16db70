"""Program: choose the thresholds of quiet, balanced and eager for a bundle, and write them into it.

    python -m training.choose_eagerness BUNDLE --mirrors DIR [--cache DIR] [--count 40] [--dry-run]

Whole commits of the dev repositories are played at several thresholds, edit by edit and key by key with the test hands. Each
eagerness gets the lowest threshold at which, and above which, no group of files has more wrong offers per ten edits than
its limit; typed files may have more. Prints the curves. Results are kept in the cache, so a stopped run goes on where it was.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from model.inference.bundle import Bundle, BundleError, seal
from model.inference.predictor import Predictor
from training.sources.corpus import read_corpus
from training.suite.commit_figures import (
    can_be_typed,
    play_all,
    read_commit_files,
    table,
    title_of,
    wrong_per_ten,
)
from training.suite.engine import EngineSuggest
from training.suite.kept_results import KeptResults, folder_of
from training.suite.whole_commits import Played

LIMITS = {"quiet": 0.2, "balanced": 0.5, "eager": 1.2}  # wrong offers per ten edits that are made at once
_KEYS_SHARE = 1.8  # of a limit, where the edits are typed: a dozen moments for each edit, and an offer there is soon gone
THRESHOLDS = (0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
_TYPED_SHARE = 2  # one file in so many is also typed: that takes ten times as long


class Group(NamedTuple):
    """Files that were played at several thresholds."""

    rows: Mapping[float, Played]
    by_keys: bool = False

    def wrong(self, threshold: float) -> float:
        """Wrong offers per ten edits, as they count against a limit: typed files are allowed more."""
        return wrong_per_ten(self.rows[threshold]) / (_KEYS_SHARE if self.by_keys else 1.0)


def choose_thresholds(groups: Sequence[Group]) -> dict[str, float]:
    """Choose for each eagerness the lowest threshold at which, and above which, every group keeps its limit."""
    thresholds = sorted(groups[0].rows, reverse=True)
    chosen = {}
    for name, limit in LIMITS.items():
        kept = thresholds[0]
        for threshold in thresholds:
            if any(group.wrong(threshold) > limit for group in groups):
                break
            kept = threshold
        chosen[name] = kept
    return chosen


def write_thresholds(directory: Path, chosen: Mapping[str, float]) -> None:
    """Write the thresholds into a bundle; balanced is also the default for whole hunks."""
    bundle = Bundle.load(directory)
    calibration = replace(
        bundle.calibration,
        eagerness=dict(chosen),
        thresholds=bundle.calibration.thresholds | {"hunk": chosen["balanced"]},
    )
    (directory / "calibration.json").write_text(json.dumps(calibration.to_json()) + "\n")
    seal(directory, bundle.name)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m training.choose_eagerness",
        description="Choose the thresholds of quiet, balanced and eager, and write them into a bundle.",
    )
    parser.add_argument("bundle", type=Path, help="the bundle to play with and to write into")
    parser.add_argument("--mirrors", type=Path, required=True, help="folder with the clones of the corpus")
    parser.add_argument(
        "--corpus",
        type=Path,
        default=Path(__file__).parent / "corpora" / "default.toml",
        help="TOML file that names the repositories (default: training/corpora/default.toml)",
    )
    parser.add_argument(
        "--split",
        default="dev",
        choices=["train", "dev"],
        help="repositories to play (default: %(default)s)",
    )
    parser.add_argument(
        "--count",
        type=int,
        default=40,
        help="repetitive files to play, and as many ordinary ones (default: %(default)s)",
    )
    parser.add_argument(
        "--threshold",
        type=float,
        action="append",
        help="a threshold to try; repeatable (default: a fixed list)",
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=Path("runs/suite"),
        help="folder that keeps the results (default: %(default)s)",
    )
    parser.add_argument("--dry-run", action="store_true", help="print the curves and write nothing")
    parser.add_argument("--seed", type=int, default=0, help="of all random choices (default: %(default)s)")
    options = parser.parse_args(arguments)
    try:
        bundle = Bundle.load(options.bundle)
        repositories = read_corpus(options.corpus, options.mirrors, split=options.split)
    except (BundleError, ValueError) as error:
        print(f"choose_eagerness: {error}", file=sys.stderr)
        return 2
    files = read_commit_files(repositories, options.count, options.seed, options.cache)
    engine = EngineSuggest(Predictor(bundle, device="cpu"))
    results = KeptResults(folder_of(options.cache, bundle) / "commits.jsonl")
    thresholds = sorted(options.threshold or THRESHOLDS)
    typed = [file for file in files if can_be_typed(file)][::_TYPED_SHARE]
    kinds = {
        "repetitive": ([file for file in files if file.is_repetitive], False),
        "ordinary": ([file for file in files if not file.is_repetitive], False),
        "typed": (typed, True),
    }
    groups = []
    for kind, (of_kind, by_keys) in kinds.items():
        named = {f"{threshold:.2f}": threshold for threshold in thresholds}
        rows = play_all(of_kind, engine, named, results, by_keys=by_keys, title=kind)
        groups.append(Group({threshold: rows[name] for name, threshold in named.items()}, by_keys))
        print(f"\n{title_of(kind, rows)}\n\n{table(rows)}\n", flush=True)
    chosen = choose_thresholds(groups)
    for name, threshold in chosen.items():
        worst = max(group.wrong(threshold) for group in groups)
        note = "" if worst <= LIMITS[name] else ": NOT KEPT at any threshold that was tried"
        print(f"{name}: {threshold} ({worst:.2f} wrong offers per ten edits, limit {LIMITS[name]}{note})")
    on_edits = choose_thresholds(groups[:2])
    print("edit by edit alone would allow " + ", ".join(f"{name} {each}" for name, each in on_edits.items()))
    if not options.dry_run:
        write_thresholds(options.bundle, chosen)
        print(f"{options.bundle} has these thresholds.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
