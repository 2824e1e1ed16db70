"""Guard: checks the Host, the Origin, the token and the size of the body before a request is read.

A web page can make a browser send requests to loopback addresses. It cannot choose the Host header of a rebound name, nor
leave out its Origin: so a foreign Host or Origin is refused, on HTTP and on the WebSocket alike.
"""

import hmac
import logging
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.schema import Problem
from server.settings import Settings, is_loopback
from server.users import Users

_log = logging.getLogger(__name__)

_HOST = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[^:\[\]]*))(?::[0-9]*)?")
_LONGEST_PATH = 40  # of a path in a log
_USER = "likewise.user"  # the key in the scope of a request
# They only show that the service runs, and a browser that opens the page cannot send a token.
_OPEN_PATHS = frozenset({"/healthz", "/readyz", "/docs", "/openapi.json"})


class Guard:
    """Refuses requests that are not allowed, and notes the user of the others."""

    def __init__(self, app: ASGIApp, settings: Settings, users: Users | None) -> None:
        self.app = app
        self.settings = settings
        self.users = users

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        refusal = self._find_refusal(scope)
        if refusal is not None:
            _log.warning("refused", extra={"reason": refusal[1], "path": scope["path"][:_LONGEST_PATH]})
            await _refuse(scope, receive, send, *refusal)
        elif scope["type"] == "http":
            await self._count_body(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def _find_refusal(self, scope: Scope) -> tuple[HTTPStatus, str, str] | None:
        headers = Headers(scope=scope)
        if not self._is_allowed_host(headers.get("host", "")):
            return HTTPStatus.FORBIDDEN, "host-not-allowed", "This service does not answer to that host name."
        origin = headers.get("origin")
        if origin is not None and not self._is_allowed_origin(origin, headers.get("host", "")):
            return HTTPStatus.FORBIDDEN, "origin-not-allowed", "Web pages may not use this service."
        if scope["path"] not in _OPEN_PATHS and not self._admit(scope, headers):
            return HTTPStatus.UNAUTHORIZED, "token-required", "Send the token as 'Authorization: Bearer ...'."
        if int(length if (length := headers.get("content-length", "0")).isdecimal() else 0) > self._limit:
            return HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "body-too-large", _too_large(self._limit)
        return None

    @property
    def _limit(self) -> int:
        return self.settings.limit_body_bytes

    def _is_allowed_host(self, header: str) -> bool:
        name = _without_port(header)
        if is_loopback(name) or name in self.settings.allowed_hosts:
            return True
        # A service bound to every address cannot know its names; there the token guards it.
        return not self.settings.is_loopback and (
            name == self.settings.host or not self.settings.allowed_hosts
        )

    def _is_allowed_origin(self, origin: str, host: str) -> bool:
        return origin in (f"http://{host}", f"https://{host}") or origin in self.settings.allowed_origins

    def _admit(self, scope: Scope, headers: Headers) -> bool:
        """Check the token, and note the user whose token it is."""
        if not self.settings.token and self.users is None:
            return True
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return False
        if self.users is None:
            return hmac.compare_digest(given.strip().encode(), self.settings.token.strip().encode())
        user = self.users.find(given)
        scope[_USER] = user
        return user is not None

    async def _count_body(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count the bytes of a body as it comes: it may have no Content-Length."""
        received = 0

        async def receive_and_count() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._limit:
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _too_large(self._limit))
            return message

        await self.app(scope, receive_and_count, send)


def user_of(scope: Mapping[str, Any]) -> str | None:
    """Give the user who sent a request; None in a service that does not tell users apart."""
    user: str | None = scope.get(_USER)
    return user


def _too_large(limit: int) -> str:
    return f"The body is larger than {limit} bytes."


def _without_port(header: str) -> str:
    """The name in a Host header; empty if the header is not exactly a name or an address with an optional port."""
    found = _HOST.fullmatch(header)
    return (found["six"] or found["name"] or "").lower() if found else ""


async def _refuse(
    scope: Scope, receive: Receive, send: Send, status: HTTPStatus, code: str, message: str
) -> None:
    if scope["type"] == "websocket" and "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008, "reason": code})
        return
    response = JSONResponse(Problem(code=code, message=message).model_dump(), status)
    if status == HTTPStatus.UNAUTHORIZED:
        response.headers["WWW-Authenticate"] = "Bearer"
    await response(scope, receive, send)
