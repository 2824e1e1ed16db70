"""Instances on disk: flat memory-mapped arrays and a manifest, so that an epoch streams with no parsing.

    manifest.json       format, vocabulary hash, splits with their counts, sources with commit and licence, setting, filters
    tokenizer.json      the vocabulary of the ids (absent for synthetic data)
    SPLIT/state.npy     the states of all instances, one after another (each START .. END)
    SPLIT/positions.npy the implicit positions of all edits       SPLIT/contents.npy their contents
    SPLIT/index.npy     a row for each instance: the columns of `Column`

A *shard* is one such split on its own, written by one process; a dataset is made by joining shards.
"""

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from model.editing.edits import Edit, Instance

FORMAT = 1
_BUFFER_TOKENS = 1 << 20  # some megabytes: large enough to write at once, small enough to hold
Integers = npt.NDArray[Any]


class Column(IntEnum):
    """The columns of the index."""

    STATE_START = 0
    STATE_LENGTH = 1
    EDIT_START = 2
    EDIT_LENGTH = 3
    CONDITIONING = 4
    KIND = 5


class Kind(IntEnum):
    """The source of an instance, for figures by kind. Numbers stay; new ones are added at the end."""

    SYNTHETIC = 0
    HISTORY = 1  # one change of a file in a git history
    HISTORY_SEVERAL = 2  # several changes of a file, one after another
    SAVES = 3  # saves in an editor's local history
    RECORDING = 4  # keystrokes recorded by the language server
    RENAME = 10
    ADD_ARGUMENT = 11
    REMOVE_ARGUMENT = 12
    SWAP_ARGUMENTS = 13
    WRAP_CALL = 14
    CHANGE_CALL = 15
    CHANGE_LITERAL = 16
    CHANGE_WORD = 17
    CHANGE_LINE_START = 18
    ADD_KEY = 19
    CHANGE_QUOTES = 20
    REPLACE_ATTRIBUTE = 21
    ADD_LINE = 22
    REMOVE_LINE = 23


def token_type(vocabulary_size: int) -> npt.DTypeLike:
    """The smallest type that holds every token id."""
    return np.uint16 if vocabulary_size <= 1 << 16 else np.uint32


class ShardWriter:
    """Appends instances to one folder. The folder appears under its name only when all of it is written."""

    def __init__(self, folder: Path, vocabulary_size: int) -> None:
        self.folder = folder
        self.instances = 0
        self.edits = 0
        self._partial = folder.with_name(folder.name + ".partial")
        shutil.rmtree(self._partial, ignore_errors=True)
        self._partial.mkdir(parents=True)
        self._types: dict[str, npt.DTypeLike] = {
            "state": token_type(vocabulary_size),
            "positions": np.int32,
            "contents": token_type(vocabulary_size),
            "index": np.int64,
            "fingerprints": np.int64,  # of shards only: what is equal here is one change, seen twice
        }
        self._rows: dict[str, list[int]] = {name: [] for name in self._types}
        self._state_tokens = 0

    def append(self, instance: Instance, kind: Kind = Kind.HISTORY, fingerprint: int | None = None) -> None:
        rows = self._rows
        rows["fingerprints"].append(hash(instance) if fingerprint is None else fingerprint)
        rows["index"].extend(
            (
                self._state_tokens,
                len(instance.state),
                self.edits,
                len(instance.edits),
                instance.conditioning,
                kind,
            )
        )
        rows["state"].extend(instance.state)
        rows["positions"].extend([edit.position for edit in instance.edits])
        rows["contents"].extend([edit.content for edit in instance.edits])
        self.instances += 1
        self._state_tokens += len(instance.state)
        self.edits += len(instance.edits)
        if len(rows["state"]) > _BUFFER_TOKENS:
            self._flush()

    def close(self, notes: Mapping[str, Any] | None = None) -> None:
        """Finish the arrays; `notes` (counts, provenance) are kept beside them."""
        self._flush()
        for name, kind in self._types.items():
            raw = self._partial / f"{name}.raw"
            values = np.fromfile(raw, dtype=kind)
            np.save(
                self._partial / f"{name}.npy", values.reshape(-1, len(Column)) if name == "index" else values
            )
            raw.unlink()
        (self._partial / "notes.json").write_text(json.dumps(dict(notes or {}), indent=1))
        shutil.rmtree(self.folder, ignore_errors=True)
        self._partial.rename(self.folder)

    def _flush(self) -> None:
        for name, values in self._rows.items():
            with (self._partial / f"{name}.raw").open("ab") as file:
                np.asarray(values, dtype=self._types[name]).tofile(file)
            values.clear()


