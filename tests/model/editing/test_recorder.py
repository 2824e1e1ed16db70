import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsp.recorded_hunks import find_hunks, range_of_hunk
from model.editing.change import Change
from model.editing.edits import DELETE, Edit, apply
from model.editing.lines import Lines
from model.editing.recorder import Recorder
from tests.model.editing.drawn_changes import changes
from tests.tokenizing import small_tokenizer, texts

PROGRAM = (
    "def total(items):\n    result = 0\n    for item in items:\n        result += item\n    return result\n"
)


def spelled(recorder: Recorder) -> str:
    """The text of the stream with the half-typed name put in."""
    text = small_tokenizer().decode(apply(recorder.state, recorder.edits))
    if recorder.partial is not None:
        start = recorder.partial.start
        text = Change(start, start, recorder.prefix).apply_to(text)
    return text


def replaced(text: str, change: Change) -> str:
    return text[: change.start] + change.text + text[change.end :]


def recorder_of(text: str, limit_edits: int = 100) -> Recorder:
    return Recorder(small_tokenizer(), text, limit_edits)


class Typist:
    """Types into a recorder, a key every tenth of a second."""

    def __init__(self, text: str, limit_edits: int = 100) -> None:
        self.text = text
        self.now = 0.0
        self.recorder = recorder_of(text, limit_edits)

    def change(self, *changes: Change, pause: float = 0.1, accepted: bool = False) -> None:
        self.now += pause
        for change in changes:
            self.text = change.apply_to(self.text)
        self.recorder.record(changes, self.now, accepted=accepted)
        assert spelled(self.recorder) == self.text

    def type(self, offset: int, text: str, pause: float = 0.1) -> None:
        for index, key in enumerate(text):
            self.change(Change(offset + index, offset + index, key), pause=pause if index == 0 else 0.1)

    def backspace(self, offset: int, count: int) -> None:
        for index in range(count):
            self.change(Change(offset - index - 1, offset - index, ""))

    def story(self) -> str:
        """The edits as a reader sees them: [-deleted-][+inserted+], place by place."""
        slots, decode = self.recorder.slots, small_tokenizer().decode
        result = ""
        for first, last in find_hunks(self.recorder):
            edits = self.recorder.edits[first:last]
            deleted = decode([slots.contents[edit.position] for edit in edits if edit.content == DELETE])
            inserted = decode([edit.content for edit in edits if edit.content != DELETE])
            result += (f"[-{deleted}-]" if deleted else "") + (f"[+{inserted}+]" if inserted else "")
        return result


class Service:
    """Holds the edits as the stream's messages say."""

    def __init__(self) -> None:
        self.state: tuple[int, ...] = ()
        self.edits: list[Edit] = []

    def follow(self, recorder: Recorder) -> None:
        if self.state != recorder.state:
            self.state, self.edits = recorder.state, []
        keep = 0
        while keep < min(len(self.edits), len(recorder.edits)) and self.edits[keep] == recorder.edits[keep]:
            keep += 1
        self.edits = self.edits[:keep] + recorder.edits[keep:]


@settings(deadline=None)
@given(texts, st.data())
def test_after_any_changes_the_stream_with_its_prefix_is_the_text(text: str, data: st.DataObject) -> None:
    recorder, now = recorder_of(text, limit_edits=data.draw(st.sampled_from([4, 12, 100]))), 0.0
    service = Service()
    history = [text]
    for _ in range(data.draw(st.integers(1, 10))):
        now += data.draw(st.sampled_from([0.1, 0.1, 2.0]))
        action = data.draw(st.sampled_from(["change", "type", "several", "undo", "save", "freeze", "move"]))
        if action == "save":
            recorder.save(now)
        elif action == "freeze":
            recorder.freeze()
        elif action == "move":
            recorder.move_cursor(data.draw(st.integers(0, len(text))))
        elif action == "undo":
            text = data.draw(st.sampled_from(history))
            recorder.record([Change(0, len(recorder.text), text)], now)
        else:
            changes = []
            for _ in range(3 if action == "several" else 1):
                start = data.draw(st.integers(0, len(text)))
                end = start if action == "type" else data.draw(st.integers(start, min(len(text), start + 9)))
                new = data.draw(st.sampled_from("fooba_r.( \n")) if action == "type" else data.draw(texts)
                changes.append(Change(start, end, new))
                text = changes[-1].apply_to(text)
            recorder.record(changes, now, accepted=data.draw(st.integers(0, 4)) == 0)
        history.append(text)
        service.follow(recorder)
        assert spelled(recorder) == text == recorder.text.text
        assert len(recorder.edits) <= recorder._limit_edits
        assert (service.state, service.edits) == (recorder.state, recorder.edits)
        assert recorder.cursor is None or recorder.cursor in recorder.slots.order
        for place in (range_of_hunk(recorder, hunk) for hunk in find_hunks(recorder)):
            assert 0 <= place.start <= place.end <= len(text)


