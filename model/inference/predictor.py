"""Predictor: a bundle that answers. The only file that knows ONNX Runtime.

`open` encodes a state once; the History it returns is incremental: `append` and `keep` only say which edits count,
`predict` runs those that are new. Caches stay where the graphs run: the same code binds them on the CPU and on a GPU.
"""

import contextlib
import ctypes
import math
import os
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Before it is loaded: it would report to its makers, and nothing leaves the machine.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import onnxruntime

from model.editing.edits import Edit, Slots, check_tokens
from model.features.pointer_features import relate
from model.features.precedents import NOTHING_OFFERED
from model.features.slot_positions import EditFeatures, Places, apply_with_features
from model.inference.bundle import GRAPHS, Bundle, BundleError
from model.inference.window import Predicted, WindowedHistory

Floats = NDArray[np.float32]
_NEVER = -1e9
_ROOM = 32  # edits that a new history has room for, and then so many more at a time: most open files have few
_REMEMBERED = 8  # distributions that a history keeps: whoever goes further back waits for one step
_ENCODED = ("state_", "copy_")  # how the names begin of what depends on the state alone
# For one row at a time, which is what a keystroke brings, the runtime has a faster product of matrices than those that it
# fuses with a scale or a sum.
_SLOWER_FUSIONS = ("MatMulScaleFusion", "MatMulAddFusion")


class _Cache(NamedTuple):
    """What the graphs keep of each edit."""

    past: str  # the input that reads it
    new: str  # the output that writes what is new in it
    row_shape: tuple[int, ...]
    row_bytes: int
    first: int  # rows that there are before the first edit: none or one


class Predictor:
    """Runs a bundle."""

    def __init__(self, bundle: Bundle, device: str = "auto") -> None:
        self.bundle = bundle
        providers = _providers(device)
        self.device = "cuda" if providers[0] == "CUDAExecutionProvider" else "cpu"
        self._sessions = {graph: _session(bundle, graph, providers) for graph in GRAPHS}
        self.provider: str = self._sessions["step"].get_providers()[0]
        if device == "cuda" and self.provider != "CUDAExecutionProvider":
            raise BundleError("device cuda was asked for, but ONNX Runtime cannot use it here")
        self.inputs = {graph: _shapes(s.get_inputs()) for graph, s in self._sessions.items()}
        self.outputs = {graph: _shapes(s.get_outputs()) for graph, s in self._sessions.items()}
        self.rows = {
            name: tuple(shape) for name, shape in self.outputs["step"].items() if name.startswith("row.")
        }
        self.caches = [
            self._cache(name, shape)
            for name, shape in (self.inputs["content"] | self.inputs["step"]).items()
            if name.startswith("past.") and name.replace("past.", "new.") in self.outputs["step"]
        ]
        self._check_graphs()
        # What an encoding needs while it runs is many times what it leaves: it is given back.
        self._options = onnxruntime.RunOptions()
        self._options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")

    def _check_graphs(self) -> None:
        """The graphs and the configuration must be of one network."""
        config = self.bundle.config
        sizes = {
            "content_scores": self.outputs["content"].get("content_scores", [0])[-1],
            "state_hiddens": self.outputs["encode"].get("state_hiddens", [0])[-1],
        }
        wanted = {"content_scores": config.vocabulary_size, "state_hiddens": config.hidden_size}
        if sizes != wanted or not self.caches:
            raise BundleError(
                f"the graphs in {self.bundle.directory} are not of the network in config.json, or of another version"
            )

    def _cache(self, past: str, shape: Sequence[Any]) -> _Cache:
        new, row_shape = past.replace("past.", "new."), tuple(shape[2:])
        row_bytes = np.dtype(np.float32).itemsize * math.prod(row_shape)
        return _Cache(past, new, row_shape, row_bytes, first=int(new in self.outputs["encode"]))

    def open(self, state: Sequence[int]) -> "History | WindowedHistory":
        """Encode a state. A file longer than the model's limit is seen through a window."""
        config = self.bundle.config
        check_tokens(state, config.vocabulary_size)
        if len(state) > config.limit_tokens:
            return WindowedHistory(lambda window: History(self, window), state, config)
        return History(self, state)

    def binding(self, graph: str) -> Any:
        """What a graph reads and writes, to be filled in."""
        return self._sessions[graph].io_binding()

    def run(self, graph: str, binding: Any) -> None:
        self._sessions[graph].run_with_iobinding(binding, self._options if graph == "encode" else None)


