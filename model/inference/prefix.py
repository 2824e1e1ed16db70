"""Names that continue a half-typed prefix: a best-first search over the tokens that agree with it."""

import math
from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from model.editing.edits import DELETE, Edit
from model.editing.tokenizer import Tokenizer
from model.inference.history import AnyHistory, NextPosition
from model.inference.refusals import Refused
from model.inference.slot_ranking import best_indices
from model.silence import Silence

_BEGINNINGS = 16  # beginnings of a name that are followed
_FOLLOWED = 4  # tokens after each of them


class Name(NamedTuple):
    """A name that begins with the prefix."""

    edits: tuple[Edit, ...]  # that insert it, token by token
    score: float  # its log-probability, given the prefix
    is_whole_prefix: bool  # the prefix itself is the name


class NameSearch:
    """Looks for the likeliest name that begins with a prefix, typed after a slot."""

    def __init__(
        self,
        history: AnyHistory,
        root: NextPosition,
        tokenizer: Tokenizer,
        is_hopeful: Callable[[float], bool],
        *,
        cursor: int,
        prefix: str,
    ) -> None:
        """`root` is the history's prediction; `is_hopeful` tells whether a log-probability can still be shown."""
        self._history, self._root, self._tokenizer, self._is_hopeful = history, root, tokenizer, is_hopeful
        self._cursor = cursor
        self._prefix = prefix.encode("utf-8", "surrogatepass")

    def find(self) -> Name:
        """Find the likeliest name. It is unfinished when the search ends early."""
        tokens, score = self._search()
        is_whole_prefix = self._spell(tokens) == self._prefix and self._tokenizer.ends[tokens[-1]]
        return Name(tuple(self._make_edits(tokens)), score, is_whole_prefix)

    def _search(self) -> tuple[tuple[int, ...], float]:
        """Follow the likeliest beginning first, so that the first finished name that is not beaten is the best one."""
        unfinished: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]  # a heap: log-probabilities negated
        found: tuple[int, ...] = ()
        best = (
            total
        ) = -math.inf  # log-probability of the name found, and of all names that agree with the prefix
        for _ in range(_BEGINNINGS):
            if not unfinished or -unfinished[0][0] <= best:
                break
            if not self._is_hopeful(min(0.0, -unfinished[0][0] - total)):
                break  # nothing better will be shown
            negated, tokens = heappop(unfinished)
            rest = self._prefix[len(self._spell(tokens)) :]
            for token, score in self._follow(tokens, rest):
                score -= negated
                is_typed = len(self._tokenizer.bytes_of[token]) >= len(rest)  # all of the prefix
                if rest and is_typed:
                    total = float(np.logaddexp(total, score))
                if not (is_typed and self._tokenizer.ends[token]):
                    heappush(unfinished, (-score, (*tokens, token)))
                elif score > best:
                    best, found = score, (*tokens, token)
        for negated, tokens in sorted(unfinished):
            if len(self._spell(tokens)) < len(self._prefix):
                total = float(np.logaddexp(total, -negated))
            elif not found:
                best, found = -negated, tokens
        if not found:
            raise Refused(Silence.BELOW_THRESHOLD)
        return found, min(0.0, best - total)

    def _follow(self, tokens: tuple[int, ...], rest: bytes) -> Iterator[tuple[int, float]]:
        """Give tokens that may follow these after the cursor, and their log-probabilities."""
        with self._history.try_edits():
            position, predicted = self._cursor, self._root
            if tokens:
                self._history.append(self._make_edits(tokens))
                predicted = self._history.predict()
                position = len(self._history.slots.contents) - 1
            scores = self._history.content(predicted, position)
        if rest:  # the user types on here, so the position is given
            yield from ((token, float(scores[token])) for token in self._tokenizer.agreeing(rest))
            return
        words = best_indices(scores[DELETE + 1 :], _FOLLOWED) + DELETE + 1
        here = float(predicted.positions[position])
        yield from ((int(token), here + float(scores[token])) for token in words)

    def _spell(self, tokens: tuple[int, ...]) -> bytes:
        return b"".join(self._tokenizer.bytes_of[token] for token in tokens)

    def _make_edits(self, tokens: tuple[int, ...]) -> list[Edit]:
        """Make the edits that insert the tokens one after another."""
        first = len(self._history.slots.contents)
        return [Edit(first + i - 1 if i else self._cursor, token) for i, token in enumerate(tokens)]
