"""Does a change look as if its author stopped in the middle? Then it is not repeated before a longer pause.

People think in the middle of a change: `Optional[int]` has become `int | `, and the `None` is still to come.
"""

from collections.abc import Iterable, Sequence

from model.proposals.lexical_text import Kind, Lexical, LexicalTables

_OPENING, _CLOSING = "([{", ")]}"
_QUOTES = "\"'`"
_GOING_ON = tuple(".,=|+-*/%&<:([{")  # symbols behind which something comes
Key = Sequence[
    tuple[Sequence[Lexical], Sequence[Lexical]]
]  # for each part of a line: tokens that go and come
_MOVED = "\0"  # stands for a word that the change moves


def looks_unfinished(key: Key, others: Iterable[Key], tables: LexicalTables) -> bool:
    """Tell by its text whether a change goes on. `others` are further changes: it may be the beginning of one."""
    gone, come = _spell_key(key, tables)
    if _balance(gone) != _balance(come) or _ends_in_the_middle(key, gone, come, tables):
        return True
    return any(
        other_gone == gone and _begins(come, other_come)
        for other_gone, other_come in (_spell_key(other, tables) for other in others)
    )


def _ends_in_the_middle(key: Key, gone: str, come: str, tables: LexicalTables) -> bool:
    if not come:
        return False
    if not gone:  # an inserted `self.` or `await ` is whole, a lone `, ` is not
        return not any(letter.isalnum() or letter == _MOVED for letter in come)
    if _begins(come, gone):
        return True  # it is being typed again
    _, last = key[-1]
    if last and _is_blank(last, tables):
        return True
    if len(come) == 1 and come.isalpha() and len(gone) > 1:
        return True  # the first letter of a word
    return come.endswith(_GOING_ON) and not gone.endswith(come[-1:])


def _begins(beginning: str, whole: str) -> bool:
    return beginning != whole and whole.startswith(beginning)


def _balance(text: str) -> tuple[int, ...]:
    """Open brackets, and whether each kind of quote is open."""
    open_brackets = sum(text.count(letter) for letter in _OPENING)
    closed = sum(text.count(letter) for letter in _CLOSING)
    return open_brackets - closed, *(text.count(letter) % 2 for letter in _QUOTES)


def _is_blank(side: Sequence[Lexical], tables: LexicalTables) -> bool:
    return side[-1][0] >= 0 and tables.kinds[side[-1][0]] == Kind.BLANK


def _spell_key(key: Key, tables: LexicalTables) -> tuple[str, str]:
    gone = "".join(_spell(old, tables) for old, _ in key)
    return gone, "".join(_spell(new, tables) for _, new in key)


def _spell(side: Sequence[Lexical], tables: LexicalTables) -> str:
    return "".join(_MOVED if lexical[0] < 0 else tables.text_of(lexical) for lexical in side)
