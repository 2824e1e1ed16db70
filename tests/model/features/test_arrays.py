"""Instances as padded arrays."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from model.editing.edits import END, START, Edit, Instance, explicit_from_implicit, states
from model.features.arrays import explicit_batch, implicit_batch
from model.features.pointer_features import relate
from model.features.precedents import NOTHING_OFFERED
from tests.instances import instances, positions_after

A, B, C, D = 4, 5, 6, 7


@given(st.lists(instances(), min_size=1, max_size=3), st.sampled_from([1, 5]))
def test_a_batch_holds_each_instance_as_if_alone(several: list[Instance], multiple: int) -> None:
    several = [each for each in several if each.edits] or [Instance((START, END), (Edit(0, A),))]
    batch = implicit_batch(several, multiple)
    longest = batch.state.shape[1]
    assert longest % multiple == 0
    for row, instance in enumerate(several):
        length, count = len(instance.state), len(instance.edits)
        assert tuple(batch.state[row, :length]) == instance.state
        assert batch.state_mask[row].sum() == length
        assert batch.edit_mask[row].sum() == batch.loss_mask[row].sum() == count
        for step, edit in enumerate(instance.edits):
            column = edit.position if edit.position < length else edit.position - length + longest
            assert (batch.positions[row, step], batch.contents[row, step]) == (column, edit.content)
            positions = positions_after(instance, step)
            order, related = positions.slots.order, relate(positions)
            columns = {slot if slot < length else slot - length + longest for slot in order}
            placed = [slot if slot < length else slot - length + longest for slot in order]
            assert (batch.buckets[row, step][:, placed] == related.buckets).all()
            offered = related.offered.get(order.index(edit.position), NOTHING_OFFERED)
            assert (batch.replayed[row, step], batch.replayed_kinds[row, step]) == offered
            assert set(np.flatnonzero(batch.alive[row, step]).tolist()) == columns
            assert batch.alive[row, step, column]


def test_conditioning_edits_are_not_to_be_predicted() -> None:
    instance = Instance((START, A, END), (Edit(1, B), Edit(1, C), Edit(1, D)), conditioning=2)
    assert implicit_batch([instance]).loss_mask.tolist() == [[False, False, True]]
    assert explicit_batch([instance]).loss_mask.tolist() == [[False, False, True]]


@given(st.lists(instances().filter(lambda instance: bool(instance.edits)), min_size=1, max_size=3))
def test_an_explicit_batch_spells_every_state_out(several: list[Instance]) -> None:
    batch = explicit_batch(several)
    for row, instance in enumerate(several):
        spelled = states(instance)
        for step, edit in enumerate(explicit_from_implicit(instance.state, instance.edits)):
            state = spelled[step]
            assert tuple(batch.states[row, step, : len(state)]) == state
            assert not batch.states[row, step, len(state) :].any()
            assert batch.alive[row, step].sum() == len(state)
            assert (batch.positions[row, step], batch.contents[row, step]) == edit
            before = spelled[step - 1] if step else ()
            assert tuple(batch.previous[row, step, : len(before)]) == before
