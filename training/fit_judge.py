"""Program: fit the judge of a bundle on typed and played changes of real repositories.

    python -m training.fit_judge BUNDLE --mirrors DIR --out BUNDLE [--cache DIR] [--changes 150]

Changes of the corpus' train repositories are played through the product's recorder, hunk by hunk and key by key, and the
candidates at each moment become examples. Those of the dev repositories, with other hands, decide when to stop and give
the figures. Examples are kept in the cache, one file for each repository: a broken run goes on where it was.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import onnx
from tqdm import tqdm

from model.inference.bundle import Bundle, BundleError, seal
from model.inference.predictor import Predictor
from model.proposals import judge
from model.proposals.evidence import FEATURES
from training.judge.examples import Examples
from training.judge.figures import choose_first, describe
from training.judge.fitting import FittedJudge, fit_judge
from training.judge.plays import examine_changes
from training.judge.sources import draw_changes
from training.judge.trees import export_judge
from training.sources.corpus import Repository, read_corpus
from training.sources.origin import describe_origin
from training.trajectories.hands import TEST_HANDS, TRAINING_HANDS, HandsRange


def make_examples(
    repository: Repository, predictor: Predictor, hands: HandsRange, count: int, seed: int
) -> Examples:
    """Play some changes of a repository in every way."""
    random = Random(f"{seed}:{repository.name}:hands")
    return examine_changes(draw_changes(repository, count, seed), predictor, hands, random)


def read_examples(
    repositories: Sequence[Repository],
    predictor: Predictor,
    cache: Path,
    hands: HandsRange,
    count: int,
    seed: int,
) -> Examples:
    """The examples of repositories, from the cache where they are there already."""
    cache.mkdir(parents=True, exist_ok=True)
    parts = []
    for repository in tqdm(repositories, unit=" repositories"):
        path = cache / f"{repository.name.replace('/', '+')}-{count}-{seed}.npz"
        if not path.exists():
            partial = path.with_suffix(".partial.npz")
            make_examples(repository, predictor, hands, count, seed).save(partial)
            partial.rename(path)
        parts.append(Examples.load(path))
    return Examples.join(parts)


def write_bundle(source: Path, fitted: FittedJudge, out: Path, origin: dict[str, Any]) -> None:
    """Write a copy of a bundle with this judge, and where it comes from."""
    if out.resolve() != source.resolve():
        shutil.copytree(source, out, dirs_exist_ok=True)
    onnx.save(export_judge(fitted.boosters(), FEATURES), out / judge.FILE)
    seal(out, json.loads((out / "manifest.json").read_text())["name"], {"judge": origin})


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m training.fit_judge", description="Fit the judge of a bundle on changes of the corpus."
    )
    parser.add_argument("bundle", type=Path, help="the bundle whose network gives evidence")
    parser.add_argument("--mirrors", type=Path, required=True, help="folder with the clones of the corpus")
    parser.add_argument(
        "--corpus",
        type=Path,
        default=Path(__file__).parent / "corpora" / "default.toml",
        help="TOML file that names the repositories (default: training/corpora/default.toml)",
    )
    parser.add_argument(
        "--out", type=Path, required=True, help="the bundle to write; it may be the same folder"
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=Path("runs/judge"),
        help="folder that keeps examples (default: %(default)s)",
    )
    parser.add_argument(
        "--changes", type=int, default=150, help="changes to play of each repository (default: %(default)s)"
    )
    parser.add_argument(
        "--repository", action="append", help="only this repository of the corpus; repeatable"
    )
    parser.add_argument("--seed", type=int, default=0, help="of all random choices (default: %(default)s)")
    options = parser.parse_args(arguments)
    try:
        predictor = Predictor(Bundle.load(options.bundle), device="cpu", with_judge=False)
        repositories = read_corpus(options.corpus, options.mirrors, options.repository or ())
        splits = {split: [each for each in repositories if each.split == split] for split in ("train", "dev")}
    except (BundleError, ValueError) as error:
        print(f"fit_judge: {error}", file=sys.stderr)
        return 2
    train = read_examples(
        splits["train"], predictor, options.cache / "train", TRAINING_HANDS, options.changes, options.seed
    )
    dev = read_examples(
        splits["dev"], predictor, options.cache / "dev", TEST_HANDS, options.changes, options.seed
    )
    fitted = fit_judge(train, dev, seed=options.seed)
    write_bundle(options.bundle, fitted, options.out, describe_origin(options.seed, options.corpus))
    confidence, order = (booster.predict(dev.rows) for booster in fitted.boosters().values())
    print(describe(dev, choose_first(dev, confidence, order)))
    print(
        "\nMost telling: " + ", ".join(f"{name} {100 * share:.0f} %" for name, share in fitted.most_telling())
    )
    print(f"\n{options.out} has the judge. Choose its thresholds with python -m training.choose_eagerness.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
