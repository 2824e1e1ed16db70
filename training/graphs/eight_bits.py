"""The matrices of a graph in eight bits.

A step takes one row through every matrix of the network: the time goes to reading them, and eight bits are a quarter as much to
read. Each block of a column is rounded to multiples of a scale of its own. The runtime rounds the row in the same way, block
by block, multiplies integers, and adds the bias while it is there. A row comes out the same alone or among others, so a history
run edit by edit and the same one run at once still agree.
"""

from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

_BLOCKS = (64, 32)  # rows of a matrix that share a scale, in each column; the first that divides it
_LEAST_SIZE = 16_384  # numbers in a matrix that is worth it: a smaller one is in the processor's cache anyway
_LARGEST = 127
_ZERO = 128  # how zero is stored
_DOMAIN = "com.microsoft"
_MULTIPLY_INTEGERS = 4  # the runtime's name for it


def shrink(model: Any) -> int:
    """Put the matrices of a graph into eight bits, and count them."""
    graph = model.graph
    weights = {tensor.name: tensor for tensor in graph.initializer}
    turned = {node.output[0]: node.input[0] for node in graph.node if node.op_type == "Transpose"}
    shrunk = 0
    for node in [node for node in graph.node if node.op_type == "MatMul"]:
        name = turned.get(node.input[1], node.input[1])
        if name not in weights:
            continue
        matrix = onnx.numpy_helper.to_array(weights[name])
        matrix = matrix.T if node.input[1] in turned else matrix
        block = _block(matrix)
        if block:
            _replace(graph, node, matrix, block, _bias_after(graph, node, weights))
            shrunk += 1
    if shrunk:
        model.opset_import.append(onnx.helper.make_opsetid(_DOMAIN, 1))
        _drop_unused(graph)
    return shrunk


def rounded(matrix: NDArray[np.float32], block: int) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """(rows, columns) -> (columns, blocks, block), and the scales (columns, blocks)."""
    blocks = matrix.T.reshape(matrix.shape[1], -1, block)
    scales = np.abs(blocks).max(axis=2) / _LARGEST
    scales[scales == 0] = 1.0  # nothing but zeros
    whole = np.rint(blocks / scales[..., None])
    return (whole + _ZERO).astype(np.uint8), scales.astype(np.float32)


def _block(matrix: NDArray[np.float32]) -> int | None:
    if matrix.ndim != 2 or matrix.size < _LEAST_SIZE:
        return None
    return next((block for block in _BLOCKS if matrix.shape[0] % block == 0), None)


def _bias_after(graph: Any, node: Any, weights: dict[str, Any]) -> tuple[Any, str] | None:
    """The one sum that the product goes into, if it is with a bias, and the name of the bias."""
    users = [user for user in graph.node if node.output[0] in user.input]
    if len(users) != 1 or users[0].op_type != "Add":
        return None
    (other,) = [name for name in users[0].input if name != node.output[0]]
    is_bias = other in weights and len(weights[other].dims) == 1
    return (users[0], other) if is_bias else None


def _replace(
    graph: Any, node: Any, matrix: NDArray[np.float32], block: int, bias: tuple[Any, str] | None
) -> None:
    values, scales = rounded(matrix, block)
    tensors = [
        onnx.numpy_helper.from_array(values, f"{node.output[0]}.eight_bits"),
        onnx.numpy_helper.from_array(scales, f"{node.output[0]}.scales"),
    ]
    graph.initializer.extend(tensors)
    inputs, output = [node.input[0], *(tensor.name for tensor in tensors)], node.output[0]
    if bias:
        addition, name = bias
        inputs, output = [*inputs, "", "", name], addition.output[0]  # two inputs that we have no use for
        graph.node.remove(addition)
    product = onnx.helper.make_node(
        "MatMulNBits",
        inputs,
        [output],
        name=node.name,
        domain=_DOMAIN,
        K=matrix.shape[0],
        N=matrix.shape[1],
        bits=8,
        block_size=block,
        accuracy_level=_MULTIPLY_INTEGERS,
    )
    graph.node.insert(list(graph.node).index(node), product)
    graph.node.remove(node)


def _drop_unused(graph: Any) -> None:
    """Matrices that nothing reads any more, and what turned them."""
    for node in [node for node in graph.node if node.op_type == "Transpose"]:
        if node.output[0] not in _read(graph):
            graph.node.remove(node)
    for tensor in [tensor for tensor in graph.initializer if tensor.name not in _read(graph)]:
        graph.initializer.remove(tensor)


def _read(graph: Any) -> set[str]:
    """The names of all that is read, inside of a graph or from outside."""
    return {name for node in graph.node for name in node.input} | {value.name for value in graph.output}
