"""Accuracy: the share of right predictions of whole edits, positions, and contents given the true position."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from model.networks.incremental import Scores
from training.data.batches import AnyBatch, Batches, to_device

Counts = NDArray[np.int64]


def _no_counts() -> Counts:
    return np.zeros(0, dtype=np.int64)


@dataclass
class Accuracy:
    """Counts by step: index t is the prediction that follows t edits."""

    total: Counts = field(default_factory=_no_counts)
    edits: Counts = field(default_factory=_no_counts)
    positions: Counts = field(default_factory=_no_counts)
    contents: Counts = field(default_factory=_no_counts)

    def add(self, mask: NDArray[np.bool_], positions: NDArray[np.bool_], contents: NDArray[np.bool_]) -> None:
        """Count a batch: the predictions that count, and those that are right; all (B, T)."""
        self.total = _add_by_step(self.total, mask)
        self.positions = _add_by_step(self.positions, mask & positions)
        self.contents = _add_by_step(self.contents, mask & contents)
        self.edits = _add_by_step(self.edits, mask & positions & contents)

    @property
    def edit_accuracy(self) -> float:
        return float(self.edits.sum() / max(self.total.sum(), 1))

    def to_json(self) -> dict[str, Any]:
        total = max(int(self.total.sum()), 1)
        steps = np.flatnonzero(self.total)
        return {
            "edit_accuracy": self.edit_accuracy,
            "position_accuracy": float(self.positions.sum() / total),
            "content_accuracy": float(self.contents.sum() / total),
            "predictions": int(self.total.sum()),
            "by_step": [
                {
                    "step": int(step),
                    "accuracy": float(self.edits[step] / self.total[step]),
                    "predictions": int(count),
                }
                for step, count in zip(steps, self.total[steps], strict=True)
            ],
        }


def _add_by_step(counts: Counts, right: NDArray[np.bool_]) -> Counts:
    new = right.sum(axis=0)
    result = np.zeros(max(len(counts), len(new)), dtype=np.int64)
    result[: len(counts)] += counts
    result[: len(new)] += new
    return result


@torch.no_grad()
def measure_accuracy(network: nn.Module, batches: Batches, device: torch.device) -> Accuracy:
    """Accuracy on a whole split."""
    was_training = network.training
    network.eval()
    accuracy = Accuracy()
    for rows in batches.in_order():
        batch = to_device(batches.make(rows), device)
        add_scores(accuracy, network(batch), batch)
    network.train(was_training)
    return accuracy


def add_scores(accuracy: Accuracy, scores: Scores, batch: AnyBatch) -> None:
    positions = scores.position.argmax(dim=-1) == batch.positions
    contents = scores.content.argmax(dim=-1) == batch.contents
    accuracy.add(batch.loss_mask.cpu().numpy(), positions.cpu().numpy(), contents.cpu().numpy())
