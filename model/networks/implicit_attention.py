"""IA, the implicit attention network (section 4 and appendix D of the paper): four variants by decoder and aggregation."""

import itertools
import math

import torch
from torch import Tensor, nn

from model.config import ModelConfig
from model.networks.attention import (
    MultiHeadAttention,
    causal_mask,
    sinusoid_frequencies,
    sinusoids,
    split_keys,
    split_values,
)
from model.networks.decoders import DECODERS, PositionDecoder
from model.networks.incremental import (
    Chosen,
    EditTensors,
    Grown,
    IncrementalNetwork,
    Relations,
    Tensors,
    gather_contexts,
    grow,
)

_EMBEDDING_DEVIATION = 0.3
_NEIGHBOURS = (-5, -4, -3, -2, -1, 1, 2, 3)  # of the heads, in turn: most context stands before
_NEIGHBOUR_SHARPNESS = 1.5


class ImplicitAttention(IncrementalNetwork):
    """The paper's network: s2s, e2e and s2e attention in the encoder, a pointer and a content decoder."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        size = config.hidden_size
        self.embedding = nn.Embedding(config.vocabulary_size, size)
        self.from_edit = nn.Parameter(torch.randn(size) * 0.1)  # "produced by an edit"
        self.state_to_state = MultiHeadAttention(size, config.heads, config.aggregation)
        self.edit_to_edit = MultiHeadAttention(size, config.heads, config.aggregation)
        self.state_to_edit = MultiHeadAttention(size, config.heads, config.aggregation)
        self.position_decoder = PositionDecoder(config)
        self.content_decoder = DECODERS[config.decoder](config)
        # Our choice, the paper gives none: at first position speaks louder than content, and each head of the state's
        # attention looks at one neighbour. The tasks where content depends on context are learned many times sooner.
        nn.init.normal_(self.embedding.weight, std=_EMBEDDING_DEVIATION)
        _look_at_neighbours(self.state_to_state)

    def encode(self, state: Tensor, mask: Tensor) -> Tensors:
        positions = torch.arange(state.shape[1], device=state.device)
        embedded = self.embedding(state) + sinusoids(positions, self.config.hidden_size)
        mask = mask.unsqueeze(1).unsqueeze(1)  # (B, 1, 1, M)
        hiddens = self.state_to_state(embedded, *self.state_to_state.project(embedded), mask)
        keys, values = self.state_to_edit.project(hiddens)
        heads = self.config.heads
        return {
            "state_hiddens": hiddens,
            "state_keys": split_keys(keys, heads),
            "state_values": split_values(values, heads),
            "state_mask": mask,
        }

    def start(self, encoded: Tensors) -> Grown:
        zero = torch.zeros_like(encoded["state_hiddens"][:, :1])  # U and V before the first edit
        times = torch.zeros_like(zero[..., 0], dtype=torch.int64)
        position = self.position_decoder.start(zero, times)
        content_caches, content_rows = self.content_decoder.start(zero, times)
        caches = dict.fromkeys(("edit_hiddens", "edit_keys", "edit_values"), zero[:, :0])
        return Grown(
            caches | position.caches | content_caches, position.rows | content_rows, position.because
        )

    def append(self, encoded: Tensors, caches: Tensors, edits: EditTensors) -> Grown:
        contents = self.embedding(edits.contents)
        edit_caches = self._encode_edits(encoded, caches, contents, edits.explicit_positions)
        hiddens = grow(caches["edit_hiddens"], edit_caches["edit_hiddens"])
        contexts = gather_contexts(encoded, hiddens, edits.positions)
        known = caches["position_keys"].shape[1]
        times = torch.arange(known, known + contexts.shape[1], device=contexts.device).expand(
            contexts.shape[0], -1
        )
        position = self.position_decoder.append(caches, contexts, times)
        content_caches, content_rows = self.content_decoder.append(caches, contexts, contents, times)
        return Grown(
            edit_caches | position.caches | content_caches, position.rows | content_rows, position.because
        )

    def point(self, encoded: Tensors, caches: Tensors, rows: Tensors, relations: Relations) -> Tensor:
        return self.position_decoder.point(encoded, caches, rows["query"], relations.alive)

    def contents(self, encoded: Tensors, caches: Tensors, rows: Tensors, chosen: Chosen) -> Tensor:
        return self.content_decoder.contents(caches, rows, chosen)

    def _encode_edits(self, encoded: Tensors, caches: Tensors, contents: Tensor, explicit: Tensor) -> Tensors:
        embedded = contents + sinusoids(explicit, self.config.hidden_size) + self.from_edit
        new_keys, new_values = self.edit_to_edit.project(embedded)
        keys, values = grow(caches["edit_keys"], new_keys), grow(caches["edit_values"], new_values)
        mask = causal_mask(embedded.shape[1], keys.shape[1], embedded.device)
        hiddens = self.edit_to_edit(embedded, keys, values, mask)
        hiddens = self.state_to_edit.over_split(
            hiddens, encoded["state_keys"], encoded["state_values"], encoded["state_mask"]
        )
        return {"edit_hiddens": hiddens, "edit_keys": new_keys, "edit_values": new_values}


def _look_at_neighbours(attention: MultiHeadAttention) -> None:
    """Let each head begin with attention to the token at one offset.

    The encoding of a position is pairs of sine and cosine. Turning each pair by the offset times its frequency gives the
    encoding of the position at that offset: so a query that is turned and a key that is not are most alike there.
    """
    size = attention.query.in_features
    width, half = size // attention.heads, size // 2
    frequencies = sinusoid_frequencies(size)
    query, key = torch.zeros(size, size), torch.zeros(size, size)
    for head, offset in zip(range(attention.heads), itertools.cycle(_NEIGHBOURS), strict=False):
        for pair in range(width // 2):  # the highest frequencies: they tell neighbours apart
            sine, cosine = head * width + 2 * pair, head * width + 2 * pair + 1
            angle = float(frequencies[pair]) * offset
            key[sine, pair] = key[cosine, half + pair] = 1.0
            query[sine, pair] = query[cosine, half + pair] = math.cos(angle)
            query[sine, half + pair], query[cosine, pair] = math.sin(angle), -math.sin(angle)
    with torch.no_grad():
        for layer, weight in ((attention.query, query), (attention.key, key)):
            layer.weight.copy_(_NEIGHBOUR_SHARPNESS * weight)
            layer.bias.zero_()
