"""The stream read back: its edits as hunks, each a run of edits at one place, and where they stand in the text of now."""

from collections.abc import Sequence
from typing import NamedTuple

from model.editing.edits import DELETE, Edit
from model.editing.recorder import Recorder


class Hunk(NamedTuple):
    """Edits of the stream that were made one after another at one place: the first, and the one after the last."""

    first: int
    last: int


class Place(NamedTuple):
    """Where a hunk stands in the text of now."""

    start: int
    end: int


def hunks(recorder: Recorder) -> list[Hunk]:
    """The stream as runs of edits, each at one place."""
    edits = recorder.edits
    if not edits:
        return []
    explicit, ends = recorder.slots.explicit_positions(), recorder.burst_ends
    borders = [0]
    for index in range(1, len(edits)):
        deletes = edits[index - 1].content == DELETE
        following = explicit[index - 1] + (0 if deletes else 2)  # where a deletion would go on
        expected = following if edits[index].content == DELETE else following - 1
        if index in ends or explicit[index] != expected:
            borders.append(index)
    return [Hunk(*pair) for pair in zip(borders, [*borders[1:], len(edits)], strict=True)]


def start_of(recorder: Recorder, hunk: Hunk) -> int:
    """The explicit position at which a hunk begins."""
    first = hunk.first
    return recorder.slots.explicit_positions()[first] + (recorder.edits[first].content != DELETE)


def place_of(recorder: Recorder, hunk: Hunk) -> Place:
    """Where a hunk stands in the text of now."""
    start = start_of(recorder, hunk)
    inserted = sum(edit.content != DELETE for edit in recorder.edits[hunk.first : hunk.last])
    return place_now(recorder, hunk.last, start, start + inserted)


def place_now(recorder: Recorder, count: int, start: int, end: int) -> Place:
    """Where the tokens from start to end of the state after the first `count` edits stand in the text of now."""
    explicit = recorder.slots.explicit_positions()[count:]
    for position, edit in zip(explicit, recorder.edits[count:], strict=True):
        start = _shifted(start, position, edit.content)
        end = max(start, _shifted(end, position, edit.content))
    return Place(*recorder.offsets_of_tokens([start, end]))


def undoes(recorder: Recorder, edits: Sequence[Edit]) -> bool:
    """Would these edits, next, only take back what the user did at one place?"""
    inserted = [edit.content for edit in edits if edit.content != DELETE]
    deleted = sorted(edit.position for edit in edits if edit.content == DELETE)
    return bool(edits) and any(
        _is_inverse(recorder, hunk, deleted, inserted, edits[0].position) for hunk in hunks(recorder)
    )


def _is_inverse(
    recorder: Recorder, hunk: Hunk, deleted: list[int], inserted: list[int], position: int
) -> bool:
    slots, edits = recorder.slots, recorder.edits
    made = [slots.state_length + i for i in range(*hunk) if edits[i].content != DELETE]
    taken = [slots.contents[e.position] for e in edits[hunk.first : hunk.last] if e.content == DELETE]
    if deleted != sorted(made) or inserted != taken:
        return False
    if deleted:
        return True
    gap = place_of(recorder, hunk).start
    return recorder.offsets_of_tokens([slots.explicit_position(position) + 1]) == [gap]


def _shifted(place: int, explicit: int, content: int) -> int:
    """An explicit place after one more edit."""
    if content == DELETE:
        return place - (explicit < place)
    return place + (explicit + 1 <= place)
