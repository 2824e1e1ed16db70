from hypothesis import given
from hypothesis import strategies as st

from model.editing.edits import Instance, Slots, apply
from model.editing.fold import count_to_fold, fold
from tests.instances import instances


@given(instances(), st.data())
def test_a_folded_base_with_the_other_edits_is_the_same_state(
    instance: Instance, data: st.DataObject
) -> None:
    slots = Slots(instance.state)
    for edit in instance.edits:
        slots.apply(edit)
    count = data.draw(st.integers(0, len(instance.edits)))
    folded = fold(slots, count)
    assert len(folded.edits) == len(instance.edits) - count
    assert folded.contents[: folded.state_length] == list(apply(instance.state, instance.edits[:count]))
    assert folded.tokens() == list(apply(instance.state, instance.edits))


def test_whole_bursts_are_folded_and_half_of_the_limit_stays() -> None:
    assert count_to_fold([10, 30, 60, 101], frozen=60, limit=100) == 60
    assert count_to_fold([30, 60, 70, 101], frozen=70, limit=100) == 60


def test_the_newest_burst_is_never_folded_as_a_whole() -> None:
    assert count_to_fold([20, 105], frozen=105, limit=100) == 55
    assert count_to_fold([20, 105], frozen=20, limit=100) == 20
