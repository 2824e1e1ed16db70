"""A user's own edits: the saves that an editor kept and the recordings of the language server, as a dataset.

Nothing leaves the machine: the dataset is a folder that the user named.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

from model.editing.edits import Instance
from model.editing.lines import segments
from model.editing.tokenizer import hash_of
from model.secret_text import has_secret
from training.data.dataset import DatasetWriter, Kind
from training.data.line_cache import CachingTokenizer
from training.sources.filters import check_change
from training.sources.recording_reader import recorded_trajectories
from training.sources.vscode_history import read_saved_files
from training.trajectories.excerpts import ExcerptCutter
from training.trajectories.hunks import hunks_between
from training.trajectories.mining_setting import MiningSetting
from training.trajectories.trajectory import Trajectory, instance_from_trajectory

_HELD_OUT = 10  # one file in so many is dev
_VERSIONS = 4  # of a file in one trajectory at most


def read_saves(folders: Iterable[Path], cutter: ExcerptCutter, seed: int) -> Iterator[tuple[str, Trajectory]]:
    """Path and trajectory of every save in the local histories of editors."""
    for folder in folders:
        for file in read_saved_files(folder):
            for number in range(len(file.texts) - 1):
                versions = list(file.texts[number : number + _VERSIONS])
                lines = segments(versions[0])
                hunks = hunks_between(lines, segments(versions[1]))
                if hunks is None or check_change(lines, hunks) is not None:
                    continue
                random = Random(f"{seed}:{file.path}:{number}")
                for trajectory in cutter.cut(versions, hunks, random):
                    yield file.path, trajectory._replace(kind=Kind.SAVES)


def read_recordings(
    folders: Iterable[Path], cutter: ExcerptCutter, seed: int
) -> Iterator[tuple[str, Trajectory]]:
    """Path and trajectory of everything that the language server recorded."""
    for folder in folders:
        yield from recorded_trajectories(folder, cutter)


def write_own_history(
    trajectories: Iterable[tuple[str, Trajectory]],
    tokenizer: CachingTokenizer,
    setting: MiningSetting,
    out: Path,
) -> dict[str, Any]:
    """Write a dataset with the splits train and dev; its manifest. A ValueError when there is too little."""
    counts: Counter[str] = Counter()
    found: list[tuple[str, Instance, Kind]] = []
    for name, trajectory in trajectories:
        counts["sessions"] += 1
        if has_secret(trajectory.text) or any(has_secret(change.text) for change in trajectory.changes):
            counts["secret"] += 1
            continue
        instance = instance_from_trajectory(trajectory, tokenizer, setting.limit_edits)
        if instance is not None:
            found.append(
                (name, instance._replace(conditioning=max(1, instance.conditioning)), trajectory.kind)
            )
    if len(found) < 2:
        raise ValueError(f"only {len(found)} instances were found: there is nothing to learn from yet")
    writer = DatasetWriter(out, len(tokenizer), hash_of(tokenizer.spellings))
    for (_, instance, kind), split in zip(found, _choose_splits([name for name, _, _ in found]), strict=True):
        writer.append(split, instance, kind)
    writer.manifest["counts"] = dict(counts)
    writer.manifest["setting"] = setting.to_json()
    writer.close(tokenizer.json)
    return writer.manifest


def _choose_splits(names: Sequence[str]) -> list[str]:
    """Whole files are held out, one in ten and at least one; of a single file, its last tenth."""
    files = list(dict.fromkeys(names))
    if len(files) == 1:
        held_out = max(1, len(names) // _HELD_OUT)
        return ["train"] * (len(names) - held_out) + ["dev"] * held_out
    held = set(files[_HELD_OUT - 1 :: _HELD_OUT] or files[-1:])
    return ["dev" if name in held else "train" for name in names]
