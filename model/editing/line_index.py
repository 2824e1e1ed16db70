"""The offsets at which many pieces begin: the lines of a text, counted in code points or in tokens.

A user types at one spot of a long file. All pieces after that spot move with each key by the same amount. So their numbers are
left as they are, and one number says by how much they have moved. A change costs as much as its distance from the change
before, not as much as the file.
"""

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate


class LineIndex:
    """The starts of pieces that follow one another, and the end of the last."""

    def __init__(self, lengths: Iterable[int]) -> None:
        self._values = list(accumulate(lengths, initial=0))
        self._border = 0  # from this piece on `_moved` is to be added
        self._moved = 0

    def __getitem__(self, piece: int) -> int:
        """The start of a piece; for the number after the last piece, the end of all."""
        return self._values[piece] + (self._moved if piece >= self._border else 0)

    @property
    def end(self) -> int:
        return self[len(self._values) - 1]

    def piece_at(self, offset: int) -> int:
        """The piece that holds an offset; the last one at the end, and of empty ones the last."""
        count, values, border = len(self._values) - 1, self._values, self._border
        if border < count and offset >= values[border] + self._moved:
            return bisect_right(values, offset - self._moved, border, count) - 1
        return max(0, bisect_right(values, offset, 0, min(border, count)) - 1)

    def replace(self, first: int, last: int, lengths: Iterable[int]) -> None:
        """Put pieces of these lengths in the place of those from `first` up to `last`."""
        self._move_border(last)
        before = self[last]
        begin = self._values[first] if first < last else before
        *fresh, after = accumulate(lengths, initial=begin)
        self._values[first:last] = fresh
        self._border = first + len(fresh)
        self._moved += after - before

    def _move_border(self, border: int) -> None:
        values, moved = self._values, self._moved
        if border > self._border:
            values[self._border : border] = [value + moved for value in values[self._border : border]]
        else:
            values[border : self._border] = [value - moved for value in values[border : self._border]]
        self._border = border
