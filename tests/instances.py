"""Random states, edits and instances, for hypothesis."""

from hypothesis import strategies as st

from model.editing.edits import DELETE, END, START, Edit, Instance, Slots, State
from model.features.slot_positions import SlotPositions

VOCABULARY_SIZE = 13
tokens = st.integers(DELETE + 1, VOCABULARY_SIZE - 1)


def states(max_size: int = 11) -> st.SearchStrategy[State]:
    return st.lists(tokens, max_size=max_size).map(lambda inner: (START, *inner, END))


@st.composite
def explicit_edits(draw: st.DrawFn, length: int) -> Edit:
    """An edit that a state of this length can meet."""
    position = draw(st.integers(0, length - 2))
    return Edit(position, draw(st.just(DELETE) | tokens) if position else draw(tokens))


@st.composite
def instances(draw: st.DrawFn, max_edits: int = 7) -> Instance:
    slots = Slots(draw(states()))
    for _ in range(draw(st.integers(0, max_edits))):
        slots.apply_explicit(draw(explicit_edits(len(slots.order))))
    return Instance(tuple(slots.contents[: slots.state_length]), tuple(slots.edits))


def positions_after(instance: Instance, count: int, capacity: int = 3) -> SlotPositions:
    positions = SlotPositions(instance.state, capacity)
    for edit in instance.edits[:count]:
        positions.apply(edit)
    return positions
