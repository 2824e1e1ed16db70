from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.editing.change import Change
from model.editing.edits import DELETE, Edit, Slots, apply
from model.editing.recorder import Recorder
from model.inference.predictor import Predictor
from server import suggest
from server.schema import Suggestion, TextEdit, TextRequest
from server.settings import Settings
from server.suggest import Question, Refused, question_from_text
from tests.tokenizing import texts

SETTINGS = Settings(bundle=Path("unused"))


def ask(
    predictor: Predictor,
    text: str,
    *edits: tuple[int, int, str],
    cursor: int | None = None,
    times: Sequence[int | None] | None = None,
) -> Question:
    wire = [
        TextEdit(start=start, end=end, text=new, time=time)
        for (start, end, new), time in zip(edits, times or [None] * len(edits), strict=True)
    ]
    return question_from_text(TextRequest(text=text, edits=wire, cursor=cursor), predictor, SETTINGS)


def text_after(predictor: Predictor, question: Question) -> str:
    return predictor.bundle.require_tokenizer().decode(apply(question.state, question.edits))


def test_keystrokes_that_touch_are_one_burst(predictor: Predictor) -> None:
    typed = ask(predictor, "x = 1\n", (4, 5, ""), (4, 4, "a"), (5, 5, "b"), (6, 6, "c"))
    pasted = ask(predictor, "x = 1\n", (4, 5, "abc"))
    assert typed.edits == pasted.edits
    assert set(typed.sources) == {(0, 1, 2, 3)}


def test_a_jump_begins_a_new_burst(predictor: Predictor) -> None:
    question = ask(predictor, "one = 1\ntwo = 2\n", (14, 15, "5"), (0, 3, "three"))
    assert list(dict.fromkeys(question.sources)) == [(0,), (1,)]
    assert text_after(predictor, question) == "three = 1\ntwo = 5\n"


def test_what_was_typed_and_deleted_again_leaves_nothing(predictor: Predictor) -> None:
    assert ask(predictor, "x = 1\n", (4, 4, "a"), (4, 5, "")).edits == []


def test_a_half_typed_name_is_a_prefix_and_not_an_edit(predictor: Predictor) -> None:
    question = ask(predictor, "x = \n", (4, 4, "re"), (6, 6, "s"), cursor=7)
    assert question.prefix == "res"
    assert question.prefix_start == 4
    assert question.edits == []


def test_a_name_that_was_there_before_is_no_prefix(predictor: Predictor) -> None:
    assert ask(predictor, "x = res\n", (0, 1, "y"), cursor=7).prefix == ""
    assert ask(predictor, "res, x\n", (3, 6, ""), cursor=3).prefix == ""


def test_the_cursor_is_the_slot_to_its_left(predictor: Predictor) -> None:
    tokenizer = predictor.bundle.require_tokenizer()
    text = "a = b\n"
    recorder = Recorder(tokenizer, text)
    slots = [recorder.slot_before(offset) for offset in range(len(text) + 1)]
    before = [tokenizer.decode([recorder.slots.contents[slot]]) for slot in slots]
    assert before == ["", "a", " ", "=", " ", "b", "\n"]


def test_a_rewrite_of_a_large_region_is_a_new_start(predictor: Predictor) -> None:
    question = ask(predictor, "a = 1\n" * 2000, (0, 12_000, "b = 2\n" * 2000))
    assert question.silence == "too-long"
    assert question.edits == []
    after = ask(predictor, "a = 1\n" * 2000, (0, 12_000, "b = 2\n" * 2000), (0, 1, "c"))
    assert after.silence is None
    assert set(after.sources) == {(1,)}


def test_a_line_that_nobody_writes_by_hand_is_too_long_at_once(predictor: Predictor) -> None:
    minified = "a=1;" * 10_000
    assert ask(predictor, minified, *[(0, 1, "b")] * 900).silence == "too-long"
    assert ask(predictor, "x = 1\n" + minified, (0, 1, "b")).silence is None  # beside it all is well
    assert ask(predictor, "x = 1\n", (0, 0, "y = 2\n" * 4000), (0, 1, "b")).silence is None


def test_a_name_between_two_blanks_is_a_prefix_too(predictor: Predictor) -> None:
    question = ask(predictor, "x = old + 1\n", (4, 7, ""), (4, 4, "re"), cursor=6)
    assert (question.prefix, question.prefix_start) == ("re", 4)
    tokenizer = predictor.bundle.require_tokenizer()
    slots = Slots(question.state)
    assert tokenizer.decode([slots.contents[edit.position] for edit in question.edits]) == "old"
    for edit in question.edits:
        slots.apply(edit)
    assert question.cursor is not None
    last = slots.explicit_position(question.cursor)
    assert tokenizer.decode(slots.tokens()[1 : last + 1]) == "x = "  # with the first of the two blanks


def test_what_is_inserted_at_two_places_is_two_tokens(predictor: Predictor) -> None:
    tokenizer = predictor.bundle.require_tokenizer()
    slots = Slots((1, *tokenizer.encode("a + b"), 2))
    new, first = tokenizer.encode("rest"), 2 + len(tokenizer.encode("a + b"))
    at = [0, first - 2]  # before the first name, and after the last
    edits, slot = [], first
    for place in at:
        for number, token in enumerate(new):
            edits.append(Edit(slot - 1 if number else place, token))
            slot += 1
    runs = suggest._find_inserted(slots, edits)
    assert [suggest._lex(run, tokenizer) for run in runs] == [["rest"], ["rest"]]


