"""Text to tokens and back, losslessly, in two levels.

*Segments* are lines, each with the line break before it. No lexical token crosses the start of a segment, so
the tokens of a text are those of its segments one after another, and a change concerns only the segments it touches.

*Lexical tokens* are found by one language-neutral pattern: a line break with the indentation that follows, a blank run, a
name, a run of digits, any other single character. Each is spelled in bytes, closed by an end mark and split into
*subtokens* by byte-pair encoding. Because the mark is part of the spelling, the id of a subtoken tells whether it
ends its lexical token: greedy decoding stops there.
"""

import hashlib
import json as json_format
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import tokenizers
from tokenizers import models, pre_tokenizers, trainers

from model.editing.edits import SPECIALS
from model.editing.lines import segments

# Names and digits are bounded so that a page of base64 is not one lexical token.
_LEXICAL = re.compile(r"(?:\r\n|\r|\n)[ \t]*|[ \t]+|[^\W\d]\w{0,63}|\d{1,16}|[^\w\s]|\s|\w")

END_MARK = "▁"
# Printable ASCII stands for itself, so that a vocabulary can be read; other bytes move out of the way of white space.
_CHARACTER_OF_BYTE = [chr(byte) if 33 <= byte <= 126 else chr(256 + byte) for byte in range(256)]
_BYTE_OF_CHARACTER = {character: byte for byte, character in enumerate(_CHARACTER_OF_BYTE)}
_CACHE_LIMIT = 200_000  # lexical tokens remembered; a large repository has fewer distinct ones


def lex(text: str) -> list[str]:
    """The lexical tokens of a text; joined they are the text."""
    return _LEXICAL.findall(text)


class Tokenizer:
    """Text to token ids and back by a trained vocabulary."""

    def __init__(self, json: str) -> None:
        try:
            self._bpe = tokenizers.Tokenizer.from_str(json)
        except Exception as error:  # the library raises a bare Exception
            raise ValueError(f"not a tokenizer file: {error}") from None
        vocabulary = self._bpe.get_vocab()
        self.spellings: list[str] = sorted(vocabulary, key=vocabulary.__getitem__)
        _check(self.spellings, vocabulary)
        self.json = json
        self._cache: dict[str, tuple[int, ...]] = {}

    def __len__(self) -> int:
        return len(self.spellings)

    @cached_property
    def ends(self) -> list[bool]:
        """For each token id: does it end its lexical token?"""
        return [index < len(SPECIALS) or s.endswith(END_MARK) for index, s in enumerate(self.spellings)]

    @cached_property
    def bytes_of(self) -> list[bytes]:
        """For each token id: the bytes it stands for."""
        plain = [s.removesuffix(END_MARK) for s in self.spellings]
        return [b""] * len(SPECIALS) + [
            bytes(_BYTE_OF_CHARACTER[c] for c in s) for s in plain[len(SPECIALS) :]
        ]

    @cached_property
    def lengths(self) -> list[int]:
        """For each token id: how many code points begin in it. Summed over tokens, these are offsets in the text."""
        return [sum(byte & 0xC0 != 0x80 for byte in piece) for piece in self.bytes_of]

    def agreeing(self, spelled: bytes) -> list[int]:
        """The tokens that a text which begins with these bytes may begin with: what goes on from them, what is a part."""
        known, ids = self._by_bytes
        first = bisect_left(known, spelled)
        last = first
        while last < len(known) and known[last].startswith(spelled):
            last += 1
        result = ids[first:last]
        for length in range(1, len(spelled)):
            part = spelled[:length]
            for index in range(bisect_left(known, part), len(known)):
                if known[index] != part:
                    break
                if not self.ends[ids[index]]:
                    result.append(ids[index])
        return result

    @cached_property
    def _by_bytes(self) -> tuple[list[bytes], list[int]]:
        """The bytes of all tokens, sorted, and the ids of those tokens."""
        pairs = sorted((piece, token) for token, piece in enumerate(self.bytes_of) if piece)
        return [piece for piece, _ in pairs], [token for _, token in pairs]

    def encode(self, text: str) -> list[int]:
        """The token ids of any text."""
        return [token for segment in segments(text) for token in self.encode_segment(segment)]

    def encode_segment(self, segment: str) -> list[int]:
        result: list[int] = []
        cache = self._cache
        for lexical in _LEXICAL.findall(segment):
            known = cache.get(lexical)
            result.extend(known if known is not None else self._encode_lexical(lexical))
        return result

    def decode(self, tokens: Iterable[int]) -> str:
        """The text of whole lexical tokens; a ValueError if the tokens spell no text."""
        pieces = self.bytes_of
        return b"".join([pieces[token] for token in tokens]).decode("utf-8", "surrogatepass")

    def _encode_lexical(self, lexical: str) -> tuple[int, ...]:
        if len(self._cache) >= _CACHE_LIMIT:
            self._cache.clear()
        ids = tuple(self._bpe.encode(_spell(lexical)).ids)
        self._cache[lexical] = ids
        return ids


def train(texts: Iterable[str], vocabulary_size: int) -> Tokenizer:
    """Learn a vocabulary from texts."""
    bpe = tokenizers.Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.WhitespaceSplit()  # a spelling holds no white space
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary_size,
        special_tokens=list(SPECIALS),
        initial_alphabet=[*_CHARACTER_OF_BYTE, END_MARK],
        show_progress=False,
    )
    bpe.train_from_iterator(_spelled(texts), trainer)
    # The specials must never be recognised in a user's text: they stay in the vocabulary, but not as added tokens.
    vocabulary, merges = _parts(bpe)
    plain = tokenizers.Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    plain.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return Tokenizer(plain.to_str(pretty=False))


def hash_of(tokens: Sequence[str]) -> str:
    """One number for a vocabulary: two sides with the same hash mean the same by an id."""
    return hashlib.sha256("\n".join(tokens).encode("utf-8", "surrogatepass")).hexdigest()


def _check(spellings: Sequence[str], vocabulary: dict[str, int]) -> None:
    """A vocabulary that any text can be spelled in, and whose ids are what they must be."""
    if tuple(spellings[: len(SPECIALS)]) != SPECIALS:
        raise ValueError(f"the vocabulary begins with {list(spellings[:4])}, not with {list(SPECIALS)}")
    if any(vocabulary[spelling] != token for token, spelling in enumerate(spellings)):
        raise ValueError("the ids of the vocabulary have gaps")
    lacking = {*_CHARACTER_OF_BYTE, END_MARK} - set(spellings)
    if lacking:
        raise ValueError(f"the vocabulary lacks {len(lacking)} of the characters that bytes are spelled with")


def _spelled(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield " ".join(_spell(lexical) for segment in segments(text) for lexical in lex(segment))


def _spell(lexical: str) -> str:
    return "".join([_CHARACTER_OF_BYTE[byte] for byte in lexical.encode("utf-8", "surrogatepass")]) + END_MARK


def _parts(bpe: tokenizers.Tokenizer) -> tuple[dict[str, int], list[tuple[str, str]]]:
    merges = json_format.loads(bpe.to_str())["model"]["merges"]
    pairs = [tuple(merge) if isinstance(merge, list) else tuple(merge.split(" ")) for merge in merges]
    return bpe.get_vocab(), pairs
