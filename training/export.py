"""A trained implicit attention network as a bundle: three ONNX graphs that share one file of weights.

    python -m training.export RUN --out BUNDLE
    python -m training.export RUN --out BUNDLE --device cuda      for a GPU

Refuses to write a bundle whose graphs disagree with the network. What runs at each keystroke is then put into eight bits. For
a GPU it stays in single precision, and graphs are added that step several histories in one run.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file

from model.config import ModelConfig
from model.editing.tokenizer import Tokenizer
from model.features.arrays import implicit_batch
from model.inference import graph_names as names
from model.inference.bundle import Bundle, BundleError, read_manifest, seal
from model.inference.calibration import Calibration
from model.inference.predictor import Predictor
from model.networks.incremental import IncrementalNetwork, TorchBatch
from model.proposals import judge
from training.data.examples import load_examples
from training.graphs.eight_bits import shrink
from training.graphs.network_graphs import make_graphs, make_graphs_together, random_instance
from training.graphs.shared_weights import share_weights
from training.runs import checkpoint

_TOLERANCE = 1e-4
_ROUNDED_TOLERANCE = 0.5  # what rounding makes of likely things is a tenth of it; a blunder is more
_NEGLIGIBLE = -12.0  # log-probability below which single precision itself is the difference


def export(
    network: IncrementalNetwork,
    config: ModelConfig,
    tokenizer: Tokenizer | None,
    directory: Path,
    *,
    name: str,
    calibration: Calibration | None = None,
    card: str | None = None,
    device: str = "cpu",
) -> Bundle:
    """Write a bundle and check it against the network. A bundle that was there is replaced when the new one is whole."""
    if directory.exists() and any(directory.iterdir()) and not (directory / "manifest.json").is_file():
        raise ValueError(f"{directory} is not empty and not a bundle: it is not replaced")
    partial = directory.with_name(directory.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        _write_files(network.eval(), config, tokenizer, partial, name, calibration or Calibration(), card)
        graphs = make_graphs(network, config)
        _write_graphs(graphs, partial, name)
        _refuse_disagreement(network, partial, _TOLERANCE)
        # Not the one that encodes: that has many rows for each matrix, and is not bound by reading them.
        if device == "cuda":
            graphs |= make_graphs_together(network, config)
            _write_graphs(graphs, partial, name)
            _refuse_disagreement(network, partial, _TOLERANCE)
        elif shrink(graphs[names.STEP]) + shrink(graphs[names.CONTENT]):
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
        share_weights(sharing, directory / "weights.safetensors")
        onnx.save_model(sharing, str(directory / f"{graph}.onnx"))
    seal(directory, name)


def _refuse_disagreement(network: IncrementalNetwork, directory: Path, tolerance: float) -> None:
    difference = measure_disagreement(network, Predictor(Bundle.load(directory), device="cpu"))
    if difference > tolerance:
        raise ValueError(f"the exported graphs differ from the network by {difference:.2g}: nothing to ship")


def measure_disagreement(network: IncrementalNetwork, predictor: Predictor) -> float:
    """Measure the largest difference of log-probabilities between the network and the graphs, over random histories."""
    config, worst = network.config, 0.0
    for seed, (length, count) in enumerate([(5, 3), (53, 7), (190, 11)]):
        length = min(length, config.limit_tokens)  # a longer one is seen through a window
        instance = random_instance(config, length=length, edits=count, seed=seed + 1)
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
    """Find the largest difference of those log-probabilities that can matter."""
    return float(np.abs(ours - expected)[expected > _NEGLIGIBLE].max())


def load_run(folder: Path) -> tuple[IncrementalNetwork, ModelConfig, Tokenizer | None]:
    """Load the network of a run or of a bundle, and the tokenizer of its training data."""
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


class _Known(NamedTuple):
    """The parts of a bundle that a run does not have."""

    name: str | None = None
    calibration: Calibration | None = None
    card: str | None = None


def _read_known(folder: Path) -> _Known:
    """Read the parts of a bundle of any format that a run does not have."""
    if not (folder / "manifest.json").is_file():
        return _Known()
    manifest = read_manifest(folder)
    calibration = Calibration.from_json(json.loads((folder / "calibration.json").read_text()))
    return _Known(manifest["name"], calibration, (folder / "MODEL_CARD.md").read_text())


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", type=Path, help="folder of a training run, or of a bundle to export again")
    parser.add_argument("--out", type=Path, required=True, help="folder of the bundle")
    parser.add_argument(
        "--name", help="of the bundle; by default that of the bundle to export again, or the folder's"
    )
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="that the bundle is for")
    options = parser.parse_args(arguments)
    try:
        network, config, tokenizer = load_run(options.run)
        known = _read_known(options.run)
        bundle = export(
            network,
            config,
            tokenizer,
            options.out,
            name=options.name or known.name or options.out.resolve().name,
            calibration=known.calibration,
            card=known.card,
            device=options.device,
        )
        if (options.run / judge.FILE).is_file():  # it judges the same network
            shutil.copy(options.run / judge.FILE, bundle.directory)
            seal(bundle.directory, bundle.name)
            bundle = Bundle.load(bundle.directory)
    except (BundleError, ValueError, OSError) as error:
        print(f"export: {error}", file=sys.stderr)
        return 1
    print(f"{bundle.directory}: {bundle.name}, {config.model}, {bundle.sha256[:12]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
