"""The two content decoders of the implicit attention network, and the position decoder that they share (section 4)."""

import torch
from torch import Tensor, nn

from model.config import ModelConfig
from model.networks.attention import NEVER, MultiHeadAttention, causal_mask, sinusoids
from model.networks.incremental import Chosen, Grown, Tensors, compare, grow


class PositionDecoder(nn.Module):
    """Contexts edited so far -> the context expected next, compared with every slot as in pointer networks."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(config.hidden_size, config.heads, config.aggregation)
        # Differs from the paper: the logits are scaled; unscaled they start out saturated. Scaled down as attention's
        # are, they cannot become sharp: the entries of what a GRU puts out are bounded.
        self.scale = config.hidden_size**-0.25

    def start(self, zero: Tensor, times: Tensor) -> Grown:
        nothing = zero[:, :0]
        return self.append({"position_keys": nothing, "position_values": nothing}, zero, times)

    def append(self, caches: Tensors, contexts: Tensor, times: Tensor) -> Grown:
        inputs = contexts + sinusoids(times, contexts.shape[-1])
        new_keys, new_values = self.attention.project(inputs)
        keys, values = grow(caches["position_keys"], new_keys), grow(caches["position_values"], new_values)
        mask = causal_mask(inputs.shape[1], keys.shape[1], inputs.device)
        queries, weights = self.attention.with_weights(inputs, keys, values, mask)
        because = weights.mean(dim=1)[:, -1]  # (B, rows) of the newest row alone
        return Grown({"position_keys": new_keys, "position_values": new_values}, {"query": queries}, because)

    def point(self, encoded: Tensors, caches: Tensors, queries: Tensor, alive: Tensor) -> Tensor:
        return compare(queries * self.scale, encoded, caches).masked_fill(~alive, NEVER)


class AnalogicalDecoder(nn.Module):
    """Predicts the next analogy (content minus context) and applies it to the context of the chosen position."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(config.hidden_size, config.heads, config.aggregation)
        self.out = nn.Linear(config.hidden_size, config.vocabulary_size)

    def start(self, zero: Tensor, times: Tensor) -> tuple[Tensors, Tensors]:
        nothing = zero[:, :0]
        return self.append({"content_keys": nothing, "content_values": nothing}, zero, zero, times)

    def append(
        self, caches: Tensors, contexts: Tensor, contents: Tensor, times: Tensor
    ) -> tuple[Tensors, Tensors]:
        analogies = contents - contexts + sinusoids(times, contexts.shape[-1])
        new_keys, new_values = self.attention.project(analogies)
        keys, values = grow(caches["content_keys"], new_keys), grow(caches["content_values"], new_values)
        mask = causal_mask(analogies.shape[1], keys.shape[1], analogies.device)
        predicted = self.attention(analogies, keys, values, mask)
        return {"content_keys": new_keys, "content_values": new_values}, {"content_row": predicted}

    def contents(self, caches: Tensors, rows: Tensors, chosen: Chosen) -> Tensor:
        logits: Tensor = self.out(rows["content_row"] + chosen.contexts)
        return logits


class VanillaDecoder(nn.Module):
    """Attends from the previous content plus the context of the chosen position to the same of the edits before."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(config.hidden_size, config.heads, config.aggregation)
        self.out = nn.Linear(config.hidden_size, config.vocabulary_size)

    def start(self, zero: Tensor, times: Tensor) -> tuple[Tensors, Tensors]:
        nothing, row = zero[:, :0], zero + sinusoids(times, zero.shape[-1])
        return {"content_rows": row, "content_keys": nothing, "content_values": nothing}, {"content_row": row}

    def append(
        self, caches: Tensors, contexts: Tensor, contents: Tensor, times: Tensor
    ) -> tuple[Tensors, Tensors]:
        # A row is the content alone. With the context of the edit that came next it makes a key: so the first row
        # makes none before there is an edit.
        rows = contents + sinusoids(times, contents.shape[-1])
        before = grow(caches["content_rows"][:, -1:], rows)[:, :-1]
        keys, values = self.attention.project(before + contexts)
        caches = {"content_rows": rows, "content_keys": keys, "content_values": values}
        return caches, {"content_row": rows}

    def contents(self, caches: Tensors, rows: Tensors, chosen: Chosen) -> Tensor:
        inputs = rows["content_row"] + chosen.contexts
        keys, values = self.attention.project(inputs)
        known, new = caches["content_keys"].shape[1], inputs.shape[1]
        times = torch.full_like(chosen.replayed[0], known) if chosen.times is None else chosen.times
        others = (1 - torch.eye(new, device=inputs.device)) * NEVER
        mask = torch.cat([earlier_mask(times, known), others], dim=1)
        keys, values = grow(caches["content_keys"], keys), grow(caches["content_values"], values)
        logits: Tensor = self.out(self.attention(inputs, keys, values, mask))
        return logits


def earlier_mask(times: Tensor, count: int) -> Tensor:
    """Additive mask (N, count): a row that follows t edits sees the first t."""
    columns = torch.arange(count, device=times.device)
    return (columns >= times.unsqueeze(-1)).to(torch.float32) * NEVER


DECODERS: dict[str, type[AnalogicalDecoder] | type[VanillaDecoder]] = {
    "analogical": AnalogicalDecoder,
    "vanilla": VanillaDecoder,
}
