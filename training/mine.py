"""Program: histories to a dataset.

    python -m training.mine tokenizer REPO... --vocabulary 8192 --out tokenizer.json
    python -m training.mine git REPO... --tokenizer tokenizer.json --out DIR [--setting product|paper]
    python -m training.mine vscode-history [DIR] --tokenizer tokenizer.json --out DIR
    python -m training.mine recordings [DIR] --tokenizer tokenizer.json --out DIR

A REPO is a path to a git repository; or, with --corpus FILE.toml and --mirrors DIR, a name in that file (none: all).
Of repositories given by path the newest tenth of the commits is the split dev and the rest train, unless --split says otherwise.
Mining is resumable: finished parts stay in DIR.parts until the dataset is complete.
"""

import argparse
import json
import os
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from model.editing.tokenizer import Tokenizer, train
from model.inference.bundle import DEFAULT
from training.data.line_cache import CachingTokenizer
from training.personal.own_history import read_recordings, read_saves, write_own_history
from training.sources.corpus import SPLITS, Repository, read_corpus, repository_at
from training.sources.git import ExcludedCommits, list_modifications
from training.sources.recording_reader import default_folder
from training.sources.vocabulary import sample_texts
from training.sources.vscode_history import default_folders
from training.trajectories.excerpts import ExcerptCutter
from training.trajectories.jobs import MiningJob, join_parts, run_jobs
from training.trajectories.mining_setting import SETTINGS, MiningSetting

_HELD_OUT = 10  # one commit in so many is dev, the newest ones


def main(arguments: Sequence[str] | None = None) -> int:
    options = _make_parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except ValueError as error:
        print(f"mine: {error}", file=sys.stderr)
        return 2


def mine_git(options: argparse.Namespace) -> int:
    """Git histories to a dataset."""
    parts = options.out.with_name(options.out.name + ".parts")
    job = MiningJob(
        repository=Repository("", Path(), ""),
        tokenizer_path=options.tokenizer,
        setting=_choose_setting(options, options.setting),
        parts=parts,
        exclusions=tuple(options.exclude_commits.read_text().split()) if options.exclude_commits else (),
        limit_pairs=options.limit_pairs,
        languages=tuple(options.language),
        seed=options.seed,
    )
    repositories = _find_repositories(options)
    if not repositories:
        raise ValueError(
            "no repository is given: python -m training.mine git PATH/TO/REPOSITORY --out DIR ..."
        )
    is_by_time = options.corpus is None and options.split is None
    jobs = [
        each
        for repository in repositories
        for each in (_split_by_time(job, repository) if is_by_time else [replace(job, repository=repository)])
    ]
    if not options.finished and options.ray:
        _mine_on_ray(jobs)
    elif not options.finished:
        run_jobs(jobs, options.processes)
    manifest = join_parts(jobs, Tokenizer(options.tokenizer.read_text(encoding="utf-8")), options.out)
    if not (options.keep_parts or options.finished):
        shutil.rmtree(parts)
    print(json.dumps({"splits": manifest["splits"], "counts": manifest["counts"]}, indent=1))
    return 0


def _mine_on_ray(jobs: list[MiningJob]) -> None:
    try:
        from training.trajectories.ray_jobs import run_jobs_on_ray  # an extra, and slow to import
    except ModuleNotFoundError:
        raise ValueError("--ray needs Ray: install likewise[ray], or use --processes") from None
    run_jobs_on_ray(jobs)


