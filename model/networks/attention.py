"""The multihead attention module that the implicit attention networks are made of (appendix E of the paper).

Attention is written out by hand so that the very code that trains is what gets exported.
"""

import math

import torch
from torch import Tensor, nn

NEVER = -1e9  # added to a logit that must not win; finite, so that a row without a choice is still a number


def sinusoids(positions: Tensor, size: int) -> Tensor:
    """The sinusoidal encoding of integers: (...) -> (..., size)."""
    angles = positions.to(torch.float32).unsqueeze(-1) * sinusoid_frequencies(size, positions.device)
    return torch.cat([torch.sin(angles), torch.cos(angles)], dim=-1)[..., :size]


def sinusoid_frequencies(size: int, device: torch.device | None = None) -> Tensor:
    """The frequency of each pair of sine and cosine, falling from one."""
    exponents = torch.arange(0, size, 2, dtype=torch.float32, device=device) / size
    return torch.exp(-math.log(10_000.0) * exponents)


def causal_mask(new: int, total: int, device: torch.device) -> Tensor:
    """Additive (new, total) mask: the last `new` of `total` rows each see themselves and what came before."""
    columns = torch.arange(total, device=device)
    rows = torch.arange(total - new, total, device=device)
    return (columns.unsqueeze(0) > rows.unsqueeze(1)).to(torch.float32) * NEVER


class Sum(nn.Module):
    """Aggregation Q + R."""

    def __init__(self, size: int) -> None:
        super().__init__()

    def forward(self, queries: Tensor, results: Tensor) -> Tensor:
        return queries + results


class Gru(nn.Module):
    """Aggregation by a GRU update: the queries are its hidden states, the results its inputs."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.inputs = nn.Linear(size, 3 * size)
        self.hiddens = nn.Linear(size, 3 * size)

    def forward(self, queries: Tensor, results: Tensor) -> Tensor:
        reset_in, update_in, new_in = self.inputs(results).chunk(3, dim=-1)
        reset_hidden, update_hidden, new_hidden = self.hiddens(queries).chunk(3, dim=-1)
        reset = torch.sigmoid(reset_in + reset_hidden)
        update = torch.sigmoid(update_in + update_hidden)
        new = torch.tanh(new_in + reset * new_hidden)
        return new + update * (queries - new)


AGGREGATIONS: dict[str, type[nn.Module]] = {"sum": Sum, "gru": Gru}


class MultiHeadAttention(nn.Module):
    """Attention of queries over keys and values, then aggregation of queries and results.

    Keys and values are projected apart from the queries, so that they can be cached.
    """

    def __init__(self, size: int, heads: int, aggregation: str) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(size, size)
        self.key = nn.Linear(size, size)
        self.value = nn.Linear(size, size)
        self.out = nn.Linear(size, size)
        self.aggregate = AGGREGATIONS[aggregation](size)

    def project(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values (B, K, D) of inputs (B, K, D)."""
        return self.key(inputs), self.value(inputs)

    def forward(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
        """mask is additive and broadcasts to (B, heads, N, K)."""
        return self.with_weights(queries, keys, values, mask)[0]

    def with_weights(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The result and the attention weights, (B, N, D) and (B, heads, N, K)."""
        keys, values = split_keys(keys, self.heads), split_values(values, self.heads)
        results, weights = attend(self.query(queries), keys, values, mask)
        return self.aggregate(queries, self.out(results)), weights

    def over_split(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
        """The result for keys and values that have been split already."""
        results, _ = attend(self.query(queries), keys, values, mask)
        result: Tensor = self.aggregate(queries, self.out(results))
        return result


def split_keys(keys: Tensor, heads: int) -> Tensor:
    """(B, K, D) -> (B, heads, D / heads, K)."""
    return torch.unflatten(keys, -1, (heads, keys.shape[-1] // heads)).permute(0, 2, 3, 1)


def split_values(values: Tensor, heads: int) -> Tensor:
    """(B, K, D) -> (B, heads, K, D / heads)."""
    return torch.unflatten(values, -1, (heads, values.shape[-1] // heads)).transpose(1, 2)


def attend(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Scaled dot-product attention of (B, N, D) over split keys and values -> (B, N, D) and weights."""
    size, heads = values.shape[-1], values.shape[1]
    split = split_values(queries * size**-0.5, heads)
    weights = torch.softmax(split @ keys + mask, dim=-1)  # (B, heads, N, K)
    return (weights @ values).transpose(1, 2).flatten(2), weights


def attend_unsplit(
    queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, heads: int
) -> tuple[Tensor, Tensor]:
    """The same over keys and values (B, K, D) as a history keeps them; mask and weights are (B, N, heads, K).

    To split them at each step would rearrange all that is known for one row that is new. Instead the queries are laid out once
    for each head, with zeros where the other heads are; and so are the results, of which each head keeps its own part."""
    size = queries.shape[-1]
    width = size // heads
    own = torch.arange(size, device=queries.device) // width == torch.arange(
        heads, device=queries.device
    ).unsqueeze(1)
    parts = own.to(queries.dtype)  # (heads, D)
    laid_out = queries.unsqueeze(2) * (parts * width**-0.5)  # (B, N, heads, D)
    if keys.shape[0] == 1:  # as in serving, where it is one small operation instead of several
        keys, values = keys.squeeze(0), values.squeeze(0)
    logits = _for_all_heads(laid_out, keys.transpose(-2, -1))
    weights = torch.softmax(logits if mask is None else logits + mask, dim=-1)
    return (_for_all_heads(weights, values) * parts).sum(dim=2), weights


def _for_all_heads(left: Tensor, right: Tensor) -> Tensor:
    """(B, N, heads, X) times (B, X, Y), or (X, Y) for all: one product, not one for each head."""
    if right.dim() == 2:
        return left @ right
    return torch.unflatten(left.flatten(1, 2) @ right, 1, left.shape[1:3])
