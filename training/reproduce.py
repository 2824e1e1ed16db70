"""Train the paper's tables, one row after another, and write them down beside the paper's numbers.

    python -m training.reproduce --minutes 10                     every row that has no result yet, the most telling first
    python -m training.reproduce --only IA-ag:Flip11 --minutes 5  some rows (MODEL:TASK, with * for all)
    python -m training.reproduce --scalability                    time against length, for E, IR and IA
    python -m training.reproduce --real DATASET --minutes 30      IA, IR and E on mined edits (training.mine --setting paper)
    python -m training.reproduce --report                         RESULTS.md and the plots alone

Stop it whenever you like: a finished row is a file in training/results, an unfinished one continues where it was.
"""

import argparse
import fnmatch
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from model.networks.build import build
from training.data.batches import Batches, BatchSize
from training.data.examples import load_examples
from training.evaluate import evaluate
from training.fit import FitConfig, Run, measured
from training.paper import report
from training.paper import tables as paper
from training.runs import checkpoint
from training.runs.measure import loss_of
from training.synthetic import NGRAM_NAMES

RESULTS = report.RESULTS
SCALABILITY_MODELS = ("E", "IR", "IA-ag")
# "batch size 64", and the time is that of 128 sequences.
_SCALABILITY_BATCH = 64
_SCALABILITY_SEQUENCES = 128
# All states of a batch of 64 do not fit into the memory of a small machine. The paper met the same and took smaller batches.
_SCALABILITY_PART = {"E": 8}
_REAL_WARMUP = 100
_REAL_DEV = 64  # instances, to choose the best step by


@dataclass(frozen=True)
class Row:
    """One number of the paper's tables."""

    model: str
    task: str

    @property
    def name(self) -> str:
        return f"{self.model}:{self.task}"

    @property
    def path(self) -> Path:
        return report.result_path(self.model, self.task)


# Rows that tell the most come first; the rest follow, model by model.
_FIRST = (
    *(
        Row("IA-ag", task)
        for task in ("ContextAppend11", "ContextAppend31", "ContextAppend13", "Append1", "Delete2")
    ),
    *(Row("IA-ag", task) for task in ("Replace2", "Surround11", "MetaContextAppend13")),
    *(Row(model, task) for task in ("Flip11", "MetaAppend1", "MetaFlip11") for model in ("IA-ag", "E", "IR")),
    *(Row(model, "ContextAppend11") for model in ("E", "IR")),
)
_ALL = {Row(model, task) for model, task in paper.ACCURACIES}


def queue(only: Sequence[str] = ()) -> list[Row]:
    """The rows in the order in which they are run; `only` are patterns of their names."""
    columns, tasks = paper.COLUMNS[::-1], paper.TASKS
    rest = [Row(model, task) for model in columns for task in tasks if Row(model, task) in _ALL - set(_FIRST)]
    rows = [*_FIRST, *rest]
    chosen = [row for row in rows if not only or any(fnmatch.fnmatch(row.name, pattern) for pattern in only)]
    if not chosen:
        raise ValueError(f"no row matches {', '.join(only)}; a row is MODEL:TASK, for example {rows[0].name}")
    return chosen


def train_row(row: Row, config: FitConfig, folder: Path) -> dict[str, Any]:
    """Train one row, or go on with it, and return its result."""
    run = _trained(config, folder)
    network, model_config = checkpoint.load_network(folder)
    test = measured(network, model_config, run, "test")
    dev = measured(network, model_config, run, "dev")
    return {
        "model": row.model,
        "task": row.task,
        "test_accuracy": round(100 * test["edit_accuracy"], 2),
        "dev_accuracy": round(100 * dev["edit_accuracy"], 2),
        "paper_accuracy": paper.ACCURACIES.get((row.model, row.task)),
        "minutes": round(run.progress.seconds / 60, 2),
        "processor_minutes": round(run.progress.processor_seconds / 60, 2),
        "threads": torch.get_num_threads(),
        "steps": run.progress.step,
        "best_step": run.progress.best_step,
        "parameters": sum(parameter.numel() for parameter in network.parameters()),
        "fit": asdict(config),
        "test": test,
        "dev": dev,
    }


def _trained(config: FitConfig, folder: Path) -> Run:
    """A run that has spent its budget, or goes on until it has."""
    run = Run(config, folder)
    if (folder / checkpoint.LAST).is_file():
        run.resume()
    run.fit()
    return run


