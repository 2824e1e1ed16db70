"""Mining jobs: one for each repository, in parts that survive a broken run, by several processes."""

import json
import multiprocessing
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Any

from tqdm import tqdm

from model.editing.tokenizer import Tokenizer, hash_of
from training.data.dataset import DatasetWriter, ShardWriter, read_shard_notes
from training.data.line_cache import CachingTokenizer
from training.sources.corpus import SPLITS, Repository
from training.sources.filters import LIMIT_BYTES, language_of, sampling_share
from training.sources.git import (
    ExcludedCommits,
    Modification,
    group_by_file,
    list_modifications,
    read_versions,
    sizes_at,
)
from training.trajectories.instances import InstanceMaker, instance_maker_for
from training.trajectories.mining_setting import DIFFERENCES, MiningSetting

_NICE = 10  # mining is in no hurry; the machine is a person's
_PART_PAIRS = 1000  # pairs in a part: what a broken run loses at most
_TRAIN_TO_OTHERS = 6  # how many times more pairs of a training repository are taken than of a dev or test one
_BYTES_OF_TOKEN = 4  # more than that is rare
_LIMIT_FILES_OF_COMMIT = 30  # of a larger commit only so many files are taken


@dataclass(frozen=True)
class MiningJob:
    """All that a process needs to mine one repository."""

    repository: Repository
    tokenizer_path: Path
    setting: MiningSetting
    parts: Path  # the folder of the parts of all repositories
    exclusions: tuple[str, ...] = ()
    limit_pairs: int = 60_000
    languages: tuple[str, ...] = ()
    seed: int = 0

    @property
    def folder(self) -> Path:
        # One repository can have two splits, by time.
        return self.parts / f"{self.repository.name.replace('/', '+')}.{self.repository.split}"

    def shards(self) -> list[Path]:
        """The finished parts."""
        return sorted(path for path in self.folder.glob("part-*") if path.suffix != ".partial")

    def identity(self, vocabulary: str) -> dict[str, Any]:
        """Everything that decides the result: parts of another identity are of no use."""
        return {
            "commit": self.repository.commit,
            "split": self.repository.split,
            "vocabulary": vocabulary,
            "setting": self.setting.to_json(),
            "exclusions": sha256("\n".join(self.exclusions).encode()).hexdigest(),
            "limit_pairs": self.limit_pairs,
            "languages": list(self.languages),
            "seed": self.seed,
        }


_progress: "Synchronized[int]"


def start_process(progress: "Synchronized[int]") -> None:
    global _progress
    _progress = progress
    if sys.platform != "win32":
        os.nice(max(0, _NICE - os.nice(0)))


def order_jobs(jobs: Iterable[MiningJob]) -> list[MiningJob]:
    """Put small splits first, then a mix of sizes and languages, so that a stopped run is useful."""
    return sorted(
        jobs, key=lambda job: (job.repository.split == "train", _draw(job.repository.name, job.seed))
    )


def run_jobs(jobs: list[MiningJob], processes: int) -> None:
    """Mine all repositories in processes of this machine."""
    jobs = order_jobs(jobs)
    context = multiprocessing.get_context("spawn")
    progress = context.Value("q", 0)
    with (
        context.Pool(processes, start_process, (progress,)) as pool,
        tqdm(unit=" pairs", smoothing=0.05) as bar,
    ):
        pending = [pool.apply_async(mine_repository, (job,)) for job in jobs]
        while pending:
            pending[0].wait(1.0)
            bar.update(progress.value - bar.n)
            bar.set_postfix(repositories=f"{len(jobs) - len(pending)}/{len(jobs)}", refresh=False)
            finished = [result for result in pending if result.ready()]
            for result in finished:
                result.get()
            pending = [result for result in pending if result not in finished]


def mine_repository(job: MiningJob) -> None:
    """Mine one repository, part by part; parts that are there already are kept."""
    tokenizer = CachingTokenizer(job.tokenizer_path.read_text(encoding="utf-8"))
    _remove_other_parts(job, hash_of(tokenizer.spellings))
    if (job.folder / "done").is_file():
        return
    counts: Counter[str] = Counter()
    repository = job.repository
    found = list_modifications(repository.path, repository.commit, ExcludedCommits(job.exclusions), counts)
    groups = group_by_file(_sample(found, job, counts))
    for number, part in enumerate(_split_into_parts(groups)):
        shard = job.folder / f"part-{number:03d}"
        if not shard.is_dir():
            maker = instance_maker_for(job.setting, tokenizer, job.seed)
            maker.counts.update(counts if number == 0 else {})
            _mine_part(repository, part, maker, ShardWriter(shard, len(tokenizer)))
    (job.folder / "done").touch()


