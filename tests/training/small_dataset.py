"""A tiny dataset on disk, of random instances."""

from pathlib import Path

import numpy as np

from model.editing.edits import END, SPECIALS, START, Edit, Instance, Slots
from model.editing.tokenizer import Tokenizer
from training.data.dataset import DatasetWriter


def random_instance(random: np.random.Generator, vocabulary_size: int, length: int, edits: int) -> Instance:
    state = (START, *random.integers(len(SPECIALS), vocabulary_size, size=length).tolist(), END)
    slots = Slots(state)
    for _ in range(edits):
        content = int(
            random.integers(len(SPECIALS) - 1, vocabulary_size)
        )  # DELETE is the last of the specials
        slots.apply_explicit(Edit(int(random.integers(1, len(slots.order) - 1)), content))
    return Instance(state, tuple(slots.edits), conditioning=int(random.integers(0, 2)))


def write_dataset(folder: Path, vocabulary_size: int, tokenizer: Tokenizer | None = None) -> Path:
    random = np.random.default_rng(0)
    writer = DatasetWriter(folder, vocabulary_size)
    for split, count in (("train", 30), ("dev", 7), ("test", 5)):
        for _ in range(count):
            length, edits = int(random.integers(9, 30)), int(random.integers(2, 6))
            writer.append(split, random_instance(random, vocabulary_size, length, edits))
    writer.close(None if tokenizer is None else tokenizer.json)
    return folder
