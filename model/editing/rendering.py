"""Rendering: predicted edits to one replacement in the text."""

from collections.abc import Iterable, Sequence

from model.editing.change import Change
from model.editing.edits import DELETE, END, Edit, Slots, picked
from model.editing.tokenizer import Tokenizer


def render(slots: Slots, edits: Iterable[Edit], tokenizer: Tokenizer) -> Change:
    """The one replacement, in the text of the current state, that the edits amount to. The slots are left as they were."""
    kept, size, contents = len(slots.edits), len(slots.order), slots.contents
    try:
        explicit = [Edit(slots.apply(edit), edit.content) for edit in edits]
        grown = len(slots.order) - size
        first, last = _span(explicit, size, size + grown)
        text = tokenizer.decode([contents[slot] for slot in slots.order[first : last + grown]])
    finally:
        slots.keep(kept)
    lengths = picked(tokenizer.lengths, picked(contents, slots.order[:last]))
    return Change(sum(lengths[:first]), sum(lengths), text)


def _span(explicit: Sequence[Edit], old_length: int, new_length: int) -> tuple[int, int]:
    """The range of the old state that the edits touch."""
    first, last = old_length, 0  # in the state as the edits so far have left it
    for position, content in explicit:
        if content == END:
            continue
        first = min(first, position if content == DELETE else position + 1)
        last = max(last, position + 1) + (-1 if content == DELETE else 1)
    if first > last:
        return old_length, old_length
    return first, last - (new_length - old_length)