def _remove_other_parts(job: MiningJob, vocabulary: str) -> None:
    """Remove the parts that a job of another identity left under this job's name."""
    path, identity = job.folder / "identity.json", job.identity(vocabulary)
    if not path.is_file() or json.loads(path.read_text()) != identity:
        shutil.rmtree(job.folder, ignore_errors=True)
        job.folder.mkdir(parents=True)
        path.write_text(json.dumps(identity))


def _mine_part(
    repository: Repository, groups: Sequence[Sequence[Modification]], maker: InstanceMaker, shard: ShardWriter
) -> None:
    for runs in read_versions(repository.path, groups):
        for run in runs:
            for mined in maker.make(run):
                maker.counts[f"instances: {mined.kind.name.lower()}"] += 1
                shard.append(*mined)
            with _progress.get_lock():
                _progress.value += len(run.modifications)
    shard.close({"counts": dict(maker.counts)})


def _sample(found: Iterable[Modification], job: MiningJob, counts: Counter[str]) -> list[Modification]:
    """Fewer files of huge commits, of prose, of huge repositories. Whole files: their versions stay together."""
    files: Counter[str] = Counter()
    taken: list[Modification] = []
    found = _drop_large_files(found, job, counts) if job.setting.name == "paper" else found
    for modification in found:
        files[modification.commit] += 1
        if job.languages and language_of(modification.path) not in job.languages:
            counts["other language"] += 1
        elif _draw(modification.path, job.seed) >= sampling_share(modification.path):
            counts["sampled out"] += 1
        elif files[modification.commit] > _LIMIT_FILES_OF_COMMIT:
            counts["large commit"] += 1
        else:
            taken.append(modification)
    limit = job.limit_pairs if job.repository.split == "train" else job.limit_pairs // _TRAIN_TO_OTHERS
    if len(taken) <= limit:
        return taken
    share = limit / len(taken)
    kept = [m for m in taken if _draw("limit:" + m.path, job.seed) < share]
    counts["sampled out"] += len(taken) - len(kept)
    return kept


def _drop_large_files(
    found: Iterable[Modification], job: MiningJob, counts: Counter[str]
) -> Iterator[Modification]:
    """Leave out the files that were large in the end: hardly any of their versions fits."""
    sizes = sizes_at(job.repository.path, job.repository.commit)
    for modification in found:
        if sizes.get(modification.path, LIMIT_BYTES) <= _BYTES_OF_TOKEN * job.setting.limit_state:
            yield modification
        else:
            counts["too large"] += 1


def _draw(text: str, seed: int) -> float:
    """A number in [0, 1) that depends on the text alone, so that a resumed run decides alike."""
    return (
        int.from_bytes(sha256(f"{seed}:{text}".encode("utf-8", "surrogatepass")).digest()[:6], "big")
        / 2.0**48
    )


def _split_into_parts(groups: Sequence[list[Modification]]) -> Iterator[list[list[Modification]]]:
    part: list[list[Modification]] = []
    for group in groups:
        part.append(group)
        if sum(map(len, part)) >= _PART_PAIRS:
            yield part
            part = []
    yield part


def join_parts(jobs: Sequence[MiningJob], tokenizer: Tokenizer, out: Path) -> dict[str, Any]:
    """Write one dataset of the finished parts of all jobs; return its manifest."""
    writer = DatasetWriter(out, len(tokenizer), hash_of(tokenizer.spellings))
    for split in SPLITS:
        shards = [shard for job in jobs if job.repository.split == split for shard in job.shards()]
        if shards:
            writer.join(split, shards, seed=jobs[0].seed)
    counts: Counter[str] = Counter()
    for job in jobs:
        of_repository: Counter[str] = Counter()
        if not job.shards():
            continue  # its turn did not come: it is no source of this dataset
        for shard in job.shards():
            of_repository.update(read_shard_notes(shard)["counts"])
        counts.update(of_repository)
        repository = job.repository
        writer.manifest["sources"].append(
            {
                "repository": repository.name,
                "commit": repository.commit,
                "licence": repository.licence,
                "split": repository.split,
                "counts": dict(of_repository),
            }
        )
    setting = jobs[0].setting
    writer.manifest["counts"] = dict(counts.most_common())
    writer.manifest["setting"] = setting.to_json() | {
        "seed": jobs[0].seed,
        "limit_pairs": jobs[0].limit_pairs,
        "difference": DIFFERENCES[setting.name],
    }
    writer.close(tokenizer.json)
    return writer.manifest