def _split_by_time(job: MiningJob, repository: Repository) -> list[MiningJob]:
    """Two jobs for one repository: the newest tenth of its commits is dev, the rest is train."""
    excluded = ExcludedCommits(job.exclusions)
    found = list_modifications(repository.path, repository.commit, excluded, Counter())
    commits = list(dict.fromkeys(modification.commit for modification in found))
    if len(commits) < 2:
        raise ValueError(
            f"{repository.path} has {len(commits)} commits that change source files: too few to hold the newest out."
            " Give a repository with more history (git fetch --unshallow completes a shallow clone)"
        )
    held_out = max(1, len(commits) // _HELD_OUT)
    older, newest = tuple(commits[:-held_out]), tuple(commits[-held_out:])
    return [
        replace(job, repository=replace(repository, split="train"), exclusions=job.exclusions + newest),
        replace(job, repository=replace(repository, split="dev"), exclusions=job.exclusions + older),
    ]


def mine_tokenizer(options: argparse.Namespace) -> int:
    """Files of repositories to a vocabulary."""
    repositories = [r for r in _find_repositories(options) if r.split == "train" or options.corpus is None]
    limit, languages = options.bytes_of_repository, set(options.language)
    texts: list[str] = []
    for repository in tqdm(repositories, unit=" repositories"):
        texts.extend(sample_texts(repository, limit_bytes=limit, languages=languages, seed=options.seed))
    tokenizer = train(texts, options.vocabulary)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(tokenizer.json, encoding="utf-8")
    characters = sum(map(len, texts))
    print(f"{len(tokenizer)} tokens from {characters:,} characters of {len(repositories)} repositories")
    return 0


def mine_own(options: argparse.Namespace) -> int:
    """The user's own saves or recordings to a dataset."""
    setting = _choose_setting(options, "product")
    tokenizer = CachingTokenizer(options.tokenizer.read_text(encoding="utf-8"))
    folders = [options.folder] if options.folder else options.default_folders()
    trajectories = options.trajectories(folders, ExcerptCutter(tokenizer, setting), options.seed)
    manifest = write_own_history(tqdm(trajectories, unit=" trajectories"), tokenizer, setting, options.out)
    print(json.dumps(manifest["splits"]))
    return 0


def _find_repositories(options: argparse.Namespace) -> list[Repository]:
    """The repositories asked for: by path, or by their names in a corpus file."""
    if options.corpus is None:
        return [repository_at(Path(path), options.split or "train") for path in options.repositories]
    return read_corpus(options.corpus, options.mirrors, options.repositories)


def _choose_setting(options: argparse.Namespace, name: str) -> MiningSetting:
    """The setting of that name, with the values that were given instead."""
    given: dict[str, Any] = {
        "limit_state": options.limit_tokens,
        "limit_edits": options.limit_edits,
        "refactorings": options.refactorings,
    }
    return replace(SETTINGS[name], **{field: value for field, value in given.items() if value is not None})


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m training.mine", description="Make a dataset or a vocabulary from histories."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    git = commands.add_parser("git", help="make a dataset from git histories")
    git.set_defaults(run=mine_git)
    vocabulary = commands.add_parser("tokenizer", help="train a vocabulary on the files of repositories")
    vocabulary.set_defaults(run=mine_tokenizer)
    for command in (git, vocabulary):
        command.add_argument(
            "repositories",
            nargs="*",
            metavar="REPO",
            help="a path; with --corpus a name in that file (none: all)",
        )
        command.add_argument(
            "--corpus", type=Path, help="TOML file that names repositories, commits, licences, splits"
        )
        command.add_argument(
            "--mirrors", type=Path, default=Path(), help="folder with the clones of a corpus"
        )
        command.add_argument(
            "--split",
            choices=SPLITS,
            help="the one split of repositories given by path (default: train, and dev for the newest tenth of the commits)",
        )
        command.add_argument(
            "--language", action="append", default=[], help="only this language (repeatable)"
        )
    git.add_argument(
        "--setting",
        choices=sorted(SETTINGS),
        default="product",
        help="limits of mining: the product's or the paper's (default: %(default)s)",
    )
    git.add_argument(
        "--exclude-commits",
        type=Path,
        metavar="FILE",
        help="commits to leave out: the beginning of a hash on each line",
    )
    git.add_argument(
        "--limit-pairs",
        type=int,
        default=60_000,
        help="file pairs of one training repository at most (default: %(default)s)",
    )
    git.add_argument(
        "--processes",
        type=int,
        default=min(2, os.cpu_count() or 1),
        help="repositories that are mined at once (default: %(default)s)",
    )
    git.add_argument(
        "--ray",
        action="store_true",
        help="mine each repository as a Ray task; --out must be on a disk that all nodes share",
    )
    git.add_argument("--keep-parts", action="store_true", help="keep the parts, to add repositories later")
    git.add_argument(
        "--finished",
        action="store_true",
        help="mine nothing more; make the dataset of the parts that are there",
    )
    vocabulary.add_argument(
        "--vocabulary", type=int, default=8192, help="tokens of the vocabulary (default: %(default)s)"
    )
    vocabulary.add_argument(
        "--bytes-of-repository",
        type=int,
        default=1_000_000,
        help="bytes to read from each repository at most (default: %(default)s)",
    )

    saves = commands.add_parser("vscode-history", help="make a dataset from VS Code's local history")
    saves.set_defaults(run=mine_own, trajectories=read_saves, default_folders=default_folders)
    recordings = commands.add_parser(
        "recordings", help="make a dataset from recordings of the language server"
    )
    recordings.set_defaults(
        run=mine_own, trajectories=read_recordings, default_folders=lambda: [default_folder()]
    )
    for command in (saves, recordings):
        command.add_argument("folder", nargs="?", type=Path, help="(default: where they are usually kept)")
    for command in (git, saves, recordings):
        command.add_argument(
            "--tokenizer",
            type=Path,
            default=DEFAULT / "tokenizer.json",
            help="vocabulary of the dataset (default: that of the shipped bundle)",
        )
        command.add_argument(
            "--limit-tokens", type=int, help="tokens of a state at most (default: the setting's)"
        )
        command.add_argument(
            "--limit-edits", type=int, help="edits of an instance at most (default: the setting's)"
        )
        command.add_argument(
            "--refactorings",
            type=float,
            help="synthetic refactorings for each trajectory (default: the setting's)",
        )
    for command in (git, vocabulary, saves, recordings):
        command.add_argument("--out", type=Path, required=True, help="folder or file to write")
        command.add_argument(
            "--seed", type=int, default=0, help="of all random choices (default: %(default)s)"
        )
    return parser


if __name__ == "__main__":
    sys.exit(main())
