"""Answers in the shapes of the editors' methods: inline completions, Copilot's inline edits, our own."""

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from lsp.document import Document
from lsp.suggestions import Answer, Reason, Suggestion

if TYPE_CHECKING:
    from lsp.everywhere import LikelyChange

ACCEPT = "likewise.lsp.accept"


def build_inline_completions(
    document: Document,
    answer: Answer,
    position: types.Position,
    selected: types.SelectedCompletionInfo | None,
) -> types.InlineCompletionList:
    """Build inline completions from the suggestions that change only the cursor's line."""
    cursor = document.offset_from_position(position)
    items = [_build_inline_completion(document, each, cursor) for each in answer.suggestions]
    return types.InlineCompletionList(
        items=[item for item in items if item is not None and _is_extension(item, selected)]
    )


def _build_inline_completion(
    document: Document, suggestion: Suggestion, cursor: int
) -> types.InlineCompletionItem | None:
    change = suggestion.core
    line = document.line_at(cursor)
    if document.line_at(change.start) != line or document.line_at(change.end) != line:
        return None
    # Editors draw only an item that begins or ends at the cursor, so the range reaches there.
    start, end = min(change.start, cursor), max(change.end, cursor)
    text = document.slice(start, change.start) + change.text + document.slice(change.end, end)
    if text == document.lines(line, line + 1).rstrip("\r\n")[start - document.start_of(line) :]:
        return None  # Neovim compares these two to their end, and beyond: it would hang
    return types.InlineCompletionItem(
        insert_text=text,
        range=document.range_from_offsets(start, end),
        command=_build_accept_command(suggestion),
    )


def _is_extension(item: types.InlineCompletionItem, selected: types.SelectedCompletionInfo | None) -> bool:
    """Does the item continue the selected entry of the completion menu? Editors draw no other."""
    return selected is None or (
        item.range == selected.range and str(item.insert_text).startswith(selected.text)
    )


def _build_accept_command(suggestion: Suggestion) -> types.Command:
    return types.Command(title="Accept", command=ACCEPT, arguments=[suggestion.id])


def build_inline_edits(document: Document, answer: Answer, version: int | None, limit: int) -> dict[str, Any]:
    return {
        "edits": [
            {
                "text": each.change.text,
                "range": build_range(document, each.change.start, each.change.end),
                "textDocument": {"uri": document.uri, "version": version},
                "command": {"title": "Accept", "command": ACCEPT, "arguments": [each.id]},
            }
            for each in answer.suggestions[:limit]
        ]
    }


def build_notice(document: Document, answer: Answer) -> dict[str, Any]:
    """Build the parameters of `likewise/suggestion`."""
    suggestions = [build_suggestion(document, each) for each in answer.suggestions]
    return {
        "uri": document.uri,
        "version": document.version,
        "suggestion": suggestions[0] if suggestions else None,
        "alternatives": suggestions[1:],
        "silence": answer.silence,
    }


def build_suggestion(document: Document, suggestion: Suggestion) -> dict[str, Any]:
    start, end, text = suggestion.change
    return {
        "id": suggestion.id,
        "range": build_range(document, start, end),
        "newText": text,
        "oldText": suggestion.old,
        "confidence": suggestion.confidence,
        "because": [build_reason(document, each) for each in suggestion.because],
        "placesLeft": suggestion.places_left,
    }


def build_reason(document: Document, reason: Reason) -> dict[str, Any]:
    """Build a replacement of `oldText` by `newText`, one of which may be empty, with its ranges as `places`.

    `range` is the newest of them and `text` one text for the replacement, for clients that want no more.
    """
    ranges = [build_range(document, *each) for each in reason.ranges]
    return {
        "range": ranges[0],
        "text": reason.new or reason.old,
        "oldText": reason.old,
        "newText": reason.new,
        "places": ranges,
    }


def build_likely_change(document: Document, likely: "LikelyChange") -> dict[str, Any]:
    start, end, text = likely.change
    return {
        "range": build_range(document, start, end),
        "newText": text,
        "oldText": document.slice(start, end),
        "confidence": likely.confidence,
    }


def build_range(document: Document, start: int, end: int) -> dict[str, Any]:
    return {"start": _build_position(document, start), "end": _build_position(document, end)}


def _build_position(document: Document, offset: int) -> dict[str, int]:
    position = document.position_from_offset(offset)
    return {"line": position.line, "character": position.character}
