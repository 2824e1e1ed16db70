"""One sequence of edits, to the end of a token or of a hunk."""

import math
from collections.abc import Sequence

import pytest

from model.editing.change import Change
from model.editing.edits import DELETE, END, START, Edit
from model.editing.rendering import render
from model.inference.search import Decoded, Wish
from model.silence import Silence
from tests.model.inference.scripted_history import (
    BASE,
    MADE,
    NEWEST,
    ONE,
    TOKENIZER,
    TWO,
    Said,
    ScriptedHistory,
    ask,
    scripted,
    spell,
)


def test_a_token_is_decoded_to_its_end_and_no_further() -> None:
    parts = spell("zebra")
    assert len(parts) > 2  # no word of the small vocabulary
    steps = [({5: 0.9}, {parts[0]: 0.9})]
    steps += [({NEWEST + n: 1.0}, {part: 1.0}) for n, part in enumerate(parts[1:])]
    steps += [({NEWEST + len(parts) - 1: 1.0}, {TWO: 1.0})]  # it would go on
    (prediction,) = ask(scripted(*steps), Wish()).predictions
    assert [edit.content for edit in prediction.edits] == parts
    assert [edit.position for edit in prediction.edits] == [5, *range(NEWEST, NEWEST + len(parts) - 1)]
    assert prediction.confidence == pytest.approx(0.81, abs=1e-4)
    assert prediction.log_probability == pytest.approx(math.log(0.81), abs=1e-4)


def test_a_name_is_deleted_to_its_end() -> None:
    parts = spell("zebra")
    steps: list[Said] = [({slot: 1.0}, {DELETE: 0.98}) for slot in range(1, 1 + len(parts))]
    (prediction,) = ask(scripted(*steps, made=[Edit(len(parts), ONE)], text="zebra = 1"), Wish()).predictions
    assert prediction.edits == tuple(Edit(slot, DELETE) for slot in range(1, 1 + len(parts)))


def test_a_hunk_goes_on_while_positions_touch_it() -> None:
    eleven, name = spell("b")[0], spell("a")[0]
    steps: list[Said] = [
        ({7: 0.95}, {DELETE: 1.0}),  # the b of the second line
        ({6: 0.95}, {name: 1.0}),  # its replacement, after the line break
        ({NEWEST + 1: 0.9, 3: 0.1}, {ONE: 1.0}),  # and on, after the replacement
        ({3: 0.8, NEWEST + 2: 0.2}, {TWO: 1.0}),  # then elsewhere
    ]
    history = scripted(*steps)
    assert history.slots.contents[7] == eleven
    (token,) = ask(history, Wish(until="token")).predictions
    assert token.edits == (Edit(7, DELETE),)
    (hunk,) = ask(history, Wish(until="hunk")).predictions
    assert hunk.edits == (Edit(7, DELETE), Edit(6, name), Edit(NEWEST + 1, ONE))
    # That it ends is part of its probability.
    assert hunk.confidence == pytest.approx(0.95 * 0.95 * 0.9 * 0.8, abs=1e-3)
    assert render(history.slots, hunk.edits, TOKENIZER) == Change(7, 8, "a1")


def test_specials_are_never_written_and_the_start_is_never_deleted() -> None:
    history = scripted(({0: 0.9}, {START: 0.5, END: 0.2, DELETE: 0.2, 0: 0.05, TWO: 0.05}))
    (prediction,) = ask(history, Wish(threshold=0.0)).predictions
    assert prediction.edits == (Edit(0, TWO),)


def test_half_of_a_token_is_not_changed() -> None:
    parts = spell("zebra")
    steps: list[Said] = [({slot: 1.0}, {DELETE: 1.0}) for slot in range(2, 1 + len(parts))]
    history = scripted(*steps, made=[Edit(len(parts), ONE)], text="zebra = 1")
    assert ask(history, Wish()) == Decoded([], Silence.BELOW_THRESHOLD)


def test_the_unfinished_token_of_the_newest_edit_is_finished() -> None:
    parts = spell("zebra")
    history = scripted(
        *[({NEWEST - 1 + n: 1.0}, {part: 1.0}) for n, part in enumerate(parts[1:])], made=[Edit(5, parts[0])]
    )
    (prediction,) = ask(history, Wish()).predictions
    assert [edit.content for edit in prediction.edits] == parts[1:]


def test_what_never_ends_is_too_long() -> None:
    part = spell("zebra")[0]
    assert not TOKENIZER.ends[part]

    def for_ever(edits: Sequence[Edit]) -> Said:
        return {NEWEST + len(edits) - 1 if edits else 5: 1.0}, {part: 1.0}

    assert ask(ScriptedHistory(BASE, MADE, for_ever), Wish()) == Decoded([], Silence.TOO_LONG)


def test_a_hunk_goes_on_where_its_line_does() -> None:
    # Lines of BASE: slots 1 to 5 and 6 to 11; 6 is the line break and "b" is 7.
    steps: list[Said] = [({7: 1.0}, {DELETE: 1.0}), ({11: 0.9}, {TWO: 1.0})]
    (both,) = ask(scripted(*steps), Wish(until="hunk")).predictions
    assert both.edits == (Edit(7, DELETE), Edit(11, TWO))
    assert both.log_probability == pytest.approx(math.log(0.9) + math.log(0.99), abs=0.02)
    (first,) = ask(
        scripted(({7: 1.0}, {DELETE: 1.0}), ({3: 0.9}, {TWO: 1.0})), Wish(until="hunk")
    ).predictions
    assert first.edits == (Edit(7, DELETE),)  # the other line is another hunk
    # Right after the hunk stands the break before the next line: to write after it is to change that line.
    for content, edits in ((TWO, (Edit(5, DELETE),)), (DELETE, (Edit(5, DELETE), Edit(6, DELETE)))):
        steps = [({5: 1.0}, {DELETE: 1.0}), ({6: 0.9}, {content: 1.0})]
        (found,) = ask(scripted(*steps, made=[Edit(9, ONE)]), Wish(until="hunk")).predictions
        assert found.edits == edits


def test_a_line_that_repeats_in_part_repeats_as_often_as_its_rarest_part() -> None:
    steps: list[Said] = [({7: 1.0}, {DELETE: 1.0}), ({11: 1.0}, {TWO: 1.0})]
    history = scripted(*steps)
    for first, second, least in ((1, 3, 1), (2, 1, 1), (2, 2, 2)):
        history.repeats_after = {1: first, 2: second}
        (both,) = ask(history, Wish(until="hunk")).predictions
        assert both.evidence.repeats == least
