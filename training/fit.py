"""Train a network.

    python -m training.fit --model IA-ag --data synthetic:ContextAppend11 --out RUN --minutes 10
    python -m training.fit --model IA-next --data DATASET --out RUN --minutes 600 --resume

Stops when the budget of minutes or steps is spent; the learning rate falls to zero over that budget. What is written to
the folder of the run: see training.runs.checkpoint. A run that was stopped, even killed, continues with --resume.
"""

import argparse
import contextlib
import json
import math
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from tqdm import tqdm

from model.config import MODELS, ModelConfig
from model.inference.bundle import DEFAULT, BundleError
from model.networks.build import build
from model.networks.incremental import IncrementalNetwork
from training.data.batches import Batches, BatchSize, Rows, to_device
from training.data.examples import Examples, load_examples
from training.personal import tune as personal
from training.runs import checkpoint
from training.runs.measure import loss_of, measure
from training.synthetic import STRING_LENGTH

GRADIENT_NORM = 1.0  # "we clip gradients at 1.0 by global gradients norm"
SECONDS_BETWEEN_CHECKPOINTS = 45.0  # a kill must not lose more than a minute
_TUNING_MINUTES = 10.0  # of a bundle, when nothing is said
_MEASURED = 1_000  # instances at the end, as many as a synthetic split has; their order on disk is random
EVALUATIONS = 25  # of the dev split, evenly over the budget
_SYNTHETIC_TOKENS = STRING_LENGTH + 2  # with start and end


@dataclass(frozen=True)
class FitConfig:
    """What a run was asked for."""

    model: str
    data: str
    minutes: float | None = None
    steps: int | None = None
    hidden: int = 128
    lr: float = 2e-3
    warmup: int = 100  # steps until the learning rate is reached
    batch: int = 64
    batch_tokens: int = 32_768  # bounds memory, not the synthetic tasks
    seed: int = 0
    average: float = 0.0  # decay of a running average of the weights, which is then what is kept; 0 is none
    jump_weight: float = 1.0  # of the position of an edit that begins a hunk: the hard and the useful ones
    crop: int = 0  # tokens to which states are cut down at least, at random; 0: they are not
    dev_count: int = 1_000  # instances of the dev split that are looked at
    threads: int = 0  # 0: as torch likes
    device: str = "cpu"
    init: str | None = None  # a run or a bundle to take the first weights from
    model_options: dict[str, int] = field(default_factory=dict)  # further fields of the ModelConfig

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise ValueError(f"unknown model {self.model!r}; the known ones are {', '.join(MODELS)}")
        if (self.minutes is None) == (self.steps is None):
            raise ValueError("give the budget either in minutes or in steps")

    def model_config(self, examples: Examples) -> ModelConfig:
        options = dict(self.model_options)
        if examples.is_synthetic and self.model == "IR":
            options.setdefault("limit_tokens", _SYNTHETIC_TOKENS)  # its table of positions need not be larger
        elif not examples.is_synthetic:
            options.setdefault("limit_tokens", max(1024, int(examples.state_lengths().max())))
            options.setdefault("limit_edits", max(128, int(examples.edit_lengths().max())))
        return ModelConfig(self.model, examples.vocabulary_size, self.hidden, **options)


@dataclass
class Progress:
    """Where a run is."""

    step: int = 0
    epoch: int = 0
    batch: int = 0  # of the epoch, the next one
    seconds: float = 0.0
    processor_seconds: float = 0.0
    edits: int = 0
    evaluations: int = 0
    best_accuracy: float = -1.0
    best_step: int = 0


