"""Connections: the open streams of a service, bounded in number and by user."""

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from fastapi import WebSocket, WebSocketDisconnect

from server.metrics import Metrics
from server.settings import Settings
from server.users import Shares, TooMuch, Users

# A client that reads this code connects again at once and repeats its open questions: see lsp.client.
SERVICE_RESTART = 1012
POLICY_VIOLATION = 1008
_CLOSE_SECONDS = 2.0  # a client that reads nothing does not take the code either; its pings end it


class Connections:
    """The open streams. When the service leaves, they are closed so that their clients go elsewhere."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self._limit = settings.limit_connections
        self._metrics = metrics
        self._shares = Shares(settings.limit_user_connections)
        self._open: dict[WebSocket, str | None] = {}
        self.is_leaving = False

    def __len__(self) -> int:
        return len(self._open)

    @contextmanager
    def hold(self, socket: WebSocket, user: str | None) -> Iterator[None]:
        """Count a stream while the block runs; raise TooMuch when there is no room for it."""
        if len(self._open) >= self._limit:
            raise TooMuch("Too many streams are open.")
        with self._shares.hold(user):
            self._open[socket] = user
            self._metrics.connections.set(len(self._open))
            try:
                yield
            finally:
                del self._open[socket]
                self._metrics.connections.set(len(self._open))

    async def leave(self) -> None:
        """Close all streams, and take no more: this process ends, and another one has taken over."""
        self.is_leaving = True
        await self.close_all()

    async def close_all(self) -> None:
        """Close all streams. Their clients connect again at once."""
        await _close_each(self._open, SERVICE_RESTART)

    async def close_revoked(self, users: Users) -> None:
        """Close the streams of users who are no longer in the file."""
        revoked = [socket for socket, user in self._open.items() if user is not None and not users.has(user)]
        await _close_each(revoked, POLICY_VIOLATION)


async def _close_each(sockets: Iterable[WebSocket], code: int) -> None:
    """Close streams side by side: none of them waits for the client of another."""
    await asyncio.gather(*(_close(socket, code) for socket in sockets))


async def _close(socket: WebSocket, code: int) -> None:
    with suppress(WebSocketDisconnect, RuntimeError, TimeoutError):  # it is closed already, or will be
        async with asyncio.timeout(_CLOSE_SECONDS):
            await socket.close(code)
