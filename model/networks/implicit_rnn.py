"""The baseline implicit model, IR (section 3 of the paper): sequence to sequence, with a table of positions in and out."""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from model.config import ModelConfig
from model.editing.edits import PAD
from model.networks.attention import NEVER
from model.networks.incremental import Scores, TorchBatch


class ImplicitRnn(nn.Module):
    """An LSTM reads the state, another one writes pairs of position and content."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        size, slots = config.hidden_size, config.limit_tokens + config.limit_edits
        self.embedding = nn.Embedding(config.vocabulary_size, size)
        self.positions_in = nn.Embedding(slots, size)
        self.encoder = nn.LSTM(size, size, batch_first=True)
        self.decoder = nn.LSTM(2 * size, size, batch_first=True)
        self.positions_out = nn.Linear(size, slots)
        self.contents_out = nn.Linear(2 * size, config.vocabulary_size)

    def forward(self, batch: TorchBatch) -> Scores:
        slots = self._slots_of_columns(batch)  # (B, M + T)
        positions = self.positions_in(slots.gather(1, batch.positions))  # (B, T, D)
        edits = torch.cat([positions, self.embedding(batch.contents)], dim=-1)
        first = torch.cat([torch.zeros_like(positions[:, :1]), self._padding(edits.shape[0])], dim=-1)
        outputs, _ = self.decoder(torch.cat([first, edits[:, :-1]], dim=1), self._encode(batch))  # (B, T, D)
        logits = self.positions_out(outputs)  # (B, T, all slots there can be)
        logits = logits.gather(2, slots.unsqueeze(1).expand(-1, outputs.shape[1], -1))  # (B, T, M + T)
        return Scores(
            position=logits.masked_fill(~batch.alive, NEVER),
            content=self.contents_out(torch.cat([outputs, positions], dim=-1)),
        )

    def _encode(self, batch: TorchBatch) -> tuple[Tensor, Tensor]:
        lengths = batch.state_mask.sum(dim=1)
        packed = pack_padded_sequence(
            self.embedding(batch.state), lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        _, (hidden, cell) = self.encoder(packed)
        return hidden, cell

    def _padding(self, size: int) -> Tensor:
        """The content before the first edit: (B, 1, D)."""
        padding: Tensor = self.embedding(torch.full((size, 1), PAD, device=self.embedding.weight.device))
        return padding

    def _slots_of_columns(self, batch: TorchBatch) -> Tensor:
        """The implicit index of each column: a batch pads its states, the table of positions knows no padding."""
        longest, total = batch.state.shape[1], batch.alive.shape[2]
        columns = torch.arange(total, device=batch.state.device).expand(batch.state.shape[0], -1)
        padding = longest - batch.state_mask.sum(dim=1, keepdim=True)
        slots = torch.where(columns < longest, columns, columns - padding)
        if total > self.positions_in.num_embeddings:
            limits = f"{self.config.limit_tokens} tokens and {self.config.limit_edits} edits"
            raise ValueError(f"{total} positions are more than the table for {limits} holds")
        return slots
