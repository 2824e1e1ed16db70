"""A long file through a window: the model sees as many tokens as it was made for, around the newest edit.

Slots of the whole file are mapped to slots of the window and back. The model does not see edits outside the window; when
the user goes on editing elsewhere, the window moves there and is encoded again.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from model.config import ModelConfig
from model.editing.edits import DELETE, END, START, Edit, Slots, check_tokens
from model.inference.graph_runner import Floats
from model.inference.history import AnyHistory, NextPosition

_IMPOSSIBLE = -1e9
# The window moves when the newest edit comes nearer to its border than this share of its size.
_MARGIN = 0.1


@dataclass(frozen=True)
class _Windowed(NextPosition):
    """A distribution over the slots of the file, with the distribution over the slots of the window behind it."""

    inner: NextPosition


class WindowedHistory:
    """A history of a file that is longer than the model's limit.

    The window depends on the state and the edits alone, not on how they were appended: each edit leaves it where it was
    or, near its border, moves it. Edits that are only tried never move it. A question about a half-typed name moves it
    as an edit there would, for that question.
    """

    def __init__(
        self, encode: Callable[[Sequence[int]], AnyHistory], state: Sequence[int], config: ModelConfig
    ) -> None:
        self._encode, self._config = encode, config
        self.slots = Slots(state)
        self._firsts = [1]  # first token of the window: at first and after each edit that is not only tried
        self._is_trying = False
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
        """True when the next prediction encodes a state first, which takes long."""
        return self._first != self._wanted

    def keep(self, count: int) -> None:
        """Forget all edits but the first `count`. The window moves back at the next prediction: edits may follow first."""
        self.slots.keep(count)
        del self._firsts[count + 1 :]
        del self._shown[count:]
        self._inner.keep(sum(slot is not None for slot in self._shown))

    def append(self, edits: Sequence[Edit]) -> None:
        """Add edits; none is added when one of them is wrong."""
        check_tokens((edit.content for edit in edits), self._config.vocabulary_size)
        known = len(self.slots.edits)
        try:
            for edit in edits:
                self.slots.apply(edit)
                if not self._is_trying:
                    self._firsts.append(self._follow(edit))
        except ValueError:
            self.keep(known)
            raise

    @contextmanager
    def try_edits(self) -> Iterator[None]:
        """Take back, at the end of the block, the edits that are appended in it. They do not move the window."""
        known, was_trying = len(self.slots.edits), self._is_trying
        self._is_trying = True
        try:
            yield
        finally:
            self._is_trying = was_trying
            self.keep(known)

    def look_at(self, position: int | None) -> None:
        """Move the window so that it shows a slot while the next questions are asked; None follows the edits again."""
        self._looked_at = position

    def predict(self) -> NextPosition:
        """Compute the distribution of the next position, over all slots of the file."""
        self._show_edits()
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
        return _Windowed(positions, because, inner)

    def content(self, predicted: NextPosition, position: int) -> Floats:
        """Compute the log-probabilities of the content at a position."""
        assert isinstance(predicted, _Windowed)
        slot = self._slot_in_window(position)
        if slot is None:
            raise ValueError(f"position {position} is outside the window of the model")
        return self._inner.content(predicted.inner, slot)

    @property
    def _size(self) -> int:
        # START and END of the window take two of the limit; START and END of the file are never inside of it.
        return self._config.limit_tokens - 2

    @property
    def _last(self) -> int:
        return self._first + self._size

    def _show_edits(self) -> None:
        """Move the window to where it belongs, and append the edits that its history has not seen yet."""
        if self.needs_encoding:
            self._open()
        seen = len(self._shown)
        local: list[Edit] = []
        next_slot = self._size + 2 + len(self._inner.slots.edits)
        for edit in self.slots.edits[seen:]:
            position = self._slot_in_window(edit.position)
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

    def _slot_in_window(self, position: int) -> int | None:
        """Give the slot of the window for a slot of the file; None when the window does not show it."""
        length = self.slots.state_length
        if position >= length:
            return self._shown[position - length]
        if position == length - 1:
            return self._size + 1
        if self._first - 1 <= position < self._last:
            return position - self._first + 1
        return None

    def _has_lost_its_start(self) -> bool:
        """True when the token before the window, for which the window's START stands, was deleted."""
        return any(edit == Edit(self._first - 1, DELETE) for edit in self.slots.edits)

    @property
    def _wanted(self) -> int:
        """The first token of the window as it should be for the next prediction."""
        return self._firsts[-1] if self._looked_at is None else self._find_first(self._looked_at)

    def _follow(self, edit: Edit) -> int:
        """Find the first token of the window after an edit; stop is nowhere and moves nothing."""
        return self._firsts[-1] if edit.content == END else self._find_first(edit.position)

    def _find_first(self, position: int) -> int:
        """Find the first token of a window that shows a slot: as it is now, unless the slot is near its border."""
        first, length = self._firsts[-1], self.slots.state_length
        while position >= length:  # an edit of an edit is where that one is
            position = self.slots.edits[position - length].position
        margin = int(self._size * _MARGIN)
        after_begin = first == 1 or position >= first + margin
        before_end = first + self._size == length - 1 or position < first + self._size - margin
        if after_begin and before_end:
            return first
        return max(1, min(position - self._size // 2, length - 1 - self._size))