def test_edits_over_the_limit_fold_into_the_state(predictor: Predictor) -> None:
    lines = [f"x{number} = {number}\n" for number in range(300)]
    text = "".join(lines)
    # Every second line, from the last to the first, so that each is a burst and no offset moves.
    places = [sum(map(len, lines[:index])) for index in range(298, 0, -2)]
    question = ask(predictor, text, *[(place, place + 1, "y") for place in places])
    limit = suggest.limit_edits(predictor)
    assert limit // 4 < len(question.edits) == len(question.sources) <= limit
    assert question.sources[-1] == (len(places) - 1,)
    expected = text
    for place in places:
        expected = expected[:place] + "y" + expected[place + 1 :]
    assert text_after(predictor, question) == expected


@pytest.mark.parametrize(
    ("edits", "cursor", "code"),
    [
        ([(0, 7, "")], None, "invalid-edit"),
        ([(3, 2, "")], None, "invalid-edit"),
        ([(0, 6, ""), (1, 1, "a")], None, "invalid-edit"),
        ([(0, 6, "")], 1, "invalid-cursor"),
        ([(0, 0, "a" * 2_000_000)], None, "text-too-long"),
    ],
)
def test_what_is_wrong_is_refused_by_name(
    predictor: Predictor, edits: list[tuple[int, int, str]], cursor: int | None, code: str
) -> None:
    with pytest.raises(Refused) as refused:
        ask(predictor, "secret", *edits, cursor=cursor)
    assert refused.value.code == code
    assert "secret" not in refused.value.message


def make_suggestion(start: int, end: int, text: str) -> Suggestion:
    return Suggestion(
        start=start,
        end=end,
        text=text,
        confidence=0.9,
        log_probability=-0.1,
        edits=[],
        tokens=[],
        because=[],
        continues_prefix=True,
    )


@pytest.mark.parametrize(
    ("suggestion", "placed"),
    [
        (make_suggestion(10, 10, "result"), (13, 13, "ult")),
        (make_suggestion(10, 12, "result()"), (13, 15, "ult()")),
        (make_suggestion(10, 10, "res"), None),
        (make_suggestion(10, 10, "other"), None),
        (make_suggestion(8, 12, "result"), None),
    ],
)
def test_a_half_typed_name_is_gone_on_from_and_not_repeated(
    suggestion: Suggestion, placed: tuple[int, int, str] | None
) -> None:
    question = Question((1, 2), [], [], prefix="res", prefix_start=10)
    made = suggest._skip_prefix(suggestion, question)
    assert (made and (made.start, made.end, made.text)) == placed


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_token_edits_spell_what_the_changes_spell(predictor: Predictor, data: st.DataObject) -> None:
    text = start_text = data.draw(texts.filter(is_encodable))
    edits: list[tuple[int, int, str]] = []
    times: list[int] = []
    for _ in range(data.draw(st.integers(0, 6))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 5)))
        new = data.draw(texts.filter(is_encodable))
        edits.append((start, end, new))
        times.append((times[-1] if times else 0) + data.draw(st.sampled_from([0, 200, 3000])))
        text = text[:start] + new + text[end:]
    cursor = data.draw(st.none() | st.integers(0, len(text)))
    question = ask(
        predictor, start_text, *edits, cursor=cursor, times=times if data.draw(st.booleans()) else None
    )
    spelled = text_after(predictor, question)
    if question.prefix_start is not None:
        spelled = Change(question.prefix_start, question.prefix_start, question.prefix).apply_to(spelled)
    assert spelled == text
    assert len(question.sources) == len(question.edits)


def is_encodable(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def test_edits_keep_the_order_in_which_regions_were_begun(predictor: Predictor) -> None:
    tokenizer = predictor.bundle.require_tokenizer()
    edits = [(22, 23, "9"), (4, 5, "7")]
    for times in (None, [0, 500], [0, 1]):
        question = ask(predictor, "a = 1\nb = 2\nc = 3\nd = 4\n", *edits, times=times)
        assert list(dict.fromkeys(question.sources)) == [(0,), (1,)]
        inserted = [edit.content for edit in question.edits if edit.content != DELETE]
        assert tokenizer.decode(inserted) == "97"


def test_edits_of_one_time_are_one_burst(predictor: Predictor) -> None:
    edits = [(6, 7, "c"), (0, 1, "c")]
    question = ask(predictor, "a = 1\na = 2\n", *edits, times=[5, 5])
    assert set(question.sources) == {(0, 1)}
    assert question.edits[0].position < question.edits[-1].position


def test_a_pause_separates_edits_that_touch(predictor: Predictor) -> None:
    edits = [(4, 5, "a"), (5, 5, "(")]
    assert set(ask(predictor, "x = 1\n", *edits, times=[0, 400]).sources) == {(0, 1)}
    assert len(set(ask(predictor, "x = 1\n", (4, 5, "a("), (6, 6, ")"), times=[0, 4000]).sources)) == 2


@pytest.mark.parametrize("times", [[2, 1], [1, None], [None, 1]])
def test_times_that_decrease_or_lack_are_refused(predictor: Predictor, times: list[int | None]) -> None:
    with pytest.raises(Refused) as refused:
        ask(predictor, "x = 1\n", (0, 0, "a"), (1, 1, "b"), times=times)
    assert refused.value.code == "invalid-edit"


def test_a_finished_name_at_the_cursor_is_an_edit(predictor: Predictor) -> None:
    wire = [TextEdit(start=4, end=4, text="res")]
    request = TextRequest(text="x = \n", edits=wire, cursor=7)
    question = question_from_text(request, predictor, SETTINGS, has_prefix=False)
    assert question.prefix == ""
    assert text_after(predictor, question) == "x = res\n"
