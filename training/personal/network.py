"""Tuning the network of a bundle on a user's own changes. The only file of this package that imports torch."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import torch

from model.inference.bundle import Bundle, seal
from model.proposals import judge
from training.data.line_cache import CachingTokenizer
from training.personal.changes import OwnChange
from training.personal.own_dataset import write_own_dataset
from training.runs import checkpoint
from training.runs.accuracy import measure_accuracy
from training.runs.finish import finish_run
from training.runs.fit_config import FitConfig
from training.runs.training_run import TrainingRun

# On one core of a laptop. The budget is steps, not time: a busy machine takes longer and learns as much.
STEPS_PER_MINUTE = 50


def tune_network(
    base: Path,
    learn: Sequence[OwnChange],
    check: Sequence[OwnChange],
    work: Path,
    *,
    minutes: float,
    threads: int,
    seed: int,
) -> Path | None:
    """Train the network of a bundle further; return the new bundle, or None when it did not get better."""
    torch.set_num_threads(threads)
    bundle = Bundle.load(base)
    data, folder = work / "data", work / "run"
    if not (data / "manifest.json").is_file():
        write_own_dataset(
            {"train": learn, "dev": check}, CachingTokenizer(bundle.require_tokenizer().json), data, seed
        )
    run = TrainingRun(gentle_config(base, data, minutes=minutes, threads=threads, seed=seed), folder)
    if (folder / checkpoint.LAST).is_file():
        run.resume()
    run.fit()
    if (
        run.progress.best_accuracy
        <= measure_accuracy(checkpoint.load_network(base)[0], run.dev, run.device).edit_accuracy
    ):
        return None
    finish_run(run)
    tuned = folder / checkpoint.BUNDLE
    adopt_judge(base, tuned)
    return tuned


def gentle_config(base: Path, data: Path, *, minutes: float, threads: int, seed: int) -> FitConfig:
    """The options of a tuning: smaller steps than those of a new network."""
    config = Bundle.load(base).config
    return FitConfig(
        model=config.model,
        data=str(data),
        steps=max(1, round(minutes * STEPS_PER_MINUTE)),
        hidden=config.hidden_size,
        lr=2e-4,
        warmup=50,
        batch=12,
        average=0.99,
        # More would take most of the minutes.
        dev_count=150,
        evaluations=6,
        threads=threads,
        seed=seed,
        init=str(base),
    )


def adopt_judge(base: Path, tuned: Path) -> None:
    """Give a tuned bundle the judge and the thresholds of the one that it began with."""
    name = Bundle.load(tuned).name
    for file in (judge.FILE, "calibration.json"):
        if (base / file).is_file():
            shutil.copy(base / file, tuned / file)
    seal(tuned, name)
