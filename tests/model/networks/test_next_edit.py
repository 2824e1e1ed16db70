"""IA-next, where it differs from the paper. What all implicit attention networks share is in test_incremental."""

import torch

from model.editing.edits import DELETE, END, START, Edit, Instance
from model.features.pointer_features import DISTANCE, FIRST_BUCKETS, MATCH, MATCHES
from model.features.slot_positions import DISTANCES
from model.networks.attention import NEVER
from model.networks.next_edit import BlockAttention, ConvolutionBlock, NextEdit
from tests.model.networks.test_incremental import D, V, make_batch, make_network, same, score

INSTANCE = Instance((START, *[4, 5, 6, 7, 8] * 5, END), (Edit(1, 10), Edit(6, 10), Edit(11, DELETE)))


def make_next() -> NextEdit:
    network = make_network("IA-next")
    assert isinstance(network, NextEdit)
    return network


def test_block_attention_is_attention_within_reach() -> None:
    torch.manual_seed(0)
    attention = BlockAttention(14, 7, block=3)
    inputs = torch.randn(2, 12, 14)
    before = attention(inputs, torch.zeros(2, 12))
    changed = inputs.clone()
    changed[:, 11] = torch.randn(14)  # in the last of four blocks: the first two do not see it
    after = attention(changed, torch.zeros(2, 12))
    same(before[:, :6], after[:, :6])
    assert not torch.allclose(before[:, 6:9], after[:, 6:9])


def test_block_attention_does_not_see_padding() -> None:
    torch.manual_seed(0)
    attention = BlockAttention(14, 7, block=3)
    inputs, mask = torch.randn(2, 6, 14), torch.zeros(2, 6)
    mask[:, 4:] = NEVER
    changed = inputs.clone()
    changed[:, 4:] = torch.randn(2, 14)
    same(attention(inputs, mask)[:, :4], attention(changed, mask)[:, :4])


def test_a_convolution_does_not_see_padding() -> None:
    torch.manual_seed(0)
    block, inputs = ConvolutionBlock(7), torch.randn(2, 11, 7)
    keep = torch.ones(2, 11, 1)
    keep[:, 5:] = 0
    changed = inputs.clone()
    changed[:, 5:] = torch.randn(6, 7)
    same(block(inputs, keep)[:, :5], block(changed, keep)[:, :5])


def test_a_place_is_told_apart_by_distance_and_by_likeness() -> None:
    network = make_next()
    for relation, size in ((DISTANCE, DISTANCES), (MATCH, MATCHES)):
        before, first = score(network, INSTANCE), int(FIRST_BUCKETS[relation])
        with torch.no_grad():
            network.relation.bias[first : first + size] = torch.linspace(-3, 3, size)
        assert not torch.allclose(before.position[:, 2], score(network, INSTANCE).position[:, 2])


def test_contents_are_log_probabilities() -> None:
    content = score(make_next(), INSTANCE).content
    assert content.shape == (1, 3, V)
    torch.testing.assert_close(content.exp().sum(dim=-1), torch.ones(1, 3), rtol=1e-4, atol=1e-4)


def test_a_model_that_only_copies_writes_what_stands_there_or_was_written() -> None:
    network = make_next()
    with torch.no_grad():
        network.copy_gate.bias.fill_(50.0)
    content = score(network, INSTANCE).content[0]
    known = {START, 4, 5, 6, 7, 8, END}
    possible = [{token for token in range(V) if content[step, token] > -15} for step in range(3)]
    assert possible[0] == known
    assert possible[1] == possible[2] == known | {10}


def test_places_do_not_depend_on_what_is_far_before() -> None:
    """Only relative positions: with a long stretch of tokens before it a file is encoded the same."""
    network = make_next()
    far = 20 * network.config.attention_block
    moved = (START, *[9] * (far - 1), *INSTANCE.state)
    with torch.no_grad():
        here, there = (
            network.encode(batch.state, torch.where(batch.state_mask, 0.0, NEVER))["state_hiddens"]
            for batch in (
                make_batch(network, INSTANCE),
                make_batch(network, Instance(moved, (Edit(0, 4),))),
            )
        )
    inner = slice(network.config.attention_block * 3, len(INSTANCE.state))
    assert here.shape[-1] == D
    same(here[0, inner], there[0, far:][inner])
