"""Program: the public next-edit suite, made from the test repositories of a corpus.

python -m training.cases --mirrors DIR --out cases.jsonl [--corpus FILE.toml] [--count 300]
"""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random

from tqdm import tqdm

from training.sources.corpus import read_corpus
from training.sources.git import ExcludedCommits
from training.suite.cases import KINDS, Case, write_cases
from training.suite.floors import replay
from training.suite.mined_cases import choose_cases, mine_cases


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m training.cases", description="Make the next-edit suite.")
    parser.add_argument("--corpus", type=Path, default=Path(__file__).parent / "corpora" / "default.toml")
    parser.add_argument("--mirrors", type=Path, required=True, help="folder with the clones of the corpus")
    parser.add_argument("--split", default="test")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=300, help="cases of each kind")
    parser.add_argument("--exclude-commits", type=Path, metavar="FILE")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    exclusions = ExcludedCommits(
        options.exclude_commits.read_text().split() if options.exclude_commits else ()
    )
    try:
        repositories = read_corpus(options.corpus, options.mirrors, split=options.split)
    except ValueError as error:
        print(f"cases: {error}", file=sys.stderr)
        return 2
    found: list[Case] = []
    for repository in tqdm(repositories, unit=" repositories"):
        found.extend(mine_cases(repository, exclusions, options.seed))
    chosen = choose_cases(found, options.count, Random(options.seed))
    write_cases(chosen, options.out)
    for (kind, source), number in sorted(Counter((c.kind, c.source) for c in chosen).items()):
        print(f"{kind:10} {source:18} {number}")
    shown = [(case, replay(case)) for case in chosen]
    for kind in KINDS:
        of_kind = [(case, change) for case, change in shown if case.kind == kind]
        spoke = [(case, change) for case, change in of_kind if change is not None]
        right = sum(case.is_right(change) for case, change in spoke)
        print(f"replay on {kind}: {len(spoke)} shown of {len(of_kind)}, {right} right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