class Run:
    """One training run in its folder."""

    def __init__(self, config: FitConfig, folder: Path) -> None:
        self.config = config
        self.folder = folder
        self.device = torch.device(config.device)
        torch.manual_seed(config.seed)
        train = load_examples(config.data, "train")
        dev = load_examples(config.data, "dev", count=config.dev_count)
        self.examples = train
        self.model_config = config.model_config(train)
        size = BatchSize(config.batch, config.batch_tokens)
        self.train = Batches(train, self.model_config, size, config.crop)
        self.dev = Batches(dev, self.model_config, size)
        self.network = self._first_network().to(self.device)
        self.average = (
            AveragedModel(self.network, multi_avg_fn=get_ema_multi_avg_fn(config.average))  # type: ignore[no-untyped-call]
            if config.average
            else None
        )
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=config.lr, fused=True)
        self.progress = Progress()

    def resume(self) -> None:
        """Continue from the last checkpoint."""
        path = self.folder / checkpoint.LAST
        if not path.is_file():
            raise ValueError(f"{self.folder} has nothing to resume: no {checkpoint.LAST}")
        tensors, progress = checkpoint.load_tensors(path)
        checkpoint.unpack(tensors, self.network, self.optimizer, self.average)
        self.progress = Progress(**progress)
        _keep_metrics(self.folder / checkpoint.METRICS, self.progress.step)

    def fit(self) -> None:
        """Train until the budget is spent."""
        self.folder.mkdir(parents=True, exist_ok=True)
        checkpoint.write_json(self.folder / checkpoint.CONFIG, self.model_config.to_json())
        checkpoint.write_json(self.folder / checkpoint.FIT, asdict(self.config))
        progress, saved = self.progress, time.monotonic()
        begun = saved - progress.seconds
        processor_begun = time.process_time() - progress.processor_seconds
        bar = tqdm(
            total=100, initial=round(100 * self._spent()), unit="%", desc=self.config.model, mininterval=1.0
        )
        try:
            for rows in self._stream():
                if self._spent() >= 1.0:
                    break
                self._step(rows)
                now = time.monotonic()
                progress.seconds = now - begun
                progress.processor_seconds = time.process_time() - processor_begun
                if self._spent() * EVALUATIONS >= progress.evaluations + 1:
                    self._evaluate()
                    progress.seconds = time.monotonic() - begun
                if now - saved > SECONDS_BETWEEN_CHECKPOINTS:
                    self.save()
                    saved = now
                self._show(bar)
        except KeyboardInterrupt:
            bar.close()
            print(f"stopped at step {progress.step}; continue with --resume", file=sys.stderr)
            self.save()
            raise
        bar.close()
        self.save()

    def save(self) -> None:
        tensors = checkpoint.pack(self.network, self.optimizer, self.average)
        checkpoint.save_tensors(self.folder / checkpoint.LAST, tensors, asdict(self.progress))

    def _first_network(self) -> nn.Module:
        if self.config.init is None:
            return build(self.model_config)
        network, config = checkpoint.load_network(Path(self.config.init))
        if (
            config.model != self.model_config.model
            or config.vocabulary_size != self.model_config.vocabulary_size
        ):
            raise ValueError(
                f"{self.config.init} is not a {self.config.model} of the vocabulary of {self.config.data}"
            )
        self.model_config = config
        return network

    def _spent(self) -> float:
        """The part of the budget that is used up."""
        if self.config.steps is not None:
            return self.progress.step / self.config.steps
        assert self.config.minutes is not None
        return self.progress.seconds / (60 * self.config.minutes)

    def _stream(self) -> Iterator[Rows]:
        """Batches without end, from where the run is."""
        progress = self.progress
        while True:
            batches = self.train.epoch(seed=self.config.seed, number=progress.epoch)
            while progress.batch < len(batches):
                yield batches[progress.batch]
                progress.batch += 1
            progress.epoch, progress.batch = progress.epoch + 1, 0

    def _step(self, rows: Rows) -> None:
        batch = to_device(self.train.make(rows), self.device)
        for group in self.optimizer.param_groups:
            group["lr"] = self._learning_rate()
        loss = loss_of(self.network(batch), batch, self.config.jump_weight)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.network.parameters(), GRADIENT_NORM)
        self.optimizer.step()
        if self.average is not None:
            self.average.update_parameters(self.network)
        self.progress.step += 1
        self.progress.edits += int(batch.loss_mask.sum())

    def _learning_rate(self) -> float:
        """Warm-up, then half a cosine down to zero at the end of the budget."""
        warm = min(1.0, (self.progress.step + 1) / self.config.warmup)
        return self.config.lr * warm * 0.5 * (1 + math.cos(math.pi * min(self._spent(), 1.0)))

    def _evaluate(self) -> None:
        progress = self.progress
        progress.evaluations = int(self._spent() * EVALUATIONS)
        network = self.network if self.average is None else self.average.module
        accuracy = measure(network, self.dev, self.device)
        values = accuracy.to_json()
        del values["by_step"]
        row = {
            "step": progress.step,
            "epoch": progress.epoch,
            "seconds": round(progress.seconds, 1),
            **values,
        }
        with (self.folder / checkpoint.METRICS).open("a") as file:
            file.write(json.dumps(row) + "\n")
        if accuracy.edit_accuracy > progress.best_accuracy:
            progress.best_accuracy, progress.best_step = accuracy.edit_accuracy, progress.step
            best = {"step": progress.step, "edit_accuracy": accuracy.edit_accuracy}
            checkpoint.save_tensors(self.folder / checkpoint.BEST, network.state_dict(), best)

    def _show(self, bar: "tqdm[Any]") -> None:
        bar.n = round(100 * min(self._spent(), 1.0), 1)
        bar.set_postfix(
            step=self.progress.step,
            accuracy=f"{max(self.progress.best_accuracy, 0.0):.4f}",
            edits_per_second=f"{self.progress.edits / max(self.progress.seconds, 1e-3):.0f}",
            refresh=False,
        )
        bar.update(0)


