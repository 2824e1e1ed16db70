"""IA of the paper: its four variants. What all implicit attention networks share is in test_incremental."""

import pytest
import torch

from model.config import ModelConfig
from model.editing.edits import DELETE, END, START, Edit, Instance
from model.networks.attention import Gru, MultiHeadAttention, Sum, causal_mask, sinusoids
from model.networks.build import build
from model.networks.decoders import AnalogicalDecoder, VanillaDecoder
from model.networks.implicit_attention import ImplicitAttention
from tests.model.networks.test_incremental import make_network, score

INSTANCE = Instance((START, 4, 5, 6, END), (Edit(1, 7), Edit(5, 8), Edit(2, DELETE)))


@pytest.mark.parametrize(
    ("name", "decoder", "aggregation"),
    [
        ("IA-v", VanillaDecoder, Sum),
        ("IA-vg", VanillaDecoder, Gru),
        ("IA-a", AnalogicalDecoder, Sum),
        ("IA-ag", AnalogicalDecoder, Gru),
    ],
)
def test_the_name_chooses_decoder_and_aggregation(name: str, decoder: type, aggregation: type) -> None:
    network = build(ModelConfig(name, 13, 14, heads=7))
    assert isinstance(network, ImplicitAttention)
    assert isinstance(network.content_decoder, decoder)
    attentions = [module for module in network.modules() if isinstance(module, MultiHeadAttention)]
    assert len(attentions) == 5
    assert all(isinstance(attention.aggregate, aggregation) for attention in attentions)


@pytest.mark.parametrize("name", ["IA-a", "IA-v"])
def test_the_content_depends_on_the_position(name: str) -> None:
    network = make_network(name)
    other = INSTANCE._replace(edits=(*INSTANCE.edits[:2], Edit(3, DELETE)))
    one, two = score(network, INSTANCE).content[:, 2], score(network, other).content[:, 2]
    assert not torch.allclose(one, two)


def test_a_gru_of_aggregation_is_a_gru() -> None:
    torch.manual_seed(0)
    ours, theirs = Gru(7), torch.nn.GRUCell(7, 7)
    with torch.no_grad():
        theirs.weight_ih.copy_(ours.inputs.weight)
        theirs.weight_hh.copy_(ours.hiddens.weight)
        theirs.bias_ih.copy_(ours.inputs.bias)
        theirs.bias_hh.copy_(ours.hiddens.bias)
    queries, results = torch.randn(5, 7), torch.randn(5, 7)
    torch.testing.assert_close(ours(queries, results), theirs(results, queries))


def test_attention_is_the_usual_one() -> None:
    torch.manual_seed(0)
    attention = MultiHeadAttention(14, 7, "sum")
    queries, others = torch.randn(2, 3, 14), torch.randn(2, 5, 14)
    mask = torch.where(torch.rand(3, 5) < 0.3, -1e9, 0.0)
    theirs = torch.nn.functional.multi_head_attention_forward(
        queries.transpose(0, 1),
        others.transpose(0, 1),
        others.transpose(0, 1),
        14,
        7,
        in_proj_weight=torch.cat([attention.query.weight, attention.key.weight, attention.value.weight]),
        in_proj_bias=torch.cat([attention.query.bias, attention.key.bias, attention.value.bias]),
        bias_k=None,
        bias_v=None,
        add_zero_attn=False,
        dropout_p=0.0,
        out_proj_weight=attention.out.weight,
        out_proj_bias=attention.out.bias,
        attn_mask=mask,
    )[0].transpose(0, 1)
    ours = attention(queries, *attention.project(others), mask)
    torch.testing.assert_close(ours, queries + theirs, rtol=1e-4, atol=1e-5)


def test_the_newest_rows_see_themselves_and_what_came_before() -> None:
    assert (causal_mask(2, 5, torch.device("cpu")) == 0).tolist() == [
        [True, True, True, True, False],
        [True, True, True, True, True],
    ]


def test_sinusoids_tell_positions_apart() -> None:
    encoded = sinusoids(torch.arange(101), 14)
    assert encoded.shape == (101, 14)
    assert torch.cdist(encoded, encoded).fill_diagonal_(1.0).min() > 1e-2
