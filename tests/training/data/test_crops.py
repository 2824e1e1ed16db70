"""Cutting states down around their edits."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from model.editing.edits import END, START, Edit, Instance, apply, stop_edit
from tests.instances import VOCABULARY_SIZE, instances
from training.data.crops import crop_instance, draw_crops
from training.data.dataset import Dataset, DatasetWriter


def split_of(folder: Path, several: list[Instance]) -> Dataset:
    writer = DatasetWriter(folder, VOCABULARY_SIZE)
    for instance in several:
        writer.append("train", instance)
    writer.close()
    return Dataset.load(folder)


def _prolonged(instance: Instance) -> Instance:
    """With so many tokens before and after that most of them are far from every edit."""
    margin, length = 80, len(instance.state)
    filling = (4,) * margin

    def moved(position: int) -> int:
        return position + margin if position < length else position + 2 * margin

    edits = tuple(Edit(moved(edit.position), edit.content) for edit in instance.edits)
    return Instance((START, *filling, *instance.state[1:-1], *filling, END), edits)


@settings(deadline=None)
@given(st.lists(instances(), min_size=1, max_size=4), st.integers(2, 12), st.integers(0, 5))
def test_what_is_cut_off_is_what_no_edit_touches(several: list[Instance], least: int, seed: int) -> None:
    several = [_prolonged(each) for each in several]
    several = [each._replace(edits=(*each.edits, stop_edit(len(each.state)))) for each in several]
    with TemporaryDirectory() as folder:
        split = split_of(Path(folder) / "data", several).split("train")
    crops = draw_crops(split, least, np.random.default_rng(seed))
    for instance, first, last in zip(several, crops.first.tolist(), crops.last.tolist(), strict=True):
        small = crop_instance(instance, first, last)
        assert len(small.state) == last - first + 2
        before, after = instance.state[1:first], instance.state[last:-1]
        whole = apply(instance.state, instance.edits)
        assert (START, *before, *apply(small.state, small.edits)[1:-1], *after, END) == whole
    assert (crops.lengths >= np.minimum(least, [len(each.state) for each in several])).all()


def test_crops_are_of_all_lengths(tmp_path: Path) -> None:
    instance = Instance((START, *[5] * 1000, END), (Edit(400, 6), Edit(410, 7)))
    split = split_of(tmp_path / "data", [instance] * 200).split("train")
    lengths = draw_crops(split, 100, np.random.default_rng(0)).lengths
    assert 100 <= lengths.min() < 120
    assert 700 < lengths.max() <= 1002
    assert 250 < np.median(lengths) < 400
