"""EditCaches: the rows that the graphs keep for each edit of a history.

A graph reads the first rows of each cache and writes the next ones in place. So an edit that is taken back costs nothing,
and an edit that is added is not copied.
"""

from typing import Any

import numpy as np

from model.inference import graph_names as names
from model.inference.graph_runner import CacheShape, GraphRunner

_ROOM = 32  # rows that a new history has room for, and rows that are added at a time: most open files have few edits


class EditCaches:
    """The caches of one history, on the device."""

    def __init__(self, runner: GraphRunner, limit_edits: int) -> None:
        self._runner = runner
        self._capacity = min(_ROOM, limit_edits) + 1
        self._values = {
            cache.past: runner.allocate((1, self._capacity, *cache.row_shape)) for cache in runner.caches
        }
        # The rows that each graph is bound to, by graph. They stay the same while a word is typed, and binding takes
        # about as long as a part of the graph.
        self._bound_past: dict[str, int] = {}
        self._bound_new: dict[str, tuple[int, int]] = {}

    @property
    def nbytes(self) -> int:
        return self._capacity * sum(cache.row_bytes for cache in self._runner.caches)

    def bind_past(self, binding: Any, graph: str, edits: int) -> None:
        """Let a graph read the rows of so many edits."""
        if self._bound_past.get(graph) == edits:
            return
        self._bound_past[graph] = edits
        device, asked = self._runner.device, self._runner.inputs[graph]
        for past, _, row_shape, _, first in self._runner.caches:
            if past in asked:
                address = self._values[past].data_ptr()
                binding.bind_input(past, device, 0, np.float32, (1, edits + first, *row_shape), address)

    def bind_new(self, binding: Any, graph: str, edits: int, count: int) -> None:
        """Let a graph write the rows of `count` new edits; with none, the rows that caches begin with."""
        if edits + count + 1 > self._capacity:
            self._grow(edits + count + 1)
        if self._bound_new.get(graph) == (edits, count):
            return
        self._bound_new[graph] = edits, count
        device, given = self._runner.device, self._runner.outputs[graph]
        for past, new, row_shape, row_bytes, first in self._runner.caches:
            if new in given:
                begin, rows = (edits + first, count) if count else (0, first)
                address = self._values[past].data_ptr() + begin * row_bytes
                binding.bind_output(new, device, 0, np.float32, (1, rows, *row_shape), address)

    def bind_together(self, binding: Any, graph: str, number: int, edits: int, count: int) -> None:
        """Let a graph that steps several histories read the rows of this one, and write those of `count` new edits."""
        if edits + count + 1 > self._capacity:
            self._grow(edits + count + 1)
        device, runner = self._runner.device, self._runner
        for past, new, row_shape, row_bytes, first in runner.caches:
            address = self._values[past].data_ptr()
            name = names.of_history(past, number)
            if name in runner.inputs[graph]:
                binding.bind_input(name, device, 0, np.float32, (1, edits + first, *row_shape), address)
            name, address = names.of_history(new, number), address + (edits + first) * row_bytes
            binding.bind_output(name, device, 0, np.float32, (1, count, *row_shape), address)

    def address_of(self, past: str, edit: int) -> int:
        """Give the memory address of an edit's row in a cache."""
        (cache,) = [cache for cache in self._runner.caches if cache.past == past]
        return int(self._values[past].data_ptr()) + (edit + cache.first) * cache.row_bytes

    def _grow(self, least: int) -> None:
        capacity = max(least, self._capacity + _ROOM)
        # All of them before any is replaced: a graph must not write behind the end of one that did not grow.
        self._values = {cache.past: self._copy_grown(cache, capacity) for cache in self._runner.caches}
        self._capacity = capacity
        self._bound_past.clear()
        self._bound_new.clear()

    def _copy_grown(self, cache: CacheShape, capacity: int) -> Any:
        grown = np.zeros((1, capacity, *cache.row_shape), np.float32)
        grown[:, : self._capacity] = self._values[cache.past].numpy()
        return self._runner.copy_to_device(grown)
