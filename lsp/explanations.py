"""The reasons for a suggestion: the user's earlier replacements that the model attended to."""

from collections.abc import Sequence
from typing import NamedTuple

from lsp.document import Document
from lsp.recorded_hunks import TextRange, range_of_tokens
from lsp.replacements import Replacement, find_replacements
from lsp.suggestions import Reason
from model.editing.recorder import Recorder

_LIMIT_REASONS = 3


class _Spelled(NamedTuple):
    """A replacement in text. `age` is the number of edits that the stream had when it was made."""

    age: int
    old: str
    new: str
    text_range: TextRange


def explain(document: Document, recorder: Recorder, because: Sequence[int]) -> tuple[Reason, ...]:
    """Find the replacements that hold the edits of these indices; the newest first.

    The most important index comes first in `because`. A replacement made in several ranges is one reason.
    """
    found = find_replacements(recorder)
    named = dict.fromkeys(each for index in because for each in found if index in range(*each.hunk))
    alike: dict[tuple[str, str], list[_Spelled]] = {}
    for replacement in named:
        try:
            spelled = _spell(document, recorder, replacement)
        except UnicodeDecodeError:  # the other half of a character has been folded into the base
            continue
        alike.setdefault((spelled.old, spelled.new), []).append(spelled)
    chosen = [sorted(each, reverse=True) for each in list(alike.values())[:_LIMIT_REASONS]]
    return tuple(
        Reason(same[0].old, same[0].new, tuple(each.text_range for each in same))
        for same in sorted(chosen, reverse=True)
    )


def _spell(document: Document, recorder: Recorder, replacement: Replacement) -> _Spelled:
    decode = recorder.text.tokenizer.decode
    hunk, start, old, new = replacement
    found = range_of_tokens(recorder, hunk.last, start, replacement.end)
    words, partial = decode(new), recorder.partial
    if partial is not None and hunk.last == len(recorder.edits) and found.end == partial.start:
        # The half-typed name is no edit yet, but the user sees it instead of the old text.
        words, found = words + recorder.prefix, TextRange(found.start, partial.end)
    return _Spelled(hunk.last, decode(old), words, _move_into_line(document, found, decode(old)))


def _move_into_line(document: Document, found: TextRange, old: str) -> TextRange:
    """Leave out the break before a line: its tokens begin with the break, but a reader sees the line."""
    start, end = found
    text = document.slice(start, end)
    if text[:1] in ("\r", "\n"):
        return TextRange(end - len(text.lstrip() or text.lstrip("\r\n")), end)
    below = document.line_at(start) + 1
    if not text and old[:1] in ("\r", "\n") and below < document.line_count:
        return TextRange(document.start_of(below), document.start_of(below))
    return found
