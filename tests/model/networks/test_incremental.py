"""The properties of every implicit attention network. Sizes are different primes, so that a swapped axis cannot pass."""

from dataclasses import fields

import pytest
import torch

from model.config import ModelConfig
from model.editing.edits import DELETE, END, START, Edit, Instance
from model.features.arrays import implicit_batch
from model.features.slot_positions import EditFeatures
from model.networks.attention import NEVER
from model.networks.build import build
from model.networks.incremental import (
    Chosen,
    EditTensors,
    IncrementalNetwork,
    Relations,
    Scores,
    TorchBatch,
    gather_contexts,
    grow_all,
    sources_of,
)

NAMES = ("IA-v", "IA-vg", "IA-a", "IA-ag", "IA-next")
V, D, HEADS, BLOCK = 13, 14, 7, 5
# Two instances (B=2) with up to three edits (T=3); the longer state has eleven tokens (M=11).
LONG = Instance(
    (START, 4, 5, 6, 7, 8, 9, 4, 5, 6, END), (Edit(2, 10), Edit(11, 11), Edit(8, DELETE)), conditioning=1
)
SHORT = Instance((START, 9, END), (Edit(0, 4), Edit(3, 5)))


def make_network(name: str) -> IncrementalNetwork:
    torch.manual_seed(0)
    network = build(ModelConfig(name, V, D, heads=HEADS, attention_block=BLOCK))
    assert isinstance(network, IncrementalNetwork)
    return network.eval()


def make_batch(network: IncrementalNetwork, *instances: Instance) -> TorchBatch:
    return TorchBatch(implicit_batch(instances, network.config.state_multiple))


def score(network: IncrementalNetwork, *instances: Instance) -> Scores:
    with torch.no_grad():
        scores: Scores = network(make_batch(network, *instances))
    return scores


def same(one: torch.Tensor, other: torch.Tensor) -> None:
    torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_scores_have_a_row_for_each_edit(name: str) -> None:
    scores = score(make_network(name), LONG, SHORT)
    columns = 15 if name == "IA-next" else 11  # to a multiple of the block
    assert scores.position.shape == (2, 3, columns + 3)
    assert scores.content.shape == (2, 3, V)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("step", [0, 1, 2])
def test_no_prediction_sees_its_own_content_or_a_later_edit(name: str, step: int) -> None:
    network = make_network(name)
    edits = list(LONG.edits)
    edits[step] = Edit(edits[step].position, 12)
    before, after = score(network, LONG), score(network, LONG._replace(edits=tuple(edits)))
    same(before.position[:, : step + 1], after.position[:, : step + 1])
    same(before.content[:, : step + 1], after.content[:, : step + 1])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("step", [0, 1, 2])
def test_no_position_sees_itself(name: str, step: int) -> None:
    network = make_network(name)
    edits = list(LONG.edits)
    edits[step] = Edit(4, edits[step].content)
    before, after = score(network, LONG), score(network, LONG._replace(edits=tuple(edits)))
    same(before.position[:, : step + 1], after.position[:, : step + 1])
    same(before.content[:, :step], after.content[:, :step])
    assert not torch.allclose(before.content[:, step], after.content[:, step])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("step", [0, 1])
def test_later_predictions_do_see_an_edit(name: str, step: int) -> None:
    network = make_network(name)
    edits = list(LONG.edits)
    edits[step] = Edit(edits[step].position, 12)
    before, after = score(network, LONG), score(network, LONG._replace(edits=tuple(edits)))
    assert not torch.allclose(before.position[:, step + 1], after.position[:, step + 1])
    assert not torch.allclose(before.content[:, step + 1], after.content[:, step + 1])


@pytest.mark.parametrize("name", NAMES)
def test_the_state_is_seen(name: str) -> None:
    network = make_network(name)
    other = LONG._replace(state=(*LONG.state[:4], 12, *LONG.state[5:]))
    assert not torch.allclose(score(network, LONG).position, score(network, other).position)


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_scores_like_its_instances_alone(name: str) -> None:
    network = make_network(name)
    both = score(network, LONG, SHORT)
    for row, instance in enumerate((LONG, SHORT)):
        alone = score(network, instance)
        count = len(instance.edits)
        same(both.content[row, :count], alone.content[0, :count])
        for step in range(count):  # padding puts columns elsewhere, the logits of what is possible stay
            possible = both.position[row, step]
            expected = alone.position[0, step]
            same(possible[possible > NEVER / 2], expected[expected > NEVER / 2])


@pytest.mark.parametrize("name", NAMES)
def test_only_slots_of_the_current_state_can_be_pointed_at(name: str) -> None:
    deleting = Instance((START, 4, 5, END), (Edit(1, DELETE), Edit(2, 7), Edit(5, 8)))
    possible = score(make_network(name), deleting).position > NEVER / 2
    assert possible.sum(dim=-1).tolist() == [[4, 3, 4]]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sizes", [(1, 1, 1), (2, 1), (1, 2), (3,)])
def test_edits_appended_in_any_portions_score_like_the_full_pass(name: str, sizes: tuple[int, ...]) -> None:
    network = make_network(name)
    batch = make_batch(network, LONG, SHORT)
    full = score(network, LONG, SHORT)
    columns = batch.state.shape[1]
    with torch.no_grad():
        encoded = network.encode(batch.state, torch.where(batch.state_mask, 0.0, NEVER))
        caches, rows, _ = network.start(encoded)
        hiddens = network.append(encoded, caches, batch).caches["edit_hiddens"]
        contexts = gather_contexts(encoded, hiddens, batch.positions)
        known = 0
        for size in sizes:
            relations = Relations(
                *(
                    getattr(batch, field.name)[:, known : known + 1, ..., : columns + known]
                    for field in fields(Relations)
                )
            )
            newest = {key: value[:, -1:] for key, value in rows.items()}
            same(
                network.point(encoded, caches, newest, relations),
                full.position[:, known : known + 1, : columns + known],
            )
            replayed, kinds = (
                value[:, known : known + 1] for value in (batch.replayed, batch.replayed_kinds)
            )
            sources = sources_of(batch.state, batch.subjects[:, :known], replayed)
            chosen = Chosen(contexts[:, known : known + 1], replayed, kinds, sources)
            contents = network.contents(encoded, caches, newest, chosen)
            # The short instance has no third edit: what its padding says does not matter.
            same(contents[:1], full.content[:1, known : known + 1])
            if known < len(SHORT.edits):
                same(contents[1:], full.content[1:, known : known + 1])
            edits = EditTensors(
                **{
                    field.name: getattr(batch, field.name)[:, known : known + size]
                    for field in fields(EditFeatures)
                }
            )
            new, rows, because = network.append(encoded, caches, edits)
            caches = grow_all(caches, new)
            assert because.shape == (2, known + size + 1)
            same(because.sum(dim=-1), torch.ones(2))
            known += size


@pytest.mark.parametrize("name", NAMES)
def test_every_weight_learns(name: str) -> None:
    network = make_network(name)
    scores = network(make_batch(network, LONG, SHORT))
    possible = scores.position.clamp(min=-50)
    (possible.logsumexp(dim=-1).sum() + (scores.content**2).sum()).backward()
    idle = [key for key, weight in network.named_parameters() if weight.grad is None]
    assert idle == []
