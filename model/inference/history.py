"""History: a state and the edits made to it so far, ready to predict the next edit.

A history is incremental: `append` and `keep` only say which edits count, `predict` runs those that are new. Caches stay where
the graphs run: the same code binds them on the CPU and on a GPU.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from model.config import ModelConfig
from model.editing.edits import Edit, Slots, check_tokens
from model.features.pointer_features import relate
from model.features.precedents import NOTHING_OFFERED
from model.features.slot_positions import EditFeatures, SlotPositions, apply_with_features
from model.inference import graph_names as names
from model.inference.cache import EditCaches
from model.inference.graph_runner import Floats, GraphRunner

_NEVER = -1e9
_REMEMBERED = 8  # distributions that a history keeps: going further back costs one step


@dataclass(frozen=True)
class NextPosition:
    """The distribution of the next edit's position. The history that made it needs it again to tell the content there."""

    positions: Floats  # log-probability of each slot
    because: Floats  # how much the prediction attended to each past edit


@dataclass(frozen=True)
class _Pointed(NextPosition):
    """A distribution with the values that its history needs again to compute contents."""

    edits: int  # how many edits the history had
    rows: dict[str, Any]
    replayed: dict[int, tuple[int, int]]  # content and kind, by slot


class _SlotFeatures(NamedTuple):
    """The features of each column for the pointer."""

    alive: NDArray[np.bool_]
    buckets: NDArray[np.int64] | None  # (relations, columns)
    replayed: dict[int, tuple[int, int]]


@dataclass(frozen=True)
class PendingStep:
    """The waiting edits of one history, for a run with other histories."""

    known: int  # edits that ran before
    mask: Floats  # additive, by column of the state
    slots: _SlotFeatures
    edits: dict[str, NDArray[np.int64]]  # by feature, (new, ...)


class AnyHistory(Protocol):
    """A history of a state of any length. All slots are those of the whole state."""

    @property
    def slots(self) -> Slots: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def repeats(self) -> int: ...
    def keep(self, count: int) -> None: ...
    def append(self, edits: Sequence[Edit]) -> None: ...
    def try_edits(self) -> AbstractContextManager[None]: ...
    def predict(self) -> NextPosition: ...
    def content(self, predicted: NextPosition, position: int) -> Floats: ...


