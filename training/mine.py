"""Program: histories to a dataset.

    python -m training.mine tokenizer REPO... --vocabulary 8192 --out tokenizer.json
    python -m training.mine git REPO... --tokenizer tokenizer.json --out DIR [--setting product|paper]
    python -m training.mine vscode-history [DIR] --tokenizer tokenizer.json --out DIR
    python -m training.mine recordings [DIR] --tokenizer tokenizer.json --out DIR

A REPO is a path to a git repository; or, with --corpus FILE.toml and --mirrors DIR, a name in that file (none: all).
Mining is resumable: finished parts stay in DIR.parts until the dataset is complete.
"""

import argparse
import json
import multiprocessing
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from random import Random
from typing import Any

from tqdm import tqdm

from model.tokenizer import Tokenizer, hash_of, train
from training.corpus import SPLITS, Repository, read_corpus, repository_at
from training.dataset import DatasetWriter, ShardWriter, shard_notes
from training.miners import Miner, miner_of
from training.mining import (
    LIMIT_BYTES,
    Exclusions,
    Modification,
    files_at,
    grouped,
    keep_share,
    language_of,
    modifications,
    read_texts,
    read_versions,
    rejected_text,
    sizes_at,
)
from training.own import recorded, saved_sessions, write_own
from training.recordings import default_folder
from training.sessions import RememberingTokenizer
from training.vscode_history import default_folders
from training.windows import DIFFERENCES, SETTINGS, Setting, Windows

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
    parts: Path
    exclusions: tuple[str, ...]
    limit_pairs: int
    languages: tuple[str, ...]
    seed: int


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except ValueError as error:
        print(f"mine: {error}", file=sys.stderr)
        return 2


def find_repositories(options: argparse.Namespace) -> list[Repository]:
    """The repositories asked for: by path, or by their names in a corpus file."""
    if options.corpus is None:
        return [repository_at(Path(path), options.split) for path in options.repositories]
    return read_corpus(options.corpus, options.mirrors, options.repositories)


# Histories


def mine_git(options: argparse.Namespace) -> int:
    setting = replace(SETTINGS[options.setting], **_changed_settings(options))
    tokenizer = Tokenizer(options.tokenizer.read_text(encoding="utf-8"))
    exclusions = tuple(options.exclude_commits.read_text().split()) if options.exclude_commits else ()
    repositories = find_repositories(options)
    parts = options.out.with_name(options.out.name + ".parts")
    identity = {"tokenizer": hash_of(tokenizer.spellings), "setting": setting.to_json(), "seed": options.seed}
    _claim(parts, identity)
    jobs = [
        Job(
            repository,
            options.tokenizer,
            setting,
            parts,
            exclusions,
            options.limit_pairs,
            tuple(options.language),
            options.seed,
        )
        for repository in repositories
    ]
    _run(jobs, options.processes)
    writer = DatasetWriter(options.out, len(tokenizer), hash_of(tokenizer.spellings))
    counts: Counter[str] = Counter()
    for split in SPLITS:
        shards = [shard for r in repositories if r.split == split for shard in _shards(parts, r)]
        if shards:
            writer.join(split, shards, seed=options.seed)
    for repository in repositories:
        of_repository: Counter[str] = Counter()
        for shard in _shards(parts, repository):
            of_repository.update(shard_notes(shard)["counts"])
        counts.update(of_repository)
        writer.manifest["sources"].append(
            {
                "repository": repository.name,
                "commit": repository.commit,
                "licence": repository.licence,
                "split": repository.split,
                "counts": dict(of_repository),
            }
        )
    writer.manifest["counts"] = dict(counts.most_common())
    writer.manifest["setting"] = setting.to_json() | {
        "seed": options.seed,
        "difference": DIFFERENCES[setting.name],
    }
    writer.close(tokenizer.json)
    if not options.keep_parts:
        shutil.rmtree(parts)
    print(json.dumps({"splits": writer.manifest["splits"], "counts": writer.manifest["counts"]}, indent=1))
    return 0


def _changed_settings(options: argparse.Namespace) -> dict[str, Any]:
    names = {
        "limit_state": options.limit_tokens,
        "limit_edits": options.limit_edits,
        "refactorings": options.refactorings,
    }
    return {name: value for name, value in names.items() if value is not None}


def _claim(parts: Path, identity: dict[str, Any]) -> None:
    """Parts left by a run with other settings must not be mixed in."""
    path = parts / "identity.json"
    if path.is_file() and json.loads(path.read_text()) != identity:
        raise ValueError(f"{parts} was made with other settings: remove it, or choose another --out")
    parts.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(identity))


def _shards(parts: Path, repository: Repository) -> list[Path]:
    folder = parts / repository.name.replace("/", "+")
    return sorted(path for path in folder.glob("part-*") if path.suffix != ".partial")


_progress: "Synchronized[int]"


def _start(progress: "Synchronized[int]") -> None:
    global _progress
    _progress = progress
    os.nice(max(0, _NICE - os.nice(0)))


