"""Words of the text that continue the word being typed, with the evidence for each.

Every word of the file that begins with the typed letters is a candidate, and so are the words of the vocabulary that the
network finds likeliest here. The evidence tells how near a word stands, whether it stands between the same neighbours elsewhere,
whether the user has just written it, and how likely the network finds it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from model.editing.change import Change
from model.proposals.candidates import Candidate, Origin, Situation
from model.proposals.evidence import COLUMNS, LEAST, Floats, Moment, tell_moment
from model.proposals.lexical_text import Lexical, LexicalText
from model.proposals.network_opinion import NetworkOpinion
from model.proposals.precedents import CONTEXT
from model.proposals.sites import Span

_LEAST_TYPED = 2  # letters: fewer say nothing
_LEAST_REST = 2  # letters that are worth a suggestion
_LIMIT_WORDS = 16
_LIMIT_VOCABULARY = 4  # words that the text does not have
_LIMIT_OCCURRENCES = 24  # of one word, the nearest
_LIMIT_TOKENS = 12  # of one lexical token
_NEVER = 30.0
_NOWHERE = 1e6  # lines


@dataclass(frozen=True, slots=True)
class Words:
    """Candidates for the word being typed, the change that each makes, and a row of evidence for each."""

    candidates: list[Candidate]
    changes: list[Change]
    rows: Floats


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    lexical: Lexical
    occurrences: NDArray[np.int64]  # indices, nearest first; none for a word of the vocabulary


def find_words(
    situation: Situation, moment: Moment, network: NetworkOpinion | None, cursor_slot: int
) -> Words:
    """Find the words that continue the half-typed word just before the cursor. `cursor_slot` is the slot before that word."""
    text, here = situation.text, situation.cursor - 1
    words: list[_Word] = []
    if len(moment.prefix) >= _LEAST_TYPED:
        replaced = _replaced_word(situation, cursor_slot)
        words = [word for word in _matching_words(text, moment.prefix, here) if word.lexical != replaced]
        if network is not None:
            words += _vocabulary_words(text, moment.prefix, network, cursor_slot, replaced)
    at = int(text.offsets[here + 1]) if words else 0
    site = (Span(here, here + 1),)
    return Words(
        [
            Candidate(Origin.WORD, site, ((word.lexical,),), None, number, len(words))
            for number, word in enumerate(words)
        ],
        [Change(at, at, word.text[len(moment.prefix) :]) for word in words],
        _gather(words, situation, here, moment, network, cursor_slot),
    )


def _replaced_word(situation: Situation, cursor_slot: int) -> Lexical | None:
    """The lexical token that stood where the half-typed word stands, before the newest burst.

    A word that the user deletes letter by letter leaves a prefix that the word itself continues. It is never offered back.
    """
    earlier = situation.slots.copy()
    earlier.keep(situation.newest)
    if cursor_slot not in earlier.order:
        return None
    behind = earlier.order[earlier.order.index(cursor_slot) + 1 :]
    tokens = [earlier.contents[slot] for slot in behind[:_LIMIT_TOKENS]]
    return next(iter(situation.text.tables.split(tokens, 1)), None)


def _matching_words(text: LexicalText, prefix: str, here: int) -> list[_Word]:
    """The words of the text that begin with the prefix, the one that stands nearest first."""
    found = []
    for word, value in text.names.items():
        if word.startswith(prefix) and len(word) >= len(prefix) + _LEAST_REST:
            indices = text.indices_of(value)
            nearest = indices[np.argsort(np.abs(indices - here), kind="stable")[:_LIMIT_OCCURRENCES]]
            found.append(_Word(word, text.lexical(int(nearest[0])), nearest))
    found.sort(key=lambda word: abs(int(word.occurrences[0]) - here))
    return found[:_LIMIT_WORDS]


def _vocabulary_words(
    text: LexicalText, prefix: str, network: NetworkOpinion, cursor_slot: int, replaced: Lexical | None
) -> list[_Word]:
    """The likeliest words of one token that begin with the prefix and that the text does not have."""
    scores, tables = network.content(cursor_slot), text.tables
    if scores is None:
        return []
    agreeing = tables.tokenizer.agreeing(prefix.encode("utf-8", "surrogatepass"))
    whole = [token for token in agreeing if tables.tokenizer.ends[token] and (token,) != replaced]
    nowhere = np.zeros(0, np.int64)
    found: list[_Word] = []
    for token in sorted(whole, key=lambda token: -float(scores[token])):
        word = tables.text_of((token,))
        if len(word) >= len(prefix) + _LEAST_REST and word.startswith(prefix) and word not in text.names:
            found.append(_Word(word, (token,), nowhere))
        if len(found) == _LIMIT_VOCABULARY:
            break
    return found


def _gather(
    words: Sequence[_Word],
    situation: Situation,
    here: int,
    moment: Moment,
    network: NetworkOpinion | None,
    cursor_slot: int,
) -> Floats:
    rows = np.full((len(words), len(COLUMNS)), -1.0, dtype=np.float32)
    if not words:
        return rows
    text, prefix = situation.text, moment.prefix
    tell_moment(rows, situation, moment, len(words))
    lines = np.array([_lines_away(word, text, here) for word in words])
    columns: dict[str, ArrayLike] = {
        "origin": Origin.WORD,
        "typed_letters": len(prefix),
        "rest_letters": [len(word.text) - len(prefix) for word in words],
        "come_letters": [len(word.text) for word in words],
        "count": [min(12, len(word.occurrences)) for word in words],
        "sites": math.log2(1 + len(words)),
        "rank_in_travel": np.arange(len(words)),
        "lines_away": np.log2(1 + np.abs(lines)),
        "lines_signed": np.sign(lines) * np.log2(1 + np.abs(lines)),
        "in_comment": text.comment_lines[text.lines[here]],
        "in_string": text.in_string[here],
        "is_new_text": [_is_written(word, situation) for word in words],
        **_pattern_columns(words, situation),
        **_neighbour_columns(words, text, here),
    }
    if network is not None:
        columns |= _network_columns(words, situation, network, prefix, cursor_slot)
    for name, values in columns.items():
        rows[:, COLUMNS[name]] = values
    return rows


def _lines_away(word: _Word, text: LexicalText, here: int) -> float:
    """Lines to the nearest occurrence, negative above the cursor."""
    return float(text.lines[word.occurrences[0]] - text.lines[here]) if len(word.occurrences) else _NOWHERE


def _is_written(word: _Word, situation: Situation) -> bool:
    """Has the user written this word since the stream began?"""
    return bool(situation.is_new[situation.text.starts[word.occurrences]].any())


def _pattern_columns(words: Sequence[_Word], situation: Situation) -> dict[str, ArrayLike]:
    """The newest change that brought the word in, and the newest that took it away."""
    come: dict[Lexical, int] = {}
    gone: dict[Lexical, int] = {}
    for number, pattern in enumerate(situation.patterns):
        for old, new in pattern.key:
            for lexical in new:
                come.setdefault(lexical, number)
            for lexical in old:
                gone.setdefault(lexical, number)
    return {
        "recency": [come.get(word.lexical, _NEVER) for word in words],
        "age": [gone.get(word.lexical, _NEVER) for word in words],
    }


def _neighbour_columns(words: Sequence[_Word], text: LexicalText, here: int) -> dict[str, ArrayLike]:
    """The best agreement of a word's neighbours elsewhere with those of the cursor, and how often the nearest one agrees."""
    left = text.around(np.array([here - 1]), -1, CONTEXT)[0]
    right = text.around(np.array([here + 1]), 1, CONTEXT)[0]
    sides = np.zeros((3, len(words)))
    pairs = np.zeros(len(words))
    for number, word in enumerate(words):
        if not len(word.occurrences):
            continue
        lefts = _agreeing(text.around(word.occurrences - 1, -1, CONTEXT)[0], left)
        rights = _agreeing(text.around(word.occurrences + 1, 1, CONTEXT)[0], right)
        sides[:, number] = lefts.max(), rights.max(), (lefts + rights).max()
        pairs[number] = (lefts > 0).sum()
    return {
        "left_likeness": sides[0],
        "right_likeness": sides[1],
        "both_likeness": sides[2],
        "recent_share": pairs / max(1.0, pairs.sum()),
        "near_sites": pairs,
    }


def _agreeing(neighbours: NDArray[np.uint64], wanted: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Count the neighbours that agree, the nearest first."""
    agreeing: NDArray[np.int64] = np.logical_and.accumulate(neighbours == wanted, axis=1).sum(axis=1)
    return agreeing


def _network_columns(
    words: Sequence[_Word], situation: Situation, network: NetworkOpinion, prefix: str, cursor_slot: int
) -> dict[str, ArrayLike]:
    """The network's log-probability of each word's first token, given that the word begins with the prefix."""
    scores = network.content(cursor_slot)
    if scores is None:
        return {}
    tokenizer = situation.text.tables.tokenizer
    total = float(np.logaddexp.reduce(scores[tokenizer.agreeing(prefix.encode("utf-8", "surrogatepass"))]))
    own = scores[[word.lexical[0] for word in words]] - total
    return {
        "network_content": np.clip(own, LEAST, 0.0),
        "network_gap": np.clip(own - own.max(), LEAST, 0.0),
    }
