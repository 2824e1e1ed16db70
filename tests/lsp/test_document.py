import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from lsp.document import Document
from model.editing.change import Change, trimmed
from tests.tokenizing import texts

ENCODINGS = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
UNIT_BYTES = {"utf-8": 1, "utf-16": 2, "utf-32": 4}


def naive_position(text: str, offset: int, encoding: str) -> types.Position:
    """By the book: look at each character from the start of the text."""
    line, begin = 0, 0
    for index, character in enumerate(text[:offset]):
        pair = text[index : index + 2] == "\r\n"
        if character == "\n" or (character == "\r" and not pair):
            line, begin = line + 1, index + 1
    units = len(text[begin:offset].encode(ENCODINGS[encoding], "surrogatepass")) // UNIT_BYTES[encoding]
    return types.Position(line=line, character=units)


def partial(text: str, start: types.Position, end: types.Position) -> types.TextDocumentContentChangePartial:
    return types.TextDocumentContentChangePartial(range=types.Range(start=start, end=end), text=text)


def between_breaks(text: str, offset: int) -> bool:
    """Inside of a "\\r\\n": no editor can name this place."""
    return text[max(0, offset - 1) : offset + 1] == "\r\n"


@given(texts, st.sampled_from(sorted(ENCODINGS)), st.data())
def test_after_any_changes_the_text_is_the_editors(text: str, encoding: str, data: st.DataObject) -> None:
    document = Document("file:///a.py", "python", 0, text, encoding)
    for version in range(1, 4):
        events: list[types.TextDocumentContentChangeEvent] = []
        for _ in range(data.draw(st.integers(1, 3))):
            new = data.draw(texts)
            places = [offset for offset in range(len(text) + 1) if not between_breaks(text, offset)]
            start, end = sorted(data.draw(st.tuples(st.sampled_from(places), st.sampled_from(places))))
            positions = [naive_position(text, offset, encoding) for offset in (start, end)]
            if data.draw(st.booleans()):
                events.append(partial(new, *positions))
                text = text[:start] + new + text[end:]
            else:
                events.append(types.TextDocumentContentChangeWholeDocument(text=new))
                text = new
        document.update(events, version)
        assert document.text == text
        assert document.version == version
        assert len(document) == len(text)


@given(texts, st.sampled_from(sorted(ENCODINGS)))
def test_positions_and_offsets_are_each_others_inverse(text: str, encoding: str) -> None:
    document = Document("file:///a.py", "python", 0, text, encoding)
    for offset in range(len(text) + 1):
        if not between_breaks(text, offset):
            position = document.position_from_offset(offset)
            assert position == naive_position(text, offset, encoding)
            assert document.offset_from_position(position) == offset


@given(texts, texts, st.data())
def test_a_trimmed_change_does_the_same(text: str, new: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    less = trimmed(Change(start, end, new), text[start:end])
    assert text[: less.start] + less.text + text[less.end :] == text[:start] + new + text[end:]
    assert start <= less.start <= less.end <= end


@given(texts, st.data())
def test_a_slice_is_the_texts(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    assert Document("file:///a.py", "python", 0, text).slice(start, end) == text[start:end]


def test_form_feeds_and_line_separators_break_no_line() -> None:
    document = Document("file:///a.py", "python", 0, "a\n\x0c\u2028\x85b = 1\n")
    document.update([partial("Z", types.Position(1, 3), types.Position(1, 4))], 1)
    assert document.text == "a\n\x0c\u2028\x85Z = 1\n"


@pytest.mark.parametrize(("line", "character", "offset"), [(0, 99, 3), (1, 0, 4), (1, 99, 4), (7, 0, 4)])
def test_a_position_outside_of_the_text_is_the_nearest_end(line: int, character: int, offset: int) -> None:
    document = Document("file:///a.py", "python", 0, "abc\n")
    assert document.offset_from_position(types.Position(line, character)) == offset


def test_a_whole_text_that_differs_in_one_place_is_a_small_change() -> None:
    document = Document("file:///a.py", "python", 0, "a = 1\nb = 2\nc = 3\n")
    whole = types.TextDocumentContentChangeWholeDocument(text="a = 1\nb = 22\nc = 3\n")
    (splice,) = document.update([whole], 1)
    assert (splice.change, splice.removed) == (Change(11, 11, "2"), "")


def test_a_position_in_the_middle_of_a_character_is_before_it() -> None:
    document = Document("file:///a.py", "python", 0, "😀x")
    assert [document.offset_from_position(types.Position(0, unit)) for unit in range(4)] == [0, 0, 1, 2]
