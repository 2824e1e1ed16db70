"""States, edits and their two kinds of positions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.editing.edits import (
    DELETE,
    END,
    PAD,
    START,
    Edit,
    Instance,
    Slots,
    apply,
    edits_between,
    explicit_from_implicit,
    implicit_from_explicit,
    lexical_edits_between,
    states,
    stop_edit,
)
from tests.instances import instances
from tests.instances import states as any_states

A, B, C = 4, 5, 6


def test_the_figure_of_the_paper() -> None:
    """BACA becomes BABBCACC: B is inserted after A twice over, then C. The first inserted B is slot 6."""
    state = (START, B, A, C, A, END)
    explicit = [Edit(2, B), Edit(3, B), Edit(6, C), Edit(7, C)]
    implicit = implicit_from_explicit(state, explicit)
    assert implicit == [Edit(2, B), Edit(6, B), Edit(4, C), Edit(8, C)]
    assert apply(state, implicit) == (START, B, A, B, B, C, A, C, C, END)
    assert edits_between(state, (START, B, A, B, B, C, A, C, C, END)) == explicit
    slots = Slots(state)
    slots.apply(implicit[0])
    assert slots.order[3] == 6


@given(instances())
def test_explicit_and_implicit_edits_are_two_ways_to_say_one_thing(instance: Instance) -> None:
    explicit = explicit_from_implicit(instance.state, instance.edits)
    assert tuple(implicit_from_explicit(instance.state, explicit)) == instance.edits


@given(instances())
def test_states_are_what_edits_one_after_another_give(instance: Instance) -> None:
    expected = [instance.state]
    for position, content in explicit_from_implicit(instance.state, instance.edits):
        before = expected[-1]
        if content == DELETE:
            expected.append((*before[:position], *before[position + 1 :]))
        else:
            expected.append((*before[: position + 1], content, *before[position + 1 :]))
    assert states(instance) == expected
    assert apply(instance.state, instance.edits) == expected[-1]


@given(any_states(), any_states())
def test_the_edits_between_two_states_lead_from_one_to_the_other_from_left_to_right(
    old: tuple[int, ...], new: tuple[int, ...]
) -> None:
    explicit = edits_between(old, new)
    assert apply(old, implicit_from_explicit(old, explicit)) == new
    # A deletion leaves its place to what follows, an insertion comes after what it follows: neither goes back.
    places = [edit.position + (edit.content != DELETE) for edit in explicit]
    assert places == sorted(places)


@given(any_states(), st.sampled_from([(), (START,)]), st.data())
def test_edits_between_lines_lead_from_one_run_of_lines_to_the_other(
    state: tuple[int, ...], before: tuple[int, ...], data: st.DataObject
) -> None:
    lines = st.lists(st.lists(st.sampled_from([A, B, C]), max_size=4), min_size=1, max_size=4)
    old, new = data.draw(lines), data.draw(lines)
    ends = [True, True, True, True, False, True, True]
    explicit = lexical_edits_between(old, new, ends, offset=len(state) - 1)
    whole = (*state[:-1], *(token for line in old for token in line), END)
    expected = (*state[:-1], *(token for line in new for token in line), END)
    assert apply(whole, implicit_from_explicit(whole, explicit)) == expected


def test_a_name_that_changed_in_part_is_replaced_as_a_whole() -> None:
    ends = [True, True, True, True, False, True, True]
    assert lexical_edits_between([[A, B]], [[A, C]], ends, offset=1) == [
        Edit(1, DELETE),
        Edit(1, DELETE),
        Edit(0, A),
        Edit(1, C),
    ]


@given(instances(), st.data())
def test_keep_undoes_the_edits_after(instance: Instance, data: st.DataObject) -> None:
    slots = Slots(instance.state)
    for edit in instance.edits:
        slots.apply(edit)
    count = data.draw(st.integers(0, len(instance.edits)))
    slots.keep(count)
    fresh = Slots(instance.state)
    for edit in instance.edits[:count]:
        fresh.apply(edit)
    assert (slots.order, slots.contents, slots.edits) == (fresh.order, fresh.contents, fresh.edits)
    assert slots.explicit_positions() == fresh.explicit_positions()


def test_stop_changes_nothing_and_can_be_taken_back() -> None:
    slots = Slots((START, A, END))
    slots.apply(stop_edit(3))
    assert slots.tokens() == [START, A, END]
    slots.keep(0)
    assert slots.contents == [START, A, END]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (Edit(12, A), "position 12 is outside a state of 3 tokens"),
        (Edit(-1, A), "position -1 is outside a state of 3 tokens"),
        (Edit(0, DELETE), "position 0 is the start or the end token: it cannot be deleted"),
        (Edit(2, DELETE), "position 2 is the start or the end token: it cannot be deleted"),
        (Edit(2, A), "position 2 is the end token: nothing can be inserted after it"),
        (Edit(1, END), "stop points at position 1, not at the end token"),
        (Edit(1, PAD), "content 0 is not a token that can be inserted"),
        (Edit(1, START), "content 1 is not a token that can be inserted"),
        (Edit(1, -4), "content -4 is not a token that can be inserted"),
    ],
)
def test_an_impossible_edit_is_refused_and_changes_nothing(edit: Edit, message: str) -> None:
    slots = Slots((START, A, END))
    with pytest.raises(ValueError, match=message):
        slots.apply(edit)
    with pytest.raises(ValueError, match=message):
        slots.apply_explicit(edit)
    assert slots.tokens() == [START, A, END]
    assert slots.edits == []


def test_a_deleted_position_is_refused() -> None:
    slots = Slots((START, A, END))
    slots.apply(Edit(1, DELETE))
    with pytest.raises(ValueError, match="position 1 is not in the current state: it was deleted"):
        slots.apply(Edit(1, B))


@pytest.mark.parametrize("state", [(), (START,), (START, A), (A, END)])
def test_a_state_without_its_ends_is_refused(state: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="begins with START and ends with END"):
        Slots(state)


@pytest.mark.parametrize("count", [-1, 2])
def test_more_edits_than_there_are_cannot_be_kept(count: int) -> None:
    slots = Slots((START, A, END))
    slots.apply(Edit(1, B))
    with pytest.raises(ValueError, match=f"cannot keep {count} of 1 edits"):
        slots.keep(count)