class History:
    """A state and the edits made to it so far, ready to predict the next."""

    def __init__(self, runner: GraphRunner, config: ModelConfig, state: Sequence[int]) -> None:
        self._runner, self._config = runner, config
        self._positions = SlotPositions(state, config.limit_edits)
        self._columns = -(-len(state) // config.state_multiple) * config.state_multiple
        self._caches = EditCaches(runner, config.limit_edits)
        self._subjects: list[int] = []  # the token that each edit inserted or deleted
        self._waiting: list[EditFeatures[Any]] = []  # of edits that were applied, but not run yet
        self._encode(state)

    @property
    def slots(self) -> Slots:
        """The current state; for reading."""
        return self._positions.slots

    @property
    def nbytes(self) -> int:
        """About how much memory it holds: the encoded state, caches, Python's lists, distributions."""
        slots, size = self._columns + len(self.slots.edits), self._config.hidden_size
        encoded = 4 * self._columns * (3 * size + 64)
        return encoded + self._caches.nbytes + 100 * slots + 4 * slots * len(self._predicted)

    def keep(self, count: int) -> None:
        """Forget all edits but the first `count`."""
        ran = len(self.slots.edits) - len(self._waiting)
        self._positions.keep(count)
        del self._subjects[count:]
        del self._waiting[max(0, count - ran) :]
        for later in [known for known in self._predicted if known > count]:
            del self._predicted[later]
        for known in sorted(self._predicted)[1:-_REMEMBERED]:  # not the first: no edit makes it again
            del self._predicted[known]

    @property
    def repeats(self) -> int:
        """The number of earlier runs that made the change of the newest run."""
        run = self._positions.run
        return run.repeats if run else 0

    def append(self, edits: Sequence[Edit]) -> None:
        """Add edits; none is added when one of them is wrong."""
        check_tokens((edit.content for edit in edits), self._config.vocabulary_size)
        known = len(self.slots.edits)
        try:
            features = [apply_with_features(self._positions, edit, self._columns) for edit in edits]
        except Exception:  # whatever it was: the history is as it was before
            self._positions.keep(known)
            raise
        self._subjects += [each.subjects for each in features]
        self._waiting += features

    @contextmanager
    def try_edits(self) -> Iterator[None]:
        """Take back, at the end of the block, the edits that are appended in it."""
        known = len(self.slots.edits)
        try:
            yield
        finally:
            self.keep(known)

    def predict(self) -> NextPosition:
        """Compute the distribution of the next position, over all slots."""
        self._run_waiting()
        known = len(self.slots.edits)
        if known not in self._predicted:
            # It was not the last of its append, or was predicted long ago: run it again.
            edit = self.slots.edits[-1]
            self.keep(known - 1)
            self.append([edit])
            self._run_waiting()
        return self._predicted[known]

    def content(self, predicted: NextPosition, position: int) -> Floats:
        """Compute the log-probabilities of the content at a position."""
        assert isinstance(predicted, _Pointed)
        if not 0 <= position < self.slots.state_length + predicted.edits:  # there is nothing in memory for it
            raise ValueError(f"position {position} was not there when this was predicted")
        content, kind = predicted.replayed.get(position, NOTHING_OFFERED)
        config = self._config
        sources = np.array([*self._subjects[: predicted.edits], content], dtype=np.int64)
        given = predicted.rows | {
            names.REPLAYED: _make_row([content]),
            names.REPLAYED_KINDS: _make_row([kind]),
            names.SOURCES: np.concatenate([self._padded, sources])[None, None],
        }
        binding = self._find_binding(names.CONTENT)
        self._caches.bind_past(binding, names.CONTENT, predicted.edits)
        # The graph does not gather the row: it reads it where it is.
        shape, address = (1, 1, config.hidden_size), self._address_of(position)
        binding.bind_input(names.CONTEXTS, self._runner.device, 0, np.float32, shape, address)
        written = self._run(
            names.CONTENT, binding, given, {names.CONTENT_SCORES: (1, 1, config.vocabulary_size)}
        )
        scores: Floats = written[names.CONTENT_SCORES][0, 0].copy()
        return scores

    def _run_waiting(self) -> None:
        """Run the edits that were appended since the last prediction, all at once."""
        if not self._waiting:
            return
        count = len(self._waiting)
        known = len(self.slots.edits) - count
        binding = self._find_binding(names.STEP)
        self._caches.bind_new(binding, names.STEP, known, count)
        self._caches.bind_past(binding, names.STEP, known)
        given = {
            name: _make_row([getattr(each, feature) for each in self._waiting])
            for feature, name in names.EDIT_INPUTS.items()
        }
        self._predicted[known + count] = self._point(names.STEP, binding, given)
        self._waiting.clear()

    def _encode(self, state: Sequence[int]) -> None:
        runner = self._runner
        self._padded = np.zeros(self._columns, dtype=np.int64)
        self._padded[: len(state)] = state
        mask = np.full((1, self._columns), _NEVER, dtype=np.float32)
        mask[0, : len(state)] = 0.0
        self._fixed: dict[str, Any] = {names.MASK: mask}
        self._bindings: dict[str, Any] = {}  # by graph, for this history
        self._written: dict[str, dict[str, Floats]] = {}  # by graph
        binding = runner.make_binding(names.ENCODE)
        encoded = list(filter(names.is_encoded, runner.outputs[names.ENCODE]))
        for name in encoded:
            binding.bind_output(name, runner.device)
        self._caches.bind_new(binding, names.ENCODE, 0, 0)
        # By the number of edits before it: after none, and after the newest of those that ran.
        given = self._fixed | {names.STATE: self._padded[None]}
        self._predicted: dict[int, _Pointed] = {0: self._point(names.ENCODE, binding, given)}
        values = binding.get_outputs()[: len(encoded)]  # in the order in which they were bound
        self._fixed |= {name: runner.keep_output(value) for name, value in zip(encoded, values, strict=True)}

    def _find_binding(self, graph: str) -> Any:
        """Give the binding of a graph; the inputs that depend on the state alone are bound once."""
        if graph not in self._bindings:
            self._bindings[graph] = self._runner.make_binding(graph)
            self._bind_inputs(graph, self._bindings[graph], self._fixed)
        return self._bindings[graph]

    def _bind_inputs(self, graph: str, binding: Any, given: dict[str, Any]) -> None:
        """Bind arrays from the host and tensors on the device."""
        for name, value in given.items():
            if name not in self._runner.inputs[graph]:
                continue
            if isinstance(value, np.ndarray):
                binding.bind_cpu_input(name, value)
            else:
                binding.bind_ortvalue_input(name, value)

    def _point(self, graph: str, binding: Any, given: dict[str, Any]) -> _Pointed:
        """Run a graph that computes the distribution of the next position."""
        slots = self._describe_slots(graph)
        given = given | {names.ALIVE: slots.alive[None, None]}
        if slots.buckets is not None:
            given[names.BUCKETS] = slots.buckets[None, None]
        shapes = {
            names.POSITION_SCORES: (1, 1, len(slots.alive)),
            names.BECAUSE: (1, len(self.slots.edits) + 1),
        } | self._runner.rows
        written = self._run(graph, binding, given, shapes)
        return self._read_point(
            slots,
            written[names.POSITION_SCORES][0, 0],
            written[names.BECAUSE][0],
            {name: written[name] for name in self._runner.rows},
        )

    def _describe_slots(self, graph: str) -> _SlotFeatures:
        """Describe all columns for the pointer."""
        columns = self._positions.by_column(self._columns)
        if names.BUCKETS not in self._runner.inputs[graph]:
            return _SlotFeatures(columns >= 0, None, {})
        related, order = relate(self._positions), self.slots.order
        replayed = {order[explicit]: pair for explicit, pair in related.offered.items()}
        return _SlotFeatures(columns >= 0, related.buckets.take(columns, axis=1), replayed)

    def _read_point(
        self, slots: _SlotFeatures, scores: Floats, because: Floats, rows: dict[str, Floats]
    ) -> _Pointed:
        """Make a distribution of what a graph wrote; the next run writes over it."""
        return _Pointed(
            positions=np.concatenate([scores[: self.slots.state_length], scores[self._columns :]]),
            because=because[1:].copy(),  # row 0 is no edit
            edits=len(self.slots.edits),
            replayed=slots.replayed,
            rows={name: row.copy() for name, row in rows.items()},
        )

    # --- a step together with other histories: see model.inference.together ---

    @property
    def runner(self) -> GraphRunner:
        return self._runner

    @property
    def waiting_count(self) -> int:
        """The number of edits that were appended since the last prediction."""
        return len(self._waiting)

    def give_step(self, graph: str, binding: Any, number: int) -> PendingStep:
        """Bind the history's own tensors as those of history `number`, and describe what is to be run."""
        known = len(self.slots.edits) - len(self._waiting)
        self._caches.bind_together(binding, graph, number, known, len(self._waiting))
        for name, value in self._fixed.items():
            own = names.of_history(name, number)
            if own in self._runner.inputs[graph]:
                binding.bind_ortvalue_input(own, value)
        return PendingStep(
            known=known,
            mask=self._fixed[names.MASK][0],
            slots=self._describe_slots(graph),
            edits={
                feature: np.array([getattr(each, feature) for each in self._waiting], dtype=np.int64)
                for feature in names.EDIT_INPUTS
            },
        )

    def take_step(self, step: PendingStep, scores: Floats, because: Floats, rows: dict[str, Floats]) -> None:
        """Take in what a run with other histories wrote about this one."""
        self._predicted[len(self.slots.edits)] = self._read_point(step.slots, scores, because, rows)
        self._waiting.clear()

    def _run(
        self, graph: str, binding: Any, given: dict[str, Any], shapes: dict[str, tuple[int, ...]]
    ) -> dict[str, Floats]:
        """Run a graph and return what it writes to the host. The next run writes over it: so arrays stay bound."""
        self._bind_inputs(graph, binding, given)
        written = self._written.setdefault(graph, {})
        for name, shape in shapes.items():
            if name not in written or written[name].shape != shape:
                written[name] = np.empty(shape, np.float32)
                binding.bind_output(name, "cpu", 0, np.float32, shape, written[name].ctypes.data)
        self._runner.run(graph, binding)
        return written

    def _address_of(self, slot: int) -> int:
        """Give the memory address of a slot's hidden state."""
        edit = slot - self.slots.state_length
        if edit >= 0:
            return self._caches.address_of(names.past_of(names.EDIT_HIDDENS), edit)
        row_bytes = np.dtype(np.float32).itemsize * self._config.hidden_size
        return int(self._fixed[names.STATE_HIDDENS].data_ptr()) + slot * row_bytes


def _make_row(values: Sequence[Any]) -> NDArray[np.int64]:
    """Make a batch of one."""
    return np.array([values], dtype=np.int64)
