"""Instances survive the disk, in every split, whole or not at all."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.editing.edits import END, START, Edit, Instance
from training.data.dataset import (
    Dataset,
    DatasetWriter,
    Kind,
    ShardWriter,
    read_shard_notes,
    token_type,
)

TOKENS = st.integers(min_value=3, max_value=70_000)


@st.composite
def instances(draw: st.DrawFn) -> Instance:
    state = (START, *draw(st.lists(TOKENS, max_size=7)), END)
    edits = tuple(Edit(draw(st.integers(0, 99)), draw(TOKENS)) for _ in range(draw(st.integers(0, 5))))
    return Instance(state, edits, draw(st.integers(0, len(edits))))


@settings(max_examples=25, deadline=None)
@given(st.lists(instances(), max_size=11))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, written: list[Instance]) -> None:
    folder = tmp_path_factory.mktemp("data") / "set"
    writer = DatasetWriter(folder, vocabulary_size=70_001)
    for instance in written:
        writer.append("train", instance, Kind.RENAME)
    writer.close()
    dataset = Dataset.load(folder)
    assert [list(dataset.split(name)) for name in dataset.names] == ([written] if written else [])
    if written:
        split = dataset.split("train")
        assert split[1:3] == written[1:3]
        assert split.state_lengths.tolist() == [len(instance.state) for instance in written]
        assert split.edit_lengths.tolist() == [len(instance.edits) for instance in written]
        assert set(split.kinds.tolist()) == {Kind.RENAME}


def test_joined_shards_hold_every_instance_once_and_in_the_same_order_for_a_seed(tmp_path: Path) -> None:
    written = [Instance((START, *range(4, 4 + n), END), (Edit(0, 4 + n),) * n, n) for n in range(20)]
    for number in range(3):
        shard = ShardWriter(tmp_path / f"shard{number}", vocabulary_size=100)
        for instance in written[number::3]:
            shard.append(instance, Kind.HISTORY)
        shard.close({"number": number})
    shards = [tmp_path / f"shard{number}" for number in range(3)]
    orders = []
    for name in ("one", "two"):
        writer = DatasetWriter(tmp_path / name, vocabulary_size=100, vocabulary_sha256="abc")
        writer.join("train", shards, seed=1)
        writer.close(tokenizer_json="{}")
        dataset = Dataset.load(tmp_path / name)
        orders.append(list(dataset.split("train")))
        assert dataset.manifest["splits"]["train"] == {"instances": 20, "edits": sum(range(20))}
        assert dataset.tokenizer_path is not None
    assert orders[0] == orders[1] != written
    assert sorted(orders[0]) == sorted(written)
    assert read_shard_notes(shards[2]) == {"number": 2}


def test_an_unfinished_dataset_is_not_there(tmp_path: Path) -> None:
    writer = DatasetWriter(tmp_path / "set", vocabulary_size=9)
    writer.append("train", Instance((START, END), ()))
    assert not (tmp_path / "set").exists()
    with pytest.raises(ValueError, match=r"has no manifest\.json"):
        Dataset.load(tmp_path / "set")


def test_a_missing_split_names_those_there_are(tmp_path: Path) -> None:
    writer = DatasetWriter(tmp_path / "set", vocabulary_size=9)
    writer.append("dev", Instance((START, END), ()))
    writer.close()
    with pytest.raises(ValueError, match="it has dev"):
        Dataset.load(tmp_path / "set").split("train")


def test_ids_take_two_bytes_while_they_fit() -> None:
    assert token_type(1 << 16) == np.uint16
    assert token_type((1 << 16) + 1) == np.uint32