class Split(Sequence[Instance]):
    """The instances of one split, read from disk when asked for."""

    def __init__(self, folder: Path) -> None:
        self.states: Integers = _load(folder / "state.npy")
        self.positions: Integers = _load(folder / "positions.npy")
        self.contents: Integers = _load(folder / "contents.npy")
        self.rows: Integers = _load(folder / "index.npy")

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, number: int) -> Instance: ...
    @overload
    def __getitem__(self, number: slice) -> list[Instance]: ...
    def __getitem__(self, number: int | slice) -> Instance | list[Instance]:
        if isinstance(number, slice):
            return [self[index] for index in range(len(self))[number]]
        row = self.rows[number]
        state, positions, contents = self.arrays(number)
        edits = tuple(map(Edit, positions.tolist(), contents.tolist()))
        return Instance(tuple(state.tolist()), edits, int(row[Column.CONDITIONING]))

    def arrays(self, number: int) -> tuple[Integers, Integers, Integers]:
        """State, positions and contents of one instance, without making objects of them."""
        row = self.rows[number]
        states = slice(row[Column.STATE_START], row[Column.STATE_START] + row[Column.STATE_LENGTH])
        edits = slice(row[Column.EDIT_START], row[Column.EDIT_START] + row[Column.EDIT_LENGTH])
        return self.states[states], self.positions[edits], self.contents[edits]

    @property
    def state_lengths(self) -> Integers:
        """Length of each state, for bucketing."""
        return self.rows[:, Column.STATE_LENGTH]

    @property
    def edit_lengths(self) -> Integers:
        """Number of edits of each instance, for bucketing."""
        return self.rows[:, Column.EDIT_LENGTH]

    @property
    def conditioning(self) -> Integers:
        return self.rows[:, Column.CONDITIONING]

    @property
    def kinds(self) -> Integers:
        return self.rows[:, Column.KIND]


class Dataset:
    """A folder of splits with its manifest."""

    def __init__(self, folder: Path, manifest: dict[str, Any]) -> None:
        self.folder = folder
        self.manifest = manifest

    @classmethod
    def load(cls, folder: Path | str) -> "Dataset":
        folder = Path(folder)
        path = folder / "manifest.json"
        if not path.is_file():
            raise ValueError(f"{folder} is not a dataset: it has no manifest.json")
        manifest = json.loads(path.read_text())
        if manifest.get("format") != FORMAT:
            raise ValueError(
                f"{path} has format {manifest.get('format')}; this program reads format {FORMAT}"
            )
        return cls(folder, manifest)

    @property
    def names(self) -> list[str]:
        return list(self.manifest["splits"])

    @property
    def vocabulary_size(self) -> int:
        return int(self.manifest["vocabulary_size"])

    @property
    def tokenizer_path(self) -> Path | None:
        """The vocabulary of the ids; None for synthetic data."""
        path = self.folder / "tokenizer.json"
        return path if path.is_file() else None

    def split(self, name: str) -> Split:
        if name not in self.manifest["splits"]:
            raise ValueError(f"{self.folder} has no split {name!r}; it has {', '.join(self.names)}")
        return Split(self.folder / name)


