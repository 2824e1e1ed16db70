"""The training loop: one run in its folder, which can be stopped and continued.

It ends when the budget of minutes or steps is spent; the learning rate falls to zero over that budget.
`training.runs.checkpoint` names the files of the folder. Several workers may share a run (`training.runs.workers`): each takes
a part of each batch, all have the same weights after each step, and the first one writes the folder.
"""

import json
import math
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from tqdm import tqdm

from model.networks.build import build
from training.data.batches import Batches, BatchSize, Rows, to_device
from training.data.examples import load_examples
from training.runs import checkpoint
from training.runs.accuracy import measure_accuracy
from training.runs.fit_config import FitConfig
from training.runs.loss import compute_loss
from training.runs.workers import Workers

GRADIENT_NORM = 1.0  # "we clip gradients at 1.0 by global gradients norm"
SECONDS_BETWEEN_CHECKPOINTS = 45.0  # a kill must not lose more than a minute


@dataclass
class Progress:
    """The progress of a run; a checkpoint holds it."""

    step: int = 0
    epoch: int = 0
    batch: int = 0  # of the epoch, the next one
    seconds: float = 0.0
    processor_seconds: float = 0.0
    edits: int = 0
    evaluations: int = 0
    best_accuracy: float = -1.0
    best_step: int = 0


class TrainingRun:
    """One training run in its folder."""

    def __init__(self, config: FitConfig, folder: Path, workers: Workers | None = None) -> None:
        self.config = config
        self.workers = workers or Workers()
        self.folder = folder
        self.device = torch.device(config.device)
        torch.manual_seed(config.seed)
        train = load_examples(config.data, "train")
        dev = load_examples(config.data, "dev", count=config.dev_count)
        self.examples = train
        self.model_config = config.model_config(train)
        size = BatchSize(config.batch, config.batch_tokens)
        shared = BatchSize(config.batch * self.workers.count, config.batch_tokens * self.workers.count)
        self.train = Batches(train, self.model_config, shared, config.crop)
        self.dev = Batches(dev, self.model_config, size)
        self.network = self._make_first_network().to(self.device)
        self.average: AveragedModel | None = None
        if config.average:
            decay = get_ema_multi_avg_fn(config.average)  # type: ignore[no-untyped-call]
            self.average = AveragedModel(self.network, multi_avg_fn=decay)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=config.lr, fused=True)
        self._trained = self.workers.share_gradients(self.network)
        self.progress = Progress()

    def resume(self) -> None:
        """Continue from the last checkpoint."""
        path = self.folder / checkpoint.LAST
        if not path.is_file():
            raise ValueError(f"{self.folder} has nothing to resume: no {checkpoint.LAST}")
        tensors, progress = checkpoint.load_tensors(path)
        checkpoint.unpack(tensors, self.network, self.optimizer, self.average)
        self.progress = Progress(**progress)
        if self.workers.is_first:
            _drop_later_metrics(self.folder / checkpoint.METRICS, self.progress.step)

    def fit(self) -> None:
        """Train until the budget is spent."""
        if self.workers.is_first:
            self.folder.mkdir(parents=True, exist_ok=True)
            checkpoint.write_json(self.folder / checkpoint.CONFIG, self.model_config.to_json())
            checkpoint.write_json(self.folder / checkpoint.FIT, asdict(self.config))
        progress, saved = self.progress, time.monotonic()
        begun = saved - progress.seconds
        processor_begun = time.process_time() - progress.processor_seconds
        bar = tqdm(
            total=100,
            initial=round(100 * self._share_spent()),
            unit="%",
            desc=self.config.model,
            mininterval=1.0,
            disable=not self.workers.is_first,
        )
        try:
            for rows in self._next_rows():
                if self._share_spent() >= 1.0:
                    break
                self._step(rows)
                now = time.monotonic()
                progress.seconds = self.workers.agree_on(now - begun)
                progress.processor_seconds = time.process_time() - processor_begun
                if self._share_spent() * self.config.evaluations >= progress.evaluations + 1:
                    self._evaluate()
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
        if not self.workers.is_first:
            return
        tensors = checkpoint.pack(self.network, self.optimizer, self.average)
        checkpoint.save_tensors(self.folder / checkpoint.LAST, tensors, asdict(self.progress))

    def _make_first_network(self) -> nn.Module:
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

    def _share_spent(self) -> float:
        """The share of the budget that is used up."""
        if self.config.steps is not None:
            return self.progress.step / self.config.steps
        assert self.config.minutes is not None
        return self.progress.seconds / (60 * self.config.minutes)

    def _next_rows(self) -> Iterator[Rows]:
        """Batches without end, from the run's progress on."""
        progress = self.progress
        while True:
            batches = self.train.epoch(seed=self.config.seed, number=progress.epoch)
            while progress.batch < len(batches):
                yield batches[progress.batch]
                progress.batch += 1
            progress.epoch, progress.batch = progress.epoch + 1, 0

    def _step(self, rows: Rows) -> None:
        batch = to_device(self.train.make(self.workers.take_part(rows)), self.device)
        edits = int(batch.loss_mask.sum())
        share, all_edits = self.workers.weigh(edits, len(rows))
        for group in self.optimizer.param_groups:
            group["lr"] = self._learning_rate()
        loss = share * compute_loss(self._trained(batch), batch, self.config.jump_weight)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.network.parameters(), GRADIENT_NORM)
        self.optimizer.step()
        if self.average is not None:
            self.average.update_parameters(self.network)
        self.progress.step += 1
        self.progress.edits += all_edits

    def _learning_rate(self) -> float:
        """Warm-up, then half a cosine down to zero at the end of the budget."""
        warm = min(1.0, (self.progress.step + 1) / self.config.warmup)
        return self.config.lr * warm * 0.5 * (1 + math.cos(math.pi * min(self._share_spent(), 1.0)))

    def _evaluate(self) -> None:
        progress = self.progress
        progress.evaluations = int(self._share_spent() * self.config.evaluations)
        if not self.workers.is_first:
            return
        network = self.network if self.average is None else self.average.module
        accuracy = measure_accuracy(network, self.dev, self.device)
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
        bar.n = round(100 * min(self._share_spent(), 1.0), 1)
        bar.set_postfix(
            step=self.progress.step,
            accuracy=f"{max(self.progress.best_accuracy, 0.0):.4f}",
            edits_per_second=f"{self.progress.edits / max(self.progress.seconds, 1e-3):.0f}",
            refresh=False,
        )
        bar.update(0)


def start_run(config: FitConfig, folder: Path, *, resume: bool) -> TrainingRun:
    """Start a run in an empty folder, or continue the one that is there."""
    if config.threads:
        torch.set_num_threads(config.threads)
    if not resume and (folder / checkpoint.LAST).is_file():
        raise ValueError(f"{folder} holds a run already: continue it with --resume, or choose another folder")
    run = TrainingRun(config, folder)
    if resume:
        run.resume()
    return run


def _drop_later_metrics(path: Path, step: int) -> None:
    """Drop the lines that were written after the checkpoint: they will be written once more."""
    if path.is_file():
        lines = [line for line in path.read_text().splitlines() if json.loads(line)["step"] <= step]
        path.write_text("".join(line + "\n" for line in lines))
