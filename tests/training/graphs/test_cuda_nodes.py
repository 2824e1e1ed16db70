"""Nodes without a CUDA kernel are found."""

from pathlib import Path

import pytest

from model.inference.bundle import DEFAULT
from training.graphs.cuda_nodes import find_library, list_fallbacks, read_kernels


def test_kernels_are_read_from_the_names_of_classes(tmp_path: Path) -> None:
    library = tmp_path / "library.so"
    library.write_bytes(
        b"\0N11onnxruntime4cuda8Split_18E\0N11onnxruntime7contrib4cuda11MatMulNBitsIfEE\0"
        b"N11onnxruntime4cuda9LayerNormIffE\0N11onnxruntime6OtherE\0N11onnxruntime4cuda7SoftmaxIfE\0"
    )
    expected = {"Split", "MatMulNBits", "LayerNormalization", "Softmax", "LogSoftmax"}
    assert read_kernels(library) == expected


def test_a_node_without_a_kernel_is_counted() -> None:
    everything = {"MatMulNBits"}
    fallbacks = list_fallbacks(DEFAULT, everything)
    assert set(fallbacks) == {"encode", "step", "content"}
    assert "MatMulNBits" not in fallbacks["step"]
    assert fallbacks["step"]["Softmax"] > 0
    assert "Shape" not in fallbacks["step"]


@pytest.mark.skipif(find_library() is None, reason="needs the GPU build of ONNX Runtime")
def test_no_node_of_the_shipped_bundle_falls_back() -> None:
    library = find_library()
    assert library is not None
    assert not any(list_fallbacks(DEFAULT, read_kernels(library)).values())
