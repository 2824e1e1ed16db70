"""A network as three ONNX graphs: one encodes a state, one takes a step, one scores the content at a position."""

import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from model.config import ModelConfig
from model.editing.edits import DELETE, END, START, Edit, Instance, Slots
from model.features.arrays import implicit_batch
from model.features.pointer_features import RELATIONS as RELATION_COUNT
from model.features.slot_positions import NEIGHBOURS
from model.inference import graph_names as names
from model.networks.incremental import (
    Chosen,
    EditTensors,
    IncrementalNetwork,
    Relations,
    Tensors,
    TorchBatch,
    gather_contexts,
    grow_all,
    sources_of,
)
from model.networks.next_edit import NextEdit

# Newer opsets turn attention into an operator that refuses our masks.
_OPSET = 20
RELATIONS = tuple(field.name for field in fields(Relations))
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
        results |= {names.new_of(name): value for name, value in grown.caches.items() if value.shape[1]}
        results |= {names.row_of(name): value for name, value in grown.rows.items()}
        results |= {names.POSITION_SCORES: torch.log_softmax(scores, dim=-1), names.BECAUSE: grown.because}
        self.outputs = list(results)
        return tuple(results.values())


class _Step(nn.Module):
    """encoded state, caches, new edits, relations -> what is new in the caches, the newest row, its position scores."""

    def __init__(self, network: IncrementalNetwork, encoded: Sequence[str], caches: Sequence[str]) -> None:
        super().__init__()
        self.network, self.encoded, self.caches = network, encoded, caches
        self.inputs = [
            names.MASK,
            *encoded,
            *map(names.past_of, caches),
            *names.EDIT_INPUTS.values(),
            *RELATIONS,
        ]
        self.outputs: list[str] = []

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        given = dict(zip(self.inputs, inputs, strict=True))
        encoded, caches = _split_inputs(given, self.encoded, self.caches)
        edits = EditTensors(**{feature: given[name] for feature, name in names.EDIT_INPUTS.items()})
        grown = self.network.append(encoded, caches, edits)
        rows = {name: value[:, -1:] for name, value in grown.rows.items()}
        relations = Relations(*(given[name] for name in RELATIONS))
        scores = self.network.point(encoded, grow_all(caches, grown.caches), rows, relations)
        results = {names.new_of(name): value for name, value in grown.caches.items()}
        results |= {names.row_of(name): value for name, value in rows.items()}
        results |= {names.POSITION_SCORES: torch.log_softmax(scores, dim=-1), names.BECAUSE: grown.because}
        self.outputs = list(results)
        return tuple(results.values())


class StepTogether(nn.Module):
    """The same step for several histories of different lengths; see model.inference.together."""

    def __init__(self, network: NextEdit, encoded: Sequence[str], firsts: dict[str, int], size: int) -> None:
        """`firsts`: the rows that each cache has before the first edit."""
        super().__init__()
        self.network, self.encoded, self.firsts, self.size = network, encoded, firsts, size
        own = [*encoded, *map(names.past_of, firsts)]
        self.inputs = [names.of_history(name, number) for name in own for number in range(size)]
        self.inputs += [names.MASK, names.STATE_INDEX, names.EDIT_INDEX, names.ROW_INDEX, names.AGES]
        self.inputs += [*names.EDIT_INPUTS.values(), *RELATIONS]
        self.outputs: list[str] = []

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        given = dict(zip(self.inputs, inputs, strict=True))
        encoded = {name: self._put_side_by_side(given, name) for name in self.encoded}
        encoded["state_mask"] = given[names.MASK].unsqueeze(1).unsqueeze(1)
        caches = {name: self._gather_cache(given, name) for name in self.firsts}
        edits = EditTensors(**{feature: given[name] for feature, name in names.EDIT_INPUTS.items()})
        grown = self.network.append(encoded, caches, edits, given[names.AGES])
        rows = {name: value[:, -1:] for name, value in grown.rows.items()}
        relations = Relations(*(given[name] for name in RELATIONS))
        scores = self.network.point(encoded, grow_all(caches, grown.caches), rows, relations)
        results = {
            names.of_history(names.new_of(name), number): value[number : number + 1]
            for name, value in grown.caches.items()
            for number in range(self.size)
        }
        results |= {names.row_of(name): value for name, value in rows.items()}
        results |= {names.POSITION_SCORES: torch.log_softmax(scores, dim=-1), names.BECAUSE: grown.because}
        self.outputs = list(results)
        return tuple(results.values())

    def _own(self, given: Tensors, name: str) -> list[Tensor]:
        return [given[names.of_history(name, number)] for number in range(self.size)]

    def _put_side_by_side(self, given: Tensors, name: str) -> Tensor:
        """Pad the encoded states of all histories to one length."""
        index, axis = given[names.STATE_INDEX], state_axis(name)
        flat = torch.cat(self._own(given, name), dim=axis).squeeze(0)
        picked = torch.unflatten(flat.index_select(axis - 1, index.flatten()), axis - 1, index.shape)
        return torch.movedim(picked, axis - 1, 0)

    def _gather_cache(self, given: Tensors, name: str) -> Tensor:
        """Pad the rows of all histories to one length."""
        index = given[names.ROW_INDEX if self.firsts[name] else names.EDIT_INDEX]
        flat = torch.cat(self._own(given, names.past_of(name)), dim=1).squeeze(0)
        return functional.embedding(index, flat)