@settings(deadline=None)
@given(texts, st.data())
def test_a_recorder_that_shares_its_lines_records_the_same(text: str, data: st.DataObject) -> None:
    alone, sharing, lines, now = recorder_of(text), recorder_of(text), Lines(text), 0.0
    sharing.share(lines)
    for _ in range(data.draw(st.integers(1, 8))):
        now += data.draw(st.sampled_from([0.1, 0.1, 2.0]))
        step = []
        for _ in range(data.draw(st.integers(1, 3))):
            step.append(data.draw(changes(len(text))))
            text = step[-1].apply_to(text)
        alone.record(step, now)
        sharing.follow([lines.replace(change) for change in step], now)
        assert (sharing.state, sharing.edits) == (alone.state, alone.edits)
        assert (sharing.partial, sharing.bursts) == (alone.partial, alone.bursts)
        assert spelled(sharing) == text


def test_a_half_typed_name_is_a_prefix_until_it_ends() -> None:
    typist = Typist("a = 1\n")
    typist.change(Change(4, 5, ""))
    typist.type(4, "resu")
    assert typist.recorder.prefix == "resu"
    assert typist.story() == "[-1-]"
    typist.type(8, "(")
    assert typist.recorder.prefix == ""
    assert typist.story() == "[-1-][+resu(+]"


def test_a_pause_in_the_middle_of_a_name_does_not_end_the_name() -> None:
    typist = Typist("a = \n")
    typist.type(4, "re")
    typist.type(6, "su", pause=5.0)
    assert typist.recorder.prefix == "resu"
    assert typist.recorder.edits == []


def test_a_name_that_the_cursor_leaves_is_an_edit() -> None:
    typist = Typist("a = \n")
    typist.type(4, "resu")
    typist.recorder.move_cursor(8)
    assert typist.recorder.prefix == "resu"
    typist.recorder.move_cursor(0)
    assert typist.recorder.prefix == ""
    assert typist.story() == "[+resu+]"


def test_a_name_is_an_edit_when_the_next_change_is_elsewhere() -> None:
    typist = Typist("a = \n" + "\n" * 20 + "b = 1\n")
    typist.type(4, "resu")
    typist.type(33, "2", pause=3.0)
    assert typist.story() == "[+resu+][-1-][+21+]"


def test_a_name_between_two_blanks_is_a_prefix_too() -> None:
    typist = Typist("a = old + b\n")
    typist.change(Change(4, 7, ""))
    typist.type(4, "re")
    assert typist.recorder.prefix == "re"
    assert typist.story() == "[-old-]"
    typist.type(6, "st")
    typist.recorder.move_cursor(0)
    assert typist.story() == "[-old-][+rest+]"


def test_what_is_typed_and_deleted_again_leaves_nothing() -> None:
    typist = Typist(PROGRAM)
    typist.type(33, " + foo(1)")
    assert typist.recorder.edits
    typist.backspace(42, 9)
    assert typist.recorder.edits == []


def test_deleting_the_end_of_a_name_makes_the_rest_a_prefix() -> None:
    typist = Typist("foo bar\n")
    typist.backspace(7, 2)
    assert typist.recorder.prefix == "b"
    typist.backspace(5, 1)
    assert typist.recorder.prefix == ""


def test_deleting_what_follows_a_name_leaves_the_name_alone() -> None:
    typist = Typist("foo = bar\n")
    typist.change(Change(3, 9, ""))
    assert typist.recorder.prefix == ""


def test_a_pasted_name_is_whole() -> None:
    typist = Typist("a = \n")
    typist.change(Change(4, 4, "result"))
    assert typist.recorder.prefix == ""
    assert typist.recorder.edits


def test_bursts_know_their_time_and_their_changes() -> None:
    typist = Typist(PROGRAM)
    typist.type(33, "(1)")
    typist.type(0, "#", pause=0.5)
    first, second = typist.recorder.bursts
    assert (first.changes, second.changes) == (range(3), range(3, 4))
    assert [first.time, second.time] == pytest.approx([0.3, 0.8])
    assert typist.recorder.burst_ends == [first.end, len(typist.recorder.edits)]


def test_without_times_only_touching_changes_are_one_burst() -> None:
    recorder = recorder_of("a = 1\nb = 2\n")
    for change in (Change(10, 11, "("), Change(11, 11, "."), Change(0, 1, "(")):
        recorder.record([change])
    assert [(burst.changes, burst.time) for burst in recorder.bursts] == [
        (range(2), None),
        (range(2, 3), None),
    ]


def test_a_mined_hunk_is_a_burst_of_its_own_and_no_undo_or_rewrite() -> None:
    recorder = Recorder(small_tokenizer(), PROGRAM, limit_edits=10_000, is_typed=False)
    recorder.record([Change(0, len(PROGRAM), "x = 1\n" * 80)])
    count = len(recorder.edits)
    recorder.record([Change(0, 480, PROGRAM)])
    assert recorder.burst_ends == [count, len(recorder.edits)]
    assert count > 0 == recorder.generation
    assert spelled(recorder) == PROGRAM


def test_a_pause_freezes_the_edits_so_that_later_ones_only_append() -> None:
    typist = Typist(PROGRAM)
    typist.type(33, "1.")
    before = list(typist.recorder.edits)
    typist.type(35, "5;", pause=1.5)
    assert typist.recorder.edits[: len(before)] == before


