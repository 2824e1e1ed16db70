"""Folding: the oldest edits become part of the base state when there are too many."""

from collections.abc import Sequence

from model.editing.edits import Edit, Slots


def count_to_fold(ends: Sequence[int], frozen: int, limit: int) -> int:
    """Count the edits to fold so that at most half of the limit stay. `ends` are the ends of all bursts, the last of which
    is the number of edits; only the first `frozen` edits may be folded.

    Half at once, because a new base costs an encoding; whole bursts where that is possible, and never the newest."""
    total, room = ends[-1], limit // 2
    fitting = [end for end in ends[:-1] if end <= frozen and total - end <= room]
    return min(fitting, default=min(frozen, total - room))


def fold(slots: Slots, count: int) -> Slots:
    """Slots whose base state has the first `count` edits made."""
    explicit = slots.explicit_positions()[count:]
    contents = [edit.content for edit in slots.edits[count:]]
    slots.keep(count)
    result = Slots(slots.tokens())
    for position, content in zip(explicit, contents, strict=True):
        result.apply_explicit(Edit(position, content))
    return result
