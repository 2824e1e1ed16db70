"""One HTTP call to the service, beside the stream: what model it has, whether it is ready, what became of suggestions."""

import asyncio
import http.client
import threading
import time
import urllib.error
import urllib.request
from contextlib import suppress
from typing import NamedTuple

_LIMIT_BYTES = 2**24  # the service's longest answer, its model with the tokenizer, is far shorter


class ServiceUnavailable(Exception):
    """The service did not answer, or not as it should. The first word is a reason for programs."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Address(NamedTuple):
    """Where a service is, and what it wants to hear."""

    url: str  # http://host:port
    token: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}


async def fetch(address: Address, path: str, *, body: bytes | None = None, timeout_seconds: float) -> bytes:
    """The body of the answer."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[bytes] = loop.create_future()

    def settle(result: bytes | Exception) -> None:
        if not future.done():
            if isinstance(result, bytes):
                future.set_result(result)
            else:
                future.set_exception(result)

    def work() -> None:
        try:
            result: bytes | Exception = _call(address, path, body, timeout_seconds)
        except Exception as error:  # whatever it is: the coroutine would wait for ever
            result = error
        with suppress(RuntimeError):  # the loop has ended: nobody waits
            loop.call_soon_threadsafe(settle, result)

    # A daemon of our own: the loop's executor would hold up the end of the process until the timeout.
    threading.Thread(target=work, daemon=True, name="fetch").start()
    try:
        return await asyncio.wait_for(future, timeout_seconds)
    except TimeoutError:
        raise ServiceUnavailable("no-answer", f"the service did not answer {path} in time") from None


def _call(address: Address, path: str, body: bytes | None, timeout_seconds: float) -> bytes:
    headers = {**address.headers, **({"Content-Type": "application/json"} if body is not None else {})}
    opener = urllib.request.build_opener(*_handlers(address))
    try:
        request = urllib.request.Request(address.url + path, data=body, headers=headers)
        with opener.open(request, timeout=timeout_seconds) as response:
            return _read(response, time.monotonic() + timeout_seconds)
    except urllib.error.HTTPError as error:
        error.close()  # it holds the connection
        reason = "wrong-token" if error.code in (401, 403) else "refused"
        raise ServiceUnavailable(reason, f"the service answered {error.code} to {path}") from None
    except (OSError, ValueError, http.client.HTTPException) as error:
        kind = type(error).__name__
        raise ServiceUnavailable("no-answer", f"the service did not answer {path}: {kind}") from None


def _read(response: http.client.HTTPResponse, deadline: float) -> bytes:
    """Read the whole body. The socket's timeout is about each read alone, so it stops no slow trickle."""
    parts: list[bytes] = []
    size = 0
    while part := response.read1(2**16):
        parts.append(part)
        size += len(part)
        if size > _LIMIT_BYTES or time.monotonic() > deadline:
            raise ValueError("the answer is too long, or comes too slowly")
    if response.length:
        raise http.client.IncompleteRead(b"", response.length)
    return b"".join(parts)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Refuses redirects: the token is for the address that the user gave, and for no other."""

    def redirect_request(self, *_: object) -> None:
        return None


def _handlers(address: Address) -> list[urllib.request.BaseHandler]:
    """A proxy has no business between us and this machine."""
    host = address.url.partition("://")[2]
    is_local = host.startswith(("127.", "localhost", "[::1]"))
    return [_NoRedirects(), *([urllib.request.ProxyHandler({})] if is_local else [])]
