"""The stream to the service: one connection for all documents, made again whenever it is lost.

The client remembers what it has told the service of each document and says only what is new: keep the first n edits, append
these. Whatever goes wrong, the next question starts from our own snapshot.
"""

import asyncio
import itertools
import json
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from lsp.fetch import Address, ServiceUnavailable, fetch
from model.editing.change import common_length
from model.editing.edits import Edit, State
from server import schema

_DEADLINE_SECONDS = 2.0  # an answer later than this is about a text of long ago
_OPENING_SECONDS = 15.0  # a long file is encoded first
_MODEL_SECONDS = 10.0
_LIMIT_DOCUMENTS = (
    100  # beyond this the least recently used is closed; the service would refuse at some point
)
_LIMIT_MISSED = 2  # so many questions without any sign of life: the connection is dead
_RETRY_SECONDS = (0.1, 30.0)  # first and longest pause before another attempt
_HEALTHY_SECONDS = 5.0  # a connection that lasted this long was a good one: the next attempt need not wait
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Question:
    """What comes next in this document?"""

    document: str
    state: State
    edits: tuple[Edit, ...]
    cursor: int | None = None
    prefix: str = ""
    until: schema.Until = "hunk"
    threshold: float | None = None
    limit: int = 1


@dataclass
class _Told:
    """What the service knows of a document."""

    state: State
    edits: tuple[Edit, ...]
    version: int
    first_request: int  # the question that opened it
    is_opened: bool = False


@dataclass
class _Waiting:
    question: Question
    future: asyncio.Future[schema.Prediction]
    is_repeated: bool = False


@dataclass(frozen=True)
class Listener:
    """Who wants to know how the connection does."""

    on_model: Callable[[schema.ModelResponse], None]
    on_connected: Callable[[], None]
    on_lost: Callable[[ServiceUnavailable], None]


