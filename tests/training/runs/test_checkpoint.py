"""Checkpoints: whole or not at all, and clear about what they are not."""

from pathlib import Path

import pytest
import torch

from model.config import ModelConfig
from model.networks.build import build
from training.runs import checkpoint

CONFIG = ModelConfig("IR", 11, 7)


def test_a_run_goes_on_as_if_it_had_not_stopped(tmp_path: Path) -> None:
    network = build(CONFIG)
    optimizer = torch.optim.Adam(network.parameters())
    sum(parameter.sum() for parameter in network.parameters()).backward()  # type: ignore[union-attr]
    optimizer.step()
    checkpoint.save_tensors(
        tmp_path / checkpoint.LAST, checkpoint.pack(network, optimizer, None), {"step": 1}
    )
    drawn = torch.rand(3)
    other = build(CONFIG)
    other_optimizer = torch.optim.Adam(other.parameters())
    tensors, progress = checkpoint.load_tensors(tmp_path / checkpoint.LAST)
    checkpoint.unpack(tensors, other, other_optimizer, None)
    assert progress == {"step": 1}
    assert torch.equal(torch.rand(3), drawn)
    for one, two in zip(network.parameters(), other.parameters(), strict=True):
        assert torch.equal(one, two)
    assert other_optimizer.state_dict()["state"].keys() == optimizer.state_dict()["state"].keys()


def test_weights_of_another_network_are_refused(tmp_path: Path) -> None:
    checkpoint.write_json(tmp_path / checkpoint.CONFIG, CONFIG.to_json())
    checkpoint.save_tensors(tmp_path / checkpoint.BEST, build(ModelConfig("IR", 13, 7)).state_dict(), {})
    with pytest.raises(ValueError, match="does not hold the weights of this IR"):
        checkpoint.load_network(tmp_path)


def test_a_folder_of_other_things_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="neither a training run nor a bundle"):
        checkpoint.load_network(tmp_path)
