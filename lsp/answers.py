"""From a prediction of the service to an answer: the suggestions to show, in the editor's text."""

from collections.abc import Callable, Sequence

from lsp.dismissals import Dismissals
from lsp.document import Document
from lsp.explanations import explain
from lsp.file_view import FileView
from lsp.recorded_hunks import is_undo
from lsp.suggestions import Answer, Suggestion, select_suggestions
from model.editing.change import Change
from model.editing.edits import DELETE, Edit
from model.editing.recorder import Recorder
from model.silence import Silence
from server import schema

_SURROUNDING_LINES = 1  # on each side; a dismissed suggestion may return when these have changed


def answer_from_prediction(
    view: FileView,
    prediction: schema.Prediction,
    edits: Sequence[Edit],
    dismissals: Dismissals,
    threshold_for: Callable[[Suggestion], float],
) -> Answer:
    """Choose the suggestions to show. `edits` are those that the prediction continues."""
    recorder = view.recorder
    is_level = list(edits) == recorder.edits  # otherwise the prediction's positions are those of other tokens
    silence = Silence(prediction.silence) if prediction.silence is not None else None
    suggestions = []
    for each in prediction.suggestions:
        change = change_in_editor(recorder, each)
        if change is None:
            silence = Silence.NO_TEXT_RANGE
            continue
        suggestion = _make_suggestion(view, each, change, is_level=is_level)
        beside_name = suggestion.edits if each.continues_prefix else drop_name(recorder, suggestion.edits)
        silence = _find_objection(view, suggestion, beside_name if is_level else (), dismissals)
        if silence is None:
            suggestions.append(suggestion)
    chosen = select_suggestions(view.shown, suggestions, threshold_for)
    if chosen:
        return Answer(tuple(chosen))
    return Answer(silence=silence or Silence.BELOW_THRESHOLD)


def change_in_editor(recorder: Recorder, suggestion: schema.Suggestion) -> Change | None:
    """Convert a change of the stream's text to one of the editor's, which has the half-typed name as well.

    None if the change would replace a part of that name.
    """
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


def drop_name(recorder: Recorder, edits: Sequence[Edit]) -> Sequence[Edit]:
    """Leave out the edits that type the half-typed name: the service begins with them if it is a whole one."""
    tokenizer, name, spelled = recorder.text.tokenizer, recorder.prefix.encode(), b""
    for index, edit in enumerate(edits):
        if not name or edit.content == DELETE:
            break
        spelled += tokenizer.bytes_of[edit.content]
        if spelled == name and tokenizer.ends[edit.content]:
            return edits[index + 1 :]
    return edits


def is_dismissed(view: FileView, suggestion: Suggestion, dismissals: Dismissals) -> bool:
    """Was it dismissed in this session, or lately in the same file with the same text around it?"""
    if any(suggestion.is_same(each) for each in view.dismissed):
        return True
    return dismissals.has(*describe_dismissal(view.document, suggestion))


def describe_dismissal(document: Document, suggestion: Suggestion) -> tuple[str, str, str]:
    """Describe a suggestion for Dismissals: the file, the change, and the lines around it."""
    change = suggestion.core
    first = max(0, document.line_at(change.start) - _SURROUNDING_LINES)
    last = document.line_at(change.end) + _SURROUNDING_LINES + 1
    begin = document.start_of(first)
    described = f"{change.start - begin} {change.end - begin} {change.text}"
    return document.uri, described, document.lines(first, last)


def _make_suggestion(
    view: FileView, found: schema.Suggestion, change: Change, *, is_level: bool
) -> Suggestion:
    document, recorder = view.document, view.recorder
    return Suggestion(
        change=change,
        old=document.slice(change.start, change.end),
        confidence=found.confidence,
        edits=tuple(schema.edit_from_wire(edit) for edit in found.edits),
        because=explain(document, recorder, found.because) if is_level else (),
        places_left=found.places_left,
    )


def _find_objection(
    view: FileView, suggestion: Suggestion, edits: Sequence[Edit], dismissals: Dismissals
) -> Silence | None:
    """Find a reason for not showing a suggestion that makes these edits."""
    if suggestion.old == suggestion.change.text:
        return Silence.NO_OP
    if is_undo(view.recorder, edits):
        return Silence.UNDO
    return Silence.DISMISSED if is_dismissed(view, suggestion, dismissals) else None
