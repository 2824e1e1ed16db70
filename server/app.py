"""create_app: the routes of the service, and the HTTP status of each error."""

import asyncio
import contextlib
import functools
import json
import logging
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Request, WebSocket, WebSocketDisconnect
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from fastapi.routing import APIRoute
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.exceptions import HTTPException

from model.inference.predictor import Predictor
from server.bundles import BundleWatch
from server.connections import POLICY_VIOLATION, SERVICE_RESTART
from server.engine import Engine
from server.heap import trim_heap
from server.metrics import MeasuredRequests
from server.scheduler import Overloaded
from server.schema import (
    LARGE_BYTES,
    OTHER_WIRE_VERSION,
    WIRE_VERSION,
    Feedback,
    ModelResponse,
    PredictRequest,
    PredictResponse,
    Problem,
    Status,
    TextRequest,
    TokenRequest,
    explain_errors,
    explain_wire_version,
)
from server.security import Guard, user_of
from server.settings import Settings
from server.stream import Connection
from server.suggest import Refused, answer_request, check_bundle, limit_edits
from server.users import TooMuch

_log = logging.getLogger(__name__)

_SWEEP_SECONDS = 10.0
_BYTES_OF_NUMBER = 36  # in a list: a reference and the number itself
_WATCH_SECONDS = 2.0  # reads one small file
# Our own page: the usual ones load their scripts from elsewhere, and this machine may be offline for a reason.
_DOCS = Path(__file__).with_name("docs.html")
_DOCS_POLICY = "default-src 'none'; connect-src 'self'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"

STATUS = {
    "too-much-work": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "text-too-long": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "state-too-long": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "other-bundle": HTTPStatus.CONFLICT,
    OTHER_WIRE_VERSION: HTTPStatus.CONFLICT,
    "overloaded": HTTPStatus.SERVICE_UNAVAILABLE,
    "leaving": HTTPStatus.SERVICE_UNAVAILABLE,
    "too-many-connections": HTTPStatus.TOO_MANY_REQUESTS,
    "too-many-requests": HTTPStatus.TOO_MANY_REQUESTS,
}
_PASSING = ("leaving", "other-bundle")  # problems of one replica: the next one may do better
_OTHERWISE = HTTPStatus.UNPROCESSABLE_ENTITY  # for requests that are wrong in themselves

_SENTENCES = {
    HTTPStatus.BAD_REQUEST: ("invalid-request", "The body cannot be read as JSON."),
    HTTPStatus.NOT_FOUND: ("not-found", "There is nothing at this address; see /docs."),
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: ("body-too-large", "The body is larger than this service takes."),
    HTTPStatus.METHOD_NOT_ALLOWED: ("method-not-allowed", "This address has other methods; see /docs."),
}


def make_problem(
    code: str, message: str, status: int | None = None, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    body = Problem(code=code, message=message).model_dump()
    return JSONResponse(body, status or STATUS.get(code, _OTHERWISE), headers=headers)


def _document(*statuses: HTTPStatus) -> dict[int | str, dict[str, Any]]:
    return {int(status): {"model": Problem, "description": status.phrase} for status in statuses}


_GUARDED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
_IN_BODY = (HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY)


def create_app(predictor: Predictor, settings: Settings, watch: type[BundleWatch] | None = None) -> FastAPI:
    """Make the app. With a `watch` it loads the user's own bundle whenever that changes."""
    engine = Engine(predictor, settings)

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(repeat(_Sweep(engine).run, _SWEEP_SECONDS))]
        if watch is not None:
            # The engine's predictor, not ours: this function would keep a replaced one for ever.
            watching = watch(settings, engine.predictor.bundle.directory, engine.replace)
            tasks.append(asyncio.create_task(repeat(watching.look, _WATCH_SECONDS)))
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            engine.scheduler.close()

    app = FastAPI(
        title="Likewise",
        summary="You changed it there; likewise here.",
        version="1",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        responses=_document(*_GUARDED),
    )
    app.state.engine = engine
    _add_errors(app)
    _add_predict(app, engine)
    _add_status_routes(app, engine)
    _add_stream(app, engine)
    app.add_middleware(MeasuredRequests, metrics=engine.metrics)
    app.add_middleware(Guard, settings=settings, users=engine.users)
    return app


