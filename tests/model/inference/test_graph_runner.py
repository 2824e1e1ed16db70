"""The graphs of the tiny bundle, loaded."""

import pytest

from model.inference import graph_names as names
from model.inference.bundle import BundleError
from model.inference.graph_runner import GraphRunner
from model.inference.predictor import Predictor


def test_a_device_that_is_not_there_is_refused(predictor: Predictor) -> None:
    assert predictor.provider == "CPUExecutionProvider"
    if "CUDAExecutionProvider" not in __import__("onnxruntime").get_available_providers():
        with pytest.raises(BundleError, match="device cuda was asked for"):
            Predictor(predictor.bundle, "cuda")


def test_the_caches_are_those_that_one_graph_writes_and_another_reads(predictor: Predictor) -> None:
    runner = GraphRunner(predictor.bundle, "cpu")
    assert {cache.past for cache in runner.caches} >= {names.past_of(names.EDIT_HIDDENS)}
    for cache in runner.caches:
        assert cache.past in runner.inputs[names.STEP] | runner.inputs[names.CONTENT]
        assert cache.new in runner.outputs[names.STEP]
        assert cache.first == (cache.new in runner.outputs[names.ENCODE])
        assert cache.row_bytes == 4 * cache.row_shape[0]
    assert runner.rows
    assert set(runner.rows) <= set(runner.inputs[names.CONTENT])
