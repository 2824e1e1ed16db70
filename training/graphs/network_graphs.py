"""A network as three ONNX graphs: what encodes a state, what takes a step, and what scores the content at a position."""

import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from model.config import ModelConfig
from model.editing.edits import DELETE, END, START, Edit, Instance, Slots
from model.features.arrays import implicit_batch
from model.networks.incremental import (
    Chosen,
    EditInputs,
    IncrementalNetwork,
    Relations,
    Tensors,
    TorchBatch,
    gather_contexts,
    grow_all,
    sources_of,
)

# Newer opsets turn attention into an operator that refuses our masks.
_OPSET = 20
RELATIONS = tuple(field.name for field in fields(Relations))
EDITS = tuple(field.name for field in fields(EditInputs))
# Not their times: nothing is later than the newest row.
CHOSEN = tuple(field.name for field in fields(Chosen) if field.name != "times")


class _Encode(nn.Module):
    """state, mask, relations -> encoded state, what caches begin with, row 0, its position scores."""

    def __init__(self, network: IncrementalNetwork) -> None:
        super().__init__()
        self.network = network
        self.outputs: list[str] = []

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        state, mask, *relations = inputs
        encoded = self.network.encode(state, mask)
        grown = self.network.start(encoded)
        scores = self.network.point(encoded, grown.caches, grown.rows, Relations(*relations))
        results = {name: value for name, value in encoded.items() if name != "state_mask"}
        results |= {f"new.{name}": value for name, value in grown.caches.items() if value.shape[1]}
        results |= {f"row.{name}": value for name, value in grown.rows.items()}
        results |= {"position_scores": torch.log_softmax(scores, dim=-1), "because": grown.because}
        self.outputs = list(results)
        return tuple(results.values())


class _Step(nn.Module):
    """encoded state, caches, new edits, relations -> what is new in the caches, the newest row, its position scores."""

    def __init__(self, network: IncrementalNetwork, encoded: Sequence[str], caches: Sequence[str]) -> None:
        super().__init__()
        self.network, self.encoded, self.caches = network, encoded, caches
        self.inputs = ["mask", *encoded, *(f"past.{name}" for name in caches), *EDITS, *RELATIONS]
        self.outputs: list[str] = []

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        given = dict(zip(self.inputs, inputs, strict=True))
        encoded, caches = _given(given, self.encoded, self.caches)
        edits = EditInputs(**{name: given[name] for name in EDITS})
        grown = self.network.append(encoded, caches, edits)
        rows = {name: value[:, -1:] for name, value in grown.rows.items()}
        relations = Relations(*(given[name] for name in RELATIONS))
        scores = self.network.point(encoded, grow_all(caches, grown.caches), rows, relations)
        results = {f"new.{name}": value for name, value in grown.caches.items()}
        results |= {f"row.{name}": value for name, value in rows.items()}
        results |= {"position_scores": torch.log_softmax(scores, dim=-1), "because": grown.because}
        self.outputs = list(results)
        return tuple(results.values())


class _Content(nn.Module):
    """encoded state, caches, a row, a position's context and what can be copied -> content scores."""

    def __init__(
        self, network: IncrementalNetwork, encoded: Sequence[str], caches: Sequence[str], rows: Sequence[str]
    ) -> None:
        super().__init__()
        self.network, self.encoded, self.caches, self.rows = network, encoded, caches, rows
        self.inputs = ["mask", *encoded, *(f"past.{name}" for name in caches)]
        self.inputs += [*(f"row.{name}" for name in rows), *CHOSEN]
        self.outputs = ["content_scores"]

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        given = dict(zip(self.inputs, inputs, strict=True))
        encoded, caches = _given(given, self.encoded, self.caches)
        rows = {name: given[f"row.{name}"] for name in self.rows}
        chosen = Chosen(**{name: given[name] for name in CHOSEN})
        logits = self.network.contents(encoded, caches, rows, chosen)
        return (torch.log_softmax(logits, dim=-1),)


def _given(
    given: Tensors, encoded_names: Sequence[str], cache_names: Sequence[str]
) -> tuple[Tensors, Tensors]:
    """The encoded state, and the caches."""
    encoded = {name: given[name] for name in encoded_names}
    encoded["state_mask"] = given["mask"].unsqueeze(1).unsqueeze(1)
    return encoded, {name: given[f"past.{name}"] for name in cache_names}


