"""Examples by one name: a synthetic task, or a dataset on disk."""

from pathlib import Path

import pytest

from tests.training.small_dataset import write_dataset
from training.data.examples import load_examples
from training.paper.tasks import VOCABULARY_SIZE


def test_a_synthetic_task_and_a_dataset_are_read_alike(tmp_path: Path) -> None:
    synthetic = load_examples("synthetic:Append1", "dev", count=7)
    stored = load_examples(str(write_dataset(tmp_path / "data", 11)), "dev", count=3)
    assert (synthetic.is_synthetic, synthetic.vocabulary_size) == (True, VOCABULARY_SIZE)
    assert (stored.is_synthetic, stored.vocabulary_size, stored.tokenizer()) == (False, 11, None)
    for examples, count in ((synthetic, 7), (stored, 3)):
        assert len(examples.instances) == count
        assert examples.state_lengths().tolist() == [len(instance.state) for instance in examples.instances]
        assert examples.edit_lengths().tolist() == [len(instance.edits) for instance in examples.instances]


def test_an_unknown_split_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="unknown split 'final'; the known ones are train, dev, test"):
        load_examples("synthetic:Append1", "final")
