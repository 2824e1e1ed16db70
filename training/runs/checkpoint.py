"""A training run on disk: JSON for the options, safetensors for the weights. No pickle.

config.json        the ModelConfig           fit.json          the FitConfig
last.safetensors   all that is needed to go on: weights, their running average, the optimizer, the random state
best.safetensors   the weights with the best accuracy on the dev split
metrics.jsonl      a line for each evaluation        bundle/   the bundle, when the run has finished
"""

import errno
import json
import os
import re
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from model.config import ModelConfig
from model.networks.build import build

CONFIG = "config.json"
FIT = "fit.json"
LAST = "last.safetensors"
BEST = "best.safetensors"
METRICS = "metrics.jsonl"
WEIGHTS = "weights.safetensors"  # of a bundle
BUNDLE = "bundle"

Tensors = dict[str, Tensor]


def write_json(path: Path, values: dict[str, Any]) -> None:
    _replace(path, lambda partial: partial.write_text(json.dumps(values, indent=1) + "\n"))


def save_tensors(path: Path, tensors: Tensors, progress: dict[str, Any]) -> None:
    """Tensors and a few numbers in one file, which is either the old one or the new one, never half of it."""
    contiguous = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    _replace(path, lambda partial: save_file(contiguous, partial, {"progress": json.dumps(progress)}))


def load_tensors(path: Path) -> tuple[Tensors, dict[str, Any]]:
    try:
        with safe_open(path, framework="pt") as file:
            progress = json.loads((file.metadata() or {}).get("progress", "{}"))
            return {name: file.get_tensor(name) for name in file.keys()}, progress  # noqa: SIM118 - not a dictionary
    except (SafetensorError, ValueError):
        raise ValueError(f"{path} is damaged: train again, or put a copy of it in its place") from None


def pack(network: nn.Module, optimizer: torch.optim.Optimizer, average: nn.Module | None) -> Tensors:
    """Everything that a run needs to go on as if it had not stopped."""
    tensors = {f"network.{name}": tensor for name, tensor in network.state_dict().items()}
    if average is not None:
        tensors |= {f"average.{name}": tensor for name, tensor in average.state_dict().items()}
    for number, state in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{number}.{name}": tensor for name, tensor in state.items()}
    return tensors | {"random": torch.get_rng_state()}


def unpack(
    tensors: Tensors, network: nn.Module, optimizer: torch.optim.Optimizer, average: nn.Module | None
) -> None:
    """The reverse of pack. Raises ValueError when the tensors are of another network."""
    try:
        _unpack(tensors, network, optimizer, average)
    except (KeyError, RuntimeError) as error:  # torch's word for weights of other names or shapes
        raise ValueError(f"the checkpoint is of another network: {error}") from None


def _unpack(
    tensors: Tensors, network: nn.Module, optimizer: torch.optim.Optimizer, average: nn.Module | None
) -> None:
    network.load_state_dict(_under("network.", tensors))
    if average is not None:
        average.load_state_dict(_under("average.", tensors))
    state: dict[int, Tensors] = {}
    for name, tensor in _under("optimizer.", tensors).items():
        number, field = name.split(".")
        state.setdefault(int(number), {})[field] = tensor
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
    torch.set_rng_state(tensors["random"])


def load_network(folder: Path) -> tuple[nn.Module, ModelConfig]:
    """The best network of a run, or that of a bundle."""
    weights = [path for name in (BEST, WEIGHTS, LAST) if (path := folder / name).is_file()]
    if not weights or not (folder / CONFIG).is_file():
        raise ValueError(
            f"{folder} is neither a training run nor a bundle: no {CONFIG} with weights beside it"
        )
    config = ModelConfig.from_text((folder / CONFIG).read_text())
    network = build(config)
    tensors, _ = load_tensors(weights[0])
    try:
        network.load_state_dict(_under("network.", tensors) if weights[0].name == LAST else tensors)
    except RuntimeError as error:  # torch's word for weights of other names or shapes
        raise ValueError(f"{weights[0]} does not hold the weights of this {config.model}: {error}") from None
    return network, config


def _under(prefix: str, tensors: Tensors) -> Tensors:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _replace(path: Path, write: Any) -> None:
    """Write a file beside the old one and put it in its place. Raises OSError, and leaves the old one, if that fails."""
    partial = path.with_name(path.name + ".partial")
    try:
        write(partial)
        os.replace(partial, path)
    except (OSError, SafetensorError) as error:
        partial.unlink(missing_ok=True)
        number = error.errno if isinstance(error, OSError) else _read_error_number(str(error))
        number = errno.EIO if number is None else number
        raise OSError(number, os.strerror(number), str(path)) from None


def _read_error_number(message: str) -> int | None:
    """The number of the system's error in a message of safetensors."""
    found = re.search(r"os error (\d+)", message)
    return int(found[1]) if found else None
