"""Why a suggestion was made: what the user did before and the model looked at, in words that an editor can show."""

from collections.abc import Sequence
from typing import NamedTuple

from lsp.document import Document
from lsp.hunks import Place, place_now
from lsp.replacements import Replacement, replacements
from lsp.suggestions import Reason
from model.editing.recorder import Recorder

_LIMIT_REASONS = 3


class _Told(NamedTuple):
    """A replacement in words, and how much of the stream was there when it was made."""

    age: int
    old: str
    new: str
    place: Place


def reasons(document: Document, recorder: Recorder, because: Sequence[int]) -> tuple[Reason, ...]:
    """What the edits of these indices, the most important first, were part of; the newest first.

    What was done in several places is told once.
    """
    made = replacements(recorder)
    named = dict.fromkeys(each for index in because for each in made if index in range(*each.hunk))
    alike: dict[tuple[str, str], list[_Told]] = {}
    for told in (_told(document, recorder, each) for each in named):
        alike.setdefault((told.old, told.new), []).append(told)
    chosen = [sorted(each, reverse=True) for each in list(alike.values())[:_LIMIT_REASONS]]
    return tuple(
        Reason(same[0].old, same[0].new, tuple(told.place for told in same))
        for same in sorted(chosen, reverse=True)
    )


def _told(document: Document, recorder: Recorder, replacement: Replacement) -> _Told:
    decode = recorder.text.tokenizer.decode
    hunk, start, old, new = replacement
    place = place_now(recorder, hunk.last, start, replacement.end)
    words, partial = decode(new), recorder.partial
    if partial is not None and hunk.last == len(recorder.edits) and place.end == partial.start:
        # The half-typed name is no edit yet, but the user sees it where the old text was.
        words, place = words + recorder.prefix, Place(place.start, partial.end)
    return _Told(hunk.last, decode(old), words, _in_its_line(document, place, decode(old)))


def _in_its_line(document: Document, place: Place, old: str) -> Place:
    """The tokens of a line begin with the break before it: for a reader they begin behind it."""
    start, end = place
    text = document.slice(start, end)
    if text[:1] in ("\r", "\n"):
        return Place(end - len(text.lstrip() or text.lstrip("\r\n")), end)
    below = document.line_at(start) + 1
    if not text and old[:1] in ("\r", "\n") and below < document.line_count:
        return Place(document.start_of(below), document.start_of(below))
    return place
