"""Program: measure a training run or a bundle.

    python -m training.evaluate RUN_OR_BUNDLE --data synthetic:Flip11 [--split test] [--json]
    python -m training.evaluate BUNDLE --suite next-edit --mirrors DIR [--split dev] [--cache DIR] [--report FOLDER]
    python -m training.evaluate BUNDLE --suite commits | keys | renames | moments | words --mirrors DIR
    python -m training.evaluate BUNDLE --suite cases [--cases tests/cases]
    python -m training.evaluate BUNDLE --suite kinds [--threshold 0.6] [--fresh] [--kind NAME]

Accuracy of whole edits, of positions, of contents given the true position; the first of them by step; and accuracy at the
level of lexical tokens among the predictions that are the most confident (figure 3d of the paper).
"""

import argparse
import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from model.inference.bundle import Bundle, BundleError
from training.runs.evaluation import evaluate
from training.sources.corpus import read_corpus
from training.suite.written_cases import read_written_cases

_PARTS = ("commits", "keys", "renames", "moments", "words")  # of the next-edit suite
WRITTEN_CASES = Path(__file__).parent.parent / "tests" / "cases"


def _print_accuracy(values: dict[str, Any]) -> None:
    print(f"{values['model']} on {values['data']} ({values['split']}, {values['predictions']} predictions)")
    for name in ("edit_accuracy", "position_accuracy", "content_accuracy", "token_accuracy"):
        print(f"  {name.replace('_', ' '):18} {100 * values[name]:6.2f} %")
    print(
        "  by step            ", " ".join(f"{row['step']}:{row['accuracy']:.3f}" for row in values["by_step"])
    )
    pairs = (f"{row['percentile']}%:{row['accuracy']:.3f}" for row in values["by_confidence"])
    print("  by confidence      ", " ".join(pairs))


def _evaluate_suite(options: argparse.Namespace) -> int:
    from training.suite.suite import PARTS, Suite  # runs graphs

    if options.mirrors is None:
        raise ValueError(
            f"--suite {options.suite} needs --mirrors, a folder with the clones of the corpus: see training/corpora/README.md"
        )
    repositories = read_corpus(options.corpus, options.mirrors, split=options.split)
    suite = Suite(Bundle.load(options.source), repositories, options.cache, count=options.count or 40)
    parts = PARTS if options.suite == "next-edit" else {options.suite: PARTS[options.suite]}
    pieces = []
    for play in parts.values():
        pieces.append(play(suite) + "\n")
        print(pieces[-1], flush=True)
    if options.report is not None:
        options.report.mkdir(parents=True, exist_ok=True)
        title = "# How much is done with Tab, and how often is it wrong?\n"
        text = "\n".join([title, suite.describe() + "\n", *pieces])
        (options.report / "REPORT.md").write_text(text, encoding="utf-8")
    return 0


def _evaluate_written_cases(options: argparse.Namespace) -> int:
    from training.suite.measure_cases import measure_written_cases  # runs graphs

    bundle = Bundle.load(options.source)
    rows = measure_written_cases(bundle, read_written_cases(options.cases or WRITTEN_CASES))
    if options.json:
        print(json.dumps(rows, indent=1))
        return 0
    for row in rows:
        outcome = "right" if row["is_right"] else "wrong" if row["is_shown"] else "silent"
        print(f"{row['name']:24} {outcome:8} {row['confidence']:.2f}  {row['status']}")
    print(f"{sum(row['is_right'] for row in rows)} of {len(rows)} right")
    return 0


def _evaluate_kinds(options: argparse.Namespace) -> int:
    from training.suite.play_kinds import describe, play_kinds, summarize, table  # runs graphs

    bundle = Bundle.load(options.source)
    thresholds = (
        {"given": options.threshold} if options.threshold is not None else bundle.calibration.eagerness
    )
    for name, threshold in thresholds.items():
        rows = play_kinds(bundle, threshold, only=options.kind, fresh=options.fresh)
        if options.json:
            print(json.dumps([dataclasses.asdict(row) for row in rows], indent=1))
            continue
        print(f"\nthreshold {threshold} ({name})\n\n{table(rows)}\n\n{describe(summarize(rows))}", flush=True)
        for row in rows:
            for offer in row.played.wrong_offers:
                print(f"  wrong: {row.kind} ({row.hands}): {offer}")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m training.evaluate", description="Measure a run or a bundle."
    )
    parser.add_argument("source", type=Path, help="folder of a run or of a bundle")
    parser.add_argument("--data", help="synthetic:TASK, or the folder of a dataset")
    parser.add_argument(
        "--suite",
        choices=["next-edit", *_PARTS, "cases", "kinds"],
        help="play next-edit, one of its parts, the written cases or the kinds of session with a bundle",
    )
    parser.add_argument(
        "--cases", type=Path, help="of --suite cases: folder of the written cases (default: tests/cases)"
    )
    parser.add_argument(
        "--mirrors",
        type=Path,
        help="of --suite next-edit and its parts: folder with the clones of the corpus",
    )
    parser.add_argument(
        "--corpus",
        type=Path,
        default=Path(__file__).parent / "corpora" / "default.toml",
        help="TOML file that names the repositories (default: training/corpora/default.toml)",
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=Path("runs/suite"),
        help="folder that keeps the cases and results of the next-edit suite (default: %(default)s)",
    )
    parser.add_argument("--report", type=Path, help="write REPORT.md of the next-edit suite into this folder")
    parser.add_argument(
        "--threshold", type=float, help="of --suite kinds (default: each eagerness of the bundle)"
    )
    parser.add_argument("--kind", help="of --suite kinds: only those whose name contains this")
    parser.add_argument(
        "--fresh", action="store_true", help="of --suite kinds: in a text that was just pasted"
    )
    parser.add_argument("--split", default="test", help="train, dev or test (default: %(default)s)")
    parser.add_argument(
        "--count",
        type=int,
        help="of --data: the first instances only; of the next-edit suite: files of each kind (default: 40)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    try:
        if options.suite == "cases":
            return _evaluate_written_cases(options)
        if options.suite == "kinds":
            return _evaluate_kinds(options)
        if options.suite in ("next-edit", *_PARTS):
            return _evaluate_suite(options)
        if options.data is None:
            raise ValueError("--data or --suite must be given")
        values = evaluate(options.source, options.data, options.split, options.count)
    except (ValueError, BundleError) as error:
        print(f"training.evaluate: {error}", file=sys.stderr)
        return 2
    print(json.dumps(values, indent=1)) if options.json else _print_accuracy(values)
    return 0


if __name__ == "__main__":
    sys.exit(main())
