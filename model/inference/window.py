"""A long file through a window: the model sees as many tokens as it was made for, around the newest edit.

Slots of the whole file are mapped to slots of the window and back. Edits outside the window are not shown to the model; when
the user goes on editing elsewhere, the window moves there and is encoded anew.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from model.config import ModelConfig
from model.editing.edits import DELETE, END, START, Edit, Slots, check_tokens

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
    replayed: dict[int, tuple[int, int]] = field(default_factory=dict)  # content and kind, by slot


class AnyHistory(Protocol):
    """What a history of any length can do."""

    @property
    def slots(self) -> Slots: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def repeats(self) -> int: ...
    @property
    def needs_encoding(self) -> bool: ...
    def keep(self, count: int) -> None: ...
    def append(self, edits: Sequence[Edit], *, tentative: bool = False) -> None: ...
    def look_at(self, position: int | None) -> None: ...
    def predict(self) -> Predicted: ...
    def content(self, predicted: Predicted, position: int) -> NDArray[np.float32]: ...


class WindowedHistory:
    """A history of a file that is longer than the model's limit.

    Where the window is follows from the state and the edits alone, not from how they were brought in: each edit leaves it
    where it was or, near its border, moves it. Tentative edits, those of a prediction being decoded, never move it. A question
    about a half-typed name moves it as an edit there would, for that question.
    """

    def __init__(
        self, encode: Callable[[Sequence[int]], AnyHistory], state: Sequence[int], config: ModelConfig
    ) -> None:
        self._encode, self._config = encode, config
        self.slots = Slots(state)
        self._firsts = [1]  # first token of the window: at first and after each edit that is not tentative
        self._looked_at: int | None = None
        self._open()

    @property
    def nbytes(self) -> int:
        return self._inner.nbytes + 100 * self.slots.state_length

    @property
    def repeats(self) -> int:
        return self._inner.repeats

    @property
    def needs_encoding(self) -> bool:
        """Will the next prediction encode a state first, which takes long?"""
        return self._first != self._wanted

    def keep(self, count: int) -> None:
        """Forget all edits but the first `count`. The window goes back when it is needed: more may be appended first."""
        self.slots.keep(count)
        del self._firsts[count + 1 :]
        del self._shown[count:]
        self._inner.keep(sum(slot is not None for slot in self._shown))

    def append(self, edits: Sequence[Edit], *, tentative: bool = False) -> None:
        """Add edits; none is added when one of them is wrong."""
        check_tokens((edit.content for edit in edits), self._config.vocabulary_size)
        known = len(self.slots.edits)
        try:
            for edit in edits:
                self.slots.apply(edit)
                if not tentative:
                    self._firsts.append(self._follow(edit))
        except ValueError:
            self.keep(known)
            raise

    def look_at(self, position: int | None) -> None:
        """What comes next is about this place, or about none."""
        self._looked_at = position

    def predict(self) -> Predicted:
        self._settle()
        inner = self._inner.predict()
        positions = np.full(len(self.slots.contents), _IMPOSSIBLE, dtype=np.float32)
        positions[self._first : self._last] = inner.positions[1 : self._size + 1]
        if not self._has_lost_its_start():
            positions[self._first - 1] = inner.positions[0]
        positions[self.slots.state_length - 1] = inner.positions[self._size + 1]  # stop
        because = np.zeros(len(self.slots.edits), dtype=np.float32)
        for index, slot in enumerate(self._shown):
            if slot is not None:
                positions[self.slots.state_length + index] = inner.positions[slot]
                because[index] = inner.because[slot - self._size - 2]
        return Predicted(positions, because, inner.edits, inner.rows, inner.replayed)

    def content(self, predicted: Predicted, position: int) -> NDArray[np.float32]:
        slot = self._local(position)
        if slot is None:
            raise ValueError(f"position {position} is outside the window of the model")
        return self._inner.content(predicted, slot)

    @property
    def _size(self) -> int:
        # START and END of the window take two of the limit; START and END of the file are never inside of it.
        return self._config.limit_tokens - 2

    @property
    def _last(self) -> int:
        return self._first + self._size

    def _settle(self) -> None:
        """Bring the window to where it belongs, and show the edits that it has not seen yet."""
        if self.needs_encoding:
            self._open()
        seen = len(self._shown)
        local: list[Edit] = []
        next_slot = self._size + 2 + len(self._inner.slots.edits)
        for edit in self.slots.edits[seen:]:
            position = self._local(edit.position)
            if position is None or (edit.content == DELETE and position == 0):
                self._shown.append(None)
            else:
                self._shown.append(next_slot + len(local))
                local.append(Edit(position, edit.content))
        try:
            self._inner.append(local)
        except Exception:
            del self._shown[seen:]
            raise

    def _open(self) -> None:
        self._first = self._wanted
        self._inner = self._encode((START, *self.slots.contents[self._first : self._last], END))
        self._shown: list[int | None] = []  # for each edit: its slot in the window

    def _local(self, position: int) -> int | None:
        """The slot of the window for a slot of the file."""
        length = self.slots.state_length
        if position >= length:
            return self._shown[position - length]
        if position == length - 1:
            return self._size + 1
        if self._first - 1 <= position < self._last:
            return position - self._first + 1
        return None

    def _has_lost_its_start(self) -> bool:
        """Is the token before the window, for which the window's START stands, no longer there?"""
        return any(edit == Edit(self._first - 1, DELETE) for edit in self.slots.edits)

    @property
    def _wanted(self) -> int:
        """The first token of the window as it should be."""
        return self._firsts[-1] if self._looked_at is None else self._showing(self._looked_at)

    def _follow(self, edit: Edit) -> int:
        """The first token of the window after an edit."""
        return self._firsts[-1] if edit.content == END else self._showing(edit.position)  # stop is nowhere

    def _showing(self, position: int) -> int:
        """The first token of a window that shows a place: where it is now, unless that is near its border."""
        first, length = self._firsts[-1], self.slots.state_length
        while position >= length:  # an edit of an edit is where that one is
            position = self.slots.edits[position - length].position
        margin = int(self._size * _MARGIN)
        after_begin = first == 1 or position >= first + margin
        before_end = first + self._size == length - 1 or position < first + self._size - margin
        if after_begin and before_end:
            return first
        return max(1, min(position - self._size // 2, length - 1 - self._size))
