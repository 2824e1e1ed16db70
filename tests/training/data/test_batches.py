from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
import torch

from model.config import ModelConfig
from model.features.arrays import explicit_batch, implicit_batch
from model.networks.incremental import Relations
from tests.training.small_dataset import write_dataset
from training.data.batches import Batches, BatchSize, make_batch
from training.data.examples import load_examples

_BY_PLACE = {"states", "previous", *(field.name for field in fields(Relations))}


@pytest.mark.parametrize("model", ["E", "IR", "IA-ag", "IA-next"])
def test_a_batch_of_prepared_instances_is_the_batch_of_the_instances(model: str) -> None:
    examples = load_examples("synthetic:Replace2", "dev", count=300)  # more than are prepared at once
    config = ModelConfig(model, examples.vocabulary_size, 8)
    rows = np.array([290, 3, 17])
    prepared = Batches(examples, config, BatchSize(5, 10_000)).make(rows)
    direct = make_batch(config, [examples.instances[row] for row in rows])
    kind = explicit_batch if model == "E" else implicit_batch
    for field in fields(kind(examples.instances[:2])):
        ours, theirs = getattr(prepared, field.name), getattr(direct, field.name)
        if field.name in _BY_PLACE and theirs.shape[-1]:  # only some networks compare places
            # Padding may be filled in another way and be longer; what is no padding may not.
            mask = direct.edit_mask
            ours, theirs = ours[..., : theirs.shape[-1]][mask], theirs[mask]
            ours, theirs = (x.movedim(-1, 1)[direct.alive[mask]] for x in (ours, theirs))
        torch.testing.assert_close(ours, theirs, msg=field.name)


def test_an_epoch_has_every_row_once_in_an_order_of_its_own(tmp_path: Path) -> None:
    examples = load_examples(str(write_dataset(tmp_path / "data", 11)), "train")
    batches = Batches(examples, ModelConfig("IA-ag", 11, 8), BatchSize(4, 100))
    first, again, second = (batches.epoch(seed=5, number=number) for number in (0, 0, 1))
    assert sorted(np.concatenate(first).tolist()) == list(range(30))
    assert [rows.tolist() for rows in first] == [rows.tolist() for rows in again]
    assert [rows.tolist() for rows in first] != [rows.tolist() for rows in second]


def test_batches_respect_both_limits_and_hold_similar_lengths(tmp_path: Path) -> None:
    examples = load_examples(str(write_dataset(tmp_path / "data", 11)), "train")
    lengths = examples.state_lengths() + examples.edit_lengths()
    batches = Batches(examples, ModelConfig("IA-ag", 11, 8), BatchSize(4, 100))
    for rows in batches.epoch(seed=5, number=0):
        assert len(rows) <= 4
        assert len(rows) == 1 or len(rows) * lengths[rows].max() <= 100
    waste = sum(
        len(rows) * lengths[rows].max() - lengths[rows].sum() for rows in batches.epoch(seed=5, number=0)
    )
    assert waste < 0.1 * lengths.sum()


def test_an_instance_beyond_the_limit_of_tokens_is_a_batch_of_its_own(tmp_path: Path) -> None:
    examples = load_examples(str(write_dataset(tmp_path / "data", 11)), "train")
    batches = Batches(examples, ModelConfig("IA-ag", 11, 8), BatchSize(4, 3))
    assert {len(rows) for rows in batches.in_order()} == {1}