def test_a_change_elsewhere_begins_a_new_burst_however_near_and_soon() -> None:
    typist = Typist("".join(f"{number} = 1\n" for number in range(10, 50)))
    length = len(small_tokenizer().encode_segment("("))
    typist.type(7 * 7 + 5, "(")
    typist.type(5, "(")
    typist.type(30 * 7, "(")
    assert typist.story() == "[+(+]" * 3
    assert typist.recorder.burst_ends == [length, 2 * length, 3 * length]


def test_a_long_burst_is_frozen_and_undo_still_takes_it_back() -> None:
    typist = Typist(PROGRAM)
    typist.type(0, "(1) + " * 12)
    assert len(typist.recorder.bursts) > 1
    typist.change(Change(0, 72, ""))
    assert typist.text == PROGRAM
    assert typist.recorder.edits == []


def test_undo_takes_edits_back_and_redo_returns_them() -> None:
    typist = Typist(PROGRAM)
    typist.type(33, "1.")
    first = list(typist.recorder.edits)
    typist.type(0, "# x\n", pause=2.0)
    both, text = list(typist.recorder.edits), typist.text
    typist.change(Change(0, 4, ""), pause=3.0)
    assert typist.recorder.edits == first
    typist.change(Change(33, 35, ""), pause=3.0)
    assert typist.recorder.edits == []
    typist.change(Change(33, 33, "1."), pause=3.0)
    typist.change(Change(0, 0, "# x\n"), pause=3.0)
    assert typist.text == text
    assert typist.recorder.edits == both


def test_lines_in_another_order_are_no_undo() -> None:
    typist = Typist("a\nb\nc\n")
    typist.change(Change(0, 6, "b\na\nc\n"))
    typist.change(Change(0, 6, "c\nb\na\n"), pause=2.0)
    assert typist.recorder.edits


def test_several_cursors_are_one_burst() -> None:
    typist = Typist("foo\n" + "\n" * 20 + "foo\n")
    for index, key in enumerate("xy"):
        typist.change(Change(27 + index * 2, 27 + index * 2, key), Change(3 + index, 3 + index, key))
    assert typist.story() == "[-foo-][+fooxy+]" * 2
    assert len(typist.recorder.bursts) == 1


def test_a_rewrite_of_the_file_is_a_new_beginning() -> None:
    typist = Typist(PROGRAM * 20)
    typist.type(33, "1.")
    generation = typist.recorder.generation
    typist.change(Change(0, len(PROGRAM) * 10, PROGRAM.replace("result", "value") * 10))
    assert typist.recorder.edits == []
    assert typist.recorder.generation == generation + 1


@pytest.mark.parametrize(
    "changes",
    [
        [Change(80, 81, "  "), Change(3, 4, "   ")],  # not alike
        [Change(34, 34, " "), Change(32, 32, " ")],  # alike, and where somebody typed, but of blanks alone
        [Change(30, 31, ""), Change(28, 29, "")],
    ],
)
def test_what_a_formatter_does_before_a_save_is_a_new_beginning(changes: list[Change]) -> None:
    typist = Typist(PROGRAM)
    typist.type(33, "1.")
    typist.change(*changes)
    typist.recorder.save(typist.now + 0.1)
    assert typist.recorder.edits == []
    assert spelled(typist.recorder) == typist.text


def test_lines_that_somebody_indents_before_a_save_are_kept() -> None:
    typist = Typist(PROGRAM)
    typist.change(Change(33, 33, "    "), Change(18, 18, "    "))
    before = list(typist.recorder.edits)
    typist.recorder.save(typist.now + 0.5)  # as soon as a hand can; a formatter is sooner
    assert typist.recorder.edits == before != []


def test_the_same_change_with_several_cursors_before_a_save_is_kept() -> None:
    typist = Typist(PROGRAM)
    places = [match.start() for match in re.finditer("result", PROGRAM)]
    typist.change(*(Change(place, place + len("result"), "total") for place in reversed(places)))
    before = list(typist.recorder.edits)
    typist.recorder.save(typist.now + 0.1)
    assert typist.recorder.edits == before != []


def test_a_save_after_typing_keeps_the_edits() -> None:
    typist = Typist(PROGRAM)
    typist.type(33, "1.")
    before = list(typist.recorder.edits)
    typist.recorder.save(typist.now + 0.1)
    assert typist.recorder.edits == before != []


def test_the_oldest_edits_fold_into_the_base() -> None:
    typist = Typist("a\n" * 200, limit_edits=10)
    for number in range(15):
        typist.type(number * 21, "(", pause=2.0)
        assert len(typist.recorder.edits) <= 10
    assert typist.recorder.generation > 0
    assert typist.recorder.edits


def test_accepted_suggestions_are_tagged() -> None:
    typist = Typist(PROGRAM)
    typist.type(33, "(")
    typist.change(Change(60, 60, "(("), accepted=True)
    typist.type(0, "(")
    tags = [burst.accepted for burst in typist.recorder.bursts]
    assert tags == [False, True, False]