@torch.no_grad()
def graphs_of(network: IncrementalNetwork, config: ModelConfig) -> dict[str, Any]:
    """Three graphs by example: a history of two edits, to which two more are appended."""
    batch = TorchBatch(
        implicit_batch([random_instance(config, length=37, edits=5, seed=0)], config.state_multiple)
    )
    columns = batch.state.shape[1]
    mask = torch.where(batch.state_mask, 0.0, -1e9)
    first = [getattr(batch, name)[:, :1, ..., :columns] for name in RELATIONS]
    encode = _Encode(network)
    outputs = _run(encode, [batch.state, mask, *first])
    encoded = [name for name in outputs if name.startswith(("state_", "copy_"))]
    rows = [name.removeprefix("row.") for name in outputs if name.startswith("row.")]
    caches = network.start(network.encode(batch.state, mask)).caches
    graphs = {"encode": _graph(encode, ["state", "mask", *RELATIONS], [batch.state, mask, *first])}

    step = _Step(network, encoded, list(caches))
    common: Tensors = {"mask": mask} | {name: outputs[name] for name in encoded}
    # The second round's shapes are the example: nothing in it has size one.
    for start, stop in ((0, 2), (2, 4)):
        past = {f"past.{name}": value for name, value in caches.items()}
        edits = {name: getattr(batch, name)[:, start:stop] for name in EDITS}
        relations = {
            name: getattr(batch, name)[:, stop : stop + 1, ..., : columns + stop] for name in RELATIONS
        }
        given = common | past | edits | relations
        example = [given[name] for name in step.inputs]
        outputs = _run(step, example)
        caches = grow_all(caches, {name: outputs[f"new.{name}"] for name in caches})
    graphs["step"] = _graph(step, step.inputs, example)

    content = _Content(network, encoded, list(caches), rows)
    given = common | {f"past.{name}": value for name, value in caches.items()}
    given |= {f"row.{name}": outputs[f"row.{name}"] for name in rows}
    given |= {name: getattr(batch, name)[:, stop : stop + 1] for name in ("replayed", "replayed_kinds")}
    given |= {
        "contexts": gather_contexts(common, caches["edit_hiddens"], batch.positions[:, stop : stop + 1]),
        "sources": sources_of(batch.state, batch.subjects[:, :stop], given["replayed"]),
    }
    graphs["content"] = _graph(content, content.inputs, [given[name] for name in content.inputs])
    return graphs


def _run(module: "_Encode | _Step", inputs: Sequence[Tensor]) -> Tensors:
    """The outputs of a module with their names, which it knows when it has run."""
    results = module(*inputs)
    return dict(zip(module.outputs, results, strict=True))


@contextmanager
def _quiet() -> Iterator[None]:
    """The exporter tells of its passes and of what it does not find; none of it concerns us."""
    loggers = [logging.getLogger(name) for name in ("torch.onnx", "onnxscript", "onnx_ir")]
    levels = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.ERROR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _graph(module: "_Encode | _Step | _Content", names: list[str], example: list[Tensor]) -> Any:
    with _quiet():
        program = torch.onnx.export(
            module,
            tuple(value.contiguous() for value in example),
            input_names=names,
            output_names=list(module.outputs),
            dynamic_shapes=(tuple(_dynamic(name) for name in names),),
            opset_version=_OPSET,
            external_data=False,
            optimize=True,
            verbose=False,
        )
    assert program is not None
    model = program.model_proto
    _drop_unused_inputs(model)
    _drop_notes(model)
    return model


def _dynamic(name: str) -> dict[int, Any]:
    """The axis of an input whose size changes from call to call."""
    if name.startswith(("row.", "replayed")) or name == "contexts":
        return {}
    axes = {"state_keys": 3, "state_values": 2, "alive": 2, "buckets": 3, "sources": 2}
    return {axes.get(name, 1): torch.export.Dim.AUTO}


def _drop_unused_inputs(model: Any) -> None:
    """A network that has no use for an input does not ask for it."""
    used = {name for node in model.graph.node for name in node.input}
    for value in [value for value in model.graph.input if value.name not in used]:
        model.graph.input.remove(value)


def _drop_notes(model: Any) -> None:
    """Where each node came from in the source is of no use in a bundle, and larger than the graph."""
    del model.graph.value_info[:]
    for node in model.graph.node:
        del node.metadata_props[:]
        node.doc_string = ""


def random_instance(config: ModelConfig, *, length: int, edits: int, seed: int) -> Instance:
    """A state and edits of it, all at random: an example for a graph to be made from, or to be checked with."""
    random = np.random.default_rng(seed)
    state = (START, *(int(t) for t in random.integers(4, config.vocabulary_size, length - 2)), END)
    slots = Slots(state)
    for _ in range(edits):
        place = int(random.integers(0, len(slots.order) - 1))
        delete = place > 0 and len(slots.order) > 3 and random.random() < 0.4
        slots.apply_explicit(
            Edit(place, DELETE if delete else int(random.integers(4, config.vocabulary_size)))
        )
    return Instance(state, tuple(slots.edits))
