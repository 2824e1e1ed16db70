"""Program: train the paper's tables, one row after another, and write them down beside the paper's numbers.

    python -m training.reproduce --minutes 10                     every row that has no result yet, the most telling first
    python -m training.reproduce --only IA-ag:Flip11 --minutes 5  some rows (MODEL:TASK, with * for all)
    python -m training.reproduce --scalability                    time against length, for E, IR and IA
    python -m training.reproduce --real DATASET --minutes 30      IA, IR and E on mined edits (training.mine --setting paper)
    python -m training.reproduce --report                         RESULTS.md and the plots alone

Stop it whenever you like: a finished row is a file in training/results, an unfinished one continues where it was.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

from training.data.examples import SYNTHETIC
from training.paper import report
from training.paper import tables as paper
from training.paper.rows import Row, keep_better, order_rows, run_folder, train_real, train_row
from training.paper.scalability import measure_scalability
from training.runs import checkpoint
from training.runs.fit_config import FitConfig


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m training.reproduce", description="the paper's tables")
    parser.add_argument("--minutes", type=float, help="of each row (10 unless told)")
    parser.add_argument("--steps", type=int, help="of each row, instead of minutes")
    parser.add_argument(
        "--only", action="append", default=[], metavar="MODEL:TASK", help="rows to run; * for all"
    )
    parser.add_argument(
        "--again", action="store_true", help="also rows that have a result; the better one is kept"
    )
    parser.add_argument(
        "--runs", type=Path, default=Path("runs/reproduce"), help="where unfinished rows live"
    )
    for name in ("hidden", "batch", "seed", "threads"):
        parser.add_argument(f"--{name}", type=int, default=getattr(FitConfig, name))
    for name in ("lr", "average"):
        parser.add_argument(f"--{name}", type=float, default=getattr(FitConfig, name))
    parser.add_argument(
        "--scalability", action="store_true", help="measure time against length, and nothing else"
    )
    parser.add_argument("--real", type=Path, metavar="DATASET", help="the paper's networks on mined edits")
    parser.add_argument("--repetitions", type=int, default=3, help="of the scalability measurement")
    parser.add_argument("--report", action="store_true", help="only write RESULTS.md and the plots")
    options = parser.parse_args(arguments)
    if options.threads:
        torch.set_num_threads(options.threads)
    report.RESULTS.mkdir(exist_ok=True)
    if options.scalability:
        values = measure_scalability(options.repetitions, options.hidden)
        checkpoint.write_json(report.SCALABILITY, values)
    elif not options.report:
        try:
            if options.real is None:
                _run_rows(order_rows(options.only), options)
            else:
                _run_real(options)
        except ValueError as error:
            print(f"training.reproduce: {error}", file=sys.stderr)
            return 2
        except KeyboardInterrupt:
            return 130
    report.write()
    return 0


def _run_real(options: argparse.Namespace) -> None:
    for model in paper.REAL:
        path = report.result_path(model, report.REAL)
        if options.again or not path.is_file():
            print(f"== {model} on {options.real}", file=sys.stderr)
            config = _config(model, str(options.real), options, minutes=30.0)
            checkpoint.write_json(path, train_real(config, options.runs))
            report.write()


def _run_rows(rows: Sequence[Row], options: argparse.Namespace) -> None:
    for row in rows:
        if row.path.is_file() and not options.again:
            continue
        print(f"== {row.name}", file=sys.stderr)
        config = _config(row.model, f"synthetic:{row.task}", options, minutes=10.0)
        result = train_row(row, config, run_folder(options.runs, row, config))
        keep_better(row.path, result)
        report.write()
        print(
            json.dumps({name: result[name] for name in ("model", "task", "test_accuracy", "paper_accuracy")})
        )


def _config(model: str, data: str, options: argparse.Namespace, *, minutes: float) -> FitConfig:
    """The options of one run; `minutes` is its budget unless another one was given."""
    return FitConfig(
        model,
        data,
        minutes=minutes if options.minutes is None and options.steps is None else options.minutes,
        steps=options.steps,
        hidden=options.hidden,
        lr=options.lr,
        batch=options.batch,
        seed=options.seed,
        average=options.average if data.startswith(SYNTHETIC) else 0.0,
        threads=options.threads,
    )


if __name__ == "__main__":
    sys.exit(main())
