"""Batches for the networks: in which order instances are taken, and how they become tensors."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from model.config import ModelConfig
from model.editing.edits import Instance
from model.features.arrays import Batch, ExplicitBatch, explicit_batch, implicit_batch
from model.networks.explicit_rnn import ExplicitTorchBatch
from model.networks.incremental import TorchBatch
from training.data.crops import Crops, crop_instance, draw_crops
from training.data.dataset import Split
from training.data.examples import Examples

AnyBatch = TorchBatch | ExplicitTorchBatch
Rows = NDArray[np.int64]
Arrays = TypeVar("Arrays", Batch, ExplicitBatch)

_CHUNK_BATCHES = 100  # batches sorted by size together: enough to be even inside, few enough to stay shuffled
_GROUP_BATCHES = 10  # of them with about as many edits
# Synthetic tasks of so many instances are kept as arrays; real data are made into arrays when needed.
_PREPARED_LIMIT = 20_000
_PREPARED_PART = 250
_WITH_COLUMNS = {"alive", "buckets", "states", "previous"}  # whose last axis is that of the tokens
_WITHOUT_EDITS = {"state", "state_mask"}  # the other arrays have the edits as their second axis


def make_batch(config: ModelConfig, instances: Sequence[Instance]) -> AnyBatch:
    """The arrays that the network named by the configuration reads."""
    if config.model == "E":
        return ExplicitTorchBatch(explicit_batch(instances))
    return TorchBatch(_implicit_batch(config, instances))


def _implicit_batch(config: ModelConfig, instances: Sequence[Instance]) -> Batch:
    return implicit_batch(instances, config.state_multiple, compare=config.model == "IA-next")


def to_device(batch: AnyBatch, device: torch.device) -> AnyBatch:
    if device.type != "cpu":
        for name, value in vars(batch).items():
            setattr(batch, name, value.to(device))
    return batch


@dataclass(frozen=True)
class BatchSize:
    """Most instances of a batch, and most tokens (padding and edits included)."""

    instances: int
    tokens: int


class Batches:
    """The batches of one split, for one network."""

    def __init__(self, examples: Examples, config: ModelConfig, size: BatchSize, crop: int = 0) -> None:
        """With `crop`, the states of each epoch are cut down at random to that many tokens at least."""
        self.examples = examples
        self.crop = crop
        self._crops: Crops | None = None  # of the epoch that was begun last
        self.config = config
        self.size = size
        self._edits = examples.edit_lengths()
        self._lengths = examples.state_lengths() + self._edits
        small = examples.is_synthetic and len(examples.instances) <= _PREPARED_LIMIT
        self._prepared = _prepare(config, examples.instances) if small else None

    def make(self, rows: Rows) -> AnyBatch:
        if isinstance(self._prepared, ExplicitBatch):
            return ExplicitTorchBatch(_select(self._prepared, rows, self._longest_state(rows)))
        if self._prepared is not None:
            return TorchBatch(_select(self._prepared, rows))
        return make_batch(self.config, [self._instance(int(row)) for row in rows])

    def _instance(self, row: int) -> Instance:
        instance = self.examples.instances[row]
        if self._crops is None:
            return instance
        return crop_instance(instance, int(self._crops.first[row]), int(self._crops.last[row]))

    def in_order(self) -> Iterator[Rows]:
        """All rows once, similar sizes together: for measuring."""
        yield from self._cut(np.argsort(self._lengths, kind="stable"))

    def epoch(self, *, seed: int, number: int) -> list[Rows]:
        """All rows once, in the random order of this epoch: the same one whenever it is asked for."""
        random = np.random.default_rng([seed, number])
        order = random.permutation(len(self._lengths))
        if self.crop and isinstance(self.examples.instances, Split):
            self._crops = draw_crops(self.examples.instances, self.crop, random)
            self._lengths = self._crops.lengths + self._edits
        batches: list[Rows] = []
        step = _CHUNK_BATCHES * self.size.instances
        for start in range(0, len(order), step):
            chunk = order[start : start + step]
            # Synthetic instances are all of one size.
            groups = [chunk] if self.examples.is_synthetic else self._group_alike(chunk)
            parts = [part for group in groups for part in self._cut(group)]
            batches.extend(parts[index] for index in random.permutation(len(parts)))
        return batches

    def _group_alike(self, chunk: Rows) -> list[Rows]:
        """Groups of rows with about as many edits, each sorted by size: so there is little padding in either axis."""
        by_edits = chunk[np.argsort(self._edits[chunk], kind="stable")]
        groups = np.array_split(by_edits, max(1, len(chunk) // (_GROUP_BATCHES * self.size.instances)))
        return [group[np.argsort(self._lengths[group], kind="stable")] for group in groups]

    def _cut(self, order: Rows) -> Iterator[Rows]:
        start, longest = 0, 0
        for end, row in enumerate(order):
            longest = max(longest, int(self._lengths[row]))
            count = end - start + 1
            if count > 1 and (count > self.size.instances or count * longest > self.size.tokens):
                yield order[start:end]
                start, longest = end, int(self._lengths[row])
        if start < len(order):
            yield order[start:]

    def _longest_state(self, rows: Rows) -> int:
        return int(self._lengths[rows].max())


def _prepare(config: ModelConfig, instances: Sequence[Instance]) -> Batch | ExplicitBatch:
    """All instances as one batch of narrow arrays."""
    starts = range(0, len(instances), _PREPARED_PART)
    if config.model == "E":
        return _join([_narrow(explicit_batch(instances[start : start + _PREPARED_PART])) for start in starts])
    return _join(
        [_narrow(_implicit_batch(config, instances[start : start + _PREPARED_PART])) for start in starts]
    )


def _narrow(batch: Arrays) -> Arrays:
    def narrow(array: NDArray[Any]) -> NDArray[Any]:
        return (
            array if array.dtype == np.bool_ else array.astype(np.min_scalar_type(int(array.max(initial=0))))
        )

    return type(batch)(**{field.name: narrow(getattr(batch, field.name)) for field in fields(batch)})


def _join(parts: Sequence[Arrays]) -> Arrays:
    """One batch out of several, padded to the largest in every axis. All states must have one length."""
    names = [field.name for field in fields(parts[0])]
    return type(parts[0])(**{name: _pad([getattr(part, name) for part in parts]) for name in names})


def _pad(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    sizes = np.max([array.shape[1:] for array in arrays], axis=0).tolist()
    kind = max((array.dtype for array in arrays), key=lambda dtype: dtype.itemsize)
    result: NDArray[Any] = np.zeros((sum(len(array) for array in arrays), *sizes), dtype=kind)
    start = 0
    for array in arrays:
        region = (slice(start, start + len(array)), *(slice(0, size) for size in array.shape[1:]))
        result[region] = array
        start += len(array)
    return result


def _select(batch: Arrays, rows: Rows, longest_state: int | None = None) -> Arrays:
    """Some rows of a prepared batch, without the padding that they do not need."""
    edits = int(batch.edit_mask[rows].sum(axis=1).max())
    tokens = longest_state if isinstance(batch, ExplicitBatch) else batch.state.shape[1] + edits
    selected: dict[str, Any] = {}
    for field in fields(batch):
        array = getattr(batch, field.name)
        if field.name not in _WITHOUT_EDITS:
            array = array[:, :edits]
        if field.name in _WITH_COLUMNS:
            array = array[..., :tokens]
        array = array[rows]
        selected[field.name] = array if array.dtype == np.bool_ else array.astype(np.int64)
    return type(batch)(**selected)
