"""A training run on several workers of a Ray cluster. A worker that dies is replaced, and the run resumes from its checkpoint."""

from pathlib import Path

import ray
from ray.train import FailureConfig, RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer

from training.runs import checkpoint
from training.runs.fit_config import FitConfig
from training.runs.training_run import TrainingRun
from training.runs.workers import Workers

_LIMIT_FAILURES = 3


def fit_on_ray(config: FitConfig, folder: Path, workers: int) -> None:
    """Train until the budget is spent. The folder must be the same on each node."""
    folder.mkdir(parents=True, exist_ok=True)
    is_ours = not ray.is_initialized()
    if is_ours:
        ray.init(include_dashboard=False)
    try:
        trainer = TorchTrainer(
            _train,
            train_loop_config={"config": config, "folder": folder},
            scaling_config=ScalingConfig(
                num_workers=workers, use_gpu=config.device != "cpu", resources_per_worker={"CPU": 1}
            ),
            run_config=RunConfig(
                name=folder.name,
                storage_path=str(folder.resolve().with_name(folder.name + ".ray")),
                failure_config=FailureConfig(max_failures=_LIMIT_FAILURES),
            ),
        )
        trainer.fit()
    finally:
        if is_ours:
            ray.shutdown()


def _train(options: dict[str, object]) -> None:
    """Run one worker. Ray calls it again after a failure: then there is a checkpoint to go on from."""
    config, folder = options["config"], options["folder"]
    assert isinstance(config, FitConfig)
    assert isinstance(folder, Path)
    run = TrainingRun(config, folder, Workers())
    if (folder / checkpoint.LAST).is_file():
        run.resume()
    else:
        run.save()  # a failure before the next checkpoint begins here again
    run.fit()
