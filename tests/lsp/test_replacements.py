import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsp.recorded_hunks import RecordedHunk, range_of_tokens
from lsp.replacements import Replacement, find_replacements, join, trim_replacement
from model.editing.change import Change
from model.editing.recorder import Recorder
from tests.model.editing.test_recorder import Typist, recorder_of, replaced
from tests.tokenizing import small_tokenizer, texts

TOKENS = st.lists(st.integers(4, 9), max_size=6).map(tuple)


def told(recorder: Recorder) -> list[tuple[str, str]]:
    decode = small_tokenizer().decode
    return [(decode(each.old), decode(each.new)) for each in find_replacements(recorder)]


def applied(tokens: list[int], replacement: Replacement) -> list[int]:
    assert tuple(tokens[replacement.start : replacement.old_end]) == replacement.old
    return [*tokens[: replacement.start], *replacement.new, *tokens[replacement.old_end :]]


def any_replacement(data: st.DataObject, tokens: list[int], index: int) -> Replacement:
    start = data.draw(st.integers(0, len(tokens)))
    end = data.draw(st.integers(start, len(tokens)))
    return Replacement(RecordedHunk(index, index + 1), start, tuple(tokens[start:end]), data.draw(TOKENS))


def after_any_changes(text: str, data: st.DataObject) -> Recorder:
    recorder, now = recorder_of(text), 0.0
    for _ in range(data.draw(st.integers(1, 8))):
        now += data.draw(st.sampled_from([0.1, 2.0]))
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 9)))
        change = Change(start, end, data.draw(texts))
        text = replaced(text, change)
        recorder.record([change], now, accepted=data.draw(st.integers(0, 4)) == 0)
    return recorder


@settings(deadline=None)
@given(texts, st.data())
def test_one_after_another_they_are_the_stream(text: str, data: st.DataObject) -> None:
    recorder = after_any_changes(text, data)
    tokens = list(recorder.state)
    for each in find_replacements(recorder):
        tokens = applied(tokens, each)
    assert tokens == recorder.slots.tokens()


def test_what_came_to_nothing_in_between_is_no_trouble() -> None:
    recorder = recorder_of("")
    recorder.record([Change(0, 0, "a")], 0.1, accepted=True)
    recorder.record([Change(1, 1, "1")], 0.2)
    recorder.record([Change(0, 1, "")], 0.3, accepted=True)
    assert told(recorder) == [("", "1")]


@settings(deadline=None)
@given(texts, st.data())
def test_each_edit_belongs_to_one_at_most_and_something_became_something_else(
    text: str, data: st.DataObject
) -> None:
    recorder = after_any_changes(text, data)
    found = find_replacements(recorder)
    assert all(each.old != each.new for each in found)
    owned = [index for each in found for index in range(*each.hunk)]
    assert owned == sorted(set(owned))


@settings(deadline=None)
@given(texts, st.data())
def test_what_the_newest_wrote_stands_at_its_place(text: str, data: st.DataObject) -> None:
    recorder = after_any_changes(text, data)
    recorder.move_cursor(-1)  # no name is half typed
    found = find_replacements(recorder)
    if found and found[-1].hunk.last == len(recorder.edits):
        start, end = range_of_tokens(recorder, found[-1].hunk.last, found[-1].start, found[-1].end)
        assert recorder.text.text[start:end] == small_tokenizer().decode(found[-1].new)


@given(TOKENS, st.data())
def test_two_joined_do_what_they_did_one_after_the_other(
    tokens: tuple[int, ...], data: st.DataObject
) -> None:
    first = any_replacement(data, list(tokens), 0)
    between = applied(list(tokens), first)
    second = any_replacement(data, between, 1)
    both = join(first, second, between)
    assert both.hunk == (0, 2)
    assert applied(list(tokens), both) == applied(between, second)


@given(TOKENS, st.sets(st.integers(4, 9)), st.data())
def test_trimmed_it_does_the_same_and_cuts_no_lexical_token(
    tokens: tuple[int, ...], ending: set[int], data: st.DataObject
) -> None:
    ends = [token in ending for token in range(10)]
    whole = any_replacement(data, list(tokens), 0)
    short = trim_replacement(whole, ends)
    assert applied(list(tokens), short) == applied(list(tokens), whole)
    head = short.start - whole.start
    assert head == 0 or ends[whole.old[head - 1]]
    for side, part in ((whole.old, short.old), (whole.new, short.new)):
        cut = head + len(part)
        assert cut in (0, len(side)) or ends[side[cut - 1]]


@pytest.mark.parametrize("pause", [0.1, 2.0])
def test_a_word_deleted_and_another_typed_is_one_replacement_however_long_the_pause(pause: float) -> None:
    typist = Typist("log.info(x)\n")
    typist.change(Change(4, 8, ""))
    typist.type(4, "debug", pause=pause)
    typist.recorder.move_cursor(0)
    assert told(typist.recorder) == [("info", "debug")]


def test_the_new_may_be_typed_before_the_old_is_deleted() -> None:
    typist = Typist("x = (1)\n")
    typist.change(Change(4, 4, "[2]"))
    typist.change(Change(7, 10, ""), pause=2.0)
    assert told(typist.recorder) == [("(1)", "[2]")]


def test_a_slip_that_was_corrected_is_not_told() -> None:
    typist = Typist("log.info(x)\n")
    typist.change(Change(4, 8, "debgu"))
    typist.change(Change(4, 9, "debug"), pause=2.0)
    assert told(typist.recorder) == [("info", "debug")]


def test_what_came_to_nothing_is_not_told() -> None:
    typist = Typist("a = 1\nlog.info(x)\n")
    typist.change(Change(10, 14, "debug"))
    typist.recorder.freeze()
    typist.recorder._checkpoints.clear()  # not even as an undo
    typist.change(Change(10, 15, "info"), pause=2.0)
    assert told(typist.recorder) == []


def test_words_that_stayed_are_not_part_of_it() -> None:
    typist = Typist("x = self.info\n")
    typist.change(Change(4, 13, ""))
    typist.change(Change(4, 4, "self.debug"), pause=2.0)
    typist.recorder.move_cursor(0)
    assert told(typist.recorder) == [("info", "debug")]


def test_a_path_or_a_phrase_is_one_replacement_but_arguments_are_not() -> None:
    typist = Typist("os.path\nget(old)\n")
    typist.change(Change(0, 7, "pathlib.Path"))
    typist.change(Change(13, 21, "fetch(new)"), pause=2.0)
    assert told(typist.recorder) == [("os.path", "pathlib.Path"), ("get", "fetch"), ("old", "new")]


def test_the_same_twice_side_by_side_are_two() -> None:
    typist = Typist("foo.foo = 1\n")
    typist.change(Change(0, 7, "bar.bar"))
    typist.recorder.move_cursor(0)
    assert told(typist.recorder) == [("foo", "bar"), ("foo", "bar")]


def test_lines_added_one_after_another_are_told_one_by_one() -> None:
    typist = Typist("a()\n\nx = 1\n")
    typist.change(Change(3, 3, "\nb()"))
    typist.change(Change(7, 7, "\nc()"), pause=2.0)
    assert told(typist.recorder) == [("", "\nb()"), ("", "\nc()")]


def test_what_is_changed_in_a_pasted_text_is_a_change_of_its_own() -> None:
    typist = Typist("x = 1\n")
    typist.change(Change(5, 5, "\nlog.info(x)"))
    typist.change(Change(10, 14, "debug"), pause=2.0)
    assert told(typist.recorder) == [("", "\nlog.info(x)"), ("info", "debug")]
