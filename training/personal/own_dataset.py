"""A dataset for the network from a user's own changes: some to learn from, later ones to check with."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

from model.editing.lines import segments
from model.editing.tokenizer import hash_of
from training.data.dataset import DatasetWriter, Kind
from training.data.line_cache import CachingTokenizer
from training.personal.changes import OwnChange
from training.sources.filters import check_change
from training.trajectories.excerpts import ExcerptCutter
from training.trajectories.hunks import hunks_between
from training.trajectories.mining_setting import PRODUCT
from training.trajectories.trajectory import Trajectory, instance_from_trajectory


def write_own_dataset(
    splits: dict[str, Iterable[OwnChange]], tokenizer: CachingTokenizer, out: Path, seed: int = 0
) -> dict[str, int]:
    """Write a dataset with these splits; return the number of edits in each. A ValueError when one is empty."""
    cutter = ExcerptCutter(tokenizer, PRODUCT)
    writer = DatasetWriter(out, len(tokenizer), hash_of(tokenizer.spellings))
    for split, changes in splits.items():
        for change in changes:
            for trajectory in _cut(change, cutter, seed):
                instance = instance_from_trajectory(trajectory, tokenizer, PRODUCT.limit_edits)
                if instance is not None:
                    kept = instance._replace(conditioning=max(1, instance.conditioning))
                    writer.append(split, kept, trajectory.kind)
    writer.manifest["setting"] = PRODUCT.to_json()
    writer.close(tokenizer.json)
    written = {name: counts["edits"] for name, counts in writer.manifest["splits"].items()}
    missing = [split for split in splits if not written.get(split)]
    if missing:
        raise ValueError(f"no edits for the split {missing[0]!r}: the changes are too large or too small")
    return written


def _cut(change: OwnChange, cutter: ExcerptCutter, seed: int) -> Iterator[Trajectory]:
    lines = segments(change.before)
    hunks = hunks_between(lines, segments(change.after))
    if hunks is None or check_change(lines, hunks) is not None:
        return
    random = Random(f"{seed}:{change.unit}:{change.path}")
    for trajectory in cutter.cut([change.before, change.after], hunks, random):
        yield trajectory._replace(kind=Kind.HISTORY)
