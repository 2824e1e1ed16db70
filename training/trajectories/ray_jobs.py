"""Mining jobs as tasks of a Ray cluster: one for each repository.

All nodes see the repositories and the folder of the parts at the same paths. A task that is lost is run again, and keeps the
parts that are there; so the dataset is the one that a single process makes.
"""

import multiprocessing
from collections.abc import Sequence

import ray
from tqdm import tqdm

from training.trajectories.jobs import MiningJob, mine_repository, order_jobs, start_process

_LIMIT_RETRIES = 3


def run_jobs_on_ray(jobs: Sequence[MiningJob]) -> None:
    """Mine all repositories on a running cluster, or on one that is started on this machine."""
    is_ours = not ray.is_initialized()
    if is_ours:
        ray.init(include_dashboard=False)
    try:
        task = ray.remote(num_cpus=1, max_retries=_LIMIT_RETRIES)(_mine)
        pending = [task.remote(job) for job in order_jobs(jobs)]
        with tqdm(total=len(pending), unit=" repositories") as bar:
            while pending:
                done, pending = ray.wait(pending)
                ray.get(done)
                bar.update(len(done))
    finally:
        if is_ours:
            ray.shutdown()


def _mine(job: MiningJob) -> None:
    start_process(multiprocessing.Value("q", 0))
    mine_repository(job)