def finish(run: Run) -> dict[str, Any]:
    """Measure the best network on the test split, write the report and, for IA, the bundle."""
    network, config = checkpoint.load_network(run.folder)
    report: dict[str, Any] = {
        "fit": asdict(run.config),
        "progress": asdict(run.progress),
        "parameters": sum(parameter.numel() for parameter in network.parameters()),
    }
    with contextlib.suppress(ValueError):  # a dataset need not have a test split
        report["test"] = measured(network, config, run, "test")
    checkpoint.write_json(run.folder / "report.json", report)
    if isinstance(network, IncrementalNetwork):
        from training.export import export  # onnx is slow to import and only this needs it

        network.cpu()
        export(
            network,
            config,
            run.examples.tokenizer(),
            run.folder / checkpoint.BUNDLE,
            name=run.folder.name,
        )
    return report


def measured(network: nn.Module, config: ModelConfig, run: Run, split: str) -> dict[str, Any]:
    """The accuracy of a network on a split of a run's data: all of a synthetic one, of a large one its beginning."""
    size = BatchSize(run.config.batch, run.config.batch_tokens)
    batches = Batches(load_examples(run.config.data, split, count=_MEASURED), config, size)
    return measure(network.to(run.device), batches, run.device).to_json()


def _keep_metrics(path: Path, step: int) -> None:
    """Drop the lines that were written after the checkpoint: they will be written again."""
    if path.is_file():
        lines = [line for line in path.read_text().splitlines() if json.loads(line)["step"] <= step]
        path.write_text("".join(line + "\n" for line in lines))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
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
    data, minutes = personal.find_own()
    options.data, options.minutes, options.init = str(data), minutes, str(DEFAULT)
    options.out, options.keep_previous = data.with_name("own-run"), True
    shutil.rmtree(options.out, ignore_errors=True)
    for name, value in personal.defaults_for(DEFAULT).items():
        setattr(options, name, value)


def _tune_gently(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """A bundle to begin with says what it is, and wants smaller steps than a network at its beginning."""
    for name, value in personal.defaults_for(Path(options.init)).items():
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


def main(arguments: Sequence[str] | None = None) -> int:
    try:
        options = _options(arguments)
        if options.restore is not None:
            personal.restore(options.restore)
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
        run = Run(config, options.out)
        if options.resume:
            run.resume()
    except ValueError as error:
        print(f"training.fit: {error}", file=sys.stderr)
        return 2
    try:
        run.fit()
    except KeyboardInterrupt:
        return 130
    report = finish(run)
    test = report.get("test", {})
    print(json.dumps({name: value for name, value in test.items() if name != "by_step"}))
    init = Path(options.init) if options.init else None
    if init is not None and (init / "manifest.json").is_file():
        personal.replace_if_better(init, run.folder, run.dev, run.device, keep_previous=options.keep_previous)
    return 0


if __name__ == "__main__":
    sys.exit(main())
