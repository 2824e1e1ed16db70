"""A small service that follows the wire and says what a test wants: real HTTP, a real WebSocket, no model."""

import asyncio
import http
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.protocol import State

from model.editing.burst import Burst
from model.editing.change import Change
from model.editing.edits import DELETE, Edit, Slots
from model.editing.token_text import TokenText
from model.editing.tokenizer import Tokenizer
from model.silence import Silence
from server import schema
from tests.tokenizing import small_tokenizer

BUNDLE = "ab" * 32
Script = Callable[[str, schema.Predict], list[Change]]


def rename(old: str, new: str) -> Script:
    """Suggest to replace the first `old` by `new`, once something was edited."""

    def script(text: str, question: schema.Predict) -> list[Change]:
        start = text.find(old)
        return [Change(start, start + len(old), new)] if start >= 0 else []

    return script


@dataclass
class Session:
    slots: Slots
    version: int


@dataclass
class ScriptedService:
    """One that listens on a free port. Everything a client said is in `heard`."""

    script: Script = field(default_factory=lambda: rename("foo", "bar"))
    token: str = ""
    limit_edits: int = 100
    threshold: float = 0.5
    confidence: float = 0.9
    hangs: bool = False
    seconds: float = 0.0  # that each message takes
    port: int = 0
    tokenizer: Tokenizer = field(default_factory=small_tokenizer)
    tokenizer_json: str = ""  # none: that of the tokenizer
    heard: list[Any] = field(default_factory=list)
    sessions: dict[str, Session] = field(default_factory=dict)
    _server: Server | None = None
    _sockets: set[ServerConnection] = field(default_factory=set)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> "ScriptedService":
        self._server = await serve(
            self._talk, "127.0.0.1", self.port, process_request=self._request, compression=None
        )
        self.port = next(iter(self._server.sockets)).getsockname()[1]
        return self

    async def stop(self) -> None:
        """As if killed: no farewell."""
        assert self._server is not None
        for socket in list(self._sockets):
            socket.transport.abort()
        self._server.close(close_connections=False)
        await self._server.wait_closed()
        self.sessions.clear()

    async def send_away(self) -> None:
        """Close each stream as a replica does that is about to end: the clients connect again."""
        self.hangs = False
        for socket in list(self._sockets):
            await socket.close(1012)

    def said(self, kind: str) -> list[Any]:
        return [message for message in self.heard if message.type == kind]

    def _request(self, connection: ServerConnection, request: Request) -> Response | None:
        if self.token and request.headers.get("Authorization") != f"Bearer {self.token}":
            return connection.respond(http.HTTPStatus.UNAUTHORIZED, "{}")
        if request.path == "/model":
            body = schema.ModelResponse(
                name="scripted",
                sha256=BUNDLE,
                vocabulary_size=len(self.tokenizer),
                limit_tokens=100_000,
                limit_edits=self.limit_edits,
                calibration={"knots": {}, "thresholds": {"hunk": self.threshold}},
                provider="none",
                tokenizer=self.tokenizer_json or self.tokenizer.json,
            ).model_dump_json()
            headers = Headers({"Content-Type": "application/json", "Content-Length": str(len(body.encode()))})
            return Response(200, "OK", headers, body.encode())
        return (
            None if request.path.startswith("/stream?wire=") else connection.respond(http.HTTPStatus.OK, "{}")
        )

    async def _talk(self, socket: ServerConnection) -> None:
        self._sockets.add(socket)
        mine: set[str] = set()
        try:
            async for text in socket:
                message = schema.client_message.validate_json(text)
                self.heard.append(message)
                mine.add(message.document)
                await asyncio.sleep(self.seconds)
                while self.hangs:
                    await asyncio.sleep(0.02)
                if socket.state is not State.OPEN:
                    return
                for answer in self._answers(message):
                    await socket.send(answer.model_dump_json())
        except ConnectionClosed:
            pass
        finally:
            self._sockets.discard(socket)
            for document in mine:
                self.sessions.pop(document, None)

    def _answers(self, message: Any) -> list[Any]:
        document = message.document
        if isinstance(message, schema.Open):
            assert message.bundle == BUNDLE
            self.sessions[document] = Session(Slots(message.state), message.version)
            return [schema.Opened(document=document, version=message.version)]
        if isinstance(message, schema.Close):
            self.sessions.pop(document, None)
            return []
        session = self.sessions.get(document)
        request = getattr(message, "request", None)
        if session is None:
            return [
                schema.Reopen(document=document, version=message.version, reason="unknown", request=request)
            ]
        if isinstance(message, schema.Edits):
            assert message.version >= session.version
            session.version = message.version
            session.slots.keep(message.keep)
            for edit in message.append:
                session.slots.apply(Edit(edit.position, DELETE if edit.content == "DELETE" else edit.content))
            assert len(session.slots.edits) <= self.limit_edits
            return []
        assert message.version == session.version
        return [self._prediction(session, message)]

    def _prediction(self, session: Session, question: schema.Predict) -> schema.Prediction:
        text = self.tokenizer.decode(session.slots.tokens())
        wanted = self.confidence >= (question.threshold if question.threshold is not None else self.threshold)
        changes = self.script(text, question)[: question.limit] if wanted and session.slots.edits else []
        return schema.Prediction(
            document=question.document,
            version=question.version,
            suggestions=[self._suggestion(session, text, change, question) for change in changes],
            silence=None if changes else Silence.STOP_PREDICTED,
            timings=schema.Timings(),
            request=question.request,
        )

    def _suggestion(
        self, session: Session, text: str, change: Change, question: schema.Predict
    ) -> schema.Suggestion:
        token_text = TokenText(self.tokenizer, text)
        explicit = Burst(token_text, token_text.replace(change)).edits()
        kept = len(session.slots.edits)
        edits = [session.slots.apply_explicit(edit) for edit in explicit]
        session.slots.keep(kept)
        return schema.Suggestion(
            start=change.start,
            end=change.end,
            text=change.text,
            confidence=self.confidence,
            log_probability=-0.1,
            edits=[
                schema.TokenEdit(position=e.position, content="DELETE" if e.content == DELETE else e.content)
                for e in edits
            ],
            tokens=[change.text],
            because=[0],
            continues_prefix=bool(question.prefix) and change.text.startswith(question.prefix),
        )
