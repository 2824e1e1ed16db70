"""Recordings of the language server: the changes of a document in their true order.

Recordings are JSON lines in the shape `workspaceRecording@1.0`; offsets in them count UTF-16 code units. Keystrokes are
gathered into bursts by the language server's recorder, and runs of bursts that one window can hold become trajectories.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import platformdirs

from model.editing.change import Change
from model.editing.code_units import count_units, offset_from_units
from model.editing.lines import segments
from model.editing.recorder import RecordedBurst, Recorder, steps_of
from model.editing.tokenizer import Tokenizer
from training.data.dataset import Kind
from training.sources.filters import check_path
from training.trajectories.excerpts import ExcerptCutter, grow_excerpt
from training.trajectories.trajectory import Trajectory, offsets_of

_NO_LIMIT = 1 << 30  # trajectories are cut here, not folded


class Step(NamedTuple):
    """The changes of one notification and its time; a save has no changes."""

    changes: tuple[Change, ...]
    milliseconds: int


class Recording(NamedTuple):
    """One document: a text and the steps that followed."""

    path: str
    text: str
    steps: list[Step]


class Stretch(NamedTuple):
    """A text and the timed changes that followed, none of which rewrote it. Changes of one time are one step."""

    text: str
    changes: tuple[Change, ...]
    times: tuple[float, ...]  # in seconds


def default_folder() -> Path:
    """The folder on this machine in which the language server keeps its recordings."""
    return Path(platformdirs.user_data_dir("likewise", appauthor=False)) / "recordings"


def recorded_trajectories(folder: Path, cutter: ExcerptCutter) -> Iterator[tuple[str, Trajectory]]:
    """Path and trajectory of every recording in a folder."""
    for file in sorted(folder.rglob("*.jsonl")):
        with file.open(encoding="utf-8", errors="replace") as lines:
            for recording in recordings_in(lines):
                if check_path(recording.path) is None:
                    random = Random(f"{file.name}:{recording.path}")
                    for trajectory in trajectories_of(recording, cutter, random):
                        yield recording.path, trajectory


def recordings_in(lines: Iterable[str]) -> Iterator[Recording]:
    """The documents of one file. After a gap a document goes on with its next whole content: its text is unknown until then."""
    paths: dict[Any, str] = {}
    readings: dict[Any, _Reading] = {}
    for line in lines:
        entry = _entry(line)
        if entry is None:  # cut off by a crash or a full disk: it may have been a change of any of them
            yield from (reading.recording for reading in readings.values())
            readings.clear()
            continue
        name, kind = entry.get("id"), entry.get("kind")
        if kind == "documentEncountered":
            paths[name] = str(entry.get("relativePath", ""))
        elif kind == "setContent":
            if name in readings:
                yield readings.pop(name).recording
            readings[name] = _Reading(paths.get(name, ""), entry)
        elif name in readings and not readings[name].take(entry):
            yield readings.pop(name).recording
    for reading in readings.values():
        yield reading.recording


class _Reading:
    """A recording that is being read, and its text so far."""

    def __init__(self, path: str, entry: dict[str, Any]) -> None:
        self._text = str(entry.get("content", ""))
        self.recording = Recording(path, self._text, [])
        self._version: Any = None
        self._number: Any = entry.get("n")  # of the newest line

    def take(self, entry: dict[str, Any]) -> bool:
        """Take in the next line. False when a line is missing before it."""
        number = entry.get("n")  # older recordings have none
        if isinstance(number, int) and isinstance(self._number, int) and number != self._number + 1:
            return False
        self._number = number
        if entry.get("kind") == "changed":
            return self._change(entry)
        if entry.get("kind") == "event":
            self._note(entry)
        return True

    def _change(self, entry: dict[str, Any]) -> bool:
        """Take in recorded changes. False when they do not fit the text: then something is missing before them."""
        changes: list[Change] = []
        for edit in entry.get("edit", []):
            change = _change(self._text, edit)
            if change is None:
                return False
            self._text = change.apply_to(self._text)
            changes.append(change)
        steps, version = self.recording.steps, entry.get("v")
        if steps and steps[-1].changes and version is not None and version == self._version:
            changes = [*steps.pop().changes, *changes]  # each change of a notification has a line of its own
        self._version = version
        steps.append(Step(tuple(changes), _milliseconds(entry)))
        return True

    def _note(self, entry: dict[str, Any]) -> None:
        data = entry.get("data")
        if isinstance(data, dict) and data.get("event") == "saved":
            self.recording.steps.append(Step((), _milliseconds(entry)))


def stretches_of(recording: Recording, tokenizer: Tokenizer) -> Iterator[Stretch]:
    """The parts of a recording between rewrites: checkouts, and what a formatter did before a save."""
    recorder = Recorder(tokenizer, recording.text, _NO_LIMIT)
    begin = recording.text
    steps: list[Step] = []
    last = 0
    for changes, milliseconds in recording.steps:
        last = max(last + 1, milliseconds)  # steps are apart, even where the clock was set back
        generation = recorder.generation
        if changes:
            steps.append(Step(changes, last))
            recorder.record(changes, last / 1000)
        else:
            recorder.save(last / 1000)
        if recorder.generation != generation:
            yield _stretch(begin, steps[:-1])
            begin, steps = recorder.text.text, []
    yield _stretch(begin, steps)


def trajectories_of(recording: Recording, cutter: ExcerptCutter, random: Random) -> Iterator[Trajectory]:
    """Runs of bursts that lie so near to each other that one window holds them."""
    for stretch in stretches_of(recording, cutter.tokenizer):
        for run in _runs(stretch, cutter):
            yield from _make_trajectory(run, cutter, random)


def _stretch(text: str, steps: Sequence[Step]) -> Stretch:
    changes = tuple(change for step in steps for change in step.changes)
    return Stretch(text, changes, tuple(step.milliseconds / 1000 for step in steps for _ in step.changes))


def _runs(stretch: Stretch, cutter: ExcerptCutter) -> Iterator[Stretch]:
    rest, dropped = stretch, 0  # what begins with the run, and the number of changes before it
    # The end of the run among all changes; the edits before the run and up to its end.
    end = edits_before = edits = 0
    for burst in bursts_of(stretch, cutter.tokenizer):
        grown = _head(rest, burst.changes.stop - dropped)
        is_full = burst.end - edits_before > cutter.setting.limit_edits or not _fits(grown, cutter)
        if end and is_full:
            yield _head(rest, end - dropped)
        if not end or is_full:
            begin = max(end, burst.changes.start)
            rest, dropped, edits_before = _tail(rest, begin - dropped), begin, edits
        end, edits = burst.changes.stop, burst.end
    if end:
        yield _head(rest, end - dropped)


def bursts_of(stretch: Stretch, tokenizer: Tokenizer) -> list[RecordedBurst]:
    """The bursts of a stretch as the recorder finds them, without those that were taken back."""
    recorder = Recorder(tokenizer, stretch.text, _NO_LIMIT)
    for changes, seconds in steps_of(stretch.changes, stretch.times):
        recorder.record(changes, seconds)
    recorder.finish_name()
    return recorder.bursts


def _head(stretch: Stretch, count: int) -> Stretch:
    return Stretch(stretch.text, stretch.changes[:count], stretch.times[:count])


def _tail(stretch: Stretch, count: int) -> Stretch:
    text = stretch.text
    for change in stretch.changes[:count]:
        text = change.apply_to(text)
    return Stretch(text, stretch.changes[count:], stretch.times[count:])


def _make_trajectory(run: Stretch, cutter: ExcerptCutter, random: Random) -> Iterator[Trajectory]:
    if not _fits(run, cutter):
        return
    lines = segments(run.text)
    offsets = offsets_of(lines)
    touched, limit = _lines(offsets, run.changes), cutter.setting.limit_state - 2
    window = grow_excerpt(lines, touched, (0, len(lines)), limit, cutter.count_tokens, random)
    if window is None:
        return
    begin, end = offsets[window[0]], offsets[window[1]]
    changes = tuple(change.shifted(-begin) for change in run.changes)
    # The recording goes on elsewhere, or the day was over: neither says that nothing was left to do here.
    yield Trajectory(run.text[begin:end], changes, Kind.RECORDING, is_complete=False, times=run.times)


def _fits(run: Stretch, cutter: ExcerptCutter) -> bool:
    lines = segments(run.text)
    first, last = _lines(offsets_of(lines), run.changes)
    return sum(map(cutter.count_tokens, lines[first:last])) < 0.9 * cutter.setting.limit_state


def _lines(offsets: list[int], changes: Sequence[Change]) -> tuple[int, int]:
    """The lines of the first text that a run of changes touches."""
    begin, end = changes[0].start, changes[0].start
    for change in changes:  # begin and end in the text of the moment; what is outside of them has not changed
        begin = min(begin, change.start)
        end = max(end, change.end) + change.growth
    end -= sum(change.growth for change in changes)
    first = max((n for n, offset in enumerate(offsets[:-1]) if offset <= begin), default=0)
    last = next((n for n, offset in enumerate(offsets) if offset >= end and n > first), len(offsets) - 1)
    return first, last


def _entry(line: str) -> dict[str, Any] | None:
    """A line of a recording; None when it is torn."""
    try:
        entry = json.loads(line)
    except ValueError:
        return {} if line.isspace() else None
    return entry if isinstance(entry, dict) else None


def _milliseconds(entry: dict[str, Any]) -> int:
    time = entry.get("time")
    return int(time) if isinstance(time, int | float) else 0


def _change(text: str, edit: Any) -> Change | None:
    """A recorded change; None when it does not fit the text."""
    try:
        start, end, new = int(edit[0]), int(edit[1]), str(edit[2])
    except (TypeError, ValueError, IndexError):
        return None
    if not 0 <= start <= end <= count_units(text):
        return None
    return Change(offset_from_units(text, start), offset_from_units(text, end), new)
