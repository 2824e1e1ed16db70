"""The loss that training minimises."""

import torch
from torch.nn.functional import cross_entropy

from model.features.slot_positions import STOP_DISTANCE
from model.networks.incremental import Scores, TorchBatch
from training.data.batches import AnyBatch


def compute_loss(scores: Scores, batch: AnyBatch, jump_weight: float = 1.0) -> torch.Tensor:
    """Cross entropy of position and content, a mean over the edits that are to be predicted.

    The position of an edit that begins a hunk, or stops, counts `jump_weight` times.
    """
    mask = batch.loss_mask
    content = cross_entropy(scores.content[mask], batch.contents[mask])
    if jump_weight == 1.0 or not isinstance(batch, TorchBatch):
        return cross_entropy(scores.position[mask], batch.positions[mask]) + content
    is_jump = (batch.steps == 0) | (batch.moves == STOP_DISTANCE)
    weights = torch.where(is_jump, jump_weight, 1.0)[mask]
    position = cross_entropy(scores.position[mask], batch.positions[mask], reduction="none")
    return (position * weights).mean() + content
