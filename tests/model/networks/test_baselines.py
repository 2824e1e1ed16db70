"""E and IR. Sizes are different primes, so that a swapped axis cannot pass."""

import pytest
import torch
from torch import nn

from model.config import ModelConfig
from model.editing.edits import DELETE, END, START, Edit, Instance
from model.features.arrays import explicit_batch, implicit_batch
from model.networks.explicit_rnn import ExplicitRnn, ExplicitTorchBatch
from model.networks.implicit_rnn import ImplicitRnn
from model.networks.incremental import Scores, TorchBatch

# Two instances (B=2) with up to three edits (T=3); the longer state has five tokens (M=5).
LONG = Instance((START, 4, 5, 6, END), (Edit(1, 7), Edit(5, 8), Edit(2, DELETE)), conditioning=1)
SHORT = Instance((START, 9, END), (Edit(0, 4), Edit(3, 5)))


def _network(name: str, limit_tokens: int = 5) -> nn.Module:
    torch.manual_seed(0)
    config = ModelConfig(name, 11, 7, heads=7, limit_tokens=limit_tokens, limit_edits=3)
    return ExplicitRnn(config) if name == "E" else ImplicitRnn(config)


def _scores(network: nn.Module, *instances: Instance) -> Scores:
    explicit = isinstance(network, ExplicitRnn)
    batch = (
        ExplicitTorchBatch(explicit_batch(instances)) if explicit else TorchBatch(implicit_batch(instances))
    )
    with torch.no_grad():
        scores: Scores = network(batch)
    return scores


@pytest.mark.parametrize(("name", "slots"), [("E", 7), ("IR", 8)])
def test_scores_have_a_row_for_each_edit(name: str, slots: int) -> None:
    scores = _scores(_network(name), LONG, SHORT)
    assert scores.position.shape == (2, 3, slots)
    assert scores.content.shape == (2, 3, 11)


@pytest.mark.parametrize("name", ["E", "IR"])
@pytest.mark.parametrize("step", [0, 1, 2])
def test_no_position_sees_a_later_edit_and_no_content_its_own(name: str, step: int) -> None:
    network = _network(name)
    edits = list(LONG.edits)
    edits[step] = Edit(edits[step].position if step < 2 else 3, 10 if step < 2 else DELETE)
    before, after = _scores(network, LONG), _scores(network, LONG._replace(edits=tuple(edits)))
    # The explicit states may grow longer later, so compare what both have.
    slots = min(before.position.shape[2], after.position.shape[2])
    torch.testing.assert_close(before.position[:, : step + 1, :slots], after.position[:, : step + 1, :slots])
    torch.testing.assert_close(before.content[:, :step], after.content[:, :step])


@pytest.mark.parametrize("name", ["E", "IR"])
def test_a_later_prediction_does_see_an_earlier_edit(name: str) -> None:
    network = _network(name)
    other = LONG._replace(edits=(Edit(1, 10), *LONG.edits[1:]))
    assert not torch.allclose(_scores(network, LONG).position[:, 1], _scores(network, other).position[:, 1])


@pytest.mark.parametrize("name", ["E", "IR"])
def test_a_batch_scores_like_its_instances_alone(name: str) -> None:
    network = _network(name)
    both = _scores(network, LONG, SHORT)
    for row, instance in enumerate((LONG, SHORT)):
        alone = _scores(network, instance)
        count = len(instance.edits)
        torch.testing.assert_close(both.content[row, :count], alone.content[0, :count])
        for step in range(count):  # padding puts columns elsewhere, the logits of what is possible stay
            possible = both.position[row, step][both.position[row, step] > -1e8]
            expected = alone.position[0, step][alone.position[0, step] > -1e8]
            torch.testing.assert_close(possible, expected)


@pytest.mark.parametrize("name", ["E", "IR"])
def test_deleted_and_future_slots_cannot_be_pointed_at(name: str) -> None:
    deleting = Instance((START, 4, 5, END), (Edit(1, DELETE), Edit(2, 7)))
    possible = _scores(_network(name), deleting).position > -1e8
    assert possible.sum(dim=-1).tolist() == [[4, 3]]


def test_the_table_of_positions_refuses_what_it_cannot_hold() -> None:
    with pytest.raises(
        ValueError, match="8 positions are more than the table for 2 tokens and 3 edits holds"
    ):
        _scores(_network("IR", limit_tokens=2), LONG)
