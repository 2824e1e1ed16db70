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
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from tqdm import tqdm

from model.editing.tokenizer import Tokenizer, hash_of, train
from training.data.dataset import DatasetWriter, shard_notes
from training.personal.own_history import recorded, saved_sessions, write_own
from training.sources.corpus import SPLITS, Repository, read_corpus, repository_at
from training.sources.git import (
    files_at,
    keep_share,
    language_of,
    read_texts,
    rejected_text,
)
from training.sources.recording_reader import default_folder
from training.sources.vscode_history import default_folders
from training.trajectories.excerpts import DIFFERENCES, SETTINGS, Windows
from training.trajectories.jobs import Job, run
from training.trajectories.trajectory import RememberingTokenizer


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
    parts = options.out.with_name(options.out.name + ".parts")
    job = Job(
        repository=Repository("", Path(), ""),
        tokenizer_path=options.tokenizer,
        setting=setting,
        parts=parts,
        exclusions=tuple(options.exclude_commits.read_text().split()) if options.exclude_commits else (),
        limit_pairs=options.limit_pairs,
        languages=tuple(options.language),
        seed=options.seed,
    )
    jobs = [replace(job, repository=repository) for repository in find_repositories(options)]
    if not jobs:
        raise ValueError("no repository is given")
    if not options.finished:
        run(jobs, options.processes)
    manifest = join(jobs, tokenizer, options.out)
    if not (options.keep_parts or options.finished):
        shutil.rmtree(parts)
    print(json.dumps({"splits": manifest["splits"], "counts": manifest["counts"]}, indent=1))
    return 0


def join(jobs: Sequence[Job], tokenizer: Tokenizer, out: Path) -> dict[str, Any]:
    """One dataset of the finished parts of all jobs; its manifest."""
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
            of_repository.update(shard_notes(shard)["counts"])
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


def _changed_settings(options: argparse.Namespace) -> dict[str, Any]:
    names = {
        "limit_state": options.limit_tokens,
        "limit_edits": options.limit_edits,
        "refactorings": options.refactorings,
    }
    return {name: value for name, value in names.items() if value is not None}


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
    git.add_argument("--finished", action="store_true", help="mine nothing: a dataset of the parts there are")
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
