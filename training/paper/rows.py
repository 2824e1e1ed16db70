"""The rows of the paper's tables: which to train first, how to train one, which result to keep."""

import fnmatch
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from training.data.dataset import Dataset
from training.paper import report
from training.paper import tables as paper
from training.runs import checkpoint
from training.runs.evaluation import evaluate
from training.runs.finish import measure_split
from training.runs.fit_config import FitConfig
from training.runs.training_run import TrainingRun

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


def order_rows(only: Sequence[str] = ()) -> list[Row]:
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
    run = _train(config, folder)
    network, model_config = checkpoint.load_network(folder)
    test = measure_split(network, model_config, run, "test")
    dev = measure_split(network, model_config, run, "dev")
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


def _train(config: FitConfig, folder: Path) -> TrainingRun:
    """Train until the budget is spent, from the last checkpoint if there is one."""
    run = TrainingRun(config, folder)
    if (folder / checkpoint.LAST).is_file():
        run.resume()
    run.fit()
    return run


def train_real(config: FitConfig, runs: Path) -> dict[str, Any]:
    """Train one network on mined edits, or go on with it, and measure it on repositories that it has not seen."""
    config = replace(config, warmup=_REAL_WARMUP, dev_count=_REAL_DEV)
    if config.model == "E":  # the paper too had to make E smaller: every state of an instance is in memory
        config = replace(config, hidden=config.hidden // 2, batch=config.batch // 2)
    run = _train(config, runs / f"{config.model}-real")
    network, _ = checkpoint.load_network(run.folder)
    progress, splits = run.progress, Dataset.load(config.data).manifest["splits"]
    test = evaluate(run.folder, config.data, "test")
    del test["data"]  # the folder's path says nothing about the result
    return {
        "model": config.model,
        "hidden": config.hidden,
        "edits_seen": progress.edits,
        "processor_minutes": round(progress.processor_seconds / 60, 2),
        "parameters": sum(parameter.numel() for parameter in network.parameters()),
        "splits": splits,
        "test": test,
    }


def run_folder(runs: Path, row: Row, config: FitConfig) -> Path:
    """A folder for each row and configuration, so that another configuration does not continue this one's run."""
    budget = f"{config.minutes:g}m" if config.minutes is not None else f"{config.steps}s"
    name = f"{budget}-h{config.hidden}-b{config.batch}-lr{config.lr:g}-a{config.average:g}-{config.seed}"
    return runs / row.name.replace(":", "-") / name


def keep_better(path: Path, result: dict[str, Any]) -> None:
    """Write the result unless the one on disk is better on the dev split: the paper chooses its settings alike."""
    if path.is_file() and json.loads(path.read_text())["dev_accuracy"] >= result["dev_accuracy"]:
        return
    checkpoint.write_json(path, result)
