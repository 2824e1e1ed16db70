"""Recordings become trajectories that end in the text that the editor had."""

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from model.editing.change import Change
from tests.training.tokenizers import SAMPLE, small_tokenizer
from training.sources.recording_reader import (
    Recording,
    Step,
    Stretch,
    bursts_of,
    recorded_trajectories,
    recordings_in,
    stretches_of,
    trajectories_of,
)
from training.trajectories.excerpts import ExcerptCutter
from training.trajectories.mining_setting import MiningSetting

CUTTER = ExcerptCutter(small_tokenizer(), MiningSetting(limit_state=120))


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def lines_of(text: str, changes: Sequence[tuple[int, Change]]) -> list[str]:
    entries: list[dict[str, object]] = [
        {"kind": "header"},
        {"kind": "documentEncountered", "id": 1, "relativePath": "a.py", "time": 0},
        {"kind": "setContent", "id": 1, "content": text, "v": 1, "time": 0},
    ]
    for time, change in changes:
        edit = [units(text[: change.start]), units(text[: change.end]), change.text]
        entries.append({"kind": "changed", "id": 1, "edit": [edit], "v": len(entries), "time": time})
        text = change.apply_to(text)
    return [json.dumps(entry) for entry in entries]


@st.composite
def typed(draw: st.DrawFn) -> tuple[str, list[tuple[int, Change]]]:
    text = start = draw(st.sampled_from([SAMPLE, "", "é😀 = 1\n" * 3]))
    time, changes = 0, []
    for _ in range(draw(st.integers(0, 6))):
        at = draw(st.integers(0, len(text)))
        for _ in range(draw(st.integers(1, 3))):
            time += draw(st.sampled_from([50, 200, 5000]))
            at = min(at, len(text))
            change = Change(
                at, min(len(text), at + draw(st.integers(0, 2))), draw(st.sampled_from(["a", "\n", "😀", ""]))
            )
            text = text[:at] + change.text + text[change.end :]
            at += len(change.text)
            changes.append((time, change))
    return start, changes


def end_of(stretch: Stretch) -> str:
    text = stretch.text
    for change in stretch.changes:
        text = change.apply_to(text)
    return text


@settings(deadline=None)
@given(typed())
def test_stretches_lead_to_the_same_text(recorded: tuple[str, list[tuple[int, Change]]]) -> None:
    start, changes = recorded
    (recording,) = recordings_in(lines_of(start, changes))
    for _, change in changes:
        start = change.apply_to(start)
    assert [end_of(stretch) for stretch in stretches_of(recording, small_tokenizer())][-1] == start


@settings(deadline=None)
@given(typed(), st.integers(0, 99))
def test_trajectories_are_excerpts_of_the_text_as_it_was(
    recorded: tuple[str, list[tuple[int, Change]]], seed: int
) -> None:
    start, changes = recorded
    (recording,) = recordings_in(lines_of(start, changes))
    seen = [start]
    for _, change in changes:
        seen.append(change.apply_to(seen[-1]))
    for trajectory in trajectories_of(recording, CUTTER, Random(seed)):
        for text in trajectory.texts():
            assert any(text in whole for whole in seen)


def test_keystrokes_of_one_word_are_one_burst_and_a_jump_begins_another() -> None:
    word = [Step((Change(n, n, letter),), 100 * n) for n, letter in enumerate("name")]
    recording = Recording("a.py", "\n" * 20, [*word, Step((Change(20, 20, "x"),), 500)])
    (stretch,) = stretches_of(recording, small_tokenizer())
    assert [burst.changes for burst in bursts_of(stretch, small_tokenizer())] == [range(4), range(4, 5)]


def test_what_was_typed_and_deleted_again_leaves_nothing() -> None:
    steps = [Step((Change(0, 0, "a"),), 0), Step((Change(0, 1, ""),), 10)]
    assert list(trajectories_of(Recording("a.py", "text", steps), CUTTER, Random(0))) == []


def test_what_a_formatter_did_before_a_save_begins_a_new_stretch() -> None:
    lines = lines_of("a = 1\n\n\nb = 2\n", [(0, Change(4, 5, "3"))])
    for edit in ([6, 8, ""], [1, 2, ""]):
        lines.append(json.dumps({"kind": "changed", "id": 1, "edit": [edit], "v": 9, "time": 2000}))
    lines.append(json.dumps({"kind": "event", "id": 1, "data": {"event": "saved"}, "time": 2050}))
    (recording,) = recordings_in(lines)
    assert [len(step.changes) for step in recording.steps] == [1, 2, 0]
    typed, after = stretches_of(recording, small_tokenizer())
    assert typed.changes == (Change(4, 5, "3"),)
    assert after == Stretch("a= 3\nb = 2\n", (), ())


def test_long_recordings_are_cut_between_bursts() -> None:
    text = "".join(f"x{number} = {number}\n" for number in range(9))
    at = [n for n, character in enumerate(text) if character == "="]
    steps = [Step((Change(n, n + 1, "+="),), 5000 * index) for index, n in enumerate(reversed(at))]
    cutter = ExcerptCutter(small_tokenizer(), MiningSetting(limit_state=400, limit_edits=9))
    trajectories = list(trajectories_of(Recording("a.py", text, steps), cutter, Random(0)))
    assert len(trajectories) > 1
    assert [change.text for trajectory in trajectories for change in trajectory.changes] == ["+="] * 9


def test_damaged_lines_and_impossible_changes_do_no_harm(tmp_path: Path) -> None:
    lines = lines_of(SAMPLE, [(0, Change(0, 0, "import os"))])
    lines.insert(2, '{"kind": "chan')
    lines.append(json.dumps({"kind": "changed", "id": 1, "edit": [[10**6, 10**6, "x"]], "time": 1}))
    lines.append(json.dumps({"kind": "changed", "id": 7, "edit": [[0, 0, "x"]], "time": 1}))
    (tmp_path / "day.jsonl").write_text("\n".join([*lines, "[1]"]))
    (found,) = list(recorded_trajectories(tmp_path, CUTTER))
    assert found[0] == "a.py"
    assert found[1].changes[0].text == "import os"


def numbered(lines: list[str]) -> list[str]:
    """The lines as the language server numbers them."""
    return [json.dumps(json.loads(line) | {"n": index - 1}) for index, line in enumerate(lines)]


def test_a_missing_line_ends_a_recording_and_the_next_whole_content_begins_another() -> None:
    lines = numbered(
        lines_of("abc", [(0, Change(0, 0, "x")), (1, Change(0, 0, "y")), (2, Change(0, 0, "z"))])
    )
    whole = json.dumps({"kind": "setContent", "id": 1, "content": "new", "n": 9, "time": 3})
    more = json.dumps({"kind": "changed", "id": 1, "edit": [[0, 0, "!"]], "n": 10, "time": 4})
    del lines[4]
    first, second = recordings_in([*lines, whole, more])
    assert [step.changes[0].text for step in first.steps] == ["x"]
    assert (second.text, [step.changes[0].text for step in second.steps]) == ("new", ["!"])


def test_a_torn_line_ends_all_recordings_for_it_may_be_a_change_of_any() -> None:
    lines = lines_of("abc", [(0, Change(0, 0, "x")), (1, Change(0, 0, "y"))])
    lines[3] = lines[3][:20] + lines[4]
    (recording,) = recordings_in(lines[:4] + lines_of("abc", [(5, Change(0, 0, "late"))])[3:])
    assert recording.steps == []