class _Rows:
    """The caches of a history: a graph reads the first rows of each and writes the next ones where they belong.

    So an edit that is taken back costs nothing, and one that is added is not copied."""

    def __init__(self, predictor: Predictor, capacity: int) -> None:
        self._predictor, self._capacity = predictor, capacity
        self._values = {cache.past: self._room(cache) for cache in predictor.caches}
        # What each graph is bound to: while a word is typed it stays the same, and to bind takes as long as some of the graph.
        self._bound: dict[tuple[str, str], tuple[int, int]] = {}

    @property
    def nbytes(self) -> int:
        return self._capacity * sum(cache.row_bytes for cache in self._predictor.caches)

    def bind_past(self, binding: Any, graph: str, edits: int) -> None:
        """Let a graph read what it needs of so many edits."""
        device, asked = self._predictor.device, self._predictor.inputs[graph]
        if self._is_bound("past", graph, edits, 0):
            return
        for past, _, row_shape, _, first in self._predictor.caches:
            if past in asked:
                address = self._values[past].data_ptr()
                binding.bind_input(past, device, 0, np.float32, (1, edits + first, *row_shape), address)

    def bind_new(self, binding: Any, graph: str, edits: int, count: int) -> None:
        """Let a graph write what so many new edits add; with none, what caches begin with."""
        device, given = self._predictor.device, self._predictor.outputs[graph]
        if edits + count + 1 > self._capacity:
            self._grow(edits + count + 1)
        if self._is_bound("new", graph, edits, count):
            return
        for past, new, row_shape, row_bytes, first in self._predictor.caches:
            if new in given:
                begin, rows = (edits + first, count) if count else (0, first)
                address = self._values[past].data_ptr() + begin * row_bytes
                binding.bind_output(new, device, 0, np.float32, (1, rows, *row_shape), address)

    def address(self, past: str, edit: int) -> int:
        """Where a cache has what it keeps of an edit."""
        (cache,) = [cache for cache in self._predictor.caches if cache.past == past]
        return int(self._values[past].data_ptr()) + (edit + cache.first) * cache.row_bytes

    def _is_bound(self, what: str, graph: str, edits: int, count: int) -> bool:
        """And from now on it is."""
        before = self._bound.get((what, graph))
        self._bound[what, graph] = edits, count
        return before == (edits, count)

    def _room(self, cache: _Cache) -> Any:
        shape = (1, self._capacity, *cache.row_shape)
        return onnxruntime.OrtValue.ortvalue_from_shape_and_type(shape, np.float32, self._predictor.device, 0)

    def _grow(self, least: int) -> None:
        known, capacity = self._capacity, max(least, self._capacity + _ROOM)
        values = {}
        for cache in self._predictor.caches:
            grown = np.zeros((1, capacity, *cache.row_shape), np.float32)
            grown[:, :known] = self._values[cache.past].numpy()
            values[cache.past] = onnxruntime.OrtValue.ortvalue_from_numpy(grown, self._predictor.device, 0)
        # Not before there is room in all of them: a graph would write behind the end of the others.
        self._values, self._capacity = values, capacity
        self._bound.clear()


