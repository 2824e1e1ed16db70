"""Refactorings: one intent throughout a text, as trajectories that are whole and that end."""

from collections import Counter
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from model.editing.edits import END, apply
from tests.training.tokenizers import SAMPLE, small_tokenizer
from training.data.dataset import Kind
from training.refactorings.refactoring import refactor
from training.refactorings.source import Source
from training.trajectories.trajectory import instance_from_trajectory


@settings(deadline=None, max_examples=200)
@given(st.integers(0, 1 << 30), st.text(alphabet="ab(), =.\"'\n{}:[]#", max_size=60))
def test_any_text_can_be_refactored_or_left_alone(seed: int, noise: str) -> None:
    trajectory = refactor(noise + SAMPLE + noise, Random(seed))
    if trajectory is None:
        return
    assert len(trajectory.changes) >= 2
    assert 1 <= trajectory.conditioning < len(trajectory.changes)
    instance = instance_from_trajectory(trajectory, small_tokenizer(), 10_000)
    assert instance is not None
    assert instance.edits[-1].content == END
    assert small_tokenizer().decode(apply(instance.state, instance.edits)[1:-1]) == trajectory.texts()[-1]


def test_a_rename_turns_uses_of_one_name_into_uses_of_another() -> None:
    for seed in range(200):
        trajectory = refactor(SAMPLE, Random(seed))
        if (
            trajectory is not None
            and trajectory.kind == Kind.RENAME
            and len({c.text for c in trajectory.changes}) == 1
        ):
            first = trajectory.changes[0]
            old, new = trajectory.text[first.start : first.end], first.text
            before, after = Source(trajectory.text).names, Source(trajectory.texts()[-1]).names
            assert after[old] < before[old]
            assert after[old] + after[new] == before[old] + before[new]
            return
    raise AssertionError("no rename in 200 seeds")


def test_every_kind_is_made() -> None:
    text = SAMPLE + SAMPLE.replace("name", "key").replace("Reader", "Writer") + "use('one', 'two')"
    trajectories = [refactor(text, Random(seed)) for seed in range(1500)]
    kinds = Counter(trajectory.kind for trajectory in trajectories if trajectory is not None)
    assert {kind for kind in Kind if kind >= Kind.RENAME} <= set(kinds)


def test_a_text_without_anything_twice_is_left_alone() -> None:
    assert refactor("", Random(0)) is None
