"""Mining as jobs: one for each repository, in parts that survive a broken run, by several processes."""

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

from model.editing.tokenizer import hash_of
from training.data.dataset import ShardWriter
from training.sources.corpus import Repository
from training.sources.git import (
    LIMIT_BYTES,
    Exclusions,
    Modification,
    grouped,
    keep_share,
    language_of,
    modifications,
    read_versions,
    sizes_at,
)
from training.trajectories.excerpts import Setting
from training.trajectories.miners import Miner, miner_of
from training.trajectories.trajectory import RememberingTokenizer

_NICE = 10  # mining is in no hurry; the machine is a person's
_PART_PAIRS = 1000  # pairs in a part: what a broken run loses at most
_TRAIN_TO_OTHERS = 6  # how many times more pairs of a training repository are taken than of a dev or test one
_BYTES_OF_TOKEN = 4  # more than that is rare
_LIMIT_FILES_OF_COMMIT = 30  # of a larger commit only so many files are taken


@dataclass(frozen=True)
class Job:
    """All that a process needs to mine one repository."""

    repository: Repository
    tokenizer_path: Path
    setting: Setting
    parts: Path  # the folder of the parts of all repositories
    exclusions: tuple[str, ...] = ()
    limit_pairs: int = 60_000
    languages: tuple[str, ...] = ()
    seed: int = 0

    @property
    def folder(self) -> Path:
        return self.parts / self.repository.name.replace("/", "+")

    def shards(self) -> list[Path]:
        """The finished parts."""
        return sorted(path for path in self.folder.glob("part-*") if path.suffix != ".partial")

    def identity(self, vocabulary: str) -> dict[str, Any]:
        """Whatever decides what is mined: parts of another identity are of no use."""
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


def _start(progress: "Synchronized[int]") -> None:
    global _progress
    _progress = progress
    if sys.platform != "win32":
        os.nice(max(0, _NICE - os.nice(0)))


def run(jobs: list[Job], processes: int) -> None:
    """Small splits first; the rest in an order that mixes sizes and languages, for whoever breaks off early."""
    jobs = sorted(
        jobs, key=lambda job: (job.repository.split == "train", _draw(job.repository.name, job.seed))
    )
    context = multiprocessing.get_context("spawn")
    progress = context.Value("q", 0)
    with context.Pool(processes, _start, (progress,)) as pool, tqdm(unit=" pairs", smoothing=0.05) as bar:
        pending = [pool.apply_async(mine_repository, (job,)) for job in jobs]
        while pending:
            pending[0].wait(1.0)
            bar.update(progress.value - bar.n)
            bar.set_postfix(repositories=f"{len(jobs) - len(pending)}/{len(jobs)}", refresh=False)
            finished = [result for result in pending if result.ready()]
            for result in finished:
                result.get()
            pending = [result for result in pending if result not in finished]


def mine_repository(job: Job) -> None:
    """Mine one repository, part by part; parts that are there already are kept."""
    tokenizer = RememberingTokenizer(job.tokenizer_path.read_text(encoding="utf-8"))
    if _is_done(job, hash_of(tokenizer.spellings)):
        return
    counts: Counter[str] = Counter()
    repository = job.repository
    found = modifications(repository.path, repository.commit, Exclusions(job.exclusions), counts)
    groups = grouped(_sample(found, job, counts))
    for number, part in enumerate(_parts(groups)):
        shard = job.folder / f"part-{number:03d}"
        if not shard.is_dir():
            miner = miner_of(job.setting, tokenizer, job.seed)
            miner.counts.update(counts if number == 0 else {})
            _mine_part(repository, part, miner, ShardWriter(shard, len(tokenizer)))
    (job.folder / "done").touch()


def _is_done(job: Job, vocabulary: str) -> bool:
    """Is the whole repository mined? Removes what another job has left under its name."""
    path, identity = job.folder / "identity.json", job.identity(vocabulary)
    if not path.is_file() or json.loads(path.read_text()) != identity:
        shutil.rmtree(job.folder, ignore_errors=True)
        job.folder.mkdir(parents=True)
        path.write_text(json.dumps(identity))
    return (job.folder / "done").is_file()


def _mine_part(
    repository: Repository, groups: Sequence[Sequence[Modification]], miner: Miner, shard: ShardWriter
) -> None:
    for runs in read_versions(repository.path, groups):
        for run in runs:
            for mined in miner.instances(run):
                miner.counts[f"instances: {mined.kind.name.lower()}"] += 1
                shard.append(*mined)
            with _progress.get_lock():
                _progress.value += len(run.modifications)
    shard.close({"counts": dict(miner.counts)})


def _sample(found: Iterable[Modification], job: Job, counts: Counter[str]) -> list[Modification]:
    """Fewer files of huge commits, of prose, of huge repositories. Whole files: their versions stay together."""
    files: Counter[str] = Counter()
    taken: list[Modification] = []
    found = _small(found, job, counts) if job.setting.name == "paper" else found
    for modification in found:
        files[modification.commit] += 1
        if job.languages and language_of(modification.path) not in job.languages:
            counts["other language"] += 1
        elif _draw(modification.path, job.seed) >= keep_share(modification.path):
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


def _small(found: Iterable[Modification], job: Job, counts: Counter[str]) -> Iterator[Modification]:
    """Of the files that were large in the end hardly any version fits: not worth reading."""
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


def _parts(groups: Sequence[list[Modification]]) -> Iterator[list[list[Modification]]]:
    part: list[list[Modification]] = []
    for group in groups:
        part.append(group)
        if sum(map(len, part)) >= _PART_PAIRS:
            yield part
            part = []
    yield part
