"""HTTP calls to the service, beside the stream: its model, its readiness, feedback on suggestions."""

import asyncio
import http.client
import socket
import threading
import time
import urllib.error
import urllib.request
from contextlib import suppress
from functools import partial
from ipaddress import ip_address
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from model.silence import Silence

_LIMIT_BYTES = 2**24  # the service's longest answer, its model with the tokenizer, is far shorter


class ServiceUnavailable(Exception):
    """The service did not answer, or not as it should. `reason` is for programs, `silence` for an answer."""

    def __init__(self, reason: str, message: str, silence: Silence = Silence.NO_SERVICE) -> None:
        super().__init__(message)
        self.reason = reason
        self.silence = silence


class Address(NamedTuple):
    """The address of a service, and the token that it expects."""

    url: str  # http://host:port
    token: str
    socket: str = ""  # a file to connect to in place of host and port

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    @property
    def is_local(self) -> bool:
        """Is the address on this machine? Then no proxy is used. `localhost.example` is not."""
        try:
            host = urlsplit(self.url).hostname or ""
            return host == "localhost" or ip_address(host).is_loopback
        except ValueError:
            return False


async def fetch(address: Address, path: str, *, body: bytes | None = None, timeout_seconds: float) -> bytes:
    """Send a request and return the body of the response."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[bytes] = loop.create_future()

    def resolve(result: bytes | Exception) -> None:
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
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(resolve, result)

    # A daemon of our own: the loop's executor would hold up the end of the process until the timeout.
    threading.Thread(target=work, daemon=True, name="fetch").start()
    try:
        async with asyncio.timeout(timeout_seconds):  # wait_for of Python 3.11 may swallow a cancellation
            return await future
    except TimeoutError:
        raise ServiceUnavailable("no-answer", f"the service did not answer {path} in time") from None


def _call(address: Address, path: str, body: bytes | None, timeout_seconds: float) -> bytes:
    headers = {**address.headers, **({"Content-Type": "application/json"} if body is not None else {})}
    opener = urllib.request.build_opener(*_choose_handlers(address))
    try:
        request = urllib.request.Request(address.url + path, data=body, headers=headers)
        with opener.open(request, timeout=timeout_seconds) as response:
            return _read_body(response, time.monotonic() + timeout_seconds)
    except urllib.error.HTTPError as error:
        error.close()  # it holds the connection
        reason = "wrong-token" if error.code in (401, 403) else "refused"
        raise ServiceUnavailable(reason, f"the service answered {error.code} to {path}") from None
    except (OSError, ValueError, http.client.HTTPException) as error:
        kind = type(error).__name__
        raise ServiceUnavailable("no-answer", f"the service did not answer {path}: {kind}") from None


def _read_body(response: http.client.HTTPResponse, deadline: float) -> bytes:
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


class _SocketFileConnection(http.client.HTTPConnection):
    """A connection to a socket file."""

    def __init__(self, host: str, *, path: str, **options: Any) -> None:
        super().__init__(host, **options)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class _SocketFileHandler(urllib.request.HTTPHandler):
    """Opens http addresses at a socket file."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path

    def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(partial(_SocketFileConnection, path=self._path), request)


def _choose_handlers(address: Address) -> list[urllib.request.BaseHandler]:
    """Follow no redirects, and use no proxy for an address on this machine."""
    if address.socket:
        no_proxy = urllib.request.ProxyHandler({})
        return [_NoRedirects(), no_proxy, _SocketFileHandler(address.socket)]
    return [_NoRedirects(), *([urllib.request.ProxyHandler({})] if address.is_local else [])]
