from lsp.recorded_hunks import find_hunks, is_undo, range_of_hunk
from model.editing.change import Change
from model.editing.edits import DELETE, Edit
from tests.model.editing.test_recorder import Typist


def test_a_suggestion_that_takes_back_what_the_user_did_is_known() -> None:
    typist = Typist("foo = bar\n")
    typist.change(Change(6, 9, "(x"))
    typist.change(Change(0, 0, "#\n"), pause=2.0)
    recorder = typist.recorder
    slots = recorder.slots
    first, last = find_hunks(recorder)[0]
    mine = [slots.state_length + i for i in range(first, last) if recorder.edits[i].content != DELETE]
    taken = [slots.contents[e.position] for e in recorder.edits[first:last] if e.content == DELETE]
    back = [Edit(slot, DELETE) for slot in mine]
    left = slots.order[slots.order.index(mine[0]) - 1]
    again = []
    for index, content in enumerate(taken):
        again.append(Edit(left if index == 0 else 0, content))
    assert is_undo(recorder, [*back, *again])
    assert not is_undo(recorder, back[:1])
    assert not is_undo(recorder, [Edit(left, taken[0])])


def test_the_range_of_a_hunk_moves_with_the_text() -> None:
    typist = Typist("foo = bar\n")
    typist.change(Change(6, 9, "(1)"))
    typist.change(Change(0, 0, "# four\n"), pause=2.0)
    assert range_of_hunk(typist.recorder, find_hunks(typist.recorder)[0]) == (13, 16)
    assert typist.text[13:16] == "(1)"
