"""A state as lexical tokens: arrays in which a change can be searched for quickly.

The model's tokens are pieces of lexical tokens. A change that people repeat replaces whole lexical tokens, so candidates
are found among these. Each lexical token is one number, a hash of its pieces: comparing a change with a whole file is a
few comparisons of arrays.
"""

from collections.abc import Sequence
from enum import IntEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from model.editing.edits import SPECIALS
from model.editing.tokenizer import Tokenizer

Lexical = tuple[int, ...]  # the token ids of one lexical token
MOVED_WORDS: tuple[Lexical, ...] = (
    (-1,),
    (-2,),
)  # each stands for a word that a change takes from one part to another
Ints = NDArray[np.int64]
Hashes = NDArray[np.uint64]

_BASE = np.uint64(0x9E3779B97F4A7C15)
_QUOTES = {b'"': 1, b"'": 2, b"`": 3}
_COMMENTS = {b"#", b"*", b"/"}  # a line that begins with one of these is read as a comment
_REMEMBERED = 50_000  # lexical tokens whose text and hash are kept
_LIMIT_PIECES = 64  # pieces of a lexical token that have a weight of their own in its hash


class Kind(IntEnum):
    """The kind of a lexical token, read from its first character."""

    SPECIAL = 0
    NEWLINE = 1
    BLANK = 2
    WORD = 3
    NUMBER = 4
    SYMBOL = 5


_WORD, _SYMBOL = int(Kind.WORD), int(Kind.SYMBOL)


