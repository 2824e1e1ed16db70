"""Where each of many pieces begins: the lines of a text by code points or by tokens.

Somebody types in one place of a long file. What begins after that place moves with each key, all by the same amount: so the
numbers there are left as they are, and one number says by how much they have moved. A change costs as much as its distance
from the one before, not as much as the file.
"""

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate


class Starts:
    """The starts of pieces that follow one another, and the end of the last."""

    def __init__(self, lengths: Iterable[int]) -> None:
        self._values = list(accumulate(lengths, initial=0))
        self._place = 0  # from this piece on `_moved` is to be added
        self._moved = 0

    def __getitem__(self, piece: int) -> int:
        """Where a piece begins; after the last one, where all of them end."""
        return self._values[piece] + (self._moved if piece >= self._place else 0)

    @property
    def end(self) -> int:
        return self[len(self._values) - 1]

    def piece_at(self, offset: int) -> int:
        """The piece that holds an offset; the last one at the end, and of empty ones the last."""
        count, values, place = len(self._values) - 1, self._values, self._place
        if place < count and offset >= values[place] + self._moved:
            return bisect_right(values, offset - self._moved, place, count) - 1
        return max(0, bisect_right(values, offset, 0, min(place, count)) - 1)

    def replace(self, first: int, last: int, lengths: Iterable[int]) -> None:
        """The pieces from `first` up to `last` become others of these lengths."""
        self._go_to(last)
        before = self[last]
        begin = self._values[first] if first < last else before
        *fresh, after = accumulate(lengths, initial=begin)
        self._values[first:last] = fresh
        self._place = first + len(fresh)
        self._moved += after - before

    def _go_to(self, place: int) -> None:
        values, moved = self._values, self._moved
        if place > self._place:
            values[self._place : place] = [value + moved for value in values[self._place : place]]
        else:
            values[place : self._place] = [value - moved for value in values[place : self._place]]
        self._place = place
