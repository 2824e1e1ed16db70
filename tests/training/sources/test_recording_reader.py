"""Recordings become sessions that end in the text that the editor had."""

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
    bursts_of,
    recorded_sessions,
    recordings_in,
    sessions_of,
)
from training.trajectories.excerpts import ExcerptCutter
from training.trajectories.mining_setting import MiningSetting

WINDOWS = ExcerptCutter(small_tokenizer(), MiningSetting(limit_state=120))


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
        entries.append({"kind": "changed", "id": 1, "edit": [edit], "v": 2, "time": time})
        text = text[: change.start] + change.text + text[change.end :]
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


@settings(deadline=None)
@given(typed())
def test_bursts_lead_to_the_same_text(recorded: tuple[str, list[tuple[int, Change]]]) -> None:
    start, changes = recorded
    (recording,) = recordings_in(lines_of(start, changes))
    text = start
    for _, change in changes:
        text = text[: change.start] + change.text + text[change.end :]
    made = start
    for before, change in bursts_of(recording):
        assert before == made
        made = made[: change.start] + change.text + made[change.end :]
    assert made == text


@settings(deadline=None)
@given(typed(), st.integers(0, 99))
def test_sessions_are_windows_of_the_text_as_it_was(
    recorded: tuple[str, list[tuple[int, Change]]], seed: int
) -> None:
    (recording,) = recordings_in(lines_of(*recorded))
    bursts = bursts_of(recording)
    seen = [before for before, _ in bursts]
    if bursts:
        before, change = bursts[-1]
        seen.append(before[: change.start] + change.text + before[change.end :])
    for session in sessions_of(recording, WINDOWS, Random(seed)):
        for text in session.texts():
            assert any(text in whole for whole in seen)


def test_keystrokes_of_one_word_are_one_burst_and_a_jump_begins_another() -> None:
    text = "\n" * 20
    word = [Step(Change(n, n, letter), 100 * n) for n, letter in enumerate("name")]
    elsewhere = Step(Change(20, 20, "x"), 500)
    assert [c.text for _, c in bursts_of(Recording("a.py", text, [*word, elsewhere]))] == ["name", "x"]


def test_what_was_typed_and_deleted_again_leaves_nothing() -> None:
    steps = [Step(Change(0, 0, "a"), 0), Step(Change(0, 1, ""), 10)]
    assert bursts_of(Recording("a.py", "text", steps)) == []


def test_damaged_lines_and_impossible_changes_do_no_harm(tmp_path: Path) -> None:
    lines = lines_of(SAMPLE, [(0, Change(0, 0, "import os"))])
    lines.insert(2, '{"kind": "chan')
    lines.append(json.dumps({"kind": "changed", "id": 1, "edit": [[10**6, 10**6, "x"]], "time": 1}))
    lines.append(json.dumps({"kind": "changed", "id": 7, "edit": [[0, 0, "x"]], "time": 1}))
    (tmp_path / "day.jsonl").write_text("\n".join([*lines, "[1]"]))
    (found,) = list(recorded_sessions(tmp_path, WINDOWS))
    assert found[0] == "a.py"
    assert found[1].changes[0].text == "import os"
