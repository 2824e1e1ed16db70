"""A long file through a window: the model sees as many tokens as it was made for, around the newest edit.

Slots of the whole file are mapped to slots of the window and back. Edits outside the window are not shown to the model; when
the user goes on editing elsewhere, the window moves there and is encoded anew.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from model.edits import DELETE, END, START, Edit, Slots

_IMPOSSIBLE = -1e9
# The window moves when the newest edit comes nearer to its border than this share of its size.
_MARGIN = 0.1


@dataclass(frozen=True)
class Predicted:
    """The distribution of the next edit's position, and what is needed to ask for its content."""

    positions: NDArray[np.float32]  # log-probability of each slot
    because: NDArray[np.float32]  # how much the prediction attended to each past edit
    edits: int  # how many edits the history had
    rows: dict[str, Any]


class AnyHistory(Protocol):
    """What a history of any length can do."""

    @property
    def slots(self) -> Slots: ...
    @property
    def nbytes(self) -> int: ...
    def keep(self, count: int) -> None: ...
    def append(self, edits: Sequence[Edit]) -> None: ...
    def predict(self) -> Predicted: ...
    def content(self, predicted: Predicted, position: int) -> NDArray[np.float32]: ...


def window_around(center: int, length: int, size: int) -> tuple[int, int]:
    """The range of `size` out of `length` with the center in its middle, as far as the borders allow."""
    first = max(0, min(center - size // 2, length - size))
    return first, min(length, first + size)


class WindowedHistory:
    """A history of a file that is longer than the model's limit."""

    def __init__(
        self, encode: Callable[[Sequence[int]], AnyHistory], state: Sequence[int], limit_tokens: int
    ) -> None:
        self._encode, self._limit = encode, limit_tokens
        self.slots = Slots(state)
        self._open(center=0)

    @property
    def nbytes(self) -> int:
        return self._inner.nbytes + 100 * self.slots.state_length

    def keep(self, count: int) -> None:
        self.slots.keep(count)
        del self._shown[count:]
        self._inner.keep(sum(slot is not None for slot in self._shown))

    def append(self, edits: Sequence[Edit]) -> None:
        if not edits:
            return
        known = len(self.slots.edits)
        try:
            for edit in edits:
                self.slots.apply(edit)
        except ValueError:
            self.slots.keep(known)
            raise
        center = self._anchor(edits[-1])
        if self._is_well_inside(center):
            self._show(self.slots.edits[known:])
        else:
            self._open(center)
            self._show(self.slots.edits)

    def predict(self) -> Predicted:
        inner = self._inner.predict()
        positions = np.full(len(self.slots.contents), _IMPOSSIBLE, dtype=np.float32)
        size = self._last - self._first
        positions[self._first : self._last] = inner.positions[1 : size + 1]
        positions[self._first - 1] = inner.positions[0]
        positions[self.slots.state_length - 1] = inner.positions[size + 1]  # stop
        because = np.zeros(len(self.slots.edits), dtype=np.float32)
        for index, slot in enumerate(self._shown):
            if slot is not None:
                positions[self.slots.state_length + index] = inner.positions[slot]
                because[index] = inner.because[slot - size - 2]
        return Predicted(positions, because, inner.edits, inner.rows)

    def content(self, predicted: Predicted, position: int) -> NDArray[np.float32]:
        slot = self._local(position)
        if slot is None:
            raise ValueError(f"position {position} is outside the window of the model")
        return self._inner.content(predicted, slot)

    def _open(self, center: int) -> None:
        # START and END of the window take two of the limit; START and END of the file are never inside of it.
        first, last = window_around(center, self.slots.state_length - 2, self._limit - 2)
        self._first, self._last = first + 1, last + 1
        self._inner = self._encode((START, *self.slots.contents[self._first : self._last], END))
        self._shown: list[int | None] = []  # for each edit: its slot in the window

    def _show(self, edits: Sequence[Edit]) -> None:
        local: list[Edit] = []
        next_slot = self._last - self._first + 2 + len(self._inner.slots.edits)
        for edit in edits:
            position = self._local(edit.position)
            if position is None or (edit.content == DELETE and position == 0):
                self._shown.append(None)
            else:
                self._shown.append(next_slot + len(local))
                local.append(Edit(position, edit.content))
        self._inner.append(local)

    def _local(self, position: int) -> int | None:
        """The slot of the window for a slot of the file."""
        length = self.slots.state_length
        if position >= length:
            return self._shown[position - length]
        if position == length - 1:
            return self._last - self._first + 1
        if self._first - 1 <= position < self._last:
            return position - self._first + 1
        return None

    def _anchor(self, edit: Edit) -> int:
        """The token of the file that an edit follows from, through the edits it points at."""
        position = edit.position
        while position >= self.slots.state_length:
            position = self.slots.edits[position - self.slots.state_length].position
        return position

    def _is_well_inside(self, center: int) -> bool:
        margin = int((self._last - self._first) * _MARGIN)
        after_begin = self._first == 1 or center >= self._first + margin
        before_end = self._last == self.slots.state_length - 1 or center < self._last - margin
        return after_begin and before_end
