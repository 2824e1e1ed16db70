"""Our own text of one open file, and an editor's positions in it.

An editor counts lines, and in each line code units; we count code points of the whole text. Lines end at "\\n", "\\r\\n" and
"\\r" and nowhere else, as the protocol says.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from lsprotocol import types

from model.editing.change import Change, common_length
from model.editing.code_units import count_units, offset_from_units
from model.editing.line_index import LineIndex

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


class Edited(NamedTuple):
    """A change that was made, and the text that it took away."""

    change: Change
    removed: str


class Document:
    """The text of one open file as the editor has it."""

    def __init__(self, uri: str, language: str, version: int, text: str, encoding: str = "utf-16") -> None:
        self.uri = uri
        self.language = language
        self.version = version
        self._encoding = encoding
        self._lines = _lines(text)
        self._starts = LineIndex(map(len, self._lines))

    def __len__(self) -> int:
        return self._starts.end

    @property
    def text(self) -> str:
        return "".join(self._lines)

    @property
    def line_count(self) -> int:
        return len(self._lines)

    def line_at(self, offset: int) -> int:
        """The number of the line that holds an offset."""
        return self._starts.piece_at(offset)

    def start_of(self, line: int) -> int:
        return self._starts[line]

    def slice(self, start: int, end: int) -> str:
        """The text between two offsets."""
        first, last = self.line_at(start), self.line_at(end)
        window = "".join(self._lines[first : last + 1])
        return window[start - self._starts[first] : end - self._starts[first]]

    def lines(self, first: int, last: int) -> str:
        """The text of the lines from `first` up to, not including, `last`; numbers outside of the file are none of it."""
        return "".join(self._lines[max(0, first) : max(0, last)])

    def update(self, events: Iterable[types.TextDocumentContentChangeEvent], version: int) -> list[Edited]:
        """Apply the changes of one notification, each to the text that the one before left."""
        edited = [self._apply(event) for event in events]
        self.version = version
        return edited

    def replace(self, change: Change) -> None:
        # The neighbours of the change belong to it: a "\n" after a "\r" is one line break, not two.
        first = self.line_at(change.start - 1) if change.start else 0
        last = self.line_at(change.end)
        begin = self._starts[first]
        window = "".join(self._lines[first : last + 1])
        fresh = _lines(window[: change.start - begin] + change.text + window[change.end - begin :])
        if last + 1 < len(self._lines):  # the empty line after the last break is the line that follows
            fresh.pop()
        self._lines[first : last + 1] = fresh
        self._starts.replace(first, last + 1, map(len, fresh))

    def offset_from_position(self, position: types.Position) -> int:
        """A position beyond the end of a line, or of the text, is that end."""
        if position.line >= len(self._lines):
            return len(self)
        line = self._lines[position.line]
        content = line.rstrip("\r\n")
        return self._starts[position.line] + offset_from_units(content, position.character, self._encoding)

    def position_from_offset(self, offset: int) -> types.Position:
        number = self.line_at(offset)
        before = self._lines[number][: offset - self._starts[number]]
        return types.Position(line=number, character=count_units(before, self._encoding))

    def range_from_offsets(self, start: int, end: int) -> types.Range:
        return types.Range(start=self.position_from_offset(start), end=self.position_from_offset(end))

    def _apply(self, event: types.TextDocumentContentChangeEvent) -> Edited:
        if isinstance(event, types.TextDocumentContentChangePartial):
            start = self.offset_from_position(event.range.start)
            end = max(start, self.offset_from_position(event.range.end))
            change = Change(start, end, event.text)
        else:
            change = trimmed(Change(0, len(self), event.text), self.text)
        removed = self.slice(change.start, change.end)
        self.replace(change)
        return Edited(change, removed)


def trimmed(change: Change, old: str) -> Change:
    """The same replacement without what its old and new text have in common at both ends; `old` is what it replaces."""
    new = change.text
    head = common_length(old, new)
    tail = common_length(old[head:][::-1], new[head:][::-1])
    return Change(change.start + head, change.end - tail, new[head : len(new) - tail])


def _lines(text: str) -> list[str]:
    """The lines of a text, each with the break that ends it; the last has none and may be empty."""
    found: list[str] = _LINE.findall(text)
    if not found or found[-1][-1] in "\r\n":
        found.append("")
    return found
