"""A trained implicit attention network as a bundle: three ONNX graphs that share one file of weights.

    python -m training.export RUN --out BUNDLE

Refuses to write a bundle whose graphs disagree with the network. What runs at each keystroke is then put into eight bits.
"""

import argparse
import json
import logging
import shutil
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx.external_data_helper import set_external_data
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from model.arrays import implicit_batch
from model.bundle import Bundle, BundleError, seal
from model.calibration import Calibration
from model.config import ModelConfig
from model.edits import DELETE, END, START, Edit, Instance, Slots
from model.networks.incremental import (
    Chosen,
    EditInputs,
    IncrementalNetwork,
    Relations,
    Tensors,
    TorchBatch,
    grow_all,
)
from model.predictor import Predictor
from model.tokenizer import Tokenizer
from training import checkpoint
from training.eight_bits import shrink
from training.examples import load_examples

# Newer opsets turn attention into an operator that refuses our masks.
_OPSET = 20
_TOLERANCE = 1e-4
_ROUNDED_TOLERANCE = 0.5  # what rounding makes of likely things is a tenth of it; a blunder is more
_NEGLIGIBLE = -12.0  # log-probability below which single precision itself is the difference
_SHARED_BYTES = 1024  # smaller weights stay in the graphs
_FROM_HOST = ("state", "mask")  # what every graph gets from the host rather than from another graph
RELATIONS = tuple(field.name for field in fields(Relations))
EDITS = tuple(field.name for field in fields(EditInputs))


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
        results = {name: value for name, value in encoded.items() if name not in ("state", "state_mask")}
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
        self.inputs = [*_FROM_HOST, *encoded, *(f"past.{name}" for name in caches), *EDITS, *RELATIONS]
        self.outputs: list[str] = []

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        given = dict(zip(self.inputs, inputs, strict=True))
        encoded, caches = _given(given, self.encoded, self.caches)
        edits = EditInputs(**{name: given[name] for name in EDITS})
        grown = self.network.append(encoded, caches, edits)
        rows = {name: value[:, -1:] for name, value in grown.rows.items()}
        relations = Relations(*(given[name] for name in RELATIONS))
        scores = self.network.point(encoded, grow_all(caches, grown.caches), rows, relations)
        # What the host gave is not given back to it.
        results = {f"new.{name}": value for name, value in grown.caches.items() if name not in EDITS}
        results |= {f"row.{name}": value for name, value in rows.items()}
        results |= {"position_scores": torch.log_softmax(scores, dim=-1), "because": grown.because}
        self.outputs = list(results)
        return tuple(results.values())


class _Content(nn.Module):
    """encoded state, caches, a row, a position -> content scores."""

    def __init__(
        self, network: IncrementalNetwork, encoded: Sequence[str], caches: Sequence[str], rows: Sequence[str]
    ) -> None:
        super().__init__()
        self.network, self.encoded, self.caches, self.rows = network, encoded, caches, rows
        self.inputs = [*_FROM_HOST, *encoded, *(f"past.{name}" for name in caches)]
        self.inputs += [*(f"row.{name}" for name in rows), "position", "replayed", "replayed_kinds"]
        self.outputs = ["content_scores"]

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        given = dict(zip(self.inputs, inputs, strict=True))
        encoded, caches = _given(given, self.encoded, self.caches)
        rows = {name: given[f"row.{name}"] for name in self.rows}
        chosen = Chosen(given["position"], given["replayed"], given["replayed_kinds"])
        logits = self.network.contents(encoded, caches, rows, chosen)
        return (torch.log_softmax(logits, dim=-1),)


def _given(
    given: Tensors, encoded_names: Sequence[str], cache_names: Sequence[str]
) -> tuple[Tensors, Tensors]:
    """The encoded state, and the caches."""
    encoded = {name: given[name] for name in encoded_names}
    encoded |= {"state": given["state"], "state_mask": given["mask"].unsqueeze(1).unsqueeze(1)}
    return encoded, {name: given[f"past.{name}"] for name in cache_names}