def train_real(model: str, options: argparse.Namespace) -> dict[str, Any]:
    """Train one network on mined edits, or go on with it, and measure it on repositories that it has not seen."""
    config = FitConfig(
        model,
        str(options.real),
        minutes=options.minutes,
        steps=options.steps,
        # The paper too had to make E smaller: every state of an instance is in memory.
        hidden=options.hidden // 2 if model == "E" else options.hidden,
        batch=options.batch // 2 if model == "E" else options.batch,
        lr=options.lr,
        warmup=_REAL_WARMUP,
        seed=options.seed,
        threads=options.threads,
        dev_count=_REAL_DEV,
    )
    run = _trained(config, options.runs / f"{model}-real")
    network, _ = checkpoint.load_network(run.folder)
    progress, splits = run.progress, json.loads((options.real / "manifest.json").read_text())["splits"]
    test = evaluate(run.folder, str(options.real), "test")
    del test["data"]  # where it lies is nobody's business
    return {
        "model": model,
        "hidden": config.hidden,
        "edits_seen": progress.edits,
        "processor_minutes": round(progress.processor_seconds / 60, 2),
        "parameters": sum(parameter.numel() for parameter in network.parameters()),
        "splits": splits,
        "test": test,
    }


def measure_scalability(repetitions: int, hidden: int) -> dict[str, Any]:
    """Seconds of training for 128 sequences, for each model and length. Models take turns, so that what else the
    machine does falls on all of them alike; the quickest repetition counts."""
    result: dict[str, Any] = {
        "threads": torch.get_num_threads(),
        "hidden": hidden,
        "batch": _SCALABILITY_BATCH,
    }
    result["seconds"] = {}
    for task in NGRAM_NAMES:
        steps = {model: _training_step(model, task, hidden) for model in SCALABILITY_MODELS}
        times: dict[str, list[float]] = {model: [] for model in SCALABILITY_MODELS}
        for _ in range(repetitions):
            for model, step in steps.items():
                begun = time.process_time()
                for _ in range(_SCALABILITY_SEQUENCES // _SCALABILITY_BATCH):
                    step()
                times[model].append(time.process_time() - begun)
                print(f"{task:10} {model:6} {times[model][-1]:8.2f} s", file=sys.stderr)
        result["seconds"][task] = {model: min(values) for model, values in times.items()}
    return result


def _training_step(model: str, task: str, hidden: int) -> Any:
    examples = load_examples(f"synthetic:{task}", "train", count=_SCALABILITY_BATCH)
    config = FitConfig(model, f"synthetic:{task}", steps=1, hidden=hidden).model_config(examples)
    network = build(config)
    optimizer = torch.optim.Adam(network.parameters(), fused=True)
    batches = Batches(examples, config, BatchSize(_SCALABILITY_BATCH, 1 << 40))
    rows = batches.epoch(seed=0, number=0)[0]
    part = _SCALABILITY_PART.get(model, _SCALABILITY_BATCH)

    def step() -> None:
        optimizer.zero_grad()
        for start in range(0, len(rows), part):
            batch = batches.make(rows[start : start + part])
            loss_of(network(batch), batch).backward()  # type: ignore[no-untyped-call]
        optimizer.step()

    return step


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
    RESULTS.mkdir(exist_ok=True)
    if options.scalability:
        values = measure_scalability(options.repetitions, options.hidden)
        checkpoint.write_json(report.SCALABILITY, values)
    elif not options.report:
        try:
            if options.real is None:
                _run_queue(queue(options.only), options)
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
    if options.minutes is None and options.steps is None:
        options.minutes = 30.0
    for model in paper.REAL:
        path = report.result_path(model, report.REAL)
        if options.again or not path.is_file():
            print(f"== {model} on {options.real}", file=sys.stderr)
            checkpoint.write_json(path, train_real(model, options))
            report.write()


def _run_queue(rows: Sequence[Row], options: argparse.Namespace) -> None:
    minutes = 10.0 if options.minutes is None and options.steps is None else options.minutes
    for row in rows:
        if row.path.is_file() and not options.again:
            continue
        config = FitConfig(
            row.model,
            f"synthetic:{row.task}",
            minutes=minutes,
            steps=options.steps,
            hidden=options.hidden,
            lr=options.lr,
            batch=options.batch,
            seed=options.seed,
            average=options.average,
            threads=options.threads,
        )
        print(f"== {row.name}", file=sys.stderr)
        result = train_row(row, config, options.runs / row.name.replace(":", "-") / _fingerprint(config))
        _keep_better(row.path, result)
        report.write()
        print(
            json.dumps({name: result[name] for name in ("model", "task", "test_accuracy", "paper_accuracy")})
        )


def _fingerprint(config: FitConfig) -> str:
    """A folder for each configuration, so that another one does not continue this one's run."""
    budget = f"{config.minutes:g}m" if config.minutes is not None else f"{config.steps}s"
    return f"{budget}-h{config.hidden}-b{config.batch}-lr{config.lr:g}-a{config.average:g}-{config.seed}"


def _keep_better(path: Path, result: dict[str, Any]) -> None:
    """As in the paper, the setting with the best accuracy on the dev split is the one that is reported."""
    if path.is_file() and json.loads(path.read_text())["dev_accuracy"] >= result["dev_accuracy"]:
        return
    checkpoint.write_json(path, result)


if __name__ == "__main__":
    sys.exit(main())
