"""GraphRunner: runs the graphs of a bundle. The only file that imports ONNX Runtime."""

import contextlib
import ctypes
import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Before it is loaded: it would report to its makers, and nothing leaves the machine.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import onnxruntime

from model.inference import graph_names as names
from model.inference.bundle import Bundle, BundleError

Floats = NDArray[np.float32]
# A keystroke brings one row at a time. For one row the runtime's plain matrix product is faster than these fusions.
_SLOWER_FUSIONS = ("MatMulScaleFusion", "MatMulAddFusion")
_ENCODE_THREADS = 2  # an encoding is worth two


class CacheShape(NamedTuple):
    """A cache that the graphs keep: some numbers for each edit."""

    past: str  # the input that reads it
    new: str  # the output that writes its new rows
    row_shape: tuple[int, ...]
    row_bytes: int
    first: int  # rows before the first edit: none or one


class GraphRunner:
    """The three graphs of a bundle, loaded on a device."""

    def __init__(
        self, bundle: Bundle, device: str = "auto", *, encode_threads: int = _ENCODE_THREADS
    ) -> None:
        self._providers = providers = _choose_providers(device)
        self.device = "cuda" if providers[0] == "CUDAExecutionProvider" else "cpu"
        self._sessions = {graph: _load(bundle, graph, providers, encode_threads) for graph in names.GRAPHS}
        self.provider: str = self._sessions[names.STEP].get_providers()[0]
        if device == "cuda" and self.provider != "CUDAExecutionProvider":
            raise BundleError("device cuda was asked for, but ONNX Runtime cannot use it here")
        self.inputs = {graph: _read_shapes(s.get_inputs()) for graph, s in self._sessions.items()}
        self.outputs = {graph: _read_shapes(s.get_outputs()) for graph, s in self._sessions.items()}
        self.rows = {
            name: tuple(shape) for name, shape in self.outputs[names.STEP].items() if names.is_row(name)
        }
        self.caches = self._find_caches()
        self._check_network(bundle)
        # An encoding needs many times the memory that it leaves behind: the runtime gives it back.
        self._options = onnxruntime.RunOptions()
        self._options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")

    def load_together(self, bundle: Bundle) -> None:
        """Load the graphs that step several histories in one run, if the bundle has them."""
        for size in names.SIZES_TOGETHER:
            graph = names.together(size)
            if not (bundle.directory / f"{graph}.onnx").is_file():
                continue
            session = _load(bundle, graph, self._providers)
            self._sessions[graph] = session
            self.inputs[graph] = _read_shapes(session.get_inputs())
            self.outputs[graph] = _read_shapes(session.get_outputs())

    @property
    def sizes_together(self) -> list[int]:
        """The numbers of histories that can be stepped in one run, largest first."""
        return [size for size in names.SIZES_TOGETHER if names.together(size) in self._sessions]

    def make_binding(self, graph: str) -> Any:
        """Make an empty list of what a graph reads and writes."""
        return self._sessions[graph].io_binding()

    def run(self, graph: str, binding: Any) -> None:
        self._sessions[graph].run_with_iobinding(binding, self._options if graph == names.ENCODE else None)

    def allocate(self, shape: tuple[int, ...]) -> Any:
        """Allocate a tensor on the device."""
        return onnxruntime.OrtValue.ortvalue_from_shape_and_type(shape, np.float32, self.device, 0)

    def copy_to_device(self, values: Floats) -> Any:
        return onnxruntime.OrtValue.ortvalue_from_numpy(values, self.device, 0)

    def keep_output(self, value: Any) -> Any:
        """Make an output last: on the CPU by a copy, which does not keep the memory of the whole run alive."""
        if self.device != "cpu":
            return value
        return onnxruntime.OrtValue.ortvalue_from_numpy(value.numpy().copy())

    def _find_caches(self) -> list[CacheShape]:
        """Find the caches: what one graph reads as past and the step graph writes as new."""
        result = []
        for past, shape in (self.inputs[names.CONTENT] | self.inputs[names.STEP]).items():
            cache = names.cache_of(past)
            if cache is None or names.new_of(cache) not in self.outputs[names.STEP]:
                continue
            row_shape = tuple(shape[2:])
            row_bytes = np.dtype(np.float32).itemsize * math.prod(row_shape)
            first = int(names.new_of(cache) in self.outputs[names.ENCODE])
            result.append(CacheShape(past, names.new_of(cache), row_shape, row_bytes, first))
        return result

    def _check_network(self, bundle: Bundle) -> None:
        """Refuse graphs that are not of the network in the configuration."""
        config = bundle.config
        sizes = (
            self.outputs[names.CONTENT].get(names.CONTENT_SCORES, [0])[-1],
            self.outputs[names.ENCODE].get(names.STATE_HIDDENS, [0])[-1],
        )
        if sizes != (config.vocabulary_size, config.hidden_size) or not self.caches:
            raise BundleError(
                f"the graphs in {bundle.directory} are not of the network in config.json, or of another version"
            )


def _read_shapes(values: Sequence[Any]) -> dict[str, list[Any]]:
    return {value.name: value.shape for value in values}


def load_small_graph(path: Path) -> onnxruntime.InferenceSession:
    """Load a graph that is too small for a second thread or a GPU, such as the judge."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # ONNX Runtime's own exceptions share no public base class
        raise BundleError(f"ONNX Runtime cannot read {path}: {type(error).__name__}") from error


def _load(
    bundle: Bundle, graph: str, providers: list[str], encode_threads: int = 1
) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    # A step is bound by memory and dispatch: a second thread makes it slower.
    options.intra_op_num_threads = encode_threads if graph == names.ENCODE else 1
    options.inter_op_num_threads = 1
    # A helper in an editor must not spin.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.enable_mem_pattern = False  # every length is new: a plan for each would only hold memory
    # The C library does as well for the small tensors of a step, and gets back what a closed history held.
    options.enable_cpu_mem_arena = graph == names.ENCODE
    options.log_severity_level = 3
    path = bundle.directory / f"{graph}.onnx"
    unwanted = None if graph == names.ENCODE else list(_SLOWER_FUSIONS)
    try:
        return onnxruntime.InferenceSession(
            str(path), options, providers=providers, disabled_optimizers=unwanted
        )
    except Exception as error:  # ONNX Runtime's own exceptions share no public base class
        raise BundleError(f"ONNX Runtime cannot read {path}: {type(error).__name__}") from error


def _choose_providers(device: str) -> list[str]:
    """Choose CUDA where it is wanted and works, the CPU otherwise, without noise."""
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


def explain_cpu(provider: str) -> str | None:
    """Say in one sentence why a runtime that was installed for a GPU runs on the CPU; None when there is nothing to say."""
    if (
        provider == "CUDAExecutionProvider"
        or "CUDAExecutionProvider" not in onnxruntime.get_available_providers()
    ):
        return None
    if not _has_cuda_driver():
        return "There is no CUDA driver on this machine: the service runs on the CPU."
    return "The CUDA libraries cannot be loaded, or the device is cpu: the service runs on the CPU."


def _has_cuda_driver() -> bool:
    try:
        ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return False
    return True
