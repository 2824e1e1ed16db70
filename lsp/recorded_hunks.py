"""The recorded stream as hunks: runs of edits in one region, and their ranges in the current text."""

from collections.abc import Sequence
from typing import NamedTuple

from model.editing.edits import DELETE, Edit
from model.editing.recorder import Recorder


class RecordedHunk(NamedTuple):
    """Successive edits of the stream in one region: the first, and the one after the last."""

    first: int
    last: int


class TextRange(NamedTuple):
    """Offsets in the current text."""

    start: int
    end: int


def find_hunks(recorder: Recorder) -> list[RecordedHunk]:
    """Split the stream into runs of adjacent edits."""
    edits = recorder.edits
    if not edits:
        return []
    explicit, ends = recorder.slots.explicit_positions(), recorder.burst_ends
    borders = [0]
    for index in range(1, len(edits)):
        deletes = edits[index - 1].content == DELETE
        following = explicit[index - 1] + (0 if deletes else 2)  # a further deletion would stand here
        expected = following if edits[index].content == DELETE else following - 1
        if index in ends or explicit[index] != expected:
            borders.append(index)
    return [RecordedHunk(*pair) for pair in zip(borders, [*borders[1:], len(edits)], strict=True)]


def start_of(recorder: Recorder, hunk: RecordedHunk) -> int:
    """The explicit position at which a hunk begins, in the state before it."""
    first = hunk.first
    return recorder.slots.explicit_positions()[first] + (recorder.edits[first].content != DELETE)


def range_of_hunk(recorder: Recorder, hunk: RecordedHunk) -> TextRange:
    """The range in the current text that holds what a hunk wrote."""
    start = start_of(recorder, hunk)
    inserted = sum(edit.content != DELETE for edit in recorder.edits[hunk.first : hunk.last])
    return range_of_tokens(recorder, hunk.last, start, start + inserted)


def range_of_tokens(recorder: Recorder, count: int, start: int, end: int) -> TextRange:
    """Find the tokens from start to end, of the state after the first `count` edits, in the current text."""
    explicit = recorder.slots.explicit_positions()[count:]
    for position, edit in zip(explicit, recorder.edits[count:], strict=True):
        start = _move_border(start, position, edit.content)
        end = max(start, _move_border(end, position, edit.content))
    return TextRange(*recorder.offsets_of_tokens([start, end]))


def is_undo(recorder: Recorder, edits: Sequence[Edit]) -> bool:
    """Do these edits, if they come next, only take back one hunk of the user's?"""
    inserted = [edit.content for edit in edits if edit.content != DELETE]
    deleted = sorted(edit.position for edit in edits if edit.content == DELETE)
    return bool(edits) and any(
        _is_inverse(recorder, hunk, deleted, inserted, edits[0].position) for hunk in find_hunks(recorder)
    )


def _is_inverse(
    recorder: Recorder, hunk: RecordedHunk, deleted: list[int], inserted: list[int], position: int
) -> bool:
    slots, edits = recorder.slots, recorder.edits
    written = [slots.state_length + i for i in range(*hunk) if edits[i].content != DELETE]
    removed = [slots.contents[e.position] for e in edits[hunk.first : hunk.last] if e.content == DELETE]
    if deleted != sorted(written) or inserted != removed:
        return False
    if deleted:
        return True
    gap = range_of_hunk(recorder, hunk).start
    return recorder.offsets_of_tokens([slots.explicit_position(position) + 1]) == [gap]


def _move_border(border: int, explicit: int, content: int) -> int:
    """Move a border between tokens over one more edit."""
    if content == DELETE:
        return border - (explicit < border)
    return border + (explicit + 1 <= border)
