"""Matrices in eight bits: nearly the same products, from a quarter of the bytes."""

from typing import Any

import numpy as np
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from training.graphs.eight_bits import rounded, shrink

Floats = NDArray[np.float32]


def random_matrix(rows: int, columns: int, seed: int = 0) -> Floats:
    random = np.random.default_rng(seed)
    scale: Floats = 10.0 ** random.integers(-3, 3, columns).astype(np.float32)  # columns of all sizes
    matrix: Floats = random.standard_normal((rows, columns)).astype(np.float32) * scale
    return matrix


def random_rows(size: int, count: int = 40) -> Floats:
    rows: Floats = np.random.default_rng(9).standard_normal((1, count, size)).astype(np.float32)
    return rows


def model_of(nodes: list[Any], weights: dict[str, Floats], rows: int, outputs: list[str]) -> Any:
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, None, rows])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def run(model: Any, x: Floats) -> list[Floats]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    return list(session.run(None, {"x": x}))


def operators(model: Any) -> list[str]:
    return [node.op_type for node in model.graph.node]


def relative_error(ours: Floats, expected: Floats) -> float:
    """Column by column: a large one must not hide what happens in a small one."""
    return float((np.abs(ours - expected).mean(axis=1) / np.abs(expected).mean(axis=1)).max())


def linear(matrix: Floats, bias: Floats) -> Any:
    nodes = [
        helper.make_node("MatMul", ["x", "matrix"], ["product"]),
        helper.make_node("Add", ["product", "bias"], ["y"]),
    ]
    return model_of(nodes, {"matrix": matrix, "bias": bias}, matrix.shape[0], ["y"])


@given(st.integers(0, 2**32 - 1), st.sampled_from([32, 64]))
def test_rounding_is_to_the_nearest_multiple_of_the_scale(seed: int, block: int) -> None:
    matrix = random_matrix(128, 5, seed)
    values, scales = rounded(matrix, block)
    again = ((values.astype(np.float32) - 128) * scales[..., None]).reshape(5, 128).T
    largest = np.repeat(scales, block, axis=1).T / 2
    assert (np.abs(again - matrix) <= largest * 1.001).all()
    assert values.min() >= 1  # as far below zero as above: none is cut off


def test_zeros_stay_zeros() -> None:
    values, scales = rounded(np.zeros((64, 2), np.float32), 64)
    assert (values == 128).all()
    assert np.isfinite(scales).all()


@pytest.mark.parametrize(("rows", "columns"), [(192, 576), (384, 192), (96, 512)])
def test_a_linear_layer_becomes_one_product(rows: int, columns: int) -> None:
    matrix, bias = random_matrix(rows, columns), random_matrix(columns, 1)[:, 0]
    model = linear(matrix, bias)
    assert shrink(model) == 1
    assert operators(model) == ["MatMulNBits"]
    x = random_rows(rows)
    (ours,) = run(model, x)
    assert relative_error(ours, x @ matrix + bias) < 0.02
    assert len(model.SerializeToString()) < matrix.nbytes / 3


def test_a_row_comes_out_the_same_alone_or_among_others() -> None:
    """So a history run edit by edit agrees with the same one run at once."""
    model = linear(random_matrix(192, 192), np.zeros(192, np.float32))
    shrink(model)
    x = random_rows(192)
    (together,) = run(model, x)
    alone = np.concatenate([run(model, x[:, i : i + 1])[0] for i in range(x.shape[1])], axis=1)
    assert np.array_equal(alone, together)


def test_a_matrix_that_is_stored_the_other_way_round() -> None:
    """As an embedding that scores words too: the rows are still looked up in full precision."""
    matrix = random_matrix(300, 64)
    nodes = [
        helper.make_node("Transpose", ["matrix"], ["turned"], perm=[1, 0]),
        helper.make_node("MatMul", ["x", "turned"], ["y"]),
        helper.make_node("Gather", ["matrix", "row"], ["z"]),
    ]
    model = model_of(nodes, {"matrix": matrix, "row": np.array([7])}, 64, ["y", "z"])
    assert shrink(model) == 1
    assert operators(model) == ["MatMulNBits", "Gather"]
    x = random_rows(64)
    ours, row = run(model, x)
    assert relative_error(ours, x @ matrix.T) < 0.02
    assert np.array_equal(row[0], matrix[7])


@pytest.mark.parametrize("is_shared", [True, False])
def test_a_sum_that_is_no_bias_is_left(is_shared: bool) -> None:
    """A value that other nodes read too must stay without the bias; and the added value may be another row."""
    matrix, bias = random_matrix(128, 128), random_matrix(128, 1)[:, 0]
    nodes = [
        helper.make_node("MatMul", ["x", "matrix"], ["product"]),
        helper.make_node("Add", ["product", "bias" if is_shared else "x"], ["y"]),
        helper.make_node("Relu", ["product" if is_shared else "y"], ["z"]),
    ]
    model = model_of(nodes, {"matrix": matrix, "bias": bias}, 128, ["y", "z"])
    assert shrink(model) == 1
    assert operators(model) == ["MatMulNBits", "Add", "Relu"]
    x = random_rows(128)
    product = x @ matrix
    ours, positive = run(model, x)
    assert relative_error(ours, product + (bias if is_shared else x)) < 0.02
    assert (positive >= 0).all()


@pytest.mark.parametrize(("rows", "columns"), [(24, 72), (100, 400)])
def test_small_and_odd_matrices_are_left(rows: int, columns: int) -> None:
    model = linear(random_matrix(rows, columns), np.zeros(columns, np.float32))
    before = model.SerializeToString()
    assert shrink(model) == 0
    assert model.SerializeToString() == before