def state_axis(name: str) -> int:
    """Give the axis of the columns in an encoded state."""
    return {names.STATE_KEYS: 3, names.STATE_VALUES: 2}.get(name, 1)


class _Content(nn.Module):
    """encoded state, caches, a row, a position's context and what can be copied -> content scores."""

    def __init__(
        self, network: IncrementalNetwork, encoded: Sequence[str], caches: Sequence[str], rows: Sequence[str]
    ) -> None:
        super().__init__()
        self.network, self.encoded, self.caches, self.rows = network, encoded, caches, rows
        self.inputs = [names.MASK, *encoded, *map(names.past_of, caches), *map(names.row_of, rows), *CHOSEN]
        self.outputs = [names.CONTENT_SCORES]

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        given = dict(zip(self.inputs, inputs, strict=True))
        encoded, caches = _split_inputs(given, self.encoded, self.caches)
        rows = {name: given[names.row_of(name)] for name in self.rows}
        chosen = Chosen(**{name: given[name] for name in CHOSEN})
        logits = self.network.contents(encoded, caches, rows, chosen)
        return (torch.log_softmax(logits, dim=-1),)


def _split_inputs(
    given: Tensors, encoded_names: Sequence[str], cache_names: Sequence[str]
) -> tuple[Tensors, Tensors]:
    """Pick the encoded state and the caches from a graph's inputs."""
    encoded = {name: given[name] for name in encoded_names}
    encoded["state_mask"] = given[names.MASK].unsqueeze(1).unsqueeze(1)
    return encoded, {name: given[names.past_of(name)] for name in cache_names}


@torch.no_grad()
def make_graphs(network: IncrementalNetwork, config: ModelConfig) -> dict[str, Any]:
    """Trace three graphs by example: a history of two edits, to which two more are appended."""
    batch = TorchBatch(
        implicit_batch([random_instance(config, length=37, edits=5, seed=0)], config.state_multiple)
    )
    columns = batch.state.shape[1]
    mask = torch.where(batch.state_mask, 0.0, -1e9)
    first = [getattr(batch, name)[:, :1, ..., :columns] for name in RELATIONS]
    encode = _Encode(network)
    outputs = _run(encode, [batch.state, mask, *first])
    encoded = [name for name in outputs if names.is_encoded(name)]
    rows = [names.row_name(name) for name in outputs if names.is_row(name)]
    caches = network.start(network.encode(batch.state, mask)).caches
    graphs = {
        names.ENCODE: _graph(encode, [names.STATE, names.MASK, *RELATIONS], [batch.state, mask, *first])
    }

    step = _Step(network, encoded, list(caches))
    common: Tensors = {names.MASK: mask} | {name: outputs[name] for name in encoded}
    # The second round's shapes are the example: nothing in it has size one.
    for start, stop in ((0, 2), (2, 4)):
        past = {names.past_of(name): value for name, value in caches.items()}
        edits = {name: getattr(batch, feature)[:, start:stop] for feature, name in names.EDIT_INPUTS.items()}
        relations = {
            name: getattr(batch, name)[:, stop : stop + 1, ..., : columns + stop] for name in RELATIONS
        }
        given = common | past | edits | relations
        example = [given[name] for name in step.inputs]
        outputs = _run(step, example)
        caches = grow_all(caches, {name: outputs[names.new_of(name)] for name in caches})
    graphs[names.STEP] = _graph(step, step.inputs, example)

    content = _Content(network, encoded, list(caches), rows)
    given = common | {names.past_of(name): value for name, value in caches.items()}
    given |= {names.row_of(name): outputs[names.row_of(name)] for name in rows}
    given |= {
        name: getattr(batch, name)[:, stop : stop + 1] for name in (names.REPLAYED, names.REPLAYED_KINDS)
    }
    given |= {
        names.CONTEXTS: gather_contexts(
            common, caches[names.EDIT_HIDDENS], batch.positions[:, stop : stop + 1]
        ),
        names.SOURCES: sources_of(batch.state, batch.subjects[:, :stop], given[names.REPLAYED]),
    }
    graphs[names.CONTENT] = _graph(content, content.inputs, [given[name] for name in content.inputs])
    return graphs


