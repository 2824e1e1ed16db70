"""All places at once: each prediction is taken as done and the next is asked for, until the model has no more."""

from collections.abc import Awaitable, Callable, Sequence
from itertools import accumulate
from typing import NamedTuple

from model.editing.change import Change
from model.editing.edits import DELETE, Edit, Slots
from model.editing.recorder import Recorder
from model.editing.tokenizer import Tokenizer
from server import schema

_LIMIT_PLACES = 50

Ask = Callable[[tuple[Edit, ...]], Awaitable[schema.Prediction]]


class Place(NamedTuple):
    """One of the places: a change of the text as it is now."""

    change: Change
    confidence: float


async def find_places(recorder: Recorder, limit_edits: int, ask: Ask) -> list[Place]:
    """The changes that would come one after another, none touching another, in the order of the text."""
    done = tuple(recorder.edits)
    state, tokenizer = recorder.state, recorder.text.tokenizer
    predicted: list[Edit] = []
    confidences: list[float] = []  # of each predicted edit
    first_new = len(state) + len(done)
    for _ in range(_LIMIT_PLACES):
        if len(done) + len(predicted) > limit_edits:
            break
        prediction = await ask((*done, *predicted))
        if not prediction.suggestions:
            break
        best = prediction.suggestions[0]
        edits = [schema.edit_from_wire(edit) for edit in best.edits]
        own = range(first_new + len(predicted), first_new + len(predicted) + len(edits))
        if any(edit.position >= first_new and edit.position not in own for edit in edits):
            break  # it goes on where it has been already
        predicted += edits
        confidences += [best.confidence] * len(edits)
    return changes_of(state, done, predicted, confidences, tokenizer)


def changes_of(
    state: Sequence[int],
    done: Sequence[Edit],
    predicted: Sequence[Edit],
    confidences: Sequence[float],
    tokenizer: Tokenizer,
) -> list[Place]:
    """Predicted edits as changes of the text that the edits before left, one for each place."""
    slots = Slots(state)
    for edit in done:
        slots.apply(edit)
    before = list(slots.order)
    for edit in predicted:
        slots.apply(edit)
    starts = list(accumulate((tokenizer.lengths[slots.contents[slot]] for slot in before), initial=0))
    first_new = len(state) + len(done)
    sure = {
        edit.position: value
        for edit, value in zip(predicted, confidences, strict=True)
        if edit.content == DELETE
    }
    sure |= {first_new + index: value for index, value in enumerate(confidences)}
    return _changed_runs(before, slots, starts, sure, tokenizer)


def _changed_runs(
    before: list[int], slots: Slots, starts: list[int], sure: dict[int, float], tokenizer: Tokenizer
) -> list[Place]:
    """Walk both orders side by side: slots that both have are equal, and in the same order."""
    result = []
    live = set(slots.order)
    old, new = 0, 0
    while old < len(before) or new < len(slots.order):
        old_first, new_first = old, new
        while old < len(before) and before[old] not in live:
            old += 1
        known = before[old] if old < len(before) else None
        while new < len(slots.order) and slots.order[new] != known:
            new += 1
        if old > old_first or new > new_first:
            changed = before[old_first:old] + slots.order[new_first:new]
            confidence = min((sure[slot] for slot in changed if slot in sure), default=0.0)
            text = tokenizer.decode([slots.contents[slot] for slot in slots.order[new_first:new]])
            result.append(Place(Change(starts[old_first], starts[old], text), confidence))
        old, new = old + 1, new + 1
    return result
