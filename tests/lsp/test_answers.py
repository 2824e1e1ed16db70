from hypothesis import given, settings
from hypothesis import strategies as st

from lsp.answers import change_in_editor, describe_dismissal, drop_name
from lsp.document import Document
from lsp.suggestions import Suggestion
from model.editing.change import Change
from model.editing.edits import DELETE, Edit
from server import schema
from tests.model.editing.test_recorder import recorder_of
from tests.tokenizing import small_tokenizer, texts


def suggestion(start: int, end: int, text: str, *, continues_prefix: bool = False) -> schema.Suggestion:
    return schema.Suggestion(
        start=start,
        end=end,
        text=text,
        confidence=0.9,
        log_probability=-0.1,
        edits=[],
        tokens=[],
        because=[],
        continues_prefix=continues_prefix,
    )


def apply(text: str, change: Change) -> str:
    return text[: change.start] + change.text + text[change.end :]


@settings(deadline=None)
@given(texts, texts, st.data())
def test_the_half_typed_name_stands_beside_a_change_that_does_not_continue_it(
    text: str, new: str, data: st.DataObject
) -> None:
    recorder = recorder_of(text)
    offset = data.draw(st.integers(0, len(text)))
    recorder.record([Change(offset, offset, "n")], 1.0)
    recorder.record([Change(offset + 1, offset + 1, "a")], 1.1)
    partial, editor = recorder.partial, recorder.text.text
    if partial is None:
        return
    stream = editor[: partial.start] + editor[partial.end :]
    start = data.draw(st.integers(0, len(stream)))
    end = data.draw(st.integers(start, len(stream)))
    change = change_in_editor(recorder, suggestion(start, end, new))
    if change is None:
        assert start <= partial.start <= end
        return
    after = apply(editor, change)
    growth = len(new) - (end - start) if end <= partial.start else 0
    name = slice(partial.start + growth, partial.end + growth)
    assert after[name] == recorder.prefix
    assert after[: name.start] + after[name.stop :] == apply(stream, Change(start, end, new))


@given(st.text("abc", min_size=1, max_size=5))
def test_a_continued_name_is_finished_where_it_stands(rest: str) -> None:
    recorder = recorder_of("x = \n")
    recorder.record([Change(4, 4, "n")], 1.0)
    recorder.record([Change(5, 5, "a")], 1.1)
    found = suggestion(4, 4, "na" + rest, continues_prefix=True)
    assert change_in_editor(recorder, found) == Change(6, 6, rest)
    assert change_in_editor(recorder, suggestion(4, 4, "other", continues_prefix=True)) is None


def test_a_dismissal_is_known_by_its_lines_wherever_they_stand() -> None:
    text = "a = 1\nfoo()\nb = 2\n"
    first = describe_dismissal(
        Document("file:///a.py", "python", 1, text), Suggestion(Change(6, 9, "bar"), "foo", 0.9)
    )
    moved = describe_dismissal(
        Document("file:///a.py", "python", 1, "#\n" + text), Suggestion(Change(8, 11, "bar"), "foo", 0.5)
    )
    assert first == moved
    other = describe_dismissal(
        Document("file:///a.py", "python", 1, text.replace("1", "3")),
        Suggestion(Change(6, 9, "bar"), "foo", 0.9),
    )
    assert other != first
    elsewhere = describe_dismissal(
        Document("file:///b.py", "python", 1, text), Suggestion(Change(6, 9, "bar"), "foo", 0.9)
    )
    assert elsewhere != first


def test_a_whole_name_that_the_service_took_as_typed_is_left_out() -> None:
    recorder = recorder_of("x = \n")
    recorder.record([Change(4, 4, "n")], 1.0)
    recorder.record([Change(5, 5, "a")], 1.1)
    assert recorder.cursor is not None
    typed = [Edit(recorder.cursor, token) for token in small_tokenizer().encode("na")]
    rest = [Edit(1, DELETE), Edit(0, typed[0].content)]
    assert list(drop_name(recorder, [*typed, *rest])) == rest
    assert list(drop_name(recorder, rest)) == rest
    recorder.move_cursor(-1)
    assert list(drop_name(recorder, [*typed, *rest])) == [*typed, *rest]
