"""Mining jobs: parts that are kept, parts that are not, and one dataset of all of them."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.training.test_mine import mirrors, tokenizer  # noqa: F401  (fixtures)
from tests.training.tokenizers import small_tokenizer
from training.data.dataset import Dataset
from training.sources.corpus import repository_at
from training.trajectories.jobs import MiningJob, join_parts, run_jobs
from training.trajectories.mining_setting import PRODUCT


@pytest.fixture
def job(mirrors: Path, tokenizer: Path, tmp_path: Path) -> MiningJob:  # noqa: F811
    repository = repository_at(mirrors / "owner" / "one", "train")
    return MiningJob(repository, tokenizer, PRODUCT, tmp_path / "parts")


def test_several_processes_mine_what_one_does(job: MiningJob, mirrors: Path, tmp_path: Path) -> None:  # noqa: F811
    other = replace(job, repository=repository_at(mirrors / "owner" / "two", "dev"))
    datasets = []
    for processes in (1, 2):
        jobs = [replace(one, parts=tmp_path / f"parts-{processes}") for one in (job, other)]
        run_jobs(jobs, processes)
        join_parts(jobs, small_tokenizer(), tmp_path / f"data-{processes}")
        datasets.append(Dataset.load(tmp_path / f"data-{processes}"))
    assert datasets[0].manifest == datasets[1].manifest
    for split in ("train", "dev"):
        assert list(datasets[0].split(split)) == list(datasets[1].split(split))


def test_the_identity_tells_jobs_of_other_results_apart(job: MiningJob) -> None:
    others = [replace(job, seed=1), replace(job, limit_pairs=7), replace(job, languages=("go",))]
    others.append(replace(job, exclusions=("abc",)))
    identities = [str(one.identity("vocabulary")) for one in (job, *others)]
    assert len(set(identities)) == len(identities)
    assert job.identity("vocabulary") == replace(job, parts=Path("elsewhere")).identity("vocabulary")


def test_a_job_whose_turn_did_not_come_is_no_source(job: MiningJob, tmp_path: Path) -> None:
    run_jobs([job], 1)
    waiting = replace(job, repository=replace(job.repository, name="owner/other"))
    manifest = join_parts([job, waiting], small_tokenizer(), tmp_path / "data")
    assert [source["repository"] for source in manifest["sources"]] == [job.repository.name]
