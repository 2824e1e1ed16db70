"""The user's wish to be left alone for a while."""

import asyncio
import time
from collections.abc import Callable

_MARGIN_SECONDS = 0.05  # the timer must not fire before the time is over


class Snooze:
    """A time until which nothing is suggested. `on_end` is called when it is over."""

    def __init__(self, on_end: Callable[[], None]) -> None:
        self._on_end = on_end
        self._until = 0.0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_on(self) -> bool:
        return time.monotonic() < self._until

    def begin(self, seconds: float) -> None:
        """Begin now, whatever was before; zero seconds end it."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._until = time.monotonic() + seconds
        if seconds > 0:
            self._timer = asyncio.get_running_loop().call_later(seconds + _MARGIN_SECONDS, self._on_end)
