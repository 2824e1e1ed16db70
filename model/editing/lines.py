"""The text of a document by lines: one store for the language server's mirror and for the tokens beside it.

A *segment* is a line with the line break before it. Lines end at "\\n", "\\r\\n" and "\\r" and nowhere else. It is imported
without the tokenizer.
"""

import re
from typing import NamedTuple

from model.editing.change import Change
from model.editing.line_index import LineIndex

_SEGMENT = re.compile(r"(?:\r\n|\r|\n)[^\r\n]*|[^\r\n]+")


def segments(text: str) -> list[str]:
    """Split a text into lines, each with the line break before it; at least one, which may be empty."""
    found: list[str] = _SEGMENT.findall(text)
    if not found or text[0] in "\r\n":
        found.insert(0, "")
    return found


def break_length(segment: str) -> int:
    """The length of the line break that a segment begins with."""
    return 2 if segment.startswith("\r\n") else int(segment.startswith(("\r", "\n")))


class Splice(NamedTuple):
    """A change that was made: the text that it took away, and the segments `old`, at `first`, that became `new`."""

    change: Change
    removed: str
    first: int
    old: list[str]
    new: list[str]


class Lines:
    """A text by segments. A change reads again the segments that it touches and no others."""

    def __init__(self, text: str) -> None:
        self.segments = segments(text)
        self._starts = LineIndex(map(len, self.segments))

    def __len__(self) -> int:
        return self._starts.end

    @property
    def text(self) -> str:
        return "".join(self.segments)

    def between(self, start: int, end: int) -> str:
        """A part of the text."""
        first = self.segment_at(start)
        window = "".join(self.segments[first : self.segment_at(end) + 1])
        return window[start - self._starts[first] : end - self._starts[first]]

    def segment_at(self, offset: int) -> int:
        """The segment that holds the character at an offset; the last one, at the end of the text."""
        return self._starts.piece_at(offset)

    def start_of(self, segment: int) -> int:
        """The offset of a segment's first character."""
        return self._starts[segment]

    def replace(self, change: Change) -> Splice:
        """Make a change."""
        if not 0 <= change.start <= change.end <= len(self):
            raise ValueError(
                f"change from {change.start} to {change.end} is outside a text of {len(self)} characters"
            )
        # The neighbours of the change belong to it: a "\n" after a "\r" is one line break, not two.
        first = self.segment_at(change.start - 1) if change.start else 0
        last = self.segment_at(change.end)
        begin, old = self._starts[first], self.segments[first : last + 1]
        window = "".join(old)
        start, end = change.start - begin, change.end - begin
        new = segments(window[:start] + change.text + window[end:])
        if (
            first > 0 and not new[0]
        ):  # the window began with a line break: the empty head is not a segment here
            del new[0]
        self.segments[first : last + 1] = new
        self._starts.replace(first, last + 1, map(len, new))
        return Splice(change, window[start:end], first, old, new)
