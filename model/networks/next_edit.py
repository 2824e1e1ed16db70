"""IA-next: the implicit attention network grown for real files; the one that ships.

What it keeps of the paper: the state is encoded once, edits by causal attention and attention over the state; contexts of
past edits predict the next context, a pointer finds it, and the content is an analogy to what was done before.

Differs from the paper, each for a reason:
- Only relative positions, and attention of state tokens within blocks: files of any length, in linear time.
- The pointer knows each slot's distance to the last edit, how much the slot looks like the slot where the newest
  hunk began, and whether a change that was made would fit there again: most next edits are near, or do the same elsewhere.
- The content attends to past edits by the context at the chosen position: what was done in a context like this one.
- The content can be copied from the state, from past edits, and from what a precedent would have there.
- An edit knows the tokens beside it as they are now, which the encoded state does not.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from model.config import ModelConfig
from model.features.pointer_features import BUCKETS, RELATIONS
from model.features.precedents import NO_PRECEDENT, PRECEDENTS
from model.features.slot_positions import DISTANCES, NEIGHBOURS, STEPS
from model.networks.attention import NEVER, attend, attend_unsplit, split_keys, split_values
from model.networks.decoders import earlier_mask
from model.networks.incremental import (
    Chosen,
    EditTensors,
    Grown,
    IncrementalNetwork,
    Relations,
    Tensors,
    compare,
    gather_contexts,
    grow,
)

_KERNEL = 9  # tokens that a convolution mixes
_COPY_SIZE = 64
_TINY = 1e-30  # a probability of zero has no logarithm
_TIMES = 64  # ages of edits that are told apart


class FeedForward(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(size)
        self.up = nn.Linear(size, 2 * size)
        self.down = nn.Linear(2 * size, size)

    def forward(self, inputs: Tensor) -> Tensor:
        result: Tensor = inputs + self.down(functional.relu(self.up(self.norm(inputs))))
        return result


class ConvolutionBlock(nn.Module):
    """Mixes each token with its neighbours, then a feed-forward layer."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(size)
        self.mix = nn.Conv1d(size, size, _KERNEL, padding=_KERNEL // 2, groups=size)
        self.feed_forward = FeedForward(size)

    def forward(self, inputs: Tensor, keep: Tensor) -> Tensor:
        """keep (B, M, 1) is zero at padding, which must look like nothing to its neighbours."""
        mixed = self.mix((self.norm(inputs) * keep).transpose(1, 2)).transpose(1, 2)
        result: Tensor = self.feed_forward(inputs + mixed)
        return result


class BlockAttention(nn.Module):
    """Attention of each token to its own block and the two beside it, by relative distance."""

    def __init__(self, size: int, heads: int, block: int) -> None:
        super().__init__()
        self.heads, self.block = heads, block
        self.norm = nn.LayerNorm(size)
        self.projections = nn.Linear(size, 3 * size)
        self.out = nn.Linear(size, size)
        self.bias = nn.Parameter(torch.zeros(heads, 4 * block))  # by distance + 2 * block
        distances = torch.arange(3 * block).unsqueeze(0) - torch.arange(block).unsqueeze(1) + block
        self.register_buffer("distances", distances, persistent=False)  # (block, 3 * block)
        self.distances: Tensor

    def forward(self, inputs: Tensor, mask: Tensor) -> Tensor:
        """mask (B, M) is additive; M is a multiple of the block."""
        queries, keys, values = self.projections(self.norm(inputs)).chunk(3, dim=-1)
        queries = queries.unflatten(1, (-1, self.block)).flatten(0, 1)  # (B * blocks, block, D)
        keys, values = (self._beside(x, self.block) for x in (keys, values))  # (B * blocks, 3 * block, D)
        seen = self._beside(mask.unsqueeze(-1), self.block, edge=NEVER).transpose(1, 2).unsqueeze(1)
        mask = self.bias[:, self.distances] + seen
        results, _ = attend(queries, split_keys(keys, self.heads), split_values(values, self.heads), mask)
        result: Tensor = inputs + self.out(results).unflatten(0, (inputs.shape[0], -1)).flatten(1, 2)
        return result

    @staticmethod
    def _beside(inputs: Tensor, block: int, edge: float = 0.0) -> Tensor:
        """(B, M, D) -> (B * blocks, 3 * block, D): each block with the one before and the one after."""
        blocks = torch.unflatten(inputs, 1, (-1, block))
        border = torch.full_like(blocks[:, :1], edge)
        padded = torch.cat([border, blocks, border], dim=1)
        return torch.cat([padded[:, :-2], padded[:, 1:-1], padded[:, 2:]], dim=2).flatten(0, 1)


class HistoryAttention(nn.Module):
    """Causal attention over the rows of a history, by their age, then a feed-forward layer."""

    def __init__(self, size: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(size)
        self.projections = nn.Linear(size, 3 * size)
        self.out = nn.Linear(size, size)
        self.bias = nn.Parameter(torch.zeros(heads, _TIMES))
        self.feed_forward = FeedForward(size)

    def forward(
        self, inputs: Tensor, keys: Tensor, values: Tensor, ages: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The new rows, their keys and values, and the attention of the newest row, (B, rows)."""
        queries, new_keys, new_values = self.projections(self.norm(inputs)).chunk(3, dim=-1)
        table = functional.pad(self.bias, (1, 0), value=NEVER)
        mask = functional.embedding(ages, table.t()).transpose(
            -2, -1
        )  # (N, heads, rows), or (B, N, heads, rows)
        keys, values = grow(keys, new_keys), grow(values, new_values)
        results, weights = attend_unsplit(queries, keys, values, mask, self.heads)
        because = weights[:, -1].mean(dim=1)
        return self.feed_forward(inputs + self.out(results)), new_keys, new_values, because


def ages_of_rows(new: int, total: int, device: torch.device) -> Tensor:
    """(new, total): how old each row is to each of the newest, from one; those that come later are zero."""
    rows = torch.arange(total, device=device)
    return (rows[total - new :].unsqueeze(1) + 1 - rows).clamp(0, _TIMES)


class NextEdit(IncrementalNetwork):
    """The network that ships."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        size, heads = config.hidden_size, config.heads
        self.embedding = nn.Embedding(config.vocabulary_size, size)
        nn.init.normal_(self.embedding.weight, std=size**-0.5)
        # The state
        self.mixers = nn.ModuleList(ConvolutionBlock(size) for _ in range(config.encoder_layers))
        self.attentions = nn.ModuleList(
            BlockAttention(size, heads, config.attention_block) for _ in range(config.encoder_layers - 1)
        )
        self.state_norm = nn.LayerNorm(size)
        # The edits
        self.kind = nn.Embedding(2, size)
        self.move = nn.Embedding(DISTANCES, size)
        self.step = nn.Embedding(STEPS, size)
        self.beside = nn.Linear(NEIGHBOURS * size, size)
        self.edit_to_edit = HistoryAttention(size, heads)
        self.state_query = nn.Linear(size, size)
        self.state_pairs = nn.Linear(size, 2 * size)
        self.state_out = nn.Linear(size, size)
        self.edit_feed_forward = FeedForward(size)
        self.edit_norm = nn.LayerNorm(size)
        # The rows
        self.first_row = nn.Parameter(torch.randn(size) * 0.1)
        self.row_in = nn.Linear(2 * size, size)
        self.trunk = nn.ModuleList(HistoryAttention(size, heads) for _ in range(config.decoder_layers))
        # The position
        self.point_norm = nn.LayerNorm(size)
        self.point_query = nn.Linear(size, size)
        self.relation = nn.Linear(size, BUCKETS)
        # The content
        self.row_context = nn.Linear(size, size)
        self.content_norm = nn.LayerNorm(size)
        self.content_query = nn.Linear(size, size)
        self.content_key = nn.Linear(size, size)
        self.content_value = nn.Linear(size, size)
        self.content_out = nn.Linear(size, size)
        self.replayed_kind = nn.Embedding(PRECEDENTS, size)
        self.replayed_in = nn.Linear(size, size)
        self.no_edit = nn.Parameter(torch.zeros(2, size))  # key and value where there is nothing to follow
        self.content_feed_forward = FeedForward(size)
        self.out_norm = nn.LayerNorm(size)
        self.out_bias = nn.Parameter(torch.zeros(config.vocabulary_size))
        # Copying
        self.copy_query = nn.Linear(size, _COPY_SIZE)
        self.copy_state = nn.Linear(2 * size, _COPY_SIZE)  # by the token and the one before it
        self.copy_edit = nn.Linear(size, _COPY_SIZE)
        self.copy_replayed = nn.Linear(size, 1)
        self.copy_gate = nn.Linear(size, 1)

    def encode(self, state: Tensor, mask: Tensor) -> Tensors:
        hiddens = self.embedding(state)
        keep = (mask > NEVER / 2).to(hiddens.dtype).unsqueeze(-1)
        hiddens = self.mixers[0](hiddens, keep)
        for attention, mixer in zip(self.attentions, list(self.mixers)[1:], strict=True):
            hiddens = mixer(attention(hiddens, mask), keep)
        hiddens = self.state_norm(hiddens)
        before = torch.cat([torch.zeros_like(hiddens[:, :1]), hiddens[:, :-1]], dim=1)
        keys, values = self.state_pairs(hiddens).chunk(2, dim=-1)
        return {
            "state_hiddens": hiddens,
            "state_keys": split_keys(keys, self.config.heads),
            "state_values": split_values(values, self.config.heads),
            "state_mask": mask.unsqueeze(1).unsqueeze(1),
            "copy_state_keys": self.copy_state(torch.cat([before, hiddens], dim=-1)),
        }

    def start(self, encoded: Tensors) -> Grown:
        nothing = encoded["state_hiddens"][:, :0]
        names = ["edit_hiddens", "edit_keys", "edit_values", "rows"]
        names += [f"trunk_{part}_{layer}" for layer in range(len(self.trunk)) for part in ("keys", "values")]
        caches = dict.fromkeys(names, nothing)
        caches["copy_edit_keys"] = encoded["copy_state_keys"][:, :0]
        first = self.first_row.expand(nothing.shape[0], 1, -1)
        grown = self._grow_rows(caches, first, ages_of_rows(1, 1, first.device))
        keys, values = self.no_edit.expand(nothing.shape[0], 2, -1).chunk(2, dim=1)
        return grown._replace(caches=caches | grown.caches | {"content_keys": keys, "content_values": values})

    def append(
        self, encoded: Tensors, caches: Tensors, edits: EditTensors, ages: Tensor | None = None
    ) -> Grown:
        """`ages` (B, N, rows): of rows to the new ones, zero for padding, where histories of several lengths are a batch."""
        count = edits.positions.shape[1]
        if ages is None:
            ages = ages_of_rows(count, caches["rows"].shape[1] + count, edits.positions.device)
            edit_ages = ages[:, 1:]  # row 0 is no edit
        else:
            ages = ages.clamp(max=_TIMES)
            edit_ages = ages[..., 1:] * (ages[..., :-1] > 0)  # what stands before row 0 is no edit either
        edit_caches = self._encode_edits(encoded, caches, edits, edit_ages)
        hiddens = edit_caches["edit_hiddens"]
        contexts = gather_contexts(encoded, grow(caches["edit_hiddens"], hiddens), edits.positions)
        inputs = self.row_in(torch.cat([contexts, hiddens], dim=-1)) + self.step(edits.steps)
        grown = self._grow_rows(caches, inputs, ages)
        # What was done in which context: the row before each edit, where it pointed, and what it did there.
        before = grow(caches["rows"][:, -1:], grown.caches["rows"])[:, :-1]
        content_caches = {
            "content_keys": self.content_key(self._situation(before, contexts)),
            "content_values": self.content_value(self.embedding(edits.contents) + hiddens),
        }
        return grown._replace(caches=edit_caches | grown.caches | content_caches)

    def point(self, encoded: Tensors, caches: Tensors, rows: Tensors, relations: Relations) -> Tensor:
        normed = self.point_norm(rows["row"])
        queries = self.point_query(normed) * self.config.hidden_size**-0.5
        found = self.relation(normed).gather(2, relations.buckets.flatten(2))
        known = torch.unflatten(found, 2, (RELATIONS, -1)).sum(dim=2)
        logits = compare(queries, encoded, caches) + known  # (B, N, slots)
        result: Tensor = logits.masked_fill(~relations.alive, NEVER)
        return result

    def contents(self, encoded: Tensors, caches: Tensors, rows: Tensors, chosen: Chosen) -> Tensor:
        situations = self._situation(rows["row"], chosen.contexts)
        hiddens = situations + self._precedents(caches, situations, chosen.times)
        hiddens = hiddens + self.replayed_kind(chosen.replayed_kinds)
        hiddens = hiddens + self.replayed_in(self.embedding(chosen.replayed))
        hiddens = self.out_norm(self.content_feed_forward(hiddens))
        written = torch.softmax(functional.linear(hiddens, self.embedding.weight, self.out_bias), dim=-1)
        queries, from_precedent, gates = self._copying(hiddens)
        copied = self._copied(encoded, caches, queries, from_precedent, chosen)
        share_written, share_copied = torch.softmax(gates, dim=-1).chunk(2, dim=-1)
        mixed = (written * share_written).scatter_add(2, chosen.sources, copied * share_copied)
        return torch.log(mixed.clamp(min=_TINY))

    def _encode_edits(self, encoded: Tensors, caches: Tensors, edits: EditTensors, ages: Tensor) -> Tensors:
        embedded = self.embedding(edits.subjects) + self.kind(edits.deletions) + self.move(edits.moves)
        embedded = (
            embedded + self.step(edits.steps) + self.beside(self.embedding(edits.neighbours).flatten(2))
        )
        hiddens, keys, values, _ = self.edit_to_edit(
            embedded, caches["edit_keys"], caches["edit_values"], ages
        )
        seen, _ = attend(
            self.state_query(hiddens),
            encoded["state_keys"],
            encoded["state_values"],
            encoded["state_mask"],
        )
        hiddens = self.edit_norm(self.edit_feed_forward(hiddens + self.state_out(seen)))
        return {
            "edit_hiddens": hiddens,
            "edit_keys": keys,
            "edit_values": values,
            "copy_edit_keys": self.copy_edit(hiddens),
        }

    def _grow_rows(self, caches: Tensors, rows: Tensor, ages: Tensor) -> Grown:
        new: Tensors = {}
        for layer, attention in enumerate(self.trunk):
            names = f"trunk_keys_{layer}", f"trunk_values_{layer}"
            past = caches[names[0]], caches[names[1]]
            rows, new[names[0]], new[names[1]], because = attention(rows, *past, ages)
        return Grown(new | {"rows": rows}, {"row": rows}, because)

    def _situation(self, rows: Tensor, contexts: Tensor) -> Tensor:
        """Combine the history's row with the context at a position."""
        result: Tensor = self.content_norm(self.row_context(rows) + contexts)
        return result

    def _precedents(self, caches: Tensors, situations: Tensor, times: Tensor | None) -> Tensor:
        """Attend to what was done before in situations like these; the first key stands for no edit at all."""
        keys, values = caches["content_keys"], caches["content_values"]
        mask = None if times is None else earlier_mask(times + 1, keys.shape[1]).unsqueeze(1)
        results, _ = attend_unsplit(self.content_query(situations), keys, values, mask, self.config.heads)
        result: Tensor = self.content_out(results)
        return result

    def _copying(self, hiddens: Tensor) -> tuple[Tensor, ...]:
        """Compute the queries for tokens to copy, the logit of copying a precedent's content, and the gates of writing and
        copying.

        One product instead of three. Writing has the logit zero: so both shares are exact, where a sigmoid close to one
        is not."""
        scale, nothing = _COPY_SIZE**-0.5, torch.zeros_like(self.copy_gate.weight)
        query, replayed, gate = self.copy_query, self.copy_replayed, self.copy_gate
        weight = torch.cat([query.weight * scale, replayed.weight, nothing, gate.weight])
        bias = torch.cat([query.bias * scale, replayed.bias, nothing[:, 0], gate.bias])
        return torch.split(functional.linear(hiddens, weight, bias), [_COPY_SIZE, 1, 2], dim=-1)

    def _copied(
        self, encoded: Tensors, caches: Tensors, queries: Tensor, from_precedent: Tensor, chosen: Chosen
    ) -> Tensor:
        """Compute the probability that each source is copied, (B, N, slots + 1)."""
        from_state = queries @ encoded["copy_state_keys"].transpose(1, 2) + encoded["state_mask"].squeeze(1)
        from_edits = queries @ caches["copy_edit_keys"].transpose(1, 2)
        if chosen.times is not None:
            from_edits = from_edits + earlier_mask(chosen.times, from_edits.shape[2])
        is_none = (chosen.replayed_kinds == NO_PRECEDENT).unsqueeze(-1)
        from_precedent = from_precedent.masked_fill(is_none, NEVER)
        return torch.softmax(torch.cat([from_state, from_edits, from_precedent], dim=2), dim=-1)