async def repeat(work: Callable[[], Awaitable[None]], seconds: float) -> None:
    """Do work again and again. One failure must not be the end of it."""
    while True:
        await asyncio.sleep(seconds)
        try:
            await work()
        except Exception:
            _log.exception("background work failed")


class _Sweep:
    """Ends what is idle or revoked, and gives memory back."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._ended = 0  # sessions, at the last sweep

    async def run(self) -> None:
        engine = self._engine
        engine.sessions.trim()
        if engine.users is not None:
            await engine.connections.close_revoked(engine.users)
        if len(engine.sessions) or engine.sessions.ended > self._ended:
            self._ended = engine.sessions.ended
            await asyncio.to_thread(trim_heap)


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(Refused)
    async def refused(_: Request, error: Refused) -> Response:
        return make_problem(error.code, error.message)

    @app.exception_handler(Overloaded)
    async def overloaded(_: Request, error: Overloaded) -> Response:
        return make_problem("overloaded", f"{error}: try again in a second.", headers={"Retry-After": "1"})

    @app.exception_handler(TooMuch)
    async def too_much(_: Request, error: TooMuch) -> Response:
        return make_problem("too-many-requests", str(error), headers={"Retry-After": "1"})

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        if "json" not in request.headers.get("content-type", ""):
            return make_problem("invalid-request", "Send JSON, and 'Content-Type: application/json' with it.")
        return make_problem("invalid-request", explain_errors(error.errors()))

    @app.exception_handler(HTTPException)
    async def other(_: Request, error: HTTPException) -> Response:
        code, message = _SENTENCES.get(
            HTTPStatus(error.status_code), ("invalid-request", "Not a request we know.")
        )
        return make_problem(code, message, error.status_code, error.headers)

    @app.exception_handler(Exception)
    async def internal(_: Request, error: Exception) -> Response:
        _log.error("request failed", exc_info=error)
        return make_problem("internal", "The service failed.", HTTPStatus.INTERNAL_SERVER_ERROR)


def _add_status_routes(app: FastAPI, engine: Engine) -> None:
    metrics = engine.metrics

    @app.get("/healthz", tags=["status"], summary="The process is alive")
    async def healthz() -> Status:
        return Status()

    @app.get(
        "/readyz",
        tags=["status"],
        summary="It will answer in time",
        responses=_document(HTTPStatus.SERVICE_UNAVAILABLE),
    )
    async def readyz() -> Status:
        if engine.scheduler.is_full:
            raise Overloaded("Too much is waiting")
        return Status()

    @app.get("/model", tags=["status"], summary="The bundle in use, with its tokenizer")
    async def model() -> ModelResponse:
        predictor, bundle = engine.predictor, engine.predictor.bundle
        tokenizer = bundle.require_tokenizer()
        return ModelResponse(
            name=bundle.name,
            sha256=bundle.sha256,
            vocabulary_size=len(tokenizer),
            limit_tokens=engine.settings.limit_tokens,
            limit_edits=limit_edits(predictor),
            calibration=bundle.calibration.to_json(),
            provider=predictor.provider,
            tokenizer=tokenizer.json,
        )

    @app.get("/metrics", tags=["status"], summary="For Prometheus", response_class=PlainTextResponse)
    async def read_metrics() -> Response:
        return Response(await engine.export_metrics(), media_type=CONTENT_TYPE_LATEST)

    @app.post(
        "/feedback", tags=["predict"], summary="What became of suggestions", responses=_document(*_IN_BODY)
    )
    async def feedback(report: Feedback) -> Status:
        metrics.feedback.labels(report.event).inc(report.count)
        return Status()

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(
            _DOCS.read_text(encoding="utf-8"), headers={"Content-Security-Policy": _DOCS_POLICY}
        )


class _PatientRequest(Request):
    """A request whose large body is read in a thread."""

    async def json(self) -> Any:
        body = await self.body()
        if len(body) <= LARGE_BYTES:
            return json.loads(body)
        engine: Engine = self.app.state.engine
        return await engine.scheduler.read(lambda: json.loads(body))


class _PatientRoute(APIRoute):
    """A route that keeps the event loop free while a large body is read."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_patiently(request: Request) -> Response:
            return await handle(_PatientRequest(request.scope, request.receive))

        return handle_patiently


