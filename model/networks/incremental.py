"""The interface of all implicit attention networks: the same code trains them and runs them edit by edit.

A network encodes the state once. Edits are appended to caches, any number at a time; each appended edit yields a *row*:
the network's summary of the history up to there. A row and the hidden states of all slots give the distribution of
the next position; a row and the context at a position give that of the content. Training appends all edits at once, so
the incremental way and the full pass are the same code.

Rows number 0..T: row t follows t edits. Caches are dictionaries of (B, length, ...) tensors that grow along the second axis.
`append` returns only the new part of each cache; its caller stores it.
"""

from dataclasses import dataclass, fields
from typing import NamedTuple

import torch
from torch import Tensor, nn

from model.config import ModelConfig
from model.features.arrays import Batch, BatchOf
from model.features.slot_positions import EditFeatures
from model.networks.attention import NEVER

Tensors = dict[str, Tensor]
EditTensors = EditFeatures[Tensor]  # new edits: (B, N, ...)


@dataclass(frozen=True)
class Relations:
    """The pointer features of each slot; see model.features.pointer_features."""

    alive: Tensor  # (B, N, slots)
    buckets: Tensor  # (B, N, RELATIONS, slots)


@dataclass(frozen=True)
class Chosen:
    """Positions whose contents are asked for, one after each row."""

    contexts: Tensor  # (B, N, D) the hidden states there: U of the paper
    replayed: Tensor  # (B, N) the contents that a precedent would have there
    replayed_kinds: Tensor  # (B, N)
    sources: Tensor  # (B, N, slots + 1) what can be copied: the tokens of all slots, and what a precedent would have
    times: Tensor | None = (
        None  # (N,) edits that each row follows: it may not look at later ones. None: there are none
    )


class Grown(NamedTuple):
    """The rows that edits add to the caches of a history."""

    caches: Tensors  # the new rows of each cache
    rows: Tensors  # (B, N, ...) one for each edit
    because: Tensor  # (B, rows) how much the newest row attended to each


@dataclass(frozen=True)
class Scores:
    """Logits of each edit's position, and of its content given the true position."""

    position: Tensor  # (B, T, slots)
    content: Tensor  # (B, T, V)


class TorchBatch(BatchOf[Tensor]):
    """A Batch as tensors."""

    def __init__(self, batch: Batch) -> None:
        super().__init__(
            **{field.name: torch.from_numpy(getattr(batch, field.name)) for field in fields(batch)}
        )

    def chosen(self, contexts: Tensor) -> Chosen:
        times = torch.arange(self.positions.shape[1], device=self.positions.device)
        sources = sources_of(self.state, self.subjects, self.replayed)
        return Chosen(contexts, self.replayed, self.replayed_kinds, sources, times)

    @property
    def relations(self) -> Relations:
        return Relations(self.alive, self.buckets)


class IncrementalNetwork(nn.Module):
    """An implicit attention network."""

    config: ModelConfig

    def encode(self, state: Tensor, mask: Tensor) -> Tensors:
        """Compute the tensors that depend on the state alone. mask is additive, (B, M)."""
        raise NotImplementedError

    def start(self, encoded: Tensors) -> Grown:
        """Make the caches of an empty history, and row 0."""
        raise NotImplementedError

    def append(self, encoded: Tensors, caches: Tensors, edits: EditTensors) -> Grown:
        """Compute the rows that edits add to the caches, and a row for each of them."""
        raise NotImplementedError

    def point(self, encoded: Tensors, caches: Tensors, rows: Tensors, relations: Relations) -> Tensor:
        """Logits of the next position after each row: (B, N, slots)."""
        raise NotImplementedError

    def contents(self, encoded: Tensors, caches: Tensors, rows: Tensors, chosen: Chosen) -> Tensor:
        """Logits of the content at a position after each row: (B, N, V)."""
        raise NotImplementedError

    def forward(self, batch: TorchBatch) -> Scores:
        encoded = self.encode(batch.state, torch.where(batch.state_mask, 0.0, NEVER))
        first = self.start(encoded)
        later = self.append(encoded, first.caches, batch)
        rows = {name: torch.cat([row, later.rows[name][:, :-1]], dim=1) for name, row in first.rows.items()}
        caches = grow_all(first.caches, later.caches)
        contexts = gather_contexts(encoded, caches["edit_hiddens"], batch.positions)
        return Scores(
            position=self.point(encoded, caches, rows, batch.relations),
            content=self.contents(encoded, caches, rows, batch.chosen(contexts)),
        )


def gather_contexts(encoded: Tensors, edit_hiddens: Tensor, positions: Tensor) -> Tensor:
    """U of the paper: the hidden states at positions, (B, N) -> (B, N, D). The state's and the edits', of which there is at
    least one, stay apart: to join them would copy a whole file at each step."""
    states = encoded["state_hiddens"]
    length = states.shape[1]
    from_state = _gather_rows(states, positions.clamp(max=length - 1))
    from_edits = _gather_rows(edit_hiddens, (positions - length).clamp(min=0))
    return torch.where((positions < length).unsqueeze(-1), from_state, from_edits)


def sources_of(state: Tensor, subjects: Tensor, replayed: Tensor) -> Tensor:
    """List the tokens that can be copied after each row, (B, N, slots + 1): those of the state and of the edits, and the
    content that a precedent would have, (B, N)."""
    slots = torch.cat([state, subjects], dim=1).unsqueeze(1).expand(-1, replayed.shape[1], -1)
    return torch.cat([slots, replayed.unsqueeze(-1)], dim=2)


def compare(queries: Tensor, encoded: Tensors, caches: Tensors) -> Tensor:
    """Inner products of queries with the hidden states of all slots, (B, N, D) -> (B, N, slots)."""
    with_state = queries @ encoded["state_hiddens"].transpose(1, 2)
    with_edits = queries @ caches["edit_hiddens"].transpose(1, 2)
    return torch.cat([with_state, with_edits], dim=2)


def _gather_rows(hiddens: Tensor, positions: Tensor) -> Tensor:
    if hiddens.shape[0] == 1:  # as in serving, where it is one small operation instead of several
        return hiddens.index_select(1, positions.flatten())
    return hiddens.gather(1, positions.unsqueeze(-1).expand(-1, -1, hiddens.shape[-1]))


def grow(cache: Tensor, new: Tensor) -> Tensor:
    return torch.cat([cache, new], dim=1)


def grow_all(caches: Tensors, new: Tensors) -> Tensors:
    return {name: grow(caches[name], new[name]) for name in caches}
