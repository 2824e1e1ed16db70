"""The loss: lower for the right edits, and heavier where a hunk begins."""

from pathlib import Path

import torch

from model.networks.incremental import Scores
from tests.training.small_dataset import write_dataset
from training.data.batches import make_batch
from training.data.examples import load_examples
from training.runs.checkpoint import load_network
from training.runs.loss import compute_loss

TINY_BUNDLE = Path(__file__).parents[2] / "data" / "tiny_bundle"


def test_right_scores_have_less_loss_and_jumps_weigh_more(tmp_path: Path) -> None:
    _, config = load_network(TINY_BUNDLE)
    data = str(write_dataset(tmp_path / "data", config.vocabulary_size))
    batch = make_batch(config, load_examples(data, "test").instances[:3])
    tokens = int(batch.positions.max()) + 1
    position = torch.nn.functional.one_hot(batch.positions, tokens).float()
    content = torch.nn.functional.one_hot(batch.contents, config.vocabulary_size).float()
    right, wrong = Scores(9 * position, 9 * content), Scores(-9 * position, -9 * content)
    assert compute_loss(right, batch) < compute_loss(wrong, batch)
    assert compute_loss(wrong, batch, jump_weight=3.0) > compute_loss(wrong, batch)
