"""Time of training against the length of the edits, for E, IR and IA (the paper's n-gram task)."""

import sys
import time
from collections.abc import Callable
from typing import Any

import torch

from model.networks.build import build
from training.data.batches import Batches, BatchSize
from training.data.examples import load_examples
from training.paper.tasks import NGRAM_NAMES
from training.runs.fit_config import FitConfig
from training.runs.loss import compute_loss

_MODELS = ("E", "IR", "IA-ag")
# "batch size 64", and the time is that of 128 sequences.
_BATCH = 64
_SEQUENCES = 128
# All states of a batch of 64 do not fit into the memory of a small machine. The paper met the same and took smaller batches.
_PART = {"E": 8}


def measure_scalability(repetitions: int, hidden: int) -> dict[str, Any]:
    """Measure the seconds of training for 128 sequences, for each model and length.

    Models take turns, so that other work of the machine slows all of them alike; the quickest repetition counts.
    """
    result: dict[str, Any] = {
        "threads": torch.get_num_threads(),
        "hidden": hidden,
        "batch": _BATCH,
    }
    result["seconds"] = {}
    for task in NGRAM_NAMES:
        steps = {model: _make_training_step(model, task, hidden) for model in _MODELS}
        times: dict[str, list[float]] = {model: [] for model in _MODELS}
        for _ in range(repetitions):
            for model, step in steps.items():
                begun = time.process_time()
                for _ in range(_SEQUENCES // _BATCH):
                    step()
                times[model].append(time.process_time() - begun)
                print(f"{task:10} {model:6} {times[model][-1]:8.2f} s", file=sys.stderr)
        result["seconds"][task] = {model: min(values) for model, values in times.items()}
    return result


def _make_training_step(model: str, task: str, hidden: int) -> Callable[[], None]:
    examples = load_examples(f"synthetic:{task}", "train", count=_BATCH)
    config = FitConfig(model, f"synthetic:{task}", steps=1, hidden=hidden).model_config(examples)
    network = build(config)
    optimizer = torch.optim.Adam(network.parameters(), fused=True)
    batches = Batches(examples, config, BatchSize(_BATCH, 1 << 40))
    rows = batches.epoch(seed=0, number=0)[0]
    part = _PART.get(model, _BATCH)

    def step() -> None:
        optimizer.zero_grad()
        for start in range(0, len(rows), part):
            batch = batches.make(rows[start : start + part])
            compute_loss(network(batch), batch).backward()  # type: ignore[no-untyped-call]
        optimizer.step()

    return step
