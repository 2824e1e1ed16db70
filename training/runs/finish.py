"""The end of a training run: measure the best network, write the report and the bundle."""

import contextlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

from torch import nn

from model.config import ModelConfig
from model.inference.bundle import seal
from model.networks.incremental import IncrementalNetwork
from training.data.batches import Batches, BatchSize
from training.data.examples import load_examples
from training.runs import checkpoint
from training.runs.accuracy import measure_accuracy
from training.runs.training_run import TrainingRun
from training.sources.origin import describe_origin

_INSTANCES = 1_000  # as many as a synthetic split has; their order on disk is random


def finish_run(run: TrainingRun) -> dict[str, Any]:
    """Measure the best network on the test split, write the report and, for IA, the bundle."""
    network, config = checkpoint.load_network(run.folder)
    report: dict[str, Any] = {
        "fit": asdict(run.config),
        "progress": asdict(run.progress),
        "parameters": sum(parameter.numel() for parameter in network.parameters()),
    }
    with contextlib.suppress(ValueError):  # a dataset need not have a test split
        report["test"] = measure_split(network, config, run, "test")
    checkpoint.write_json(run.folder / "report.json", report)
    if isinstance(network, IncrementalNetwork):
        from training.export import export  # onnx is slow to import and only this needs it

        network.cpu()
        export(
            network,
            config,
            run.examples.tokenizer(),
            run.folder / checkpoint.BUNDLE,
            name=run.folder.name,
        )
        origin = describe_origin(run.config.seed, Path(run.config.data))
        seal(run.folder / checkpoint.BUNDLE, run.folder.name, {"network": origin | {"data": run.config.data}})
    return report


def measure_split(network: nn.Module, config: ModelConfig, run: TrainingRun, split: str) -> dict[str, Any]:
    """The accuracy of a network on a split of a run's data: all of a synthetic one, of a large one its beginning."""
    size = BatchSize(run.config.batch, run.config.batch_tokens)
    batches = Batches(load_examples(run.config.data, split, count=_INSTANCES), config, size)
    return measure_accuracy(network.to(run.device), batches, run.device).to_json()
