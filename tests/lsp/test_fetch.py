"""Every call to the service ends in time, with the body or with a reason."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from lsp import fetch as fetch_module
from lsp.fetch import Address, ServiceUnavailable, fetch
from lsp.service_process import ServiceProcess
from tests.lsp.editor import editing

OK = b"HTTP/1.1 200 OK\r\n"
ANSWERS = {
    "cut body": (OK + b"Content-Length: 100\r\n\r\n{", "IncompleteRead"),
    "cut chunk": (OK + b"Transfer-Encoding: chunked\r\n\r\nff\r\n{", "IncompleteRead"),
    "cut head": (b"HTTP/1.", "BadStatusLine"),
    "another protocol": (b"SSH-2.0-OpenSSH_9.2\r\n", "BadStatusLine"),
    "nothing": (b"", "RemoteDisconnected"),
    "a number that is none": (b"HTTP/1.1 two hundred\r\n\r\n", "BadStatusLine"),
    "too many headers": (OK + b"A: b\r\n" * 200 + b"\r\n", "HTTPException"),
    "an error": (b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", "500"),
}
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]


@asynccontextmanager
async def listening(handle: Handler) -> AsyncIterator[Address]:
    """A server that does what `handle` does after the head of each request."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        try:
            await handle(reader, writer)
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield Address(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", "secret")
    finally:
        server.close()


def saying(answer: bytes) -> Handler:
    async def handle(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        await writer.drain()

    return handle


async def trickle(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(OK + b"\r\n")
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.05)


async def test_a_whole_answer_is_returned() -> None:
    async with listening(saying(OK + b"Content-Length: 2\r\n\r\n{}")) as address:
        assert await fetch(address, "/model", timeout_seconds=5) == b"{}"


@pytest.mark.parametrize(("answer", "words"), ANSWERS.values(), ids=ANSWERS.keys())
async def test_a_broken_answer_is_told_in_words(answer: bytes, words: str) -> None:
    async with listening(saying(answer)) as address:
        with pytest.raises(ServiceUnavailable, match=words):
            await fetch(address, "/model", timeout_seconds=5)


async def test_an_answer_that_trickles_in_ends_with_the_timeout() -> None:
    began = time.monotonic()
    async with listening(trickle) as address:
        with pytest.raises(ServiceUnavailable):
            await fetch(address, "/model", timeout_seconds=0.5)
    assert time.monotonic() - began < 3


async def test_an_answer_without_end_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch_module, "_LIMIT_BYTES", 1000)
    async with listening(saying(OK + b"\r\n" + b" " * 2000)) as address:
        with pytest.raises(ServiceUnavailable):
            await fetch(address, "/model", timeout_seconds=5)


async def test_the_token_does_not_follow_a_redirect() -> None:
    heard = []

    async def listen(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(writer)

    async with listening(listen) as other:
        redirect = f"HTTP/1.1 302 Found\r\nLocation: {other.url}/\r\nContent-Length: 0\r\n\r\n"
        async with listening(saying(redirect.encode())) as address:
            with pytest.raises(ServiceUnavailable, match="302"):
                await fetch(address, "/model", timeout_seconds=5)
    assert heard == []


async def test_an_address_that_is_none_is_told_in_words() -> None:
    for url in ("http://127.0.0.1:1", "http://", "nonsense", "http://[::1"):
        with pytest.raises(ServiceUnavailable):
            await fetch(Address(url, ""), "/model", timeout_seconds=5)


def test_a_name_that_begins_like_loopback_is_not_local() -> None:
    local = ("http://127.0.0.1:1", "http://localhost", "http://[::1]:8377", "http://127.9.9.9")
    others = ("http://localhost.example", "http://127.example", "http://[::1", "http://10.0.0.1", "nonsense")
    assert all(Address(url, "").is_local for url in local)
    assert not any(Address(url, "").is_local for url in others)


async def test_an_interpreter_that_is_gone_is_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(ServiceUnavailable, match="could not be started: No such file"):
        await ServiceProcess().address()


@pytest.mark.parametrize("name", ["cut body", "another protocol"])
async def test_the_language_server_tells_a_broken_answer_and_tries_again(tmp_path: Path, name: str) -> None:
    attempts = []

    async def count(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        attempts.append(writer)
        await saying(ANSWERS[name][0])(reader, writer)

    async with listening(count) as address, editing(tmp_path, serviceAddress=address.url) as editor:
        await editor.until(lambda: editor.statuses and editor.statuses[-1]["state"] == "trouble")
        await editor.until(lambda: len(attempts) >= 3)


async def test_a_cancelled_call_is_cancelled_even_when_its_answer_is_there() -> None:
    """Python 3.11's wait_for returns the answer then, and the caller goes on as if it was never cancelled."""
    loop = asyncio.get_running_loop()
    resolved, call_soon = loop.create_future(), loop.call_soon_threadsafe

    def deliver_and_cancel(callback: Any, *given: Any) -> Any:
        """The answer comes and the caller is cancelled in one turn of the loop."""

        def both() -> None:
            callback(*given)
            calling.cancel()
            resolved.set_result(None)

        return call_soon(both)

    async with listening(saying(OK + b"Content-Length: 2\r\n\r\n{}")) as address:
        calling = asyncio.create_task(fetch(address, "/model", timeout_seconds=5))
        loop.call_soon_threadsafe = deliver_and_cancel  # type: ignore[assignment, method-assign]
        try:
            await resolved
        finally:
            loop.call_soon_threadsafe = call_soon  # type: ignore[method-assign]
        with pytest.raises(asyncio.CancelledError):
            await calling
