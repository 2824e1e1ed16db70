"""Steps of several histories in one run, for a device on which a run with a single row is wasted.

The histories that wait have states and pasts of different lengths. Each keeps its tensors in its own memory: the graph reads
them from there, puts them side by side, and writes the new rows of each history into its own caches. A past is padded
before its first edit, so the newest rows of all histories stand at the end; ages of zero keep attention off the padding.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from model.inference import graph_names as names
from model.inference.graph_runner import GraphRunner
from model.inference.history import AnyHistory, History, PendingStep

_NEVER = -1e9
Ints = NDArray[np.int64]


def step_together(histories: Iterable[AnyHistory]) -> int:
    """Run the waiting edits of histories, several in one run where that is possible; return how many histories ran so.

    The others are left as they are, such as those of long files: their own prediction runs them."""
    groups: dict[tuple[GraphRunner, int], list[History]] = defaultdict(list)
    for history in histories:
        if isinstance(history, History) and history.waiting_count:
            groups[history.runner, history.waiting_count].append(history)
    stepped = 0
    for (runner, _), waiting in groups.items():
        for size in runner.sizes_together:
            while len(waiting) >= size:
                batch, waiting[:] = waiting[:size], waiting[size:]
                _run(runner, batch)
                stepped += size
    return stepped


def _run(runner: GraphRunner, histories: Sequence[History]) -> None:
    graph = names.together(len(histories))
    binding = runner.make_binding(graph)
    steps = [history.give_step(graph, binding, number) for number, history in enumerate(histories)]
    shape = _Shape(steps)
    for name, values in shape.make_inputs().items():
        if name in runner.inputs[graph]:
            binding.bind_cpu_input(name, values)
    written = {
        names.POSITION_SCORES: np.empty((shape.size, 1, shape.slots), np.float32),
        names.BECAUSE: np.empty((shape.size, shape.rows), np.float32),
    } | {name: np.empty((shape.size, *row[1:]), np.float32) for name, row in runner.rows.items()}
    for name, values in written.items():
        binding.bind_output(name, "cpu", 0, np.float32, values.shape, values.ctypes.data)
    runner.run(graph, binding)
    for number, (history, step) in enumerate(zip(histories, steps, strict=True)):
        scores = written[names.POSITION_SCORES][number, 0]
        history.take_step(
            step,
            shape.unpad(number, scores),
            written[names.BECAUSE][number, shape.padding(number) :],
            {name: written[name][number : number + 1] for name in runner.rows},
        )


class _Shape:
    """The sizes of a batch of steps, and its arrays."""

    def __init__(self, steps: Sequence[PendingStep]) -> None:
        self._steps = steps
        self.size = len(steps)
        self.new = len(steps[0].edits["positions"])
        self.past = max(step.known for step in steps)
        self.columns = max(len(step.mask) for step in steps)
        self.rows = self.past + 1 + self.new
        self.slots = self.columns + self.past + self.new

    def padding(self, number: int) -> int:
        return self.past - self._steps[number].known

    def unpad(self, number: int, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Take a history's own columns out of those of the batch."""
        own = len(self._steps[number].mask)
        return np.concatenate([values[:own], values[self.columns + self.padding(number) :]])

    def make_inputs(self) -> dict[str, NDArray[np.generic]]:
        """Make the inputs that come from the host."""
        inputs: dict[str, NDArray[np.generic]] = {
            names.STATE_INDEX: self._index([len(step.mask) for step in self._steps], before=False),
            names.EDIT_INDEX: self._index([step.known for step in self._steps]),
            names.ROW_INDEX: self._index([step.known + 1 for step in self._steps]),
            names.AGES: self._ages(),
        }
        mask = np.full((self.size, self.columns), _NEVER, np.float32)
        alive = np.zeros((self.size, 1, self.slots), np.bool_)
        for number, step in enumerate(self._steps):
            mask[number, : len(step.mask)] = step.mask
            self._pad(number, step.slots.alive, alive[number, 0])
        inputs |= {names.MASK: mask, names.ALIVE: alive}
        first = self._steps[0].slots.buckets
        if first is not None:
            buckets = np.zeros((self.size, 1, len(first), self.slots), first.dtype)
            for number, step in enumerate(self._steps):
                self._pad(number, step.slots.buckets, buckets[number, 0])
            inputs[names.BUCKETS] = buckets
        for feature, name in names.EDIT_INPUTS.items():
            inputs[name] = np.stack([step.edits[feature] for step in self._steps])
        inputs[names.EDIT_INPUTS["positions"]] = self._positions()
        return inputs

    def _pad(self, number: int, values: NDArray[np.generic] | None, target: NDArray[np.generic]) -> None:
        assert values is not None
        own = len(self._steps[number].mask)
        target[..., :own] = values[..., :own]
        target[..., self.columns + self.padding(number) :] = values[..., own:]

    def _index(self, lengths: Sequence[int], *, before: bool = True) -> Ints:
        """Find the rows of each history when those of all stand one after another; padding points at any."""
        longest = max(lengths)
        index = np.zeros((self.size, longest), np.int64)
        begin = 0
        for number, length in enumerate(lengths):
            first = longest - length if before else 0
            index[number, first : first + length] = begin + np.arange(length)
            begin += length
        return index

    def _ages(self) -> Ints:
        rows = np.arange(self.rows)
        ages = np.maximum(rows[self.rows - self.new :, None] + 1 - rows, 0)
        batch = np.repeat(ages[None], self.size, axis=0)
        for number in range(self.size):
            batch[number, :, : self.padding(number)] = 0
        return batch

    def _positions(self) -> Ints:
        """Move the columns that edits point at to where the batch has them."""
        result = []
        for number, step in enumerate(self._steps):
            own, positions = len(step.mask), step.edits["positions"]
            moved = positions - own + self.columns + self.padding(number)
            result.append(np.where(positions < own, positions, moved))
        return np.stack(result)
