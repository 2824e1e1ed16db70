"""Examples to train or measure a network on: a synthetic task or a dataset on disk, by one name."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from model.editing.edits import Instance
from model.editing.tokenizer import Tokenizer
from training.data.dataset import Dataset, Split
from training.paper.instances import SPLIT_SIZES, draw_instances
from training.paper.tasks import VOCABULARY_SIZE

SYNTHETIC = "synthetic:"


@dataclass(frozen=True)
class Examples:
    """The instances of one split."""

    instances: Sequence[Instance]
    vocabulary_size: int
    tokenizer_path: Path | None = None

    def tokenizer(self) -> Tokenizer | None:
        return (
            None
            if self.tokenizer_path is None
            else Tokenizer(self.tokenizer_path.read_text(encoding="utf-8"))
        )

    @property
    def is_synthetic(self) -> bool:
        return not isinstance(self.instances, Split)

    def state_lengths(self) -> NDArray[np.int64]:
        if isinstance(self.instances, Split):
            return np.asarray(self.instances.state_lengths, dtype=np.int64)
        return np.array([len(instance.state) for instance in self.instances], dtype=np.int64)

    def edit_lengths(self) -> NDArray[np.int64]:
        if isinstance(self.instances, Split):
            return np.asarray(self.instances.edit_lengths, dtype=np.int64)
        return np.array([len(instance.edits) for instance in self.instances], dtype=np.int64)


def load_examples(data: str, split: str, *, count: int | None = None) -> Examples:
    """`synthetic:TASK`, or the folder of a dataset; `count` takes the first instances only."""
    if data.startswith(SYNTHETIC):
        name = data.removeprefix(SYNTHETIC)
        if split not in SPLIT_SIZES:
            raise ValueError(f"unknown split {split!r}; the known ones are {', '.join(SPLIT_SIZES)}")
        return Examples(draw_instances(name, split, count=count), VOCABULARY_SIZE)
    dataset = Dataset.load(data)
    instances = dataset.split(split)
    if count is not None and count < len(instances):
        instances.rows = instances.rows[:count]
    return Examples(instances, dataset.vocabulary_size, dataset.tokenizer_path)