def export(
    network: IncrementalNetwork,
    config: ModelConfig,
    tokenizer: Tokenizer | None,
    directory: Path,
    *,
    name: str,
    calibration: Calibration | None = None,
    card: str | None = None,
) -> Bundle:
    """Write a bundle and check it against the network. A bundle that was there is replaced when the new one is whole."""
    if directory.exists() and any(directory.iterdir()) and not (directory / "manifest.json").is_file():
        raise ValueError(f"{directory} is not empty and not a bundle: it is not replaced")
    partial = directory.with_name(directory.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        _write_files(network.eval(), config, tokenizer, partial, name, calibration or Calibration(), card)
        graphs = _graphs(network, config)
        _write_graphs(graphs, partial, name)
        _refuse_disagreement(network, partial, _TOLERANCE)
        # Not the one that encodes: that has many rows for each matrix, and is not bound by reading them.
        if shrink(graphs["step"]) + shrink(graphs["content"]):
            _write_graphs(graphs, partial, name)
            _refuse_disagreement(network, partial, _ROUNDED_TOLERANCE)
        shutil.rmtree(directory, ignore_errors=True)
        partial.rename(directory)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return Bundle.load(directory)


def _write_files(
    network: IncrementalNetwork,
    config: ModelConfig,
    tokenizer: Tokenizer | None,
    directory: Path,
    name: str,
    calibration: Calibration,
    card: str | None,
) -> None:
    weights = {key: value.detach().contiguous() for key, value in network.state_dict().items()}
    save_file(weights, directory / "weights.safetensors")
    (directory / "config.json").write_text(json.dumps(config.to_json(), indent=2) + "\n")
    (directory / "calibration.json").write_text(json.dumps(calibration.to_json()) + "\n")
    (directory / "MODEL_CARD.md").write_text(card or f"# {name}\n\nA {config.model} network.\n")
    if tokenizer is not None:
        (directory / "tokenizer.json").write_text(tokenizer.json, encoding="utf-8")


def _write_graphs(graphs: dict[str, Any], directory: Path, name: str) -> None:
    for graph, model in graphs.items():
        sharing = onnx.ModelProto()
        sharing.CopyFrom(model)
        _share_weights(sharing, directory / "weights.safetensors")
        onnx.save_model(sharing, str(directory / f"{graph}.onnx"))
    seal(directory, name)


def _refuse_disagreement(network: IncrementalNetwork, directory: Path, tolerance: float) -> None:
    difference = disagreement(network, Predictor(Bundle.load(directory), device="cpu"))
    if difference > tolerance:
        raise ValueError(f"the exported graphs differ from the network by {difference:.2g}: nothing to ship")


@torch.no_grad()
def _graphs(network: IncrementalNetwork, config: ModelConfig) -> dict[str, Any]:
    """Three graphs by example: a history of one edit, to which two more are appended."""
    batch = TorchBatch(
        implicit_batch([_random_instance(config, length=37, edits=5, seed=0)], config.state_multiple)
    )
    columns = batch.state.shape[1]
    mask = torch.where(batch.state_mask, 0.0, -1e9)
    first = [getattr(batch, name)[:, :1, ..., :columns] for name in RELATIONS]
    encode = _Encode(network)
    outputs = _run(encode, [batch.state, mask, *first])
    encoded = [name for name in outputs if name.startswith(("state_", "copy_"))]
    rows = [name.removeprefix("row.") for name in outputs if name.startswith("row.")]
    caches = network.start(network.encode(batch.state, mask)).caches
    graphs = {"encode": _graph(encode, [*_FROM_HOST, *RELATIONS], [batch.state, mask, *first])}

    step = _Step(network, encoded, list(caches))
    common: Tensors = {"state": batch.state, "mask": mask} | {name: outputs[name] for name in encoded}
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
        new = edits | {name.removeprefix("new."): value for name, value in outputs.items()}
        caches = grow_all(caches, new)
    graphs["step"] = _graph(step, step.inputs, example)

    content = _Content(network, encoded, list(caches), rows)
    given = common | {f"past.{name}": value for name, value in caches.items()}
    given |= {f"row.{name}": outputs[f"row.{name}"] for name in rows}
    given |= {"position": torch.tensor([[3]]), "replayed": torch.tensor([[5]])}
    given["replayed_kinds"] = torch.tensor([[1]])
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
    if name.startswith(("row.", "replayed")) or name == "position":
        return {}
    axes = {"state_keys": 3, "state_values": 2, "alive": 2, "buckets": 3}
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


def _share_weights(model: Any, weights: Path) -> None:
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


ShapeAndBytes = tuple[tuple[int, ...], bytes]


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
    """Where the data of a safetensors file begin, and each tensor's entry in its header."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        entries = json.loads(file.read(length))
    entries.pop("__metadata__", None)
    return 8 + length, entries


def disagreement(network: IncrementalNetwork, predictor: Predictor) -> float:
    """The largest difference of log-probabilities between the network and the graphs, over random histories."""
    config, worst = network.config, 0.0
    for seed, (length, count) in enumerate([(5, 3), (53, 7), (190, 11)]):
        length = min(length, config.limit_tokens)  # a longer one is seen through a window
        instance = _random_instance(config, length=length, edits=count, seed=seed + 1)
        with torch.no_grad():
            scores = network(TorchBatch(implicit_batch([instance], config.state_multiple)))
        position = torch.log_softmax(scores.position, dim=-1)[0].numpy()
        content = torch.log_softmax(scores.content, dim=-1)[0].numpy()
        history = predictor.open(instance.state)
        padded = scores.position.shape[2] - count
        for index, edit in enumerate(instance.edits):
            predicted = history.predict()
            expected = np.concatenate([position[index, :length], position[index, padded : padded + index]])
            worst = max(worst, _difference(predicted.positions, expected))
            worst = max(worst, _difference(history.content(predicted, edit.position), content[index]))
            history.append([edit])
    return worst


def _difference(ours: NDArray[np.float32], expected: NDArray[np.float32]) -> float:
    """The largest difference of log-probabilities, of those that can matter."""
    return float(np.abs(ours - expected)[expected > _NEGLIGIBLE].max())


def _random_instance(config: ModelConfig, *, length: int, edits: int, seed: int) -> Instance:
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


def load_run(folder: Path) -> tuple[IncrementalNetwork, ModelConfig, Tokenizer | None]:
    """The network of a run or of a bundle, and the tokenizer of what it was trained on."""
    network, config = checkpoint.load_network(folder)
    if not isinstance(network, IncrementalNetwork):
        raise ValueError(
            f"{folder} holds the model {config.model}, which cannot be exported; the IA models can"
        )
    if (folder / "tokenizer.json").is_file():
        return network, config, Tokenizer((folder / "tokenizer.json").read_text(encoding="utf-8"))
    if not (folder / checkpoint.FIT).is_file():
        return network, config, None
    data = json.loads((folder / checkpoint.FIT).read_text())["data"]
    return network, config, load_examples(data, "train", count=1).tokenizer()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", type=Path, help="folder of a training run, or of a bundle to be made anew")
    parser.add_argument("--out", type=Path, required=True, help="folder of the bundle")
    parser.add_argument("--name", help="of the bundle; the folder's name unless given")
    options = parser.parse_args(arguments)
    try:
        network, config, tokenizer = load_run(options.run)
        name = options.name or options.out.resolve().name
        is_bundle = (options.run / "manifest.json").is_file()
        calibration = Bundle.load(options.run).calibration if is_bundle else None
        bundle = export(network, config, tokenizer, options.out, name=name, calibration=calibration)
    except (BundleError, ValueError, OSError) as error:
        print(f"export: {error}", file=sys.stderr)
        return 1
    print(f"{bundle.directory}: {bundle.name}, {config.model}, {bundle.sha256[:12]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
