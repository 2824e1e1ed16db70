"""Changes of a part of a name: `user` to `account` in one name suggests `user_id` to `account_id` in others."""

import re
from collections.abc import Iterator
from functools import lru_cache

from model.proposals.lexical_text import Kind, Lexical, LexicalText
from model.proposals.precedents import Pattern
from model.proposals.sites import Site, Span

_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|_+|.")
_LEAST_LETTERS = 3  # a shorter part occurs in too many names by chance


@lru_cache(maxsize=20_000)
def split_name(name: str) -> list[str]:
    """The parts of a name: words of snake case and camel case, and what stands between."""
    return _PART.findall(name)


def changed_part(old: str, new: str) -> tuple[list[str], list[str]] | None:
    """The parts in which two names differ, or None when they have no common part or differ in too little."""
    olds, news = split_name(old), split_name(new)
    head = 0
    while head < min(len(olds), len(news)) and olds[head] == news[head]:
        head += 1
    tail = 0
    while tail < min(len(olds), len(news)) - head and olds[-1 - tail] == news[-1 - tail]:
        tail += 1
    gone, come = olds[head : len(olds) - tail], news[head : len(news) - tail]
    if not gone or not come or len("".join(gone).strip("_")) < _LEAST_LETTERS:
        return None
    return gone, come


def replace_part(name: str, gone: list[str], come: list[str]) -> str | None:
    """The name with the part replaced in the same case, or None when it does not have the part or has nothing else."""
    parts = split_name(name)
    for old, new in _cased(gone, come):
        for first in range(len(parts) - len(old) + 1):
            if parts[first : first + len(old)] == old and len(parts) > len(old):
                return "".join([*parts[:first], *new, *parts[first + len(old) :]])
    return None


def find_part_sites(pattern: Pattern, text: LexicalText) -> Iterator[tuple[Site, tuple[Lexical, ...]]]:
    """Sites where a part of another name can be changed, with the lexical tokens that come there."""
    gone, come = pattern.key[0]
    tables = text.tables
    if len(pattern.key) != 1 or len(gone) != 1 or len(come) != 1:
        return
    if tables.kind_of(gone[0]) != Kind.WORD or tables.kind_of(come[0]) != Kind.WORD:
        return
    changed = changed_part(tables.text_of(gone[0]), tables.text_of(come[0]))
    if changed is None:
        return
    old, new = (tables.text_of(side[0]) for side in (gone, come))
    part = "".join(changed[0]).lower()
    for name, value in text.names.items():
        if part not in name.lower() or name in (old, new):
            continue
        replaced = replace_part(name, *changed)
        if replaced is not None:
            lexicals = tuple(tables.split(tables.tokenizer.encode_segment(replaced)))
            for index in text.indices_of(value).tolist():
                yield (Span(index, index + 1),), lexicals


def _cased(gone: list[str], come: list[str]) -> list[tuple[list[str], list[str]]]:
    """The change as it is, in capitals, in small letters and with capital initials."""
    return [
        (gone, come),
        ([part.lower() for part in gone], [part.lower() for part in come]),
        ([part.capitalize() for part in gone], [part.capitalize() for part in come]),
        ([part.upper() for part in gone], [part.upper() for part in come]),
    ]