class History:
    """A state and the edits made to it so far, ready to predict the next."""

    def __init__(self, predictor: Predictor, state: Sequence[int]) -> None:
        self._predictor = predictor
        config = predictor.bundle.config
        self._places = Places(state, config.limit_edits)
        self._columns = -(-len(state) // config.state_multiple) * config.state_multiple
        self._rows = _Rows(predictor, min(_ROOM, config.limit_edits) + 1)
        self._subjects: list[int] = []  # the token that each edit inserted or deleted
        self._waiting: list[tuple[Edit, EditFeatures]] = []  # applied, but not run yet
        self._encode(state)

    @property
    def slots(self) -> Slots:
        """The current state; for reading."""
        return self._places.slots

    @property
    def nbytes(self) -> int:
        """About how much memory it holds: the encoded state, what is kept of each edit, Python's lists, distributions."""
        slots, size = self._columns + len(self.slots.edits), self._predictor.bundle.config.hidden_size
        encoded = 4 * self._columns * (3 * size + 64)
        return encoded + self._rows.nbytes + 100 * slots + 4 * slots * len(self._predicted)

    def keep(self, count: int) -> None:
        """Forget all edits but the first `count`."""
        ran = len(self.slots.edits) - len(self._waiting)
        self._places.keep(count)
        del self._subjects[count:]
        del self._waiting[max(0, count - ran) :]
        for later in [known for known in self._predicted if known > count]:
            del self._predicted[later]
        for known in sorted(self._predicted)[1:-_REMEMBERED]:  # not the first: no edit makes it again
            del self._predicted[known]

    @property
    def repeats(self) -> int:
        """How many hunks made the change of the newest hunk before."""
        hunk = self._places.hunk
        return hunk.repeats if hunk else 0

    @property
    def needs_encoding(self) -> bool:
        """Will the next prediction encode a state first, which takes long?"""
        return False

    def look_at(self, position: int | None) -> None:
        """All of the file is in sight: only in a long one it matters where one looks."""

    def append(self, edits: Sequence[Edit], *, tentative: bool = False) -> None:
        """Add edits; none is added when one of them is wrong. Tentative ones differ for long files only."""
        check_tokens((edit.content for edit in edits), self._predictor.bundle.config.vocabulary_size)
        known = len(self.slots.edits)
        try:
            features = [apply_with_features(self._places, edit) for edit in edits]
        except Exception:  # whatever it was: the history is as it was before
            self._places.keep(known)
            raise
        self._subjects += [each.subject for each in features]
        self._waiting += zip(edits, features, strict=True)

    def predict(self) -> Predicted:
        """The distribution of the next position, over all slots."""
        self._run_waiting()
        known = len(self.slots.edits)
        if known not in self._predicted:
            # It was not the last of its append, or that was long ago: say it again.
            edit = self.slots.edits[-1]
            self.keep(known - 1)
            self.append([edit])
            self._run_waiting()
        return self._predicted[known]

    def content(self, predicted: Predicted, position: int) -> Floats:
        """Log-probabilities of the content at a position."""
        if not 0 <= position < self.slots.state_length + predicted.edits:  # there is nothing in memory for it
            raise ValueError(f"position {position} was not there when this was predicted")
        content, kind = predicted.replayed.get(position, NOTHING_OFFERED)
        config = self._predictor.bundle.config
        sources = np.array([*self._subjects[: predicted.edits], content], dtype=np.int64)
        given = predicted.rows | {
            "replayed": _row([content]),
            "replayed_kinds": _row([kind]),
            "sources": np.concatenate([self._padded, sources])[None, None],
        }
        binding = self._binding("content")
        self._rows.bind_past(binding, "content", predicted.edits)
        # Not gathered by the graph: it is told where the row is.
        shape, address = (1, 1, config.hidden_size), self._address(position)
        binding.bind_input("contexts", self._predictor.device, 0, np.float32, shape, address)
        written = self._run("content", binding, given, {"content_scores": (1, 1, config.vocabulary_size)})
        scores: Floats = written["content_scores"][0, 0].copy()
        return scores

    def _run_waiting(self) -> None:
        """Run the edits that were appended since the last prediction, all at once."""
        if not self._waiting:
            return
        edits, features = [edit for edit, _ in self._waiting], [each for _, each in self._waiting]
        known = len(self.slots.edits) - len(edits)
        binding = self._binding("step")
        self._rows.bind_new(binding, "step", known, len(edits))
        self._rows.bind_past(binding, "step", known)
        self._predicted[known + len(edits)] = self._point("step", binding, self._edit_arrays(edits, features))
        self._waiting.clear()

    def _encode(self, state: Sequence[int]) -> None:
        predictor = self._predictor
        self._padded = np.zeros(self._columns, dtype=np.int64)
        self._padded[: len(state)] = state
        mask = np.full((1, self._columns), _NEVER, dtype=np.float32)
        mask[0, : len(state)] = 0.0
        self._fixed: dict[str, Any] = {"mask": mask}
        self._bindings: dict[str, Any] = {}  # by graph, for this history
        self._written: dict[str, dict[str, Floats]] = {}  # by graph
        binding = predictor.binding("encode")
        encoded = [name for name in predictor.outputs["encode"] if name.startswith(_ENCODED)]
        for name in encoded:
            binding.bind_output(name, predictor.device)
        self._rows.bind_new(binding, "encode", 0, 0)
        # By the number of edits before it: after none, and after the newest of those that ran.
        self._predicted = {0: self._point("encode", binding, self._fixed | {"state": self._padded[None]})}
        values = binding.get_outputs()[: len(encoded)]  # in the order in which they were bound
        self._fixed |= {name: self._own(value) for name, value in zip(encoded, values, strict=True)}

    def _own(self, value: Any) -> Any:
        """A tensor for long: on the CPU a copy, which does not keep alive the memory that its graph ran in."""
        if self._predictor.device != "cpu":
            return value
        return onnxruntime.OrtValue.ortvalue_from_numpy(value.numpy().copy())

    def _binding(self, graph: str) -> Any:
        """What depends on the state alone is bound once."""
        if graph not in self._bindings:
            self._bindings[graph] = self._predictor.binding(graph)
            self._bind_inputs(graph, self._bindings[graph], self._fixed)
        return self._bindings[graph]

    def _bind_inputs(self, graph: str, binding: Any, given: dict[str, Any]) -> None:
        """Arrays come from the host, the rest are tensors on the device."""
        for name, value in given.items():
            if name not in self._predictor.inputs[graph]:
                continue
            if isinstance(value, np.ndarray):
                binding.bind_cpu_input(name, value)
            else:
                binding.bind_ortvalue_input(name, value)

    def _point(self, graph: str, binding: Any, given: dict[str, Any]) -> Predicted:
        """Run a graph that tells the distribution of the next position."""
        edits, columns = len(self.slots.edits), self._places.by_column(self._columns)
        asked = self._predictor.inputs[graph]
        related = relate(self._places) if "buckets" in asked else None
        given = given | {"alive": (columns >= 0)[None, None]}
        if related is not None:
            given["buckets"] = related.buckets.take(columns, axis=1)[None, None]
        shapes = {"position_scores": (1, 1, len(columns)), "because": (1, edits + 1)} | self._predictor.rows
        written = self._run(graph, binding, given, shapes)
        scores, length, order = written["position_scores"][0, 0], self.slots.state_length, self.slots.order
        return Predicted(
            positions=np.concatenate([scores[:length], scores[self._columns :]]),
            because=written["because"][0, 1:].copy(),  # row 0 is no edit
            edits=edits,
            replayed={order[place]: pair for place, pair in related.offered.items()} if related else {},
            rows={name: written[name].copy() for name in self._predictor.rows},
        )

    def _run(
        self, graph: str, binding: Any, given: dict[str, Any], shapes: dict[str, tuple[int, ...]]
    ) -> dict[str, Floats]:
        """What a graph writes to the host. The next run writes over it: while a word is typed nothing is bound anew."""
        self._bind_inputs(graph, binding, given)
        written = self._written.setdefault(graph, {})
        for name, shape in shapes.items():
            if name not in written or written[name].shape != shape:
                written[name] = np.empty(shape, np.float32)
                binding.bind_output(name, "cpu", 0, np.float32, shape, written[name].ctypes.data)
        self._predictor.run(graph, binding)
        return written

    def _column(self, slot: int) -> int:
        return slot if slot < self.slots.state_length else slot - self.slots.state_length + self._columns

    def _address(self, slot: int) -> int:
        """Where the hidden state of a slot is."""
        late = slot - self.slots.state_length
        if late >= 0:
            return self._rows.address("past.edit_hiddens", late)
        row_bytes = np.dtype(np.float32).itemsize * self._predictor.bundle.config.hidden_size
        return int(self._fixed["state_hiddens"].data_ptr()) + slot * row_bytes

    def _edit_arrays(self, edits: Sequence[Edit], features: Sequence[EditFeatures]) -> dict[str, Any]:
        return {
            "positions": _row([self._column(edit.position) for edit in edits]),
            "contents": _row([edit.content for edit in edits]),
            "places": _row([each.place for each in features]),
            "subjects": _row([each.subject for each in features]),
            "deletions": _row([int(each.is_deletion) for each in features]),
            "neighbours": _row([each.neighbours for each in features]),
            "moves": _row([each.move for each in features]),
            "steps": _row([each.step for each in features]),
        }


def _row(values: Sequence[Any]) -> NDArray[np.int64]:
    """A batch of one."""
    return np.array([values], dtype=np.int64)


def _shapes(values: Sequence[Any]) -> dict[str, list[Any]]:
    return {value.name: value.shape for value in values}


def _session(bundle: Bundle, graph: str, providers: list[str]) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    # A step is bound by memory and dispatch: a second thread makes it slower. An encoding is worth two.
    options.intra_op_num_threads = 2 if graph == "encode" else 1
    options.inter_op_num_threads = 1
    # A helper in an editor must not spin.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.enable_mem_pattern = False  # every length is new: a plan for each would only hold memory
    # The C library does as well for the small tensors of a step, and gets back what a closed history held.
    options.enable_cpu_mem_arena = graph == "encode"
    options.log_severity_level = 3
    path = bundle.directory / f"{graph}.onnx"
    unwanted = None if graph == "encode" else list(_SLOWER_FUSIONS)
    try:
        return onnxruntime.InferenceSession(
            str(path), options, providers=providers, disabled_optimizers=unwanted
        )
    except Exception as error:  # ONNX Runtime's own exceptions share no public base class
        raise BundleError(f"ONNX Runtime cannot read {path}: {type(error).__name__}") from error


def _providers(device: str) -> list[str]:
    """CUDA where it is wanted and there; the CPU otherwise, without noise."""
    cpu = ["CPUExecutionProvider"]
    if device == "cpu" or "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
        if device == "cuda":
            raise BundleError(
                "device cuda was asked for, but this ONNX Runtime has no CUDA: install likewise[gpu]"
            )
        return cpu
    if not _has_cuda_driver():
        if device == "cuda":
            raise BundleError("device cuda was asked for, but there is no CUDA driver on this machine")
        return cpu
    # It prints what it cannot find, and stdout may be a protocol.
    with contextlib.redirect_stdout(sys.stderr):
        onnxruntime.preload_dlls()
    return ["CUDAExecutionProvider", *cpu]


def _has_cuda_driver() -> bool:
    try:
        ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return False
    return True
