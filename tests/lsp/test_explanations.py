from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from lsp.document import Document
from lsp.explanations import explain
from lsp.replacements import find_replacements
from model.editing.change import Change
from tests.lsp.test_replacements import after_any_changes
from tests.model.editing.test_recorder import Typist
from tests.tokenizing import texts

LOGS = 'log.info("a")\nlog.info("b")\nlog.info("c")\n'


def explained(typist: Typist, because: Sequence[int] | None = None) -> list[tuple[str, str, list[int]]]:
    """The changes, and the lines of their places; by default every edit of the stream is a reason."""
    document = Document("file:///a.py", "python", 1, typist.text)
    indices = range(len(typist.recorder.edits)) if because is None else because
    found = explain(document, typist.recorder, indices)
    return [
        (each.old, each.new, [document.line_at(text_range.start) + 1 for text_range in each.ranges])
        for each in found
    ]


def test_one_edit_of_a_replacement_names_all_of_it() -> None:
    typist = Typist(LOGS)
    typist.change(Change(18, 22, ""))
    typist.change(Change(18, 18, "debug"), pause=2.0)
    for index in range(len(typist.recorder.edits)):
        assert explained(typist, [index]) == [("info", "debug", [2])]


def test_the_same_in_several_places_is_told_once_the_newest_place_first() -> None:
    typist = Typist(LOGS)
    typist.change(Change(4, 8, "debug"))
    typist.change(Change(19, 23, "debug"), pause=2.0)
    assert explained(typist) == [("info", "debug", [2, 1])]


def test_the_newest_is_told_first_whatever_is_more_important() -> None:
    typist = Typist(LOGS)
    typist.change(Change(4, 8, "debug"))
    typist.change(Change(39, 39, ', "d"'), pause=2.0)
    assert explained(typist, [0, len(typist.recorder.edits) - 1]) == [
        ("", ', "d"', [3]),
        ("info", "debug", [1]),
    ]


def test_only_what_is_named_is_told_and_no_more_than_three() -> None:
    typist = Typist("a\nb\nc\nd\n")
    for line in range(4):
        typist.change(Change(2 * line, 2 * line + 1, str(line)), pause=2.0)
    a, b, c, d = (each.hunk.first for each in find_replacements(typist.recorder))
    assert explained(typist, [a]) == [("a", "0", [1])]
    assert [old for old, _, _ in explained(typist, [a, d, b, c])] == ["d", "b", "a"]


def test_indices_that_mean_nothing_are_no_reasons() -> None:
    typist = Typist(LOGS)
    typist.change(Change(4, 8, "debug"))
    assert explained(typist, [-1, 99]) == []


def test_the_half_typed_name_is_what_the_old_one_becomes() -> None:
    typist = Typist(LOGS)
    typist.change(Change(4, 8, "d"))
    typist.type(5, "eb")
    assert typist.recorder.prefix == "deb"
    assert explained(typist) == [("info", "deb", [1])]


def test_a_line_that_was_added_is_on_its_own_line() -> None:
    typist = Typist("def f():\n    a()\n")
    typist.change(Change(16, 16, "\n    b()"))
    assert explained(typist) == [("", "\n    b()", [3])]


def test_a_line_that_was_indented_is_that_line() -> None:
    typist = Typist("if a:\n  b()\n")
    typist.change(Change(6, 8, "    "))
    assert explained(typist) == [("\n  ", "\n    ", [2])]


def test_a_line_that_was_removed_was_where_the_next_one_is_now() -> None:
    typist = Typist("a()\nb()\nc()\n")
    typist.change(Change(3, 7, ""))
    assert explained(typist) == [("\nb()", "", [2])]


def test_places_move_with_what_is_typed_above() -> None:
    typist = Typist(LOGS)
    typist.change(Change(4, 8, "debug"))
    typist.change(Change(0, 0, "#\n"), pause=2.0)
    assert explained(typist, [0]) == [("info", "debug", [2])]


@settings(deadline=None)
@given(texts, st.data())
def test_each_is_told_once_and_stands_in_the_text(text: str, data: st.DataObject) -> None:
    recorder = after_any_changes(text, data)
    document = Document("file:///a.py", "python", 1, recorder.text.text)
    found = explain(document, recorder, range(len(recorder.edits)))
    assert len({(each.old, each.new) for each in found}) == len(found) <= 3
    assert all(each.old or each.new for each in found)
    for start, end in (text_range for each in found for text_range in each.ranges):
        assert 0 <= start <= end <= len(document)
