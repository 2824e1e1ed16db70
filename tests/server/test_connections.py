"""All streams are closed, also when the client of one is gone or reads nothing."""

import asyncio
from contextlib import ExitStack

from fastapi import WebSocket
from starlette.types import Message

from server.connections import SERVICE_RESTART, Connections
from server.metrics import Metrics
from server.settings import Settings


async def test_a_client_that_is_gone_or_stuck_keeps_no_other_stream_open() -> None:
    closed = asyncio.Event()

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send_to_nobody(message: Message) -> None:
        if message["type"] == "websocket.close":
            raise OSError  # as uvicorn does when the client is gone

    async def wait_for_ever(message: Message) -> None:
        if message["type"] == "websocket.close":
            await asyncio.Event().wait()  # as uvicorn does when the client reads nothing

    async def send(message: Message) -> None:
        if message["type"] == "websocket.close":
            assert message["code"] == SERVICE_RESTART
            closed.set()

    connections = Connections(Settings(), Metrics())
    with ExitStack() as stack:
        for each in (send_to_nobody, wait_for_ever, send):
            socket = WebSocket({"type": "websocket", "headers": []}, receive, each)
            await socket.accept()
            stack.enter_context(connections.hold(socket, None))
        closing = asyncio.create_task(connections.close_all())
        await asyncio.wait([closing, asyncio.create_task(closed.wait())], return_when="FIRST_COMPLETED")
        assert closed.is_set()
        await closing
