"""All next changes at once: each prediction is taken as done before the next is asked for."""

from collections.abc import Awaitable, Callable, Sequence
from itertools import accumulate
from typing import NamedTuple

from model.editing.change import Change
from model.editing.edits import DELETE, Edit, Slots
from model.editing.recorder import Recorder
from model.editing.tokenizer import Tokenizer
from server import schema

_LIMIT_CHANGES = 50

Ask = Callable[[tuple[Edit, ...]], Awaitable[schema.Prediction]]


class LikelyChange(NamedTuple):
    """One of the predicted changes, in the current text."""

    change: Change
    confidence: float


async def find_likely_changes(recorder: Recorder, limit_edits: int, ask: Ask) -> list[LikelyChange]:
    """Predict changes one after another; return them in the order of the text. None touches another."""
    done = tuple(recorder.edits)
    state, tokenizer = recorder.state, recorder.text.tokenizer
    predicted: list[Edit] = []
    confidences: list[float] = []  # of each predicted edit
    first_new = len(state) + len(done)
    for _ in range(_LIMIT_CHANGES):
        if len(done) + len(predicted) > limit_edits:
            break
        prediction = await ask((*done, *predicted))
        if not prediction.suggestions:
            break
        best = prediction.suggestions[0]
        edits = [schema.edit_from_wire(edit) for edit in best.edits]
        own = range(first_new + len(predicted), first_new + len(predicted) + len(edits))
        if any(edit.position >= first_new and edit.position not in own for edit in edits):
            break  # it changes its own earlier changes
        predicted += edits
        confidences += [best.confidence] * len(edits)
    return changes_from_edits(state, done, predicted, confidences, tokenizer)


def changes_from_edits(
    state: Sequence[int],
    done: Sequence[Edit],
    predicted: Sequence[Edit],
    confidences: Sequence[float],
    tokenizer: Tokenizer,
) -> list[LikelyChange]:
    """Convert predicted edits to changes of the text that the edits in `done` left, one for each run."""
    slots = Slots(state)
    for edit in done:
        slots.apply(edit)
    before = list(slots.order)
    for edit in predicted:
        slots.apply(edit)
    starts = list(accumulate((tokenizer.lengths[slots.contents[slot]] for slot in before), initial=0))
    first_new = len(state) + len(done)
    confidence_of = {
        edit.position: value
        for edit, value in zip(predicted, confidences, strict=True)
        if edit.content == DELETE
    }
    confidence_of |= {first_new + index: value for index, value in enumerate(confidences)}
    return _find_changed_runs(before, slots, starts, confidence_of, tokenizer)


def _find_changed_runs(
    before: list[int], slots: Slots, starts: list[int], confidence_of: dict[int, float], tokenizer: Tokenizer
) -> list[LikelyChange]:
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
            confidence = min((confidence_of[slot] for slot in changed if slot in confidence_of), default=0.0)
            text = tokenizer.decode([slots.contents[slot] for slot in slots.order[new_first:new]])
            result.append(LikelyChange(Change(starts[old_first], starts[old], text), confidence))
        old, new = old + 1, new + 1
    return result
