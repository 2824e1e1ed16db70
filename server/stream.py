"""Connection: one client of the stream, with any number of documents. See `server.schema` for the protocol."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable

from pydantic import BaseModel, ValidationError

from model.inference.history import AnyHistory
from model.silence import Silence
from server.engine import Engine
from server.scheduler import Overloaded
from server.schema import (
    LARGE_BYTES,
    ClientMessage,
    Close,
    Edits,
    Open,
    Opened,
    Predict,
    Prediction,
    Reopen,
    StreamError,
    Timings,
    client_message,
    explain_errors,
)
from server.sessions import Session
from server.suggest import (
    Outcome,
    Refused,
    answer_stream,
    can_do_without_network,
    check_bundle,
    check_state,
    look_at_cursor,
    needs_encoding,
    read_edits,
    sync_history,
)

_log = logging.getLogger(__name__)

# The window of a long file is encoded after so much quiet: the next question that comes would wait for it.
_QUIET_SECONDS = 0.3


class Connection:
    """The documents of one client."""

    def __init__(self, engine: Engine, send: Callable[[str], Awaitable[None]]) -> None:
        self._engine = engine
        self._send_text = send
        self._sending = asyncio.Lock()
        self._documents: dict[str, Session] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def receive(self, text: str) -> None:
        """Take one message. Its work goes on in the background; order is kept within a document."""
        try:
            if len(text) > LARGE_BYTES:
                message, session = await self._engine.scheduler.read(lambda: self._read(text))
            else:
                message, session = self._read(text)
        except ValidationError as error:
            await self._send(
                StreamError(code="invalid-message", message=explain_errors(error.errors(include_input=False)))
            )
            return
        try:
            if isinstance(session, Refused):
                raise session
            await self._dispatch(message, session)
        except Refused as refused:
            await self._fail(message.document, refused, version_of(message), request_of(message))

    def _read(self, text: str) -> tuple[ClientMessage, Session | Refused | None]:
        """Read a message. For an `open`, also make its session, which holds the state in far less memory."""
        message = client_message.validate_json(text)
        if not isinstance(message, Open):
            return message, None
        try:
            check_bundle(message.bundle, self._engine.predictor)
            check_state(message.state, self._engine.predictor, self._engine.settings)
        except Refused as refused:
            return message, refused
        session = Session(message.document, message.version, message.state)
        message.state.clear()
        return message, session

    async def close(self) -> None:
        """Forget all documents; work that still waits is not done."""
        for session in self._documents.values():
            self._engine.sessions.end(session)
        self._documents.clear()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _dispatch(self, message: ClientMessage, opened: Session | None) -> None:
        if isinstance(message, Open):
            assert opened is not None
            check_bundle(message.bundle, self._engine.predictor)  # it may be another one by now
            await self._open(opened)
        elif isinstance(message, Close):
            await self._end(message.document)
        elif (session := self._find(message.document)) is None:
            await self._reopen(message, "unknown-document")
        elif isinstance(message, Edits):
            await self._edit(session, message)
        else:
            await self._ask(session, message)

    async def _open(self, session: Session) -> None:
        engine = self._engine
        await self._end(session.document)
        self._forget_dead()
        if len(self._documents) >= engine.settings.limit_documents:
            limit = engine.settings.limit_documents
            raise Refused("too-many-documents", f"A connection has at most {limit} documents: close some.")
        self._documents[session.document] = session
        engine.sessions.add(session)
        self._serve(session)

    async def _edit(self, session: Session, message: Edits) -> None:
        if message.version < session.version or message.keep > len(session.edits):
            await self._reopen(message, "version-gap")
            return
        # The history takes them in when it is asked: until then they may change again at the next keystroke.
        edits = read_edits(message.append, self._engine.predictor, message.keep)
        session.change(message.version, message.keep, edits)

    async def _ask(self, session: Session, message: Predict) -> None:
        if message.version != session.version:
            await self._reopen(message, "version-gap")
            return
        overtaken, session.waiting, session.asked = session.waiting, message, message
        self._serve(session)
        if overtaken is not None:
            await self._send_silence(overtaken, Silence.SUPERSEDED)

    def _find(self, document: str) -> Session | None:
        session = self._documents.get(document)
        if session is None or not session.is_alive:
            return None
        self._engine.sessions.touch(session)
        return session

    def _forget_dead(self) -> None:
        """Forget the sessions that ended, except those whose task has yet to tell the client."""
        self._documents = {
            name: session
            for name, session in self._documents.items()
            if session.is_alive or session.is_served
        }

    def _serve(self, session: Session) -> None:
        if not session.is_served:
            session.is_served = True
            task = asyncio.create_task(self._run_session(session))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _run_session(self, session: Session) -> None:
        """Do the session's work in order, until none is left."""
        question: Predict | None = None
        try:
            while session.is_alive and session.has_work:
                if session.history is None:
                    await self._encode(session)
                elif session.waiting is not None:
                    question, session.waiting = session.waiting, None
                    await self._step(session, session.history, question)
                else:
                    await self._encode_window(session, session.history)
        except Refused as refused:
            await self._fail_session(session, question, refused)
        except Overloaded as error:
            await self._fail_session(session, question, Refused("overloaded", f"{error}."))
        except Exception:  # it must end this session and no other
            _log.exception("session failed", extra={"session": session.number})
            await self._fail_session(session, question, Refused("internal", "The service failed."))
        finally:
            session.is_served = False
        is_evicted = not session.is_alive and self._documents.get(session.document) is session
        if is_evicted and session.has_work:  # the client waits for it to be opened, or for an answer
            await self._reopen(session.waiting or session, "expired")

    async def _encode(self, session: Session) -> None:
        engine = self._engine
        predictor = engine.predictor  # the session ends with it

        def encode() -> AnyHistory | None:
            state = session.state  # taken first: a session that ends drops it
            if not session.is_alive:  # closed while it waited
                return None
            with engine.metrics.encode.time():
                return predictor.open(state)

        done = await engine.scheduler.encode(encode)
        if done.value is not None and session.is_alive:
            session.begin(done.value)
            engine.sessions.trim()
            await self._send(Opened(document=session.document, version=session.opened_version))

    async def _encode_window(self, session: Session, history: AnyHistory) -> None:
        """Encode the window of a long file where the user is now, so that the next answer has the network's opinion."""
        session.is_window_due = False
        if needs_encoding(history):
            with self._engine.metrics.encode.time():
                await self._engine.scheduler.encode(history.predict)

    def _encode_when_quiet(self, session: Session, question: Predict) -> None:
        """Encode the window after a pause, unless another question has come by then."""

        def encode() -> None:
            if session.is_alive and session.asked is question:
                session.is_window_due = True
                self._serve(session)

        asyncio.get_running_loop().call_later(_QUIET_SECONDS, encode)

    async def _step(self, session: Session, history: AnyHistory, question: Predict) -> None:
        engine = self._engine
        predictor = engine.predictor  # the session ends with it
        keep, append = session.take_changes()
        timings = Timings()
        is_plain = can_do_without_network(predictor, question)

        def take_in() -> AnyHistory | None:
            began = time.perf_counter()
            sync_history(history, keep, append)
            look_at_cursor(history, question.cursor, question.prefix)
            timings.step = 1000 * (time.perf_counter() - began)
            return None if needs_encoding(history) else history

        def step() -> Outcome | None:
            if not needs_encoding(history):
                return answer()
            return answer(with_network=False) if is_plain else None

        def answer(*, with_network: bool = True) -> Outcome:
            began = time.perf_counter()
            result = answer_stream(predictor, history, question, with_network=with_network)
            timings.predict = 1000 * (time.perf_counter() - began)
            return result

        done = await engine.scheduler.step(step, take_in)
        timings.waiting = 1000 * done.waiting_seconds
        outcome = done.value
        if outcome is None:  # the window of a long file moves: that is an encoding
            encoded = await engine.scheduler.encode(answer)
            timings.waiting += 1000 * encoded.waiting_seconds
            outcome = encoded.value
        engine.metrics.step.observe(timings.step / 1000)
        engine.metrics.predict.observe(timings.predict / 1000)
        await self._send_prediction(question, outcome, timings)
        if needs_encoding(history):  # it was answered without the network
            self._encode_when_quiet(session, question)

    async def _send_prediction(self, question: Predict, outcome: Outcome, timings: Timings) -> None:
        self._engine.metrics.count_answer(len(outcome.suggestions), outcome.silence)
        if _log.isEnabledFor(logging.DEBUG):
            counts = {"suggestions": len(outcome.suggestions), "silence": outcome.silence}
            _log.debug("prediction", extra=counts | {"timings": timings.model_dump()})
        await self._send(
            Prediction(
                document=question.document,
                version=question.version,
                suggestions=outcome.suggestions,
                silence=outcome.silence,
                timings=timings,
                request=question.request,
            )
        )

    async def _send_silence(self, question: Predict, reason: Silence) -> None:
        await self._send_prediction(question, Outcome([], reason), Timings())

    async def _end(self, document: str) -> None:
        """End a session as its client wishes. A question that still waits is answered, so that no client waits for ever."""
        session = self._documents.pop(document, None)
        if session is None:
            return
        self._engine.sessions.end(session)
        question, session.waiting = session.waiting, None
        if question is not None:
            await self._send_silence(question, Silence.SUPERSEDED)

    async def _reopen(self, message: Edits | Predict | Session, reason: str) -> None:
        session = self._documents.get(message.document)
        if session is not None:
            self._engine.sessions.end(session)
            question, session.waiting = session.waiting, None
            if question is not None and question is not message:
                await self._send_silence(question, Silence.SUPERSEDED)
            del self._documents[message.document]
        await self._send(
            Reopen(
                document=message.document, version=message.version, reason=reason, request=request_of(message)
            )
        )

    async def _fail(self, document: str, why: Refused, version: int | None, request: int | None) -> None:
        """End a document's session and tell the client why."""
        await self._end(document)
        await self._send(
            StreamError(
                code=why.code, message=why.message, document=document, version=version, request=request
            )
        )

    async def _fail_session(self, session: Session, question: Predict | None, why: Refused) -> None:
        if self._documents.get(session.document) is session:
            await self._fail(session.document, why, (question or session).version, request_of(question))
        elif question is not None:  # the client has closed it, or opened it again
            await self._send_silence(question, Silence.SUPERSEDED)

    async def _send(self, message: BaseModel) -> None:
        async with self._sending:
            await self._send_text(message.model_dump_json())


def request_of(message: object) -> int | None:
    return getattr(message, "request", None)


def version_of(message: object) -> int | None:
    return getattr(message, "version", None)