@torch.no_grad()
def make_graphs_together(network: IncrementalNetwork, config: ModelConfig) -> dict[str, Any]:
    """Trace the graphs that step several histories in one run, one for each number of histories."""
    if not isinstance(network, NextEdit):
        raise ValueError(f"only IA-next steps several histories in one run, not {config.model}")
    mask = torch.zeros(1, config.state_multiple)
    encoded = network.encode(torch.full((1, config.state_multiple), 5), mask)
    caches = network.start(encoded).caches
    firsts = {name: value.shape[1] for name, value in caches.items()}
    encoded = {
        name: value for name, value in encoded.items() if names.is_encoded(name) and name != "state_mask"
    }
    return {
        names.together(size): _trace_together(
            StepTogether(network, list(encoded), firsts, size), encoded, caches
        )
        for size in names.SIZES_TOGETHER
    }


def _trace_together(module: StepTogether, encoded: Tensors, caches: Tensors) -> Any:
    """Trace by an example in which no two sizes are equal by chance. Its values do not matter."""
    size, block = module.size, next(iter(encoded.values())).shape[1]
    past, new = 7, 3
    columns = (size + 1) * block
    own: Tensors = {}
    for number in range(size):
        for name, value in encoded.items():
            repeats = [1] * value.dim()
            repeats[state_axis(name)] = number + 2
            own[names.of_history(name, number)] = value.repeat(*repeats)
        for name, value in caches.items():
            rows = (1, past - number % 3 + module.firsts[name], *value.shape[2:])
            own[names.of_history(names.past_of(name), number)] = torch.zeros(rows)
    shared: Tensors = {
        names.MASK: torch.zeros(size, columns),
        names.STATE_INDEX: torch.zeros(size, columns, dtype=torch.int64),
        names.EDIT_INDEX: torch.zeros(size, past, dtype=torch.int64),
        names.ROW_INDEX: torch.zeros(size, past + 1, dtype=torch.int64),
        names.AGES: torch.ones(size, new, past + 1 + new, dtype=torch.int64),
        names.ALIVE: torch.ones(size, 1, columns + past + new, dtype=torch.bool),
        names.BUCKETS: torch.zeros(size, 1, RELATION_COUNT, columns + past + new, dtype=torch.int64),
    }
    for feature, name in names.EDIT_INPUTS.items():
        last = (NEIGHBOURS,) if feature == "neighbours" else ()
        shared[name] = torch.zeros(size, new, *last, dtype=torch.int64)
    example = [(own | shared)[name] for name in module.inputs]
    module(*example)  # it knows its outputs once it has run
    return _graph(module, module.inputs, example)


def _run(module: "_Encode | _Step", inputs: Sequence[Tensor]) -> Tensors:
    """Run a module and return its outputs by name; it knows their names once it has run."""
    results = module(*inputs)
    return dict(zip(module.outputs, results, strict=True))


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the exporter: it reports its passes and missing optional packages."""
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


def _graph(
    module: "_Encode | _Step | StepTogether | _Content", inputs: list[str], example: list[Tensor]
) -> Any:
    with _quiet():
        program = torch.onnx.export(
            module,
            tuple(value.contiguous() for value in example),
            input_names=inputs,
            output_names=list(module.outputs),
            dynamic_shapes=(tuple(map(_dynamic, inputs)),),
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
    """Name the axis of an input whose size changes from call to call."""
    if names.is_row(name) or name in (names.CONTEXTS, names.REPLAYED, names.REPLAYED_KINDS):
        return {}
    if name == names.AGES:
        return {1: torch.export.Dim.AUTO, 2: torch.export.Dim.AUTO}
    axes = {names.ALIVE: 2, names.BUCKETS: 3, names.SOURCES: 2}
    return {axes.get(name, state_axis(name.partition(".")[0])): torch.export.Dim.AUTO}


def _drop_unused_inputs(model: Any) -> None:
    """Remove the inputs that no node reads, so that the runtime need not compute them."""
    used = {name for node in model.graph.node for name in node.input}
    for value in [value for value in model.graph.input if value.name not in used]:
        model.graph.input.remove(value)


def _drop_notes(model: Any) -> None:
    """Remove the notes on where each node came from: they are larger than the graph."""
    del model.graph.value_info[:]
    for node in model.graph.node:
        del node.metadata_props[:]
        node.doc_string = ""


def random_instance(config: ModelConfig, *, length: int, edits: int, seed: int) -> Instance:
    """Make a random state and edits: an example to export a graph with, or to check one."""
    random = np.random.default_rng(seed)
    state = (START, *(int(t) for t in random.integers(4, config.vocabulary_size, length - 2)), END)
    slots = Slots(state)
    for _ in range(edits):
        position = int(random.integers(0, len(slots.order) - 1))
        delete = position > 0 and len(slots.order) > 3 and random.random() < 0.4
        slots.apply_explicit(
            Edit(position, DELETE if delete else int(random.integers(4, config.vocabulary_size)))
        )
    return Instance(state, tuple(slots.edits))
