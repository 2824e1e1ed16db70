"""HTTP connections with a time limit for each request: a half-sent one would stay open for ever."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class PunctualProtocol(HttpToolsProtocol):
    """Closes a connection when a request has begun and is not complete after `limit_seconds`."""

    limit_seconds = 20.0

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_watching()
        super().connection_lost(exc)

    @property
    def _is_waiting(self) -> bool:
        """Is the head or the body of a request still to come?"""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def _watch(self) -> None:
        """Start the clock with the first piece of a request; stop it with the last."""
        if not self._is_waiting or self._is_upgraded:
            self._stop_watching()
        elif self._timer is None:
            self._timer = self.loop.call_later(self.limit_seconds, self._give_up)

    @property
    def _is_upgraded(self) -> bool:
        """Does the connection speak WebSocket by now?"""
        return self.transport.get_protocol() is not self

    def _stop_watching(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._timer = None
        if self._is_waiting and not self._is_upgraded:
            self.transport.close()


def choose_protocol(limit_seconds: float) -> type[asyncio.Protocol]:
    """Make a protocol class with this limit; uvicorn makes the instances."""
    return type("LimitedProtocol", (PunctualProtocol,), {"limit_seconds": limit_seconds})
