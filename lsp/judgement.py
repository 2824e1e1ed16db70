"""A prediction of the service -> the suggestions that a user shall see, in the editor's text."""

from collections.abc import Sequence

from lsp.document import Document, trimmed
from lsp.hunks import undoes
from lsp.memory import Memory
from lsp.open_file import OpenFile
from lsp.reasons import reasons
from lsp.suggestions import Answer, Suggestion, settled
from model.editing.change import Change
from model.editing.edits import Edit
from model.editing.recorder import Recorder
from server import schema

_SURROUNDING_LINES = 1  # on each side; a dismissed suggestion may return when these have changed


def judge(
    file: OpenFile, prediction: schema.Prediction, edits: Sequence[Edit], memory: Memory, threshold: float
) -> Answer:
    """`edits` are those that the prediction continues: with others its positions would mean other tokens."""
    recorder = file.recorder
    assert recorder is not None
    is_level = list(edits) == recorder.edits
    silence: str | None = prediction.silence
    suggestions = []
    for each in prediction.suggestions:
        change = placed(recorder, each)
        if change is None:
            silence = "no-place"
            continue
        suggestion = _suggestion(file.document, recorder if is_level else None, each, change)
        silence = _objection(file, recorder if is_level else None, suggestion, memory)
        if silence is None:
            suggestions.append(suggestion)
    chosen = settled(file.shown, suggestions, threshold)
    if chosen:
        return Answer(tuple(chosen))
    return Answer(silence=silence or "below-threshold")


def placed(recorder: Recorder, suggestion: schema.Suggestion) -> Change | None:
    """From the stream's text to the editor's, which has the half-typed name; none if it would change that name."""
    start, end, text = suggestion.start, suggestion.end, suggestion.text
    partial, prefix = recorder.partial, recorder.prefix
    if partial is None:
        return Change(start, end, text)
    if suggestion.continues_prefix:
        if start != partial.start or not text.startswith(prefix):
            return None
        return Change(partial.end, end + len(prefix), text[len(prefix) :])
    if end <= partial.start and start < partial.start:
        return Change(start, end, text)
    if start < partial.start or start == end == partial.start:
        return None
    return Change(start + len(prefix), end + len(prefix), text)


def surroundings(document: Document, suggestion: Suggestion) -> tuple[str, str]:
    """What a dismissed suggestion is remembered by: itself, and the text around it."""
    change = trimmed(suggestion.change, suggestion.old)
    first = max(0, document.line_at(change.start) - _SURROUNDING_LINES)
    last = document.line_at(change.end) + _SURROUNDING_LINES + 1
    begin = document.start_of(first)
    return f"{change.start - begin} {change.end - begin} {change.text}", document.lines(first, last)


def _suggestion(
    document: Document, recorder: Recorder | None, found: schema.Suggestion, change: Change
) -> Suggestion:
    edits = tuple(schema.edit_from_wire(edit) for edit in found.edits)
    because = reasons(document, recorder, found.because) if recorder is not None else ()
    return Suggestion(
        change=change,
        old=document.slice(change.start, change.end),
        confidence=found.confidence,
        edits=edits,
        because=because,
    )


def _objection(
    file: OpenFile, recorder: Recorder | None, suggestion: Suggestion, memory: Memory
) -> str | None:
    """Why a suggestion is not to be shown."""
    if suggestion.old == suggestion.change.text:
        return "no-op"
    if recorder is not None and undoes(recorder, suggestion.edits):
        return "undoes"
    return "dismissed" if is_dismissed(file, suggestion, memory) else None


def is_dismissed(file: OpenFile, suggestion: Suggestion, memory: Memory) -> bool:
    """Now, or some time before at the same place of the same text."""
    return file.is_dismissed(suggestion) or memory.is_dismissed(*surroundings(file.document, suggestion))
