"""Program: train a network.

    python -m training.fit --model IA-ag --data synthetic:ContextAppend11 --out RUN --minutes 10
    python -m training.fit --model IA-next --data DATASET --out RUN --minutes 600 --resume

A run that was stopped, even killed, continues with --resume. With --workers N, N processes share it on Ray, each with
batches of --batch; without Ray: torchrun --nproc-per-node N -m training.fit ... For one person:

    python -m training.fit                                 looks for recordings and VS Code's local history
    python -m training.fit --init BUNDLE --data DATASET    fine-tunes on any dataset
    python -m training.fit --restore BUNDLE                goes back to the bundle before
"""

import argparse
import json
import shutil
import signal
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import torch

from model.config import MODELS
from model.inference.bundle import DEFAULT, BundleError
from training.personal import tune
from training.personal.gate import replace_if_better
from training.personal.restore import restore_bundle
from training.runs import checkpoint
from training.runs.finish import finish_run
from training.runs.fit_config import FitConfig
from training.runs.training_run import TrainingRun
from training.runs.workers import join_group

_TUNING_MINUTES = 10.0  # of a bundle, unless told


def _read_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training.fit", description="train a network")
    parser.add_argument("--model", help=", ".join(MODELS))
    parser.add_argument("--data", help="synthetic:TASK, or the folder of a dataset")
    parser.add_argument("--out", type=Path, help="folder of the run")
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--steps", type=int)
    defaults = {field.name: field.default for field in fields(FitConfig)}
    for name in ("hidden", "warmup", "batch", "batch_tokens", "seed", "crop", "dev_count", "threads"):
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=defaults[name])
    for name in ("lr", "average", "jump_weight"):
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, default=defaults[name])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--workers", type=int, default=1, help="processes that share the run, on Ray")
    parser.add_argument("--init", help="a run or a bundle whose weights to begin with")
    parser.add_argument(
        "--set", action="append", default=[], metavar="FIELD=NUMBER", help="field of the ModelConfig"
    )
    parser.add_argument("--resume", action="store_true", help="continue the run in --out")
    parser.add_argument(
        "--keep-previous",
        action="store_true",
        help="keep the bundle of --init that is replaced, for --restore",
    )
    parser.add_argument(
        "--restore", type=Path, metavar="BUNDLE", help="go back to the bundle before, and end"
    )
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = parser.parse_args(given)
    if not given:
        _choose_own(options)
    elif options.init and (Path(options.init) / "manifest.json").is_file():
        _tune_gently(parser, options)
    return options


def _choose_own(options: argparse.Namespace) -> None:
    """No options at all: the shipped bundle, on what the user's own editors kept."""
    data, minutes = tune.prepare_own_history()
    options.data, options.minutes, options.init = str(data), minutes, str(DEFAULT)
    options.out, options.keep_previous = data.with_name("own-run"), True
    shutil.rmtree(options.out, ignore_errors=True)
    for name, value in tune.defaults_for(DEFAULT).items():
        setattr(options, name, value)


def _tune_gently(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """A bundle to begin with says what it is, and wants smaller steps than a network at its beginning."""
    for name, value in tune.defaults_for(Path(options.init)).items():
        if getattr(options, name) == parser.get_default(name):
            setattr(options, name, value)
    if options.minutes is None and options.steps is None:
        options.minutes = _TUNING_MINUTES
    if options.out is None:
        options.out = Path("runs") / "tuned"


def config_from_options(options: argparse.Namespace) -> FitConfig:
    names = {field.name for field in fields(FitConfig)}
    values = {name: value for name, value in vars(options).items() if name in names}
    pairs = [text.partition("=") for text in options.set]
    return FitConfig(**values, model_options={name: int(number) for name, _, number in pairs})


def _fit(run: TrainingRun, workers: int) -> None:
    """Train until the budget is spent, in this process or on several workers."""
    if workers == 1:
        run.fit()
        return
    try:
        from training.runs.ray_workers import fit_on_ray  # an extra, and slow to import
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "--workers needs Ray: install likewise[ray-train], or use torchrun"
        ) from None
    fit_on_ray(run.config, run.folder, workers)
    run.resume()  # what the workers left


def main(arguments: Sequence[str] | None = None) -> int:
    try:
        options = _read_options(arguments)
        if options.restore is not None:
            restore_bundle(options.restore)
            return 0
        missing = [f"--{name}" for name in ("model", "data", "out") if getattr(options, name) is None]
        if missing:
            raise ValueError(f"{', '.join(missing)} must be given")
    except (ValueError, BundleError) as error:
        print(f"training.fit: {error}", file=sys.stderr)
        return 2
    # A polite kill is like Ctrl-C: the checkpoint is written first.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        config = config_from_options(options)
        if config.threads:
            torch.set_num_threads(config.threads)
        if not options.resume and (options.out / checkpoint.LAST).is_file():
            raise ValueError(
                f"{options.out} holds a run already: continue it with --resume, or choose another folder"
            )
        join_group()
        run = TrainingRun(config, options.out)
        if options.resume:
            run.resume()
    except ValueError as error:
        print(f"training.fit: {error}", file=sys.stderr)
        return 2
    try:
        _fit(run, options.workers)
    except KeyboardInterrupt:
        return 130
    except ModuleNotFoundError as error:
        print(f"training.fit: {error}", file=sys.stderr)
        return 2
    if not run.workers.is_first:
        return 0
    report = finish_run(run)
    test = report.get("test", {})
    print(json.dumps({name: value for name, value in test.items() if name != "by_step"}))
    init = Path(options.init) if options.init else None
    if init is not None and (init / "manifest.json").is_file():
        replace_if_better(init, run.folder, run.dev, run.device, keep_previous=options.keep_previous)
    return 0


if __name__ == "__main__":
    sys.exit(main())
