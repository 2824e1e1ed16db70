"""A text for the makers of refactorings: its lexical tokens, names, calls, strings and comments.

Everything is found by lexical tokens alone, so every language works, roughly.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from model.editing.tokenizer import lex
from training.trajectories.trajectory import offsets_of

# Strings and comments, roughly, of any language: names are looked for outside of them.
_PROSE = re.compile(
    r'"""[\s\S]*?(?:"""|\Z)|' + r"'''[\s\S]*?(?:'''|\Z)"
    r'|"(?:[^"\\\n]|\\.)*"' + r"|'(?:[^'\\\n]|\\.)*'|(?<!\S)#[ #!:][^\n]*|//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)"
)
_NAME = re.compile(r"[^\W\d]\w*\Z")
_KEYWORDS = frozenset({
    "and", "as", "assert", "async", "await", "break", "case", "catch", "class", "const", "continue",
    "def", "default", "del", "do", "elif", "else", "enum", "except", "export", "extends", "false",
    "final", "finally", "fn", "for", "from", "func", "function", "global", "go", "if", "impl",
    "implements", "import", "in", "instanceof", "interface", "is", "lambda", "let", "loop", "match",
    "mod", "mut", "namespace", "new", "nil", "none", "None", "nonlocal", "not", "null", "or", "package",
    "pass", "private", "protected", "pub", "public", "raise", "range", "return", "self", "static",
    "struct", "super", "switch", "template", "this", "throw", "throws", "trait", "true", "True", "False",
    "try", "type", "typedef", "typeof", "undefined", "union", "unless", "until", "use", "using", "var",
    "virtual", "void", "volatile", "when", "where", "while", "with", "yield",
})  # fmt: skip
# Types are called like functions, but people do not rename them.
_NEVER_RENAMED = _KEYWORDS | {"int", "float", "str", "bool", "char", "long", "double", "string"}


class Call(NamedTuple):
    """A call in the text, by token numbers: name ( ... )."""

    name: int
    opening: int
    closing: int
    arguments: tuple[tuple[int, int], ...]  # first and last (exclusive) token of each, blanks trimmed


def is_name(token: str) -> bool:
    return _NAME.match(token) is not None


class Source:
    """A text by its lexical tokens, with what the makers ask for."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = lex(text)
        self.offsets = offsets_of(self.tokens)
        self.line_starts = [0] + [m.end() for m in re.finditer(r"\r\n|\r|\n", text)]
        self.is_prose = _prose(text, self.offsets)
        self.names = Counter(
            token
            for token, is_prose in zip(self.tokens, self.is_prose, strict=False)
            if not is_prose and is_name(token) and len(token) > 1 and token not in _NEVER_RENAMED
        )
        self.calls = list(self._find_calls())

    def line_of(self, offset: int) -> int:
        return bisect_right(self.line_starts, offset) - 1

    def has_prose_at(self, offset: int) -> bool:
        return self.is_prose[bisect_right(self.offsets, offset) - 1]

    def span(self, first: int, last: int) -> tuple[int, int]:
        return self.offsets[first], self.offsets[last]

    def slice(self, first: int, last: int) -> str:
        return self.text[self.offsets[first] : self.offsets[last]]

    def _find_calls(self) -> list[Call]:
        found: list[Call] = []
        open_calls: list[tuple[int, str, list[int]]] = []
        closers = {")": "(", "]": "[", "}": "{"}
        for number, token in enumerate(self.tokens):
            if self.is_prose[number]:
                continue
            if token in "([{":
                open_calls.append((number, token, []))
            elif token == "," and open_calls:
                open_calls[-1][2].append(number)
            elif token in closers:
                while open_calls and open_calls[-1][1] != closers[token]:
                    open_calls.pop()
                if not open_calls:
                    continue
                opening, kind, commas = open_calls.pop()
                name = self.tokens[opening - 1] if opening else ""
                if kind == "(" and is_name(name) and name not in _KEYWORDS and number - opening < 80:
                    found.append(Call(opening - 1, opening, number, self._arguments(opening, number, commas)))
        found.sort()
        return found

    def _arguments(self, opening: int, closing: int, commas: Sequence[int]) -> tuple[tuple[int, int], ...]:
        edges = [opening, *commas, closing]
        result = []
        for before, after in pairwise(edges):
            first, last = before + 1, after
            while first < last and self.tokens[first].isspace():
                first += 1
            while last > first and self.tokens[last - 1].isspace():
                last -= 1
            if first < last:
                result.append((first, last))
        return tuple(result)


def _prose(text: str, offsets: Sequence[int]) -> list[bool]:
    """For each token: does it stand in a string or a comment?"""
    result = [False] * len(offsets)
    for match in _PROSE.finditer(text):
        first, last = bisect_left(offsets, match.start()), bisect_left(offsets, match.end())
        result[first:last] = [True] * (last - first)
    return result
