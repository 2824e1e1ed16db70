"""Answers in the shapes that editors speak: inline completion, Copilot's inline edits, our own notifications."""

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from lsp.document import Document
from lsp.open_file import OpenFile
from lsp.suggestions import Answer, Reason, Suggestion

if TYPE_CHECKING:
    from lsp.everywhere import Place

ACCEPT = "likewise.lsp.accept"


def inline_completions(
    document: Document,
    answer: Answer,
    position: types.Position,
    selected: types.SelectedCompletionInfo | None,
) -> types.InlineCompletionList:
    """Those suggestions that touch nothing but the cursor's line."""
    cursor = document.offset_from_position(position)
    items = [_inline_completion(document, each, cursor) for each in answer.suggestions]
    return types.InlineCompletionList(
        items=[item for item in items if item is not None and _extends(item, selected)]
    )


def _inline_completion(
    document: Document, suggestion: Suggestion, cursor: int
) -> types.InlineCompletionItem | None:
    change = suggestion.trimmed
    line = document.line_at(cursor)
    if document.line_at(change.start) != line or document.line_at(change.end) != line:
        return None
    # Editors draw what begins or ends at the cursor, so the range reaches there.
    start, end = min(change.start, cursor), max(change.end, cursor)
    text = document.slice(start, change.start) + change.text + document.slice(change.end, end)
    if text == document.lines(line, line + 1).rstrip("\r\n")[start - document.start_of(line) :]:
        return None  # Neovim compares these two to their end, and beyond: it would hang
    return types.InlineCompletionItem(
        insert_text=text,
        range=document.range_from_offsets(start, end),
        command=_accepted(suggestion),
    )


def _extends(item: types.InlineCompletionItem, selected: types.SelectedCompletionInfo | None) -> bool:
    """With an entry of the completion menu selected, only what goes on from there can be drawn."""
    return selected is None or (
        item.range == selected.range and str(item.insert_text).startswith(selected.text)
    )


def _accepted(suggestion: Suggestion) -> types.Command:
    return types.Command(title="Accept", command=ACCEPT, arguments=[suggestion.id])


def inline_edits(document: Document, answer: Answer, version: int | None, limit: int) -> dict[str, Any]:
    return {
        "edits": [
            {
                "text": each.change.text,
                "range": range_of(document, each.change.start, each.change.end),
                "textDocument": {"uri": document.uri, "version": version},
                "command": {"title": "Accept", "command": ACCEPT, "arguments": [each.id]},
            }
            for each in answer.suggestions[:limit]
        ]
    }


def notice(file: OpenFile, answer: Answer) -> dict[str, Any]:
    """`likewise/suggestion`"""
    made = [suggestion_of(file.document, each) for each in answer.suggestions]
    return {
        "uri": file.uri,
        "version": file.document.version,
        "suggestion": made[0] if made else None,
        "alternatives": made[1:],
        "silence": answer.silence,
    }


def suggestion_of(document: Document, suggestion: Suggestion) -> dict[str, Any]:
    start, end, text = suggestion.change
    return {
        "id": suggestion.id,
        "range": range_of(document, start, end),
        "newText": text,
        "oldText": suggestion.old,
        "confidence": suggestion.confidence,
        "because": [reason_of(document, each) for each in suggestion.because],
    }


def reason_of(document: Document, reason: Reason) -> dict[str, Any]:
    """What was done, `oldText` to `newText` (one of them may be empty), and where: `places`, the newest first.

    `range` and `text` are its newest place and one text for it, for clients that want no more than this.
    """
    places = [range_of(document, *place) for place in reason.places]
    return {
        "range": places[0],
        "text": reason.new or reason.old,
        "oldText": reason.old,
        "newText": reason.new,
        "places": places,
    }


def place_of(document: Document, place: "Place") -> dict[str, Any]:
    start, end, text = place.change
    return {
        "range": range_of(document, start, end),
        "newText": text,
        "oldText": document.slice(start, end),
        "confidence": place.confidence,
    }


def range_of(document: Document, start: int, end: int) -> dict[str, Any]:
    return {"start": _position(document, start), "end": _position(document, end)}


def _position(document: Document, offset: int) -> dict[str, int]:
    position = document.position_from_offset(offset)
    return {"line": position.line, "character": position.character}
