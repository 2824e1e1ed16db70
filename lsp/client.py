"""The stream to the service: one connection for all documents, made again whenever it is lost.

The client knows what the service has of each document and sends only what is new: keep the first n edits,
append these. Whatever goes wrong, the next question starts from the client's own snapshot.
"""

import asyncio
import itertools
import json
import logging
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pydantic import ValidationError
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from lsp.failures import describe_failure
from lsp.fetch import Address, ServiceUnavailable, fetch
from model.editing.change import common_length
from model.editing.edits import Edit, State
from model.silence import Silence
from server import schema

_DEADLINE_SECONDS = 2.0  # a later answer is about an old text
_OPENING_SECONDS = 15.0  # a long file is encoded first
_MODEL_SECONDS = 10.0
_LIMIT_DOCUMENTS = 100  # beyond this the least recently used is closed, before the service refuses one
_LIMIT_MISSED = 2  # so many questions without any sign of life: the connection is dead
_PING_SECONDS = (
    1.5  # a service that was stopped is noticed after this and the next, also when nothing is asked
)
_PONG_SECONDS = 3.0
_RETRY_SECONDS = (0.1, 30.0)  # first and longest pause before another attempt
_HEALTHY_SECONDS = 5.0  # a connection that lasted this long was a good one: the next attempt need not wait
_SERVICE_RESTART = 1012  # the code with which a replica closes its streams before it ends
_LIMIT_MOVES = 20  # more in a row are no move but a problem
_MOVE_SECONDS = 0.1
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Snapshot:
    """One document at one moment: its base state, the edits since, and the half-typed name at the cursor."""

    document: str
    state: State
    edits: tuple[Edit, ...]
    cursor: int | None = None
    prefix: str = ""
    bursts: tuple[int, ...] = ()  # for each burst the number of edits up to its end


class _Question(NamedTuple):
    snapshot: Snapshot
    threshold: float | None
    limit: int
    pause_seconds: float | None


@dataclass
class _SentDocument:
    """The service's knowledge of a document."""

    state: State
    edits: tuple[Edit, ...]
    version: int
    first_request: int  # the question that opened it
    is_opened: bool = False


