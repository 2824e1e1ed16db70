"""Gradient-boosted trees as ONNX: two boosters of LightGBM become the two outputs of one graph.

Written with `onnx.helper` from the boosters' own dump: a converter would be one more dependency for one node.
"""

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

_OPSET, _ML_OPSET = 17, 3


def export_judge(boosters: dict[str, Any], features: tuple[str, ...]) -> onnx.ModelProto:
    """One graph with the input `features` and a probability in [0, 1] for each booster, by its name."""
    nodes, outputs = [], []
    for name, booster in boosters.items():
        nodes.append(make_ensemble(booster, f"{name}_raw"))
        nodes.append(helper.make_node("Sigmoid", [f"{name}_raw"], [name]))
        outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, 1]))
    given = helper.make_tensor_value_info("features", TensorProto.FLOAT, [None, len(features)])
    graph = helper.make_graph(nodes, "judge", [given], outputs)
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid("ai.onnx.ml", _ML_OPSET)]
    model = helper.make_model(graph, opset_imports=opsets, producer_name="likewise")
    model.ir_version = 9
    helper.set_model_props(model, {"features": ",".join(features)})
    onnx.checker.check_model(model)
    return model


def make_ensemble(booster: Any, output: str) -> onnx.NodeProto:
    """All trees of a booster as one TreeEnsembleRegressor."""
    columns: dict[str, list[Any]] = {
        key: []
        for key in (
            "nodes_treeids",
            "nodes_nodeids",
            "nodes_featureids",
            "nodes_modes",
            "nodes_values",
            "nodes_truenodeids",
            "nodes_falsenodeids",
            "nodes_missing_value_tracks_true",
            "target_treeids",
            "target_nodeids",
            "target_ids",
            "target_weights",
        )
    }
    for tree, info in enumerate(booster.dump_model()["tree_info"]):
        _add_node(info["tree_structure"], tree, columns)
    attributes: dict[str, Any] = columns | {
        "n_targets": 1,
        "aggregate_function": "SUM",
        "post_transform": "NONE",
    }
    return helper.make_node(
        "TreeEnsembleRegressor",
        ["features"],
        [output],
        domain="ai.onnx.ml",
        **attributes,
    )


def _add_node(node: dict[str, Any], tree: int, columns: dict[str, list[Any]]) -> int:
    """Add a node with all below it and return its id in the tree."""
    number = columns["nodes_nodeids"][-1] + 1 if tree in columns["nodes_treeids"][-1:] else 0
    is_leaf = "leaf_value" in node
    values = {
        "nodes_treeids": tree,
        "nodes_nodeids": number,
        "nodes_featureids": 0 if is_leaf else node["split_feature"],
        "nodes_modes": "LEAF" if is_leaf else "BRANCH_LEQ",
        # ONNX compares single precision: round down, so that a value on the threshold stays on its side.
        "nodes_values": 0.0 if is_leaf else _round_down(node["threshold"]),
        "nodes_truenodeids": 0,
        "nodes_falsenodeids": 0,
        "nodes_missing_value_tracks_true": 0,
    }
    at = len(columns["nodes_treeids"])
    for key, value in values.items():
        columns[key].append(value)
    if is_leaf:
        for key, value in (
            ("target_treeids", tree),
            ("target_nodeids", number),
            ("target_ids", 0),
            ("target_weights", node["leaf_value"]),
        ):
            columns[key].append(value)
        return number
    columns["nodes_truenodeids"][at] = _add_node(node["left_child"], tree, columns)
    columns["nodes_falsenodeids"][at] = _add_node(node["right_child"], tree, columns)
    return number


def _round_down(value: float) -> float:
    single = np.float32(value)
    # As plain floats: numpy would compare them in single precision.
    return float(single if float(single) <= value else np.nextafter(single, np.float32(-np.inf)))
