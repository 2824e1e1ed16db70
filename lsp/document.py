"""Our own text of one open file, and an editor's positions in it.

An editor counts lines, and in each line code units; we count code points of the whole text. Lines end at "\\n", "\\r\\n" and
"\\r" and nowhere else, as the protocol says.
"""

from collections.abc import Iterable

from lsprotocol import types

from model.editing.change import Change, trimmed
from model.editing.code_units import count_units, offset_from_units
from model.editing.lines import Lines, Splice, break_length


class Document:
    """The text of one open file as the editor has it."""

    def __init__(self, uri: str, language: str, version: int, text: str, encoding: str = "utf-16") -> None:
        self.uri = uri
        self.language = language
        self.version = version
        self._encoding = encoding
        self.store = Lines(text)  # the recorder of the file keeps its tokens beside these lines

    def __len__(self) -> int:
        return len(self.store)

    @property
    def text(self) -> str:
        return self.store.text

    @property
    def line_count(self) -> int:
        return len(self.store.segments)

    def line_at(self, offset: int) -> int:
        """The number of the line that holds an offset. A line break belongs to the line that it ends."""
        line = self.store.segment_at(offset)
        return line - 1 if offset < self.start_of(line) else line

    def start_of(self, line: int) -> int:
        """The offset at which a line begins; the end of the text, for the number after the last line."""
        if line >= self.line_count:
            return len(self)
        return self.store.start_of(line) + break_length(self.store.segments[line])

    def slice(self, start: int, end: int) -> str:
        """The text between two offsets."""
        return self.store.between(start, end)

    def lines(self, first: int, last: int) -> str:
        """The text of the lines from `first` up to, not including, `last`; numbers outside of the file are none of it."""
        first, last = max(0, first), max(0, last)
        return self.slice(self.start_of(first), self.start_of(last)) if first < last else ""

    def update(self, events: Iterable[types.TextDocumentContentChangeEvent], version: int) -> list[Splice]:
        """Apply the changes of one notification, each to the text that the one before left."""
        splices = [self._apply(event) for event in events]
        self.version = version
        return splices

    def replace(self, change: Change) -> Splice:
        """Make a change."""
        return self.store.replace(change)

    def offset_from_position(self, position: types.Position) -> int:
        """A position beyond the end of a line, or of the text, is that end."""
        if position.line >= self.line_count:
            return len(self)
        segment = self.store.segments[position.line]
        content = segment[break_length(segment) :]
        units = offset_from_units(content, position.character, self._encoding)
        return self.start_of(position.line) + units

    def position_from_offset(self, offset: int) -> types.Position:
        line = self.line_at(offset)
        before = self.slice(self.start_of(line), offset)
        return types.Position(line=line, character=count_units(before, self._encoding))

    def range_from_offsets(self, start: int, end: int) -> types.Range:
        return types.Range(start=self.position_from_offset(start), end=self.position_from_offset(end))

    def _apply(self, event: types.TextDocumentContentChangeEvent) -> Splice:
        if isinstance(event, types.TextDocumentContentChangePartial):
            start = self.offset_from_position(event.range.start)
            end = max(start, self.offset_from_position(event.range.end))
            change = Change(start, end, event.text)
        else:
            change = trimmed(Change(0, len(self), event.text), self.text)
        return self.replace(change)