class _Connect(connect):
    """Refuses redirects: the token and the user's text are for the address that the user gave, and for no other."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


@dataclass
class _Waiting:
    question: _Question
    future: asyncio.Future[schema.Prediction]
    is_repeated: bool = False


@dataclass
class Client:
    """`run` keeps the connection; `ask` asks over it."""

    locate: Callable[[], Awaitable[Address]]
    deadline_seconds: float = _DEADLINE_SECONDS
    address: Address | None = None
    _socket: ClientConnection | None = None
    _bundle: str = ""
    _sent: OrderedDict[str, _SentDocument] = field(default_factory=OrderedDict)
    _waiting: dict[int, _Waiting] = field(default_factory=dict)
    _outbox: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    _requests: Iterator[int] = field(default_factory=itertools.count)
    _missed: int = 0
    _is_moving: bool = False  # from one replica of the service to another

    @property
    def is_connected(self) -> bool:
        """May a question be asked? During a move it is kept until the move is over."""
        return self._socket is not None or self._is_moving

    async def run(self) -> AsyncGenerator[schema.ModelResponse | ServiceUnavailable]:
        """Connect, and connect again, without end.

        Yields the model after each connection and the problem after each loss. The stream is read while the
        consumer waits for the next item, so the consumer must not wait for anything else. When one of several
        replicas sends us to another, that is no loss: the open questions are asked there again.
        """
        pause, longest = _RETRY_SECONDS
        moves = 0
        while True:
            connected_time: float | None = None
            is_moved = False
            try:
                model = await self._fetch_model()
                async with self._connect(model) as socket:
                    connected_time = time.monotonic()
                    yield model
                    async for text in socket:
                        self._receive(text)
                problem = ServiceUnavailable("lost", "the connection to the service was lost")
            except ServiceUnavailable as error:
                problem = error
            except (OSError, WebSocketException, ValueError) as error:
                problem = ServiceUnavailable(
                    "no-connection", f"no connection to the service: {type(error).__name__}"
                )
                is_moved = moves < _LIMIT_MOVES and _is_move(error)
            finally:
                self._hang_up(keep_questions=is_moved)
            if connected_time is not None and time.monotonic() - connected_time > _HEALTHY_SECONDS:
                pause, moves = _RETRY_SECONDS[0], 0
            if is_moved:
                moves += 1
                await asyncio.sleep(_MOVE_SECONDS)
                continue
            yield problem
            await asyncio.sleep(pause)
            pause = min(2 * pause, longest)

    async def ask(
        self,
        snapshot: Snapshot,
        *,
        threshold: float | None = None,
        limit: int = 1,
        pause_seconds: float | None = None,
    ) -> schema.Prediction:
        """Ask for the next hunk; raise ServiceUnavailable when there is no answer in time.

        `pause_seconds` is the time since the last change; None when the last change is surely finished."""
        if not self.is_connected:
            raise ServiceUnavailable("not-connected", "the service is not connected")
        request = next(self._requests)
        question = _Question(snapshot, threshold, limit, pause_seconds)
        waiting = _Waiting(question, asyncio.get_running_loop().create_future())
        self._waiting[request] = waiting
        if not self._is_moving:  # otherwise it is asked once the move is over
            self._put_question(request, question)
        sent = self._sent.get(snapshot.document)
        is_opened = sent is not None and sent.is_opened
        seconds = self.deadline_seconds if is_opened else max(self.deadline_seconds, _OPENING_SECONDS)
        try:
            done, _ = await asyncio.wait([waiting.future], timeout=seconds)
            if not done and waiting.is_repeated:  # the file is opened again first
                done, _ = await asyncio.wait([waiting.future], timeout=max(0.0, _OPENING_SECONDS - seconds))
            if not done:
                raise TimeoutError
            return await waiting.future
        except TimeoutError:
            self._miss()
            raise ServiceUnavailable(
                "deadline", "the service did not answer in time", Silence.DEADLINE
            ) from None
        finally:
            self._waiting.pop(request, None)
            waiting.future.cancel()

    def prepare(self, snapshot: Snapshot) -> None:
        """Send a document before anything is asked about it."""
        if self._socket is not None:
            self._put_changes(next(self._requests), snapshot)

    def close(self, document: str) -> None:
        """Let the service forget a document."""
        if self._sent.pop(document, None) is not None:
            self._put(schema.Close(document=document))

    async def report(self, event: str, count: int = 1) -> None:
        """Send feedback on suggestions. It may get lost."""
        if self.address is not None:
            body = json.dumps({"event": event, "count": count}).encode()
            try:
                await fetch(self.address, "/feedback", body=body, timeout_seconds=_MODEL_SECONDS)
            except ServiceUnavailable as error:
                _log.debug("feedback was lost: %s", error)

    # --- the connection ---

    async def _fetch_model(self) -> schema.ModelResponse:
        self.address = await self.locate()
        try:
            body = await fetch(self.address, "/model", timeout_seconds=_MODEL_SECONDS)
            return schema.read_model(body)
        except schema.OtherWireVersion as error:
            raise ServiceUnavailable("other-version", str(error)) from None
        except ValidationError:
            raise ServiceUnavailable("not-a-service", f"no Likewise service at {self.address.url}") from None

    @asynccontextmanager
    async def _connect(self, model: schema.ModelResponse) -> AsyncIterator[ClientConnection]:
        assert self.address is not None
        place: dict[str, Any] = {"unix": True, "path": self.address.socket} if self.address.socket else {}
        async with _Connect(
            "ws"
            + self.address.url.removeprefix("http")
            + f"/stream?wire={schema.WIRE_VERSION}&bundle={model.sha256}",
            additional_headers=self.address.headers,
            compression=None,  # on loopback it costs more than it saves
            max_size=2**26,
            open_timeout=_MODEL_SECONDS,
            ping_interval=_PING_SECONDS,
            ping_timeout=_PONG_SECONDS,
            close_timeout=1,
            proxy=None if self.address.is_local else True,
            **place,
        ) as socket:
            self._outbox = asyncio.Queue()
            self._sent.clear()
            self._missed = 0
            before, self._bundle = self._bundle, model.sha256
            self._socket = socket
            self._repeat_questions(is_same_bundle=before == model.sha256)
            sender = asyncio.create_task(self._send_all(socket, self._outbox))
            try:
                yield socket
            finally:
                self._socket = None
                sender.cancel()

    async def _send_all(self, socket: ClientConnection, outbox: asyncio.Queue[str]) -> None:
        """Send messages in the order in which they were put."""
        try:
            while True:
                await socket.send(await outbox.get())
        except WebSocketException:
            pass  # the reader of the socket notices it too
        except Exception as error:  # messages would be lost in silence: begin again with a new connection
            _log.error("sending failed: %s", describe_failure(error))
            socket.transport.abort()

    def _repeat_questions(self, *, is_same_bundle: bool) -> None:
        """Ask again, over a new connection, what another replica left unanswered."""
        self._is_moving = False
        if not is_same_bundle:  # those questions are in tokens that this one does not know
            reason = "the service has another model now"
            self._give_up_questions(ServiceUnavailable("other-bundle", reason, Silence.SUPERSEDED))
        for request, each in self._waiting.items():
            each.is_repeated = True
            self._put_question(request, each.question)

    def _hang_up(self, *, keep_questions: bool = False) -> None:
        self._socket = None
        self._sent.clear()
        self._is_moving = keep_questions
        if not keep_questions:
            self._give_up_questions(ServiceUnavailable("lost", "the connection to the service was lost"))

    def _give_up_questions(self, problem: ServiceUnavailable) -> None:
        waiting, self._waiting = self._waiting, {}
        for each in waiting.values():
            if not each.future.done():
                each.future.set_exception(problem)

    def _miss(self) -> None:
        self._missed += 1
        if self._missed >= _LIMIT_MISSED and self._socket is not None:
            _log.warning("the service does not answer: connecting again")
            self._socket.transport.abort()

    # --- messages to the service ---

    def _put(self, message: Any) -> None:
        self._outbox.put_nowait(message.model_dump_json())

    def _put_question(self, request: int, question: _Question) -> None:
        snapshot = question.snapshot
        sent = self._put_changes(request, snapshot)
        self._put(
            schema.Predict(
                document=snapshot.document,
                version=sent.version,
                cursor=snapshot.cursor,
                prefix=snapshot.prefix,
                until="hunk",
                threshold=question.threshold,
                limit=question.limit,
                bursts=list(snapshot.bursts),
                pause=None if question.pause_seconds is None else int(1000 * question.pause_seconds),
                request=request,
            )
        )

    def _put_changes(self, request: int, snapshot: Snapshot) -> _SentDocument:
        """Open the document if need be, and let the service keep the first n edits and append the others."""
        document = snapshot.document
        sent = self._sent.get(document)
        if sent is None or (sent.state is not snapshot.state and sent.state != snapshot.state):
            sent = _SentDocument(snapshot.state, (), 0 if sent is None else sent.version + 1, request)
            self._sent[document] = sent
            # Our own tokens: there is nothing to validate, and there may be many.
            opening = schema.Open.model_construct(
                document=document, version=sent.version, bundle=self._bundle, state=list(sent.state)
            )
            self._put(opening)
            self._close_oldest()
        self._sent.move_to_end(document)
        keep = common_length(sent.edits, snapshot.edits)
        if keep < len(sent.edits) or keep < len(snapshot.edits):
            sent.version += 1
            append = [schema.wire_edit(edit) for edit in snapshot.edits[keep:]]
            self._put(schema.Edits(document=document, version=sent.version, keep=keep, append=append))
            sent.edits = snapshot.edits
        return sent

    def _close_oldest(self) -> None:
        while len(self._sent) > _LIMIT_DOCUMENTS:
            self.close(next(iter(self._sent)))

    # --- messages from the service ---

    def _receive(self, text: str | bytes) -> None:
        self._missed = 0
        try:
            message = schema.server_message.validate_json(text)
        except ValidationError as error:
            _log.warning("the service said something unknown: %d problems", error.error_count())
            return
        if isinstance(message, schema.Opened):
            if (sent := self._sent.get(message.document)) is not None:
                sent.is_opened = True
        elif isinstance(message, schema.Prediction):
            self._resolve(message)
        elif isinstance(message, schema.Reopen):
            self._reopen(message)
        else:
            self._fail(message)

    def _resolve(self, message: schema.Prediction) -> None:
        waiting = self._waiting.get(message.request) if message.request is not None else None
        if waiting is not None and not waiting.future.done():
            waiting.future.set_result(message)

    def _reopen(self, message: schema.Reopen) -> None:
        """Send the whole document again, once for each question: the service no longer has it."""
        _log.debug("reopen: %s", message.reason)
        sent = self._sent.get(message.document)
        if sent is not None and (message.request is None or message.request >= sent.first_request):
            del self._sent[message.document]
        waiting = self._waiting.get(message.request) if message.request is not None else None
        if message.request is None or waiting is None or waiting.future.done():
            return
        if waiting.is_repeated:
            problem = ServiceUnavailable("reopen", "the service lost the document twice", Silence.INTERNAL)
            waiting.future.set_exception(problem)
            return
        waiting.is_repeated = True
        self._put_question(message.request, waiting.question)

    def _fail(self, message: schema.StreamError) -> None:
        _log.warning("the service refused: %s (%s)", message.code, message.message)
        if message.document is not None:
            self._sent.pop(message.document, None)
        waiting = self._waiting.get(message.request) if message.request is not None else None
        if waiting is not None and not waiting.future.done():
            problem = ServiceUnavailable(message.code, message.message, Silence(message.code))
            waiting.future.set_exception(problem)
        if message.code == "other-bundle" and self._socket is not None:
            self._socket.transport.abort()  # begin again with the tokenizer of the other model


def _is_move(error: Exception) -> bool:
    """Tell whether the service closed the stream on purpose, so that we connect to another replica."""
    if isinstance(error, ConnectionClosed):
        return error.rcvd is not None and error.rcvd.code == _SERVICE_RESTART
    return isinstance(error, InvalidStatus) and _read_code(error.response.body) in ("leaving", "other-bundle")


def _read_code(body: bytes | bytearray | None) -> str:
    try:
        return schema.Problem.model_validate_json(bytes(body or b"")).code
    except ValidationError:
        return ""
