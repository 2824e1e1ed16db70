from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from lsp.recorded_hunks import TextRange
from lsp.suggestions import Reason, Suggestion, follow, is_along, is_whole, select_suggestions
from model.editing.change import Change
from tests.tokenizing import texts


def suggestion(start: int, old: str, new: str, confidence: float = 0.9) -> Suggestion:
    return Suggestion(Change(start, start + len(old), new), old, confidence)


def applied(text: str, change: Change) -> str:
    return text[: change.start] + change.text + text[change.end :]


def test_typing_the_suggested_prefix_keeps_the_rest_of_the_suggestion() -> None:
    rest = follow(suggestion(10, "", "result"), Change(10, 10, "re"))
    assert rest is not None
    assert rest.change == Change(12, 12, "sult")


def test_typing_something_else_drops_it() -> None:
    assert follow(suggestion(10, "", "result"), Change(10, 10, "x")) is None


def test_typing_all_of_it_leaves_nothing() -> None:
    assert follow(suggestion(10, "", "re"), Change(10, 10, "re")) is None


def test_deleting_what_it_deletes_is_along() -> None:
    first = follow(suggestion(10, "foo", "bar"), Change(12, 13, ""))
    assert first is not None
    assert first.change == Change(10, 12, "bar")
    second = follow(first, Change(10, 12, ""))
    assert second is not None
    assert second.change == Change(10, 10, "bar")
    third = follow(second, Change(10, 10, "b"))
    assert third is not None
    assert third.change == Change(11, 11, "ar")


def test_replacing_a_selection_by_its_first_letter_is_along() -> None:
    rest = follow(suggestion(10, "foo", "bar"), Change(10, 13, "b"))
    assert rest is not None
    assert rest.change == Change(11, 11, "ar")


def test_a_change_elsewhere_moves_it_or_leaves_it() -> None:
    moved = follow(suggestion(10, "foo", "bar"), Change(2, 4, "12345"))
    assert moved is not None
    assert moved.change == Change(13, 16, "bar")
    there = suggestion(10, "foo", "bar")
    assert follow(there, Change(20, 20, "x")) is there
    assert not is_along(suggestion(10, "foo", "bar"), Change(20, 20, "x"))


def test_a_change_that_reaches_into_it_drops_it() -> None:
    assert follow(suggestion(10, "foo", "bar"), Change(8, 11, "")) is None
    assert follow(suggestion(10, "foo", "bar"), Change(10, 10, "x")) is None
    assert follow(suggestion(10, "foo", "bar"), Change(13, 13, "x")) is None


def test_its_reasons_move_with_the_text() -> None:
    reason = Reason("a", "b", (TextRange(12, 15), TextRange(4, 6), TextRange(2, 2)))
    shown = replace(suggestion(10, "", "xyz"), because=(reason,))
    for change, ranges in (
        (Change(3, 3, "12"), ((14, 17), (6, 8), (2, 2))),
        (Change(10, 10, "x"), ((13, 16), (4, 6), (2, 2))),
        (Change(11, 14, ""), ((11, 12), (4, 6), (2, 2))),
    ):
        moved = follow(shown, change)
        assert moved is not None
        assert [(each.old, each.new, each.ranges) for each in moved.because] == [("a", "b", ranges)]


@given(texts, texts, st.data())
def test_what_remains_leads_to_the_same_text(text: str, new: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    first = suggestion(start, text[start:end], new)
    goal = applied(text, first.change)
    a = data.draw(st.integers(start, end))
    b = data.draw(st.integers(a, end))
    typed = data.draw(st.one_of(st.just(""), st.just(new[:1]), st.just(new[:2]), texts))
    change = Change(a, b, typed)
    rest = follow(first, change)
    if rest is not None:
        after = applied(text, change)
        assert after[rest.change.start : rest.change.end] == rest.old
        assert applied(after, rest.change) == goal


def test_the_same_replacement_is_known_however_it_is_written() -> None:
    assert is_whole(suggestion(10, "foo", "fob"), Change(12, 13, "b"), "o")
    assert suggestion(10, "foo", "fob").is_same(suggestion(12, "o", "b"))
    assert not is_whole(suggestion(10, "foo", "fob"), Change(12, 13, "c"), "o")


def test_the_one_in_view_stays_while_it_stands() -> None:
    shown = suggestion(10, "foo", "bar", 0.9)
    better, same = suggestion(20, "", "x", 0.85), suggestion(10, "foo", "bar", 0.8)
    result = select_suggestions(shown, [better, same], lambda _: 0.82)
    assert [each.change for each in result] == [same.change, better.change]
    assert result[0].id == shown.id


def test_a_much_better_one_takes_its_place() -> None:
    shown = suggestion(10, "foo", "bar", 0.9)
    better, same = suggestion(20, "", "x", 0.95), suggestion(10, "foo", "bar", 0.8)
    assert select_suggestions(shown, [better, same], lambda _: 0.7)[0] is better


def test_a_new_one_needs_all_of_the_threshold() -> None:
    assert select_suggestions(None, [suggestion(20, "", "x", 0.7)], lambda _: 0.8) == []
