"""Predictor: a bundle that answers. The only file that knows ONNX Runtime.

`open` encodes a state once; the History it returns is incremental: `append` and `keep` only say which edits count,
`predict` runs those that are new. Caches stay where the graphs run: the same code binds them on the CPU and on a GPU.
"""

import contextlib
import ctypes
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from model.arrays import NO_DISTANCE, NO_MATCH, NO_SIMILARITY, EditFeatures, Places, apply_with_features
from model.bundle import GRAPHS, Bundle, BundleError
from model.edits import PAD, Edit, Slots, check_tokens
from model.replays import NO_PRECEDENT, NO_REPLAY
from model.window import Predicted, WindowedHistory

Floats = NDArray[np.float32]
_NEVER = -1e9
_NOTHING_REPLAYED = (PAD, NO_PRECEDENT)
# For one row at a time, which is what a keystroke brings, the runtime has a faster product of matrices than those that it
# fuses with a scale or a sum.
_SLOWER_FUSIONS = ("MatMulScaleFusion", "MatMulAddFusion")


class Predictor:
    """Runs a bundle."""

    def __init__(self, bundle: Bundle, device: str = "auto") -> None:
        self.bundle = bundle
        providers = _providers(device)
        self._device = "cuda" if providers[0] == "CUDAExecutionProvider" else "cpu"
        self._sessions = {graph: _session(bundle, graph, providers) for graph in GRAPHS}
        self.provider: str = self._sessions["step"].get_providers()[0]
        if device == "cuda" and self.provider != "CUDAExecutionProvider":
            raise BundleError("device cuda was asked for, but ONNX Runtime cannot use it here")
        self._inputs = {graph: [i.name for i in s.get_inputs()] for graph, s in self._sessions.items()}
        self._outputs = {
            graph: {o.name: "cpu" if _is_read(o.name) else self._device for o in s.get_outputs()}
            for graph, s in self._sessions.items()
        }  # and where each is wanted
        self.relations = {
            *self._inputs["encode"],
            *self._inputs["step"],
            *self._inputs["content"],
        }  # names; others need not be computed
        # What an encoding needs while it runs is many times what it leaves: it is given back.
        self._options = onnxruntime.RunOptions()
        self._options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
        self._check_graphs()

    def _check_graphs(self) -> None:
        """The graphs and the configuration must be of one network."""
        config = self.bundle.config
        shapes = {o.name: o.shape for graph in GRAPHS for o in self._sessions[graph].get_outputs()}
        for name, size in (("content_scores", config.vocabulary_size), ("state_hiddens", config.hidden_size)):
            if name not in shapes or shapes[name][-1] != size:
                raise BundleError(
                    f"the graphs in {self.bundle.directory} are not of the network in config.json"
                )

    def open(self, state: Sequence[int]) -> "History | WindowedHistory":
        """Encode a state. A file longer than the model's limit is seen through a window."""
        config = self.bundle.config
        check_tokens(state, config.vocabulary_size)
        if len(state) > config.limit_tokens:
            return WindowedHistory(lambda window: History(self, window), state, config)
        return History(self, state)

    def run(self, graph: str, given: dict[str, Any]) -> dict[str, Any]:
        """Run a graph. Arrays come from the host, the rest are tensors on the device; so are the results."""
        binding = self._sessions[graph].io_binding()
        for name in self._inputs[graph]:
            value = given[name]
            if isinstance(value, np.ndarray):
                binding.bind_cpu_input(name, value)
            else:
                binding.bind_ortvalue_input(name, value)
        for name, device in self._outputs[graph].items():
            binding.bind_output(name, device)
        self._sessions[graph].run_with_iobinding(binding, self._options if graph == "encode" else None)
        return dict(zip(self._outputs[graph], binding.get_outputs(), strict=True))

    def own(self, value: Any) -> Any:
        """A tensor for long: on the CPU a copy, which does not keep alive the memory that its graph ran in."""
        return value.numpy().copy() if self._device == "cpu" else value