@dataclass
class Client:
    """`run` keeps the connection; `ask` asks over it."""

    locate: Callable[[], Awaitable[Address]]
    listener: Listener
    deadline_seconds: float = _DEADLINE_SECONDS
    address: Address | None = None
    _socket: ClientConnection | None = None
    _bundle: str = ""
    _told: OrderedDict[str, _Told] = field(default_factory=OrderedDict)
    _waiting: dict[int, _Waiting] = field(default_factory=dict)
    _outbox: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    _requests: Iterator[int] = field(default_factory=itertools.count)
    _missed: int = 0
    _connected_time: float | None = None

    @property
    def is_connected(self) -> bool:
        return self._socket is not None

    async def run(self) -> None:
        """Connect, and connect again, until cancelled."""
        pause, longest = _RETRY_SECONDS
        while True:
            self._connected_time = None
            try:
                await self._converse()
                problem = ServiceUnavailable("lost", "the connection to the service was lost")
            except ServiceUnavailable as error:
                problem = error
            except (OSError, WebSocketException, ValueError) as error:
                problem = ServiceUnavailable(
                    "no-connection", f"no connection to the service: {type(error).__name__}"
                )
            finally:
                self._hang_up()
            self.listener.on_lost(problem)
            if (
                self._connected_time is not None
                and time.monotonic() - self._connected_time > _HEALTHY_SECONDS
            ):
                pause = _RETRY_SECONDS[0]
            await asyncio.sleep(pause)
            pause = min(2 * pause, longest)

    async def ask(self, question: Question) -> schema.Prediction:
        """The service's answer; ServiceUnavailable when there is none in time."""
        if self._socket is None:
            raise ServiceUnavailable("not-connected", "the service is not connected")
        request = next(self._requests)
        waiting = _Waiting(question, asyncio.get_running_loop().create_future())
        self._waiting[request] = waiting
        self._put_question(request, question)
        told = self._told[question.document]
        seconds = self.deadline_seconds if told.is_opened else max(self.deadline_seconds, _OPENING_SECONDS)
        try:
            return await asyncio.wait_for(waiting.future, seconds)
        except TimeoutError:
            self._miss()
            raise ServiceUnavailable("deadline", "the service did not answer in time") from None
        finally:
            self._waiting.pop(request, None)

    def prepare(self, question: Question) -> None:
        """Tell the service of a document before anything is asked about it."""
        if self._socket is not None:
            self._put_changes(next(self._requests), question)

    def close(self, document: str) -> None:
        """The editor closed it."""
        if self._told.pop(document, None) is not None:
            self._put(schema.Close(document=document))

    async def report(self, event: str, count: int = 1) -> None:
        """Tell what became of suggestions. It may get lost."""
        if self.address is not None:
            body = json.dumps({"event": event, "count": count}).encode()
            try:
                await fetch(self.address, "/feedback", body=body, timeout_seconds=_MODEL_SECONDS)
            except ServiceUnavailable as error:
                _log.debug("feedback was lost: %s", error)

    # --- the connection ---

    async def _converse(self) -> None:
        """One connection from beginning to end."""
        self.address = await self.locate()
        try:
            body = await fetch(self.address, "/model", timeout_seconds=_MODEL_SECONDS)
            model = schema.read_model(body)
        except schema.OtherWireVersion as error:
            raise ServiceUnavailable("other-version", str(error)) from None
        except ValidationError:
            raise ServiceUnavailable("not-a-service", f"no Likewise service at {self.address.url}") from None
        self._bundle = model.sha256
        self.listener.on_model(model)
        url = "ws" + self.address.url.removeprefix("http") + f"/stream?wire={schema.WIRE_VERSION}"
        async with connect(
            url,
            additional_headers=self.address.headers,
            compression=None,  # on loopback it costs more than it saves
            max_size=2**26,
            open_timeout=_MODEL_SECONDS,
            ping_interval=10,
            ping_timeout=10,
            close_timeout=1,
            proxy=None
            if self.address.url.startswith(("http://127.", "http://localhost", "http://[::1]"))
            else True,
        ) as socket:
            self._outbox = asyncio.Queue()
            self._told.clear()
            self._missed = 0
            self._socket = socket
            self._connected_time = time.monotonic()
            sender = asyncio.create_task(self._send_all(socket, self._outbox))
            try:
                self.listener.on_connected()
                async for text in socket:
                    self._receive(text)
            finally:
                self._socket = None
                sender.cancel()

    async def _send_all(self, socket: ClientConnection, outbox: asyncio.Queue[str]) -> None:
        """One sender, so that messages leave in the order they were put."""
        try:
            while True:
                await socket.send(await outbox.get())
        except WebSocketException:
            pass  # who reads notices it too

    def _hang_up(self) -> None:
        self._socket = None
        self._told.clear()
        waiting, self._waiting = self._waiting, {}
        for each in waiting.values():
            if not each.future.done():
                each.future.set_exception(
                    ServiceUnavailable("lost", "the connection to the service was lost")
                )

    def _miss(self) -> None:
        self._missed += 1
        if self._missed >= _LIMIT_MISSED and self._socket is not None:
            _log.warning("the service does not answer: connecting again")
            self._socket.transport.abort()

    # --- what we say ---

    def _put(self, message: Any) -> None:
        self._outbox.put_nowait(message.model_dump_json())

    def _put_question(self, request: int, question: Question) -> None:
        told = self._put_changes(request, question)
        self._put(
            schema.Predict(
                document=question.document,
                version=told.version,
                cursor=question.cursor,
                prefix=question.prefix,
                until=question.until,
                threshold=question.threshold,
                limit=question.limit,
                request=request,
            )
        )

    def _put_changes(self, request: int, question: Question) -> _Told:
        """Bring the service up to date: open the document if need be, keep the first n edits, append the others."""
        told = self._told.get(question.document)
        if told is None or (told.state is not question.state and told.state != question.state):
            told = _Told(question.state, (), 0 if told is None else told.version + 1, request)
            self._told[question.document] = told
            # Our own tokens: there is nothing to validate, and there may be many.
            self._put(
                schema.Open.model_construct(
                    document=question.document,
                    version=told.version,
                    bundle=self._bundle,
                    state=list(told.state),
                )
            )
            self._close_oldest()
        self._told.move_to_end(question.document)
        keep = common_length(told.edits, question.edits)
        if keep < len(told.edits) or keep < len(question.edits):
            told.version += 1
            append = [schema.wire_edit(edit) for edit in question.edits[keep:]]
            self._put(
                schema.Edits(document=question.document, version=told.version, keep=keep, append=append)
            )
            told.edits = question.edits
        return told

    def _close_oldest(self) -> None:
        while len(self._told) > _LIMIT_DOCUMENTS:
            self.close(next(iter(self._told)))

    # --- what we hear ---

    def _receive(self, text: str | bytes) -> None:
        self._missed = 0
        try:
            message = schema.server_message.validate_json(text)
        except ValidationError as error:
            _log.warning("the service said something unknown: %d problems", error.error_count())
            return
        if isinstance(message, schema.Opened):
            if (told := self._told.get(message.document)) is not None:
                told.is_opened = True
        elif isinstance(message, schema.Prediction):
            self._settle(message)
        elif isinstance(message, schema.Reopen):
            self._reopen(message)
        else:
            self._fail(message)

    def _settle(self, message: schema.Prediction) -> None:
        waiting = self._waiting.get(message.request) if message.request is not None else None
        if waiting is not None and not waiting.future.done():
            waiting.future.set_result(message)

    def _reopen(self, message: schema.Reopen) -> None:
        """The service no longer has the document: we tell all of it again, once for each question."""
        _log.debug("reopen: %s", message.reason)
        told = self._told.get(message.document)
        if told is not None and (message.request is None or message.request >= told.first_request):
            del self._told[message.document]
        waiting = self._waiting.get(message.request) if message.request is not None else None
        if message.request is None or waiting is None or waiting.future.done():
            return
        if waiting.is_repeated:
            waiting.future.set_exception(ServiceUnavailable("reopen", "the service lost the document twice"))
            return
        waiting.is_repeated = True
        self._put_question(message.request, waiting.question)

    def _fail(self, message: schema.StreamError) -> None:
        _log.warning("the service refused: %s (%s)", message.code, message.message)
        if message.document is not None:
            self._told.pop(message.document, None)
        waiting = self._waiting.get(message.request) if message.request is not None else None
        if waiting is not None and not waiting.future.done():
            waiting.future.set_exception(ServiceUnavailable(message.code, message.message))
        if message.code == "other-bundle" and self._socket is not None:
            self._socket.transport.abort()  # the service has another model now: begin again with its tokenizer
