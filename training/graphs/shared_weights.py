"""Graphs that share one file of weights: each weight is stored once."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import onnx
from numpy.typing import NDArray
from onnx.external_data_helper import set_external_data
from safetensors import safe_open

_SHARED_BYTES = 1024  # smaller weights stay in the graphs
ShapeAndBytes = tuple[tuple[int, ...], bytes]


def share_weights(model: Any, weights: Path) -> None:
    """Let each initializer that is a weight, or the transpose of one, be read from the file of weights.

    So a weight is stored once, not in each graph. The runtime folds the transpositions away when it loads a graph."""
    begin, entries = _safetensors_layout(weights)
    plain, transposed = _by_content(weights, entries)
    shared: set[str] = set()
    for tensor in list(model.graph.initializer):
        content = _content(onnx.numpy_helper.to_array(tensor))
        key = plain.get(content) or transposed.get(content)
        if key is None or len(content[1]) < _SHARED_BYTES:
            continue
        operator = "Identity" if content in plain else "Transpose"
        model.graph.node.insert(0, onnx.helper.make_node(operator, [f"weights.{key}"], [tensor.name]))
        model.graph.initializer.remove(tensor)
        if key not in shared:
            shared.add(key)
            offset, end = entries[key]["data_offsets"]
            model.graph.initializer.append(
                _external(f"weights.{key}", entries[key]["shape"], weights.name, begin + offset, end - offset)
            )


def _content(array: NDArray[Any]) -> ShapeAndBytes:
    """Shape and bytes: two weights that are all zeros are alike in their bytes alone."""
    return array.shape, array.tobytes()


def _by_content(
    weights: Path, entries: dict[str, Any]
) -> tuple[dict[ShapeAndBytes, str], dict[ShapeAndBytes, str]]:
    """The names of the weights by their content, and those of matrices by the content of their transpose."""
    with safe_open(weights, framework="np") as file:
        values = {key: file.get_tensor(key) for key in entries}
    plain = {_content(value): key for key, value in values.items()}
    return plain, {_content(value.T): key for key, value in values.items() if value.ndim == 2}


def _external(name: str, shape: Sequence[int], file: str, offset: int, length: int) -> Any:
    tensor = onnx.TensorProto(name=name, data_type=onnx.TensorProto.FLOAT, dims=shape, raw_data=b"\0")
    set_external_data(tensor, file, offset=offset, length=length)
    tensor.ClearField("raw_data")
    return tensor


def _safetensors_layout(path: Path) -> tuple[int, dict[str, Any]]:
    """Find where the data of a safetensors file begin, and each tensor's entry in its header."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        entries = json.loads(file.read(length))
    entries.pop("__metadata__", None)
    return 8 + length, entries