class DatasetWriter:
    """Writes a whole dataset; it appears under its name only when it is complete."""

    def __init__(
        self, folder: Path | str, vocabulary_size: int, vocabulary_sha256: str | None = None
    ) -> None:
        self.folder = Path(folder)
        self.manifest: dict[str, Any] = {
            "format": FORMAT,
            "vocabulary_size": vocabulary_size,
            "vocabulary_sha256": vocabulary_sha256,
            "splits": {},
            "sources": [],
            "setting": {},
            "counts": {},
        }
        self._partial = self.folder.with_name(self.folder.name + ".partial")
        shutil.rmtree(self._partial, ignore_errors=True)
        self._partial.mkdir(parents=True)
        self._shards: dict[str, ShardWriter] = {}

    def append(self, split: str, instance: Instance, kind: Kind = Kind.HISTORY) -> None:
        if split not in self._shards:
            self._shards[split] = ShardWriter(self._partial / split, self.manifest["vocabulary_size"])
        self._shards[split].append(instance, kind)

    def join(self, split: str, shards: Iterable[Path], seed: int | None = 0) -> None:
        """A split out of finished shards, its instances in an order shuffled by the seed (None: as they come).

        Of the instances with one fingerprint only the first is taken.
        """
        counts = _join(list(shards), self._partial / split, self.manifest["vocabulary_size"], seed)
        self.manifest["splits"][split] = counts

    def close(self, tokenizer_json: str | None = None) -> None:
        for name, shard in self._shards.items():
            shard.close()
            for extra in ("notes.json", "fingerprints.npy"):
                (self._partial / name / extra).unlink()
            self.manifest["splits"][name] = {"instances": shard.instances, "edits": shard.edits}
        if tokenizer_json is not None:
            (self._partial / "tokenizer.json").write_text(tokenizer_json, encoding="utf-8")
        (self._partial / "manifest.json").write_text(json.dumps(self.manifest, indent=1))
        shutil.rmtree(self.folder, ignore_errors=True)
        self._partial.rename(self.folder)


def read_shard_notes(folder: Path) -> dict[str, Any]:
    """The notes that its writer left when it closed the shard."""
    notes: dict[str, Any] = json.loads((folder / "notes.json").read_text())
    return notes


def _load(path: Path) -> Integers:
    array: Integers = np.load(path, mmap_mode="r") if path.stat().st_size > 0 else np.zeros(0)
    return array


def _join(shards: list[Path], folder: Path, vocabulary_size: int, seed: int | None) -> dict[str, int]:
    """Copy shards into one split. Each large array is written once, in its final order, through a memory map."""
    folder.mkdir(parents=True)
    splits = [Split(shard) for shard in shards]
    rows = _find_distinct(shards)
    if seed is not None:
        rows = rows[np.random.default_rng(seed).permutation(len(rows))]
    lengths = np.zeros(2, dtype=np.int64)
    for number, row in rows:
        lengths += splits[number].rows[row, [Column.STATE_LENGTH, Column.EDIT_LENGTH]]
    state_tokens, edits = lengths.tolist()
    kind = token_type(vocabulary_size)
    states = _create(folder / "state.npy", kind, (state_tokens,))
    positions = _create(folder / "positions.npy", np.dtype(np.int32), (edits,))
    contents = _create(folder / "contents.npy", kind, (edits,))
    index = _create(folder / "index.npy", np.dtype(np.int64), (len(rows), len(Column)))
    state_at = edit_at = 0
    for at, (number, row) in enumerate(rows):
        split = splits[number]
        state, position, content = split.arrays(row)
        states[state_at : state_at + len(state)] = state
        positions[edit_at : edit_at + len(position)] = position
        contents[edit_at : edit_at + len(content)] = content
        index[at] = split.rows[row]
        index[at, Column.STATE_START] = state_at
        index[at, Column.EDIT_START] = edit_at
        state_at += len(state)
        edit_at += len(position)
    return {"instances": len(rows), "edits": edits}


def _find_distinct(shards: Sequence[Path]) -> Integers:
    """(shard, row) of every instance but repeated ones."""
    prints = [np.load(shard / "fingerprints.npy") for shard in shards]
    every: Integers = np.concatenate([np.zeros(0, dtype=np.int64), *prints])
    _, first = np.unique(every, return_index=True)
    numbers = np.repeat(np.arange(len(shards)), [len(p) for p in prints])
    within = np.concatenate([np.zeros(0, dtype=np.int64), *[np.arange(len(p)) for p in prints]])
    first.sort()
    return np.stack([numbers[first], within[first]], axis=1)


def _create(path: Path, kind: npt.DTypeLike, shape: tuple[int, ...]) -> Integers:
    if 0 in shape:  # an empty file cannot be mapped
        np.save(path, np.zeros(shape, dtype=kind))
        return np.zeros(shape, dtype=kind)
    return np.lib.format.open_memmap(path, mode="w+", dtype=np.dtype(kind), shape=shape)
