"""A text with its tokens by lines."""

from typing import NamedTuple

from model.editing.change import Change
from model.editing.edits import END, START
from model.editing.line_index import LineIndex
from model.editing.lines import Lines, Splice
from model.editing.tokenizer import Tokenizer

Tokens = tuple[int, ...]


class Replaced(NamedTuple):
    """The tokens that a change replaced: those of the segments `old` at `first` became those of `new_count` others."""

    first: int
    old: tuple[Tokens, ...]
    new_count: int
    change: Change


class HalfTyped(NamedTuple):
    """A half-typed name in a text: it is not an edit yet, but a prefix that a prediction continues."""

    start: int
    end: int
    text: str
    segment: int
    left: Tokens  # of its segment, to its left
    right: Tokens


class TokenText:
    """A text by segments, each with its token ids; a change tokenizes the segments it touches and no others."""

    def __init__(self, tokenizer: Tokenizer, text: str) -> None:
        self.tokenizer = tokenizer
        self.lines = Lines(text)
        self.tokens: list[Tokens] = [tuple(tokenizer.encode_segment(s)) for s in self.lines.segments]
        self._token_starts = LineIndex(map(len, self.tokens))

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def segments(self) -> list[str]:
        return self.lines.segments

    @property
    def text(self) -> str:
        return self.lines.text

    @property
    def token_count(self) -> int:
        return self._token_starts.end

    def state(self) -> Tokens:
        """The text as a state of the model."""
        return (START, *(token for line in self.tokens for token in line), END)

    def segment_of_token(self, index: int) -> int:
        """The segment that holds a token of the text."""
        return self._token_starts.piece_at(index)

    def tokens_before(self, segment: int) -> int:
        """Count the tokens of the segments before this one."""
        return self._token_starts[segment]

    def length_of(self, tokens: Tokens) -> int:
        """Count the code points of some tokens."""
        return sum(map(self.tokenizer.lengths.__getitem__, tokens))

    def take_out(self, start: int, end: int) -> HalfTyped:
        """The half-typed name in a text range, with the tokens that its segment has without it.

        Two blanks around it stay two tokens, as they are when a name between them was deleted."""
        segment = self.lines.segment_at(start)
        line, begin = self.lines.segments[segment], self.lines.start_of(segment)
        encode = self.tokenizer.encode_segment
        left, right = tuple(encode(line[: start - begin])), tuple(encode(line[end - begin :]))
        return HalfTyped(start, end, line[start - begin : end - begin], segment, left, right)

    def replace(self, change: Change) -> Replaced:
        """Make a change."""
        return self.follow(self.lines.replace(change))

    def follow(self, splice: Splice) -> Replaced:
        """Tokenize what a change, already made to the lines, put into them."""
        first, last = splice.first, splice.first + len(splice.old)
        replaced = Replaced(first, tuple(self.tokens[first:last]), len(splice.new), splice.change)
        fresh = [tuple(self.tokenizer.encode_segment(segment)) for segment in splice.new]
        self.tokens[first:last] = fresh
        self._token_starts.replace(first, last, map(len, fresh))
        return replaced
