"""The baseline explicit model, E (section 3 of the paper): a two-level LSTM over all states, with a pointer."""

from dataclasses import fields

import torch
from torch import Tensor, nn

from model.config import ModelConfig
from model.editing.edits import PAD
from model.features.arrays import ExplicitBatch
from model.networks.attention import NEVER
from model.networks.incremental import Scores


class ExplicitTorchBatch:
    """An ExplicitBatch as tensors."""

    states: Tensor
    previous: Tensor
    alive: Tensor
    positions: Tensor
    contents: Tensor
    edit_mask: Tensor
    loss_mask: Tensor

    def __init__(self, batch: ExplicitBatch) -> None:
        for field in fields(batch):
            setattr(self, field.name, torch.from_numpy(getattr(batch, field.name)))


class ExplicitRnn(nn.Module):
    """Reads every state from left to right, then the summaries of the states from the oldest to the newest."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        size = config.hidden_size
        self.embedding = nn.Embedding(config.vocabulary_size, size)
        # Twice as wide: beside each token stands the one that was in its place a state before.
        self.over_tokens = nn.LSTM(2 * size, size, batch_first=True)
        self.over_states = nn.LSTM(size, size, batch_first=True)
        self.out = nn.Linear(size, config.vocabulary_size)

    def forward(self, batch: ExplicitTorchBatch) -> Scores:
        B, T, L = batch.states.shape
        tokens = torch.cat(
            [self.embedding(batch.previous), self.embedding(batch.states)], dim=-1
        )  # (B, T, L, 2D)
        hiddens, _ = self.over_tokens(tokens.flatten(0, 1))  # (B * T, L, D)
        last = (batch.states != PAD).sum(dim=-1).clamp(min=1).flatten() - 1
        summaries = hiddens[torch.arange(B * T, device=last.device), last]  # (B * T, D), at the end token
        outputs, _ = self.over_states(summaries.unflatten(0, (B, T)))  # (B, T, D)
        logits = (hiddens @ outputs.flatten(0, 1).unsqueeze(-1)).reshape(B, T, L)
        return Scores(
            position=logits.masked_fill(~batch.alive, NEVER),
            # As in the paper, the content does not depend on the position.
            content=self.out(outputs),
        )
