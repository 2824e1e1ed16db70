"""What the language server recorded: the changes of a document in their true order.

Recordings are JSON lines in the shape `workspaceRecording@1.0`; offsets in them count UTF-16 code units. Keystrokes are
gathered into bursts, as the language server does, and runs of bursts that one window can hold become sessions.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import platformdirs

from model.editing.change import Change
from model.editing.tokenizer import segments
from training.data.dataset import Kind
from training.sources.filters import check_path
from training.trajectories.excerpts import ExcerptCutter, grow_excerpt
from training.trajectories.trajectory import Trajectory, offsets_of

_PAUSE_MILLISECONDS = 1000  # a longer pause ends a burst
_REWRITE = 0.5  # a change of more than this share of the text is a checkout or a formatter: a new beginning
_LIMIT_BURSTS = 40


class Step(NamedTuple):
    """One recorded change and its time."""

    change: Change
    milliseconds: int


class Recording(NamedTuple):
    """One document: a text and the changes that followed."""

    path: str
    text: str
    steps: list[Step]


def default_folder() -> Path:
    """Where the language server keeps its recordings on this machine."""
    return Path(platformdirs.user_data_dir("likewise", appauthor=False)) / "recordings"


def recorded_sessions(folder: Path, windows: ExcerptCutter) -> Iterator[tuple[str, Trajectory]]:
    """Path and session of every recording in a folder."""
    for file in sorted(folder.rglob("*.jsonl")):
        with file.open(encoding="utf-8", errors="replace") as lines:
            for recording in recordings_in(lines):
                if check_path(recording.path) is None:
                    random = Random(f"{file.name}:{recording.path}")
                    for session in sessions_of(recording, windows, random):
                        yield recording.path, session


def recordings_in(lines: Iterable[str]) -> Iterator[Recording]:
    """The documents of one file. A line that a crash cut off ends nothing but itself."""
    paths: dict[Any, str] = {}
    texts: dict[Any, str] = {}
    recordings: dict[Any, Recording] = {}
    for line in lines:
        entry = _entry(line)
        name = entry.get("id")
        if entry.get("kind") == "documentEncountered":
            paths[name] = str(entry.get("relativePath", ""))
        elif entry.get("kind") == "setContent":
            if name in recordings:
                yield recordings.pop(name)
            texts[name] = str(entry.get("content", ""))
            recordings[name] = Recording(paths.get(name, ""), texts[name], [])
        elif entry.get("kind") == "changed" and name in recordings:
            for edit in entry.get("edit", []):
                change = _change(texts[name], edit)
                if change is None:  # something is missing before: what follows cannot be understood
                    yield recordings.pop(name)
                    break
                texts[name] = _applied(texts[name], change)
                recordings[name].steps.append(Step(change, int(entry.get("time", 0))))
    yield from recordings.values()


def bursts_of(recording: Recording) -> list[tuple[str, Change]]:
    """The net change of each run of changes to one region, with the text that it met."""
    result: list[tuple[str, Change]] = []
    text = before = recording.text
    region: tuple[int, int] | None = None
    last = 0
    for change, milliseconds in recording.steps:
        touches = region is not None and _touches(text, region, change)
        if not touches or milliseconds - last > _PAUSE_MILLISECONDS:
            result.extend(_net(before, text))
            before, region = text, None
        first, end = region if region is not None else (change.start, change.end)
        text = _applied(text, change)
        grown = len(change.text) - (change.end - change.start)
        region = min(first, change.start), max(end, change.end) + grown
        last = milliseconds
    result.extend(_net(before, text))
    return result


def sessions_of(recording: Recording, windows: ExcerptCutter, random: Random) -> Iterator[Trajectory]:
    """Runs of bursts that lie so near to each other that one window holds them."""
    run: list[tuple[str, Change]] = []
    for text, change in bursts_of(recording):
        if change.end - change.start > max(200, _REWRITE * len(text)):
            yield from _session(run, windows, random)
            run = []
            continue
        grown = [*run, (text, change)]
        if run and (len(grown) > _LIMIT_BURSTS or not _fits(grown, windows)):
            yield from _session(run, windows, random)
            grown = grown[-1:]
        run = grown
    yield from _session(run, windows, random)


def _session(run: list[tuple[str, Change]], windows: ExcerptCutter, random: Random) -> Iterator[Trajectory]:
    if not run or not _fits(run, windows):
        return
    text = run[0][0]
    lines = segments(text)
    offsets = offsets_of(lines)
    window = grow_excerpt(
        lines,
        _lines(offsets, run),
        (0, len(lines)),
        windows.setting.limit_state - 2,
        windows.count_tokens,
        random,
    )
    if window is None:
        return
    begin, end = offsets[window[0]], offsets[window[1]]
    changes = tuple(Change(change.start - begin, change.end - begin, change.text) for _, change in run)
    # The recording goes on elsewhere, or the day was over: neither says that nothing was left to do here.
    yield Trajectory(text[begin:end], changes, Kind.RECORDING, conditioning=0, is_complete=False)


def _fits(run: list[tuple[str, Change]], windows: ExcerptCutter) -> bool:
    lines = segments(run[0][0])
    first, last = _lines(offsets_of(lines), run)
    return sum(map(windows.count_tokens, lines[first:last])) < 0.9 * windows.setting.limit_state


def _lines(offsets: list[int], run: list[tuple[str, Change]]) -> tuple[int, int]:
    """The lines of the first text that a run of bursts touches."""
    begin, end = run[0][1].start, run[0][1].start
    for _, change in run:  # begin and end in the text of the moment; what is outside of them has not changed
        begin = min(begin, change.start)
        end = max(end, change.end) + len(change.text) - (change.end - change.start)
    total = sum(len(change.text) - (change.end - change.start) for _, change in run)
    end -= total
    first = max((n for n, offset in enumerate(offsets[:-1]) if offset <= begin), default=0)
    last = next((n for n, offset in enumerate(offsets) if offset >= end and n > first), len(offsets) - 1)
    return first, last


def _touches(text: str, region: tuple[int, int], change: Change) -> bool:
    """Is a change in the region, or on the lines next to it?"""
    begin = text.rfind("\n", 0, max(0, region[0]))
    end = text.find("\n", region[1])
    return change.end >= begin and (end < 0 or change.start <= end + 1)


def _net(before: str, after: str) -> list[tuple[str, Change]]:
    """What differs in the end; nothing, if all was typed and deleted again."""
    if before == after:
        return []
    limit = min(len(before), len(after))
    head = 0
    while head < limit and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < limit - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return [(before, Change(head, len(before) - tail, after[head : len(after) - tail]))]


def _entry(line: str) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except ValueError:
        return {}
    return entry if isinstance(entry, dict) else {}


def _change(text: str, edit: Any) -> Change | None:
    try:
        start, end, new = int(edit[0]), int(edit[1]), str(edit[2])
    except (TypeError, ValueError, IndexError):
        return None
    if not text.isascii():
        units = text.encode("utf-16-le", "surrogatepass")
        if not 0 <= start <= end <= len(units) // 2:
            return None
        start, end = (len(units[: 2 * unit].decode("utf-16-le", "surrogatepass")) for unit in (start, end))
    return Change(start, end, new) if 0 <= start <= end <= len(text) else None


def _applied(text: str, change: Change) -> str:
    return text[: change.start] + change.text + text[change.end :]