def _run(jobs: list[Job], processes: int) -> None:
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
    repository = job.repository
    folder = job.parts / repository.name.replace("/", "+")
    if (folder / "done").is_file():
        return
    counts: Counter[str] = Counter()
    found = modifications(repository.path, repository.commit, Exclusions(job.exclusions), counts)
    groups = grouped(_sample(found, job, counts))
    tokenizer = RememberingTokenizer(job.tokenizer_path.read_text(encoding="utf-8"))
    for number, part in enumerate(_parts(groups)):
        shard = folder / f"part-{number:03d}"
        if not shard.is_dir():
            miner = miner_of(job.setting, tokenizer, job.seed)
            miner.counts.update(counts if number == 0 else {})
            _mine_part(repository, part, miner, ShardWriter(shard, len(tokenizer)))
    (folder / "done").touch()


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


# The vocabulary


def mine_tokenizer(options: argparse.Namespace) -> int:
    """Train a vocabulary on files of the newest commit, the same number of bytes from each repository."""
    repositories = [r for r in find_repositories(options) if r.split == "train" or options.corpus is None]
    texts: list[str] = []
    for repository in tqdm(repositories, unit=" repositories"):
        texts.extend(_sample_texts(repository, options))
    tokenizer = train(texts, options.vocabulary)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(tokenizer.json, encoding="utf-8")
    characters = sum(map(len, texts))
    print(f"{len(tokenizer)} tokens from {characters:,} characters of {len(repositories)} repositories")
    return 0


def _sample_texts(repository: Repository, options: argparse.Namespace) -> Iterator[str]:
    files = files_at(repository.path, repository.commit)
    random = Random(f"{options.seed}:{repository.name}")
    random.shuffle(files)
    languages = set(options.language)
    files = [
        f
        for f in files
        if random.random() < keep_share(f[0]) and (not languages or language_of(f[0]) in languages)
    ]
    left = options.bytes_of_repository
    for text in read_texts(repository.path, [blob for _, blob in files]):
        if left <= 0:
            return
        if text is not None and rejected_text(text) is None:
            left -= len(text)
            yield text[:left] if left < 0 else text


# What a person's own editor kept


def mine_own(options: argparse.Namespace) -> int:
    """The user's own saves or recordings."""
    setting = replace(SETTINGS["product"], **_changed_settings(options))
    tokenizer = RememberingTokenizer(options.tokenizer.read_text(encoding="utf-8"))
    folders = [options.folder] if options.folder else options.default_folders()
    sessions = options.sessions(folders, Windows(tokenizer, setting), options.seed)
    manifest = write_own(tqdm(sessions, unit=" sessions"), tokenizer, setting, options.out)
    print(json.dumps(manifest["splits"]))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m training.mine", description="Histories to a dataset.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    git = commands.add_parser("git", help="git histories")
    git.set_defaults(run=mine_git)
    vocabulary = commands.add_parser("tokenizer", help="train a vocabulary on repositories")
    vocabulary.set_defaults(run=mine_tokenizer)
    for command in (git, vocabulary):
        command.add_argument("repositories", nargs="*", metavar="REPO")
        command.add_argument(
            "--corpus", type=Path, help="TOML file that names repositories, commits, licences, splits"
        )
        command.add_argument(
            "--mirrors", type=Path, default=Path(), help="folder with the clones of a corpus"
        )
        command.add_argument("--split", default="train", help="split of repositories given by path")
        command.add_argument(
            "--language", action="append", default=[], help="only this language (repeatable)"
        )
    git.add_argument("--setting", choices=sorted(SETTINGS), default="product")
    git.add_argument(
        "--exclude-commits", type=Path, metavar="FILE", help="a beginning of a commit's hash on each line"
    )
    git.add_argument("--limit-pairs", type=int, default=60_000, help="file pairs of one training repository")
    git.add_argument("--processes", type=int, default=min(2, os.cpu_count() or 1))
    git.add_argument("--keep-parts", action="store_true", help="keep the parts, to add repositories later")
    vocabulary.add_argument("--vocabulary", type=int, default=8192)
    vocabulary.add_argument("--bytes-of-repository", type=int, default=1_000_000)

    saves = commands.add_parser("vscode-history", help="VS Code's local history")
    saves.set_defaults(run=mine_own, sessions=saved_sessions, default_folders=default_folders)
    recordings = commands.add_parser("recordings", help="what the language server recorded")
    recordings.set_defaults(run=mine_own, sessions=recorded, default_folders=lambda: [default_folder()])
    for command in (saves, recordings):
        command.add_argument("folder", nargs="?", type=Path)
    for command in (git, saves, recordings):
        command.add_argument("--tokenizer", type=Path, required=True)
        command.add_argument("--limit-tokens", type=int, help="tokens of a state")
        command.add_argument("--limit-edits", type=int)
        command.add_argument("--refactorings", type=float, help="synthetic refactorings for each session")
    for command in (git, vocabulary, saves, recordings):
        command.add_argument("--out", type=Path, required=True)
        command.add_argument("--seed", type=int, default=0)
    return parser


if __name__ == "__main__":
    sys.exit(main())
