"""How often predictions are right: whole edits, positions, and contents given the true position."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.functional import cross_entropy

from model.features.slot_positions import STOP_DISTANCE
from model.networks.incremental import Scores, TorchBatch
from training.data.batches import AnyBatch, Batches, to_device

Counts = NDArray[np.int64]


def _counts() -> Counts:
    return np.zeros(0, dtype=np.int64)


@dataclass
class Accuracy:
    """Counts by step: index t is the prediction that follows t edits."""

    total: Counts = field(default_factory=_counts)
    edits: Counts = field(default_factory=_counts)
    positions: Counts = field(default_factory=_counts)
    contents: Counts = field(default_factory=_counts)

    def add(self, mask: NDArray[np.bool_], positions: NDArray[np.bool_], contents: NDArray[np.bool_]) -> None:
        """Which predictions count, and which of them are right; all (B, T)."""
        self.total = _sum(self.total, mask)
        self.positions = _sum(self.positions, mask & positions)
        self.contents = _sum(self.contents, mask & contents)
        self.edits = _sum(self.edits, mask & positions & contents)

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


def _sum(counts: Counts, right: NDArray[np.bool_]) -> Counts:
    new = right.sum(axis=0)
    result = np.zeros(max(len(counts), len(new)), dtype=np.int64)
    result[: len(counts)] += counts
    result[: len(new)] += new
    return result


def loss_of(scores: Scores, batch: AnyBatch, jump_weight: float = 1.0) -> torch.Tensor:
    """Cross entropy of position and content, a mean over the edits that are to be predicted.

    `jump_weight` counts the position of an edit that begins a hunk, or stops, as so many."""
    mask = batch.loss_mask
    content = cross_entropy(scores.content[mask], batch.contents[mask])
    if jump_weight == 1.0 or not isinstance(batch, TorchBatch):
        return cross_entropy(scores.position[mask], batch.positions[mask]) + content
    is_jump = (batch.steps == 0) | (batch.moves == STOP_DISTANCE)
    weights = torch.where(is_jump, jump_weight, 1.0)[mask]
    position = cross_entropy(scores.position[mask], batch.positions[mask], reduction="none")
    return (position * weights).mean() + content


@torch.no_grad()
def measure(network: nn.Module, batches: Batches, device: torch.device) -> Accuracy:
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