class History:
    """A state and the edits made to it so far, ready to predict the next."""

    def __init__(self, predictor: Predictor, state: Sequence[int]) -> None:
        self._predictor = predictor
        config = predictor.bundle.config
        self._places = Places(state, config.limit_edits)
        self._columns = -(-len(state) // config.state_multiple) * config.state_multiple
        self._encode(state)

    @property
    def slots(self) -> Slots:
        """The current state; for reading."""
        return self._places.slots

    @property
    def nbytes(self) -> int:
        """About how much memory it holds: the encoded state, Python's lists, a distribution after each append."""
        slots, size = self._columns + len(self.slots.edits), self._predictor.bundle.config.hidden_size
        predicted = sum(each is not None for each in self._predicted)
        return 4 * self._columns * (3 * size + 64) + 100 * slots + 4 * slots * predicted

    def keep(self, count: int) -> None:
        """Forget all edits but the first `count`."""
        self._places.keep(count)
        del self._predicted[count + 1 :]
        del self._waiting[max(0, count + 1 - len(self._predicted)) :]

    @property
    def repeats(self) -> int:
        """How many hunks made the change of the newest hunk before."""
        hunk = self._places.hunk
        return hunk.repeats if hunk else 0

    @property
    def needs_encoding(self) -> bool:
        """Will the next prediction encode a state first, which takes long?"""
        return False

    def append(self, edits: Sequence[Edit], *, tentative: bool = False) -> None:
        """Add edits; none is added when one of them is wrong. Tentative ones differ for long files only."""
        check_tokens((edit.content for edit in edits), self._predictor.bundle.config.vocabulary_size)
        known = len(self.slots.edits)
        try:
            features = [apply_with_features(self._places, edit) for edit in edits]
        except Exception:  # whatever it was: the history is as it was before
            self._places.keep(known)
            raise
        self._waiting += zip(edits, features, strict=True)

    def predict(self) -> Predicted:
        """The distribution of the next position, over all slots."""
        self._run_waiting()
        predicted = self._predicted[-1]
        if predicted is None:  # the newest edit that is kept was not the last of its append: say it again
            edit = self.slots.edits[-1]
            self.keep(len(self.slots.edits) - 1)
            self.append([edit])
            self._run_waiting()
            predicted = self._predicted[-1]
        assert predicted is not None
        return predicted

    def content(self, predicted: Predicted, position: int) -> Floats:
        """Log-probabilities of the content at a position."""
        column = np.array([[self._column(position)]], dtype=np.int64)
        given = self._fixed | self._caches | self._kept(predicted.edits) | predicted.rows
        content, kind = predicted.replayed.get(position, _NOTHING_REPLAYED)
        given |= {"position": column, "replayed": np.array([[content]]), "replayed_kinds": np.array([[kind]])}
        outputs = self._predictor.run("content", given)
        scores: Floats = outputs["content_scores"].numpy()[0, 0]
        return scores

    def _run_waiting(self) -> None:
        """Run the edits that were appended since the last prediction, all at once."""
        if not self._waiting:
            return
        edits, features = [edit for edit, _ in self._waiting], [each for _, each in self._waiting]
        known = len(self.slots.edits) - len(edits)
        given = self._fixed | self._caches | self._kept(known) | self._edit_arrays(edits, features)
        outputs = self._predictor.run("step", given | self._relations())
        self._take(outputs)
        self._predicted += [None] * (len(edits) - 1) + [self._read(outputs)]
        self._waiting.clear()

    def _encode(self, state: Sequence[int]) -> None:
        padded = np.zeros((1, self._columns), dtype=np.int64)
        padded[0, : len(state)] = state
        mask = np.full((1, self._columns), _NEVER, dtype=np.float32)
        mask[0, : len(state)] = 0.0
        self._fixed: dict[str, Any] = {"state": padded, "mask": mask}
        outputs = self._predictor.run("encode", self._fixed | self._relations())
        self._predicted: list[Predicted | None] = [self._read(outputs)]  # after each number of edits that ran
        outputs = {name: self._predictor.own(value) for name, value in outputs.items()}
        self._fixed |= {
            name: value for name, value in outputs.items() if name.startswith(("state_", "copy_"))
        }
        self._take(outputs)
        self._waiting: list[tuple[Edit, EditFeatures]] = []  # applied, but not run yet

    def _take(self, outputs: dict[str, Any]) -> None:
        self._caches = {
            name.replace("present.", "past."): value
            for name, value in outputs.items()
            if name.startswith("present.")
        }

    def _read(self, outputs: dict[str, Any]) -> Predicted:
        scores = outputs["position_scores"].numpy()[0, 0]
        length = self.slots.state_length
        return Predicted(
            positions=np.concatenate([scores[:length], scores[self._columns :]]),
            because=outputs["because"].numpy()[0, 1:].copy(),  # row 0 is no edit
            edits=len(self.slots.edits),
            replayed=self._replayed(),
            # Copied out: a tensor would keep alive what else came from its run.
            rows={name: value.numpy().copy() for name, value in outputs.items() if name.startswith("row.")},
        )

    def _kept(self, count: int) -> dict[str, Any]:
        indices = np.arange(count + 1, dtype=np.int64)
        return {"kept": indices[:count], "kept_rows": indices}

    def _column(self, slot: int) -> int:
        return slot if slot < self.slots.state_length else slot - self.slots.state_length + self._columns

    def _edit_arrays(self, edits: Sequence[Edit], features: Sequence[EditFeatures]) -> dict[str, Any]:
        return {
            "positions": np.array([[self._column(edit.position) for edit in edits]], dtype=np.int64),
            "contents": np.array([[edit.content for edit in edits]], dtype=np.int64),
            "places": np.array([[f.place for f in features]], dtype=np.int64),
            "subjects": np.array([[f.subject for f in features]], dtype=np.int64),
            "deletions": np.array([[int(f.is_deletion) for f in features]], dtype=np.int64),
            "neighbours": np.array([[f.neighbours for f in features]], dtype=np.int64),
            "moves": np.array([[f.move for f in features]], dtype=np.int64),
            "steps": np.array([[f.step for f in features]], dtype=np.int64),
        }

    def _relations(self) -> dict[str, Any]:
        """What is known of each slot as a place for the next edit: as much of it as the graphs ask for."""
        places, wanted = self._places, self._predictor.relations
        known: dict[str, tuple[Callable[[], NDArray[Any]], int]] = {
            "alive": (lambda: places.current >= 0, False),
            "distances": (places.distances, NO_DISTANCE),
            "matches": (places.matches, NO_MATCH),
            "earlier_matches": (places.earlier_matches, NO_MATCH),
            "similarities": (places.similarities, NO_SIMILARITY),
            "replays": (places.replays, NO_REPLAY),
            "earlier_replays": (places.earlier_replays, NO_REPLAY),
        }
        return {
            name: self._by_column(find(), fill=fill) for name, (find, fill) in known.items() if name in wanted
        }

    def _replayed(self) -> dict[int, tuple[int, int]]:
        """What a precedent would have as content, and its kind, at the few slots where there is one."""
        if "replayed" not in self._predictor.relations:  # the graphs do not ask
            return {}
        contents, kinds = self._places.replayed()
        slots = np.flatnonzero(kinds != NO_PRECEDENT)
        pairs = zip(contents[slots].tolist(), kinds[slots].tolist(), strict=True)
        return dict(zip(slots.tolist(), pairs, strict=True))

    def _by_column(self, by_slot: NDArray[Any], fill: int | bool) -> NDArray[Any]:
        length = self.slots.state_length
        result = np.full((1, 1, self._columns + len(by_slot) - length), fill, dtype=by_slot.dtype)
        result[0, 0, :length] = by_slot[:length]
        result[0, 0, self._columns :] = by_slot[length:]
        return result


def _is_read(output: str) -> bool:
    """Is it for us, rather than for another graph?"""
    return output.endswith("_scores") or output == "because"


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
    if graph == "content":  # a packed copy of the largest matrix would be no faster for one row
        options.add_session_config_entry("session.disable_prepacking", "1")
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
