"""Edits that change nothing, or undo."""

from hypothesis import given
from hypothesis import strategies as st

from model.editing.edits import DELETE, Edit, Instance, Slots
from model.inference.refusals import Refused, refuse_idle
from model.inference.search import Decoded, Wish
from model.silence import Silence
from tests.instances import instances
from tests.model.inference.scripted_history import (
    NEWEST,
    ONE,
    TWO,
    Said,
    ask,
    scripted,
    spell,
)


def test_what_undoes_the_newest_edit_is_not_suggested() -> None:
    newest = NEWEST - 1
    assert ask(scripted(({newest: 1.0}, {DELETE: 1.0})), Wish()) == Decoded([], Silence.UNDO)


def test_what_undoes_a_whole_replacement_is_not_suggested() -> None:
    made = [Edit(5, DELETE), Edit(4, TWO)]  # a = 1 became a = 2
    steps: list[Said] = [({NEWEST: 1.0}, {DELETE: 1.0}), ({4: 1.0}, {ONE: 1.0})]
    assert ask(scripted(*steps, made=made), Wish(until="hunk")) == Decoded([], Silence.UNDO)


def test_what_brings_back_a_whole_block_is_not_suggested() -> None:
    text = "a = 1\n" * 9
    block = spell(text)[:35]
    made = [Edit(slot, DELETE) for slot in range(1, 36)]
    first = 2 + len(spell(text)) + len(made)  # slot of the first edit that is decoded
    steps: list[Said] = [({first + n - 1 if n else 0: 1.0}, {token: 1.0}) for n, token in enumerate(block)]
    assert ask(scripted(*steps, made=made, text=text), Wish(until="hunk")) == Decoded([], Silence.UNDO)


def test_what_changes_nothing_is_not_suggested() -> None:
    steps: list[Said] = [({9: 1.0}, {DELETE: 1.0}), ({8: 1.0}, {spell("=")[0]: 1.0})]
    history = scripted(*steps)
    assert history.slots.contents[9] == spell("=")[0]
    assert ask(history, Wish(until="hunk")) == Decoded([], Silence.NO_OP)


@given(instances(max_edits=9), st.data())
def test_edits_are_refused_exactly_when_they_lead_back(instance: Instance, data: st.DataObject) -> None:
    """Against a naive search that spells all states."""
    known = data.draw(st.integers(0, len(instance.edits)))
    look_back = data.draw(st.integers(0, 12))
    slots = Slots(instance.state)
    states = [slots.tokens()]
    for edit in instance.edits:
        slots.apply(edit)
        states.append(slots.tokens())
    expected = None
    if known < len(instance.edits):
        earlier = range(known, max(0, known - look_back) - 1, -1)
        same = next((count for count in earlier if states[count] == states[-1]), None)
        if same is not None:
            expected = Silence.NO_OP if same == known else Silence.UNDO
    found = None
    if known < len(instance.edits):
        try:
            refuse_idle(slots, known, look_back)
        except Refused as refused:
            found = refused.reason
    assert found == expected