class LexicalTables:
    """Facts about the tokens of a vocabulary, as arrays indexed by token id."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.ends = np.array(tokenizer.ends, dtype=np.bool_)
        self.lengths = np.array(tokenizer.lengths, dtype=np.int64)
        self.kinds = np.array(
            [_kind(token, piece) for token, piece in enumerate(tokenizer.bytes_of)], np.uint8
        )
        self.quotes = np.array([_QUOTES.get(piece, 0) for piece in tokenizer.bytes_of], np.uint8)
        self.comments = np.array([piece in _COMMENTS for piece in tokenizer.bytes_of], np.bool_)
        random = np.random.default_rng(20190501)
        self.mixed = random.integers(0, 2**63, len(tokenizer), dtype=np.uint64)
        self.powers = _BASE ** np.arange(_LIMIT_PIECES, dtype=np.uint64)
        self.newlines = frozenset(np.flatnonzero(self.kinds == Kind.NEWLINE).tolist())
        self._kinds: list[int] = self.kinds.tolist()
        self._hashes: dict[Lexical, int] = {}
        self._texts: dict[Lexical, str] = {}
        self.texts_of_hashes: dict[int, str] = {}  # of words that a text has had

    def hash_of(self, lexical: Lexical) -> int:
        """The hash of one lexical token, equal to the one in `LexicalText.hashes`."""
        known = self._hashes.get(lexical)
        if known is None and lexical in MOVED_WORDS:
            known = self._hashes[lexical] = 1 + MOVED_WORDS.index(lexical)  # no text has it
        if known is None:
            if len(self._hashes) > _REMEMBERED:
                self._hashes.clear()
            pieces = np.array(lexical, dtype=np.int64)
            weights = self.powers[np.minimum(np.arange(len(pieces)), _LIMIT_PIECES - 1)]
            known = self._hashes[lexical] = int((self.mixed[pieces] * weights).sum(dtype=np.uint64))
        return known

    def hashes_of(self, lexicals: Sequence[Lexical]) -> Hashes:
        return np.array([self.hash_of(lexical) for lexical in lexicals], dtype=np.uint64)

    def kind_of(self, lexical: Lexical) -> int:
        """The Kind of a lexical token, as a plain number: this is asked often."""
        return Kind.WORD if lexical[0] < 0 else self._kinds[lexical[0]]

    def text_of(self, lexical: Lexical) -> str:
        """The characters of one lexical token."""
        known = self._texts.get(lexical)
        if known is None and lexical in MOVED_WORDS:
            known = self._texts[lexical] = "word"
        if known is None:
            pieces = self.tokenizer.bytes_of
            known = b"".join([pieces[token] for token in lexical]).decode("utf-8", "replace")
            if len(self._texts) > _REMEMBERED:
                self._texts.clear()
            self._texts[lexical] = known
        return known

    def split(self, tokens: Sequence[int], limit: int | None = None) -> list[Lexical]:
        """Token ids as lexical tokens, at most `limit`; an unfinished one at the end counts as one."""
        result: list[Lexical] = []
        begin, ends = 0, self.tokenizer.ends
        for index, token in enumerate(tokens):
            if len(result) == limit:
                return result
            if ends[token]:
                result.append(tuple(tokens[begin : index + 1]))
                begin = index + 1
        if begin < len(tokens) and len(result) != limit:
            result.append(tuple(tokens[begin:]))
        return result

    def split_backwards(self, tokens: Sequence[int], limit: int) -> list[Lexical]:
        """The last lexical tokens of a run of token ids that ends with a whole one, the last first; at most `limit`."""
        result: list[Lexical] = []
        last, ends = len(tokens), self.tokenizer.ends
        for index in range(len(tokens) - 2, -1, -1):
            if ends[tokens[index]]:
                result.append(tuple(tokens[index + 1 : last]))
                last = index + 1
                if len(result) == limit:
                    return result
        result.append(tuple(tokens[:last]))
        return result


class LexicalText:
    """The lexical tokens of one state. Indices count lexical tokens; the first is START, the last is END."""

    def __init__(self, tables: LexicalTables, tokens: NDArray[np.int32]) -> None:
        self.tables = tables
        self.tokens = tokens
        last = np.flatnonzero(tables.ends[tokens])
        self.starts: Ints = np.concatenate(
            [np.zeros(1, np.int64), last + 1]
        )  # token index; one more than tokens
        counts = np.diff(self.starts)
        within = np.arange(len(tokens)) - np.repeat(self.starts[:-1], counts)
        weights = tables.powers[np.minimum(within, _LIMIT_PIECES - 1)]
        self.hashes: Hashes = np.add.reduceat(tables.mixed[tokens] * weights, self.starts[:-1])
        self.kinds = tables.kinds[tokens[self.starts[:-1]]]
        self._words: dict[int, frozenset[int]] = {}  # by line

    def __len__(self) -> int:
        return len(self.hashes)

    @cached_property
    def lines(self) -> Ints:
        """The line of each lexical token. A line begins with its line break."""
        return np.cumsum(self.kinds == Kind.NEWLINE)

    @cached_property
    def line_starts(self) -> Ints:
        """The index of the first lexical token of each line, and the length of the text after the last."""
        breaks = np.flatnonzero(self.kinds == Kind.NEWLINE)
        return np.concatenate([np.zeros(1, np.int64), breaks, [len(self)]])

    @cached_property
    def offsets(self) -> Ints:
        """The offset in the text at which each lexical token begins, and the length of the text."""
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(self.tables.lengths[self.tokens])])
        return ends[self.starts]

    @cached_property
    def in_string(self) -> NDArray[np.bool_]:
        """For each lexical token: is there an odd number of one kind of quotes before it on its line?"""
        result = np.zeros(len(self), dtype=np.bool_)
        quotes = self.tables.quotes[self.tokens[self.starts[:-1]]]
        begins = self.line_starts[self.lines]
        for quote in _QUOTES.values():
            before = np.concatenate([np.zeros(1, np.int64), np.cumsum(quotes == quote)])
            result |= ((before[:-1] - before[begins]) & 1).astype(np.bool_)
        return result

    @cached_property
    def comment_lines(self) -> NDArray[np.bool_]:
        """For each line: does it begin like a comment?"""
        seconds = np.minimum(self.line_starts[:-1] + 1, len(self) - 1)
        return self.tables.comments[self.tokens[self.starts[seconds]]]

    @cached_property
    def names(self) -> dict[str, int]:
        """Every distinct word of the text, and its hash."""
        texts = self.tables.texts_of_hashes
        if len(texts) > _REMEMBERED:
            texts.clear()
        result: dict[str, int] = {}
        for value in np.unique(self.hashes[self.kinds == Kind.WORD]).tolist():
            known = texts.get(value)
            if known is None:
                known = texts[value] = self.text_of(int(self.indices_of(value)[0]))
            result[known] = value
        return result

    def indices_of(self, value: int) -> Ints:
        """Every index of the lexical token that has a hash."""
        return np.flatnonzero(self.hashes == np.uint64(value))

    def words_of(self, line: int) -> frozenset[int]:
        """The hashes of the words and symbols of a line."""
        known = self._words.get(line)
        if known is None:
            begin, end = int(self.line_starts[line]), int(self.line_starts[line + 1])
            inside = self.kinds[begin:end]
            is_word = (inside == _WORD) | (inside == _SYMBOL)
            known = self._words[line] = frozenset(self.hashes[begin:end][is_word].tolist())
        return known

    def lexical(self, index: int) -> Lexical:
        return tuple(self.tokens[self.starts[index] : self.starts[index + 1]].tolist())

    def text_of(self, index: int) -> str:
        return self.tables.text_of(self.lexical(index))

    def lexicals(self, first: int, last: int) -> tuple[Lexical, ...]:
        return tuple(self.lexical(index) for index in range(first, last))

    def index_of_token(self, position: int) -> int:
        """The lexical token that holds an explicit position."""
        return int(np.searchsorted(self.starts, position, side="right")) - 1

    def around(self, begins: Ints, step: int, count: int) -> tuple[Hashes, NDArray[np.uint8]]:
        """The hashes and kinds of `count` lexical tokens from each index on, forwards or backwards; (indices, count)."""
        at = begins[:, None] + step * np.arange(count)
        at = np.minimum(np.maximum(at, 0), len(self) - 1)
        return self.hashes[at], self.kinds[at]

    def index_at(self, offset: int) -> int:
        """The lexical token that holds the character at an offset; the last one, at the end of the text."""
        return max(0, min(int(np.searchsorted(self.offsets, offset, side="right")), len(self)) - 1)

    def find(self, wanted: Hashes) -> Ints:
        """Every index at which a sequence of lexical tokens begins."""
        if not len(wanted) or len(wanted) > len(self):
            return np.zeros(0, np.int64)
        found = np.flatnonzero(self.hashes[: len(self) - len(wanted) + 1] == wanted[0])
        for step in range(1, len(wanted)):
            if not len(found):
                break
            found = found[self.hashes[found + step] == wanted[step]]
        return found


def _kind(token: int, piece: bytes) -> Kind:
    if token < len(SPECIALS) or not piece:
        return Kind.SPECIAL
    first = chr(piece[0])
    if first in "\r\n":
        return Kind.NEWLINE
    if first in " \t":
        return Kind.BLANK
    if first == "_" or first.isalpha() or piece[0] >= 0x80:
        return Kind.WORD
    return Kind.NUMBER if first.isdigit() else Kind.SYMBOL