def _add_predict(app: FastAPI, engine: Engine) -> None:
    router = APIRouter(route_class=_PatientRoute)

    @router.post(
        "/predict",
        tags=["predict"],
        summary="The next edit, from a text or tokens and what was done to them",
        responses=_document(
            *_IN_BODY, HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE
        ),
    )
    async def predict(request: PredictRequest, http: Request) -> PredictResponse:
        with engine.requests.hold(user_of(http.scope)):
            return await _answer(engine, request)

    app.include_router(router)


async def _answer(engine: Engine, request: TextRequest | TokenRequest) -> PredictResponse:
    """Answer a request. All of it is scheduled as an encoding: it never delays a stream."""
    work = functools.partial(answer_request, engine.predictor, request, engine.settings)
    done = await engine.scheduler.encode(work, _count_bytes(request))
    response, timings = done.value, done.value.timings
    timings.waiting = 1000 * done.waiting_seconds
    metrics = engine.metrics
    metrics.encode.observe(timings.encode / 1000)
    metrics.step.observe(timings.step / 1000)
    metrics.predict.observe(timings.predict / 1000)
    metrics.count_answer(len(response.suggestions), response.silence)
    _log.debug("predicted", extra={"silence": response.silence, "timings": timings.model_dump()})
    return response


def _count_bytes(request: TextRequest | TokenRequest) -> int:
    """Estimate the memory that a request takes while it waits."""
    if isinstance(request, TokenRequest):
        return _BYTES_OF_NUMBER * len(request.state)
    return sys.getsizeof(request.text) + sum(sys.getsizeof(edit.text) for edit in request.edits)


def _add_stream(app: FastAPI, engine: Engine) -> None:
    @app.websocket("/stream")
    async def stream(socket: WebSocket) -> None:
        theirs = socket.query_params.get("wire", str(WIRE_VERSION))
        if theirs != str(WIRE_VERSION):
            await _deny(socket, OTHER_WIRE_VERSION, explain_wire_version(theirs))
            return
        if engine.connections.is_leaving:
            await _deny(socket, "leaving", "This replica ends: connect again.")
            return
        try:
            check_bundle(socket.query_params.get("bundle", engine.predictor.bundle.sha256), engine.predictor)
            with engine.connections.hold(socket, user_of(socket.scope)):
                await socket.accept()
                await _converse(engine, socket)
        except Refused as refused:
            await _deny(socket, refused.code, refused.message)
        except TooMuch as error:
            await _deny(socket, "too-many-connections", str(error))


async def _deny(socket: WebSocket, code: str, message: str) -> None:
    """Refuse a stream with a status, or with a close code where the server in front can send no status."""
    if "websocket.http.response" in socket.scope.get("extensions", {}):
        await socket.send_denial_response(make_problem(code, message))
        return
    await socket.accept()  # a client would not see the code of a stream that is closed before
    await socket.close(SERVICE_RESTART if code in _PASSING else POLICY_VIOLATION, code)


async def _converse(engine: Engine, socket: WebSocket) -> None:
    async def send(text: str) -> None:
        # Once the client is gone, the message has no reader.
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            await socket.send_text(text)

    connection = Connection(engine, send)
    try:
        while True:
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            await connection.receive(message.get("text") or "")
    finally:
        await connection.close()
