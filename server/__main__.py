"""Load the bundle, run uvicorn. On stdout goes one line, when we are ready: {"event": "ready", "address": ..., "pid": ...}."""

import os
import sys

# The current folder is the user's project. It leaves the path before any other import: a numpy.py in it must not run.
# Behind the standard library stand the interpreter's own folders; they stay, and so does the folder of our packages.
if not os.path.samefile(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), os.curdir):
    for path in sys.path[:]:
        if path == os.path.dirname(os.__file__):
            break
        if path == "" or (os.path.exists(path) and os.path.samefile(path, os.curdir)):
            sys.path.remove(path)

import asyncio
import contextlib
import gc
import json
import logging
import socket
import time

import uvicorn
from fastapi import FastAPI

from model.inference.bundle import BundleError
from model.inference.graph_runner import explain_cpu
from server.app import create_app
from server.bundles import BundleWatch, load_first
from server.http_protocol import choose_protocol
from server.logs import set_up_logs
from server.parent import is_running
from server.settings import Settings, read_settings

_log = logging.getLogger("server")

_PARENT_CHECK_SECONDS = 2.0


def main() -> int:
    began = time.perf_counter()
    try:
        settings = read_settings(sys.argv[1:])
    except ValueError as error:
        print(f"server: {error}", file=sys.stderr)
        return 2
    set_up_logs(settings.log_level)
    try:
        listener = _listen(settings)
    except OSError as error:
        print(
            f"server: cannot listen on {_place_of(settings)}: {error.strerror}",
            file=sys.stderr,
        )
        return 1
    try:
        return _serve(settings, listener, began)
    finally:
        if settings.socket:
            with contextlib.suppress(OSError):  # the client may have removed it
                os.unlink(settings.socket)


def _serve(settings: Settings, listener: socket.socket, began: float) -> int:
    try:
        app = create_app(load_first(settings), settings, watch=BundleWatch)
    except (BundleError, RuntimeError, ValueError) as error:
        print(f"server: {error}", file=sys.stderr)
        return 1
    if (sentence := explain_cpu(app.state.engine.predictor.provider)) is not None:
        _log.warning("no GPU", extra={"detail": sentence})
    gc.collect()
    gc.freeze()  # the model stays for long: later collections need not walk it
    with contextlib.suppress(KeyboardInterrupt):  # uvicorn ends in order and then says it again
        Server(_configure(app, settings), settings, listener, began).run(sockets=[listener])
    return 0


def _place_of(settings: Settings) -> str:
    return settings.socket or f"{settings.host} port {settings.port}"


def _listen(settings: Settings) -> socket.socket:
    """Listen before the bundle is loaded: a port that is taken is reported at once."""
    if settings.socket:
        if not hasattr(socket, "AF_UNIX"):
            raise OSError(0, "this system has no socket files")
        return _listen_on_file(settings.socket)
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    if os.name != "nt":  # there it would let two services share a port
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((settings.host, settings.port))
    return listener


def _listen_on_file(path: str) -> socket.socket:
    """Listen on a socket file that only its owner may use."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        listener.bind(path)
    finally:
        os.umask(mask)
    return listener


def _configure(app: FastAPI, settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=choose_protocol(settings.limit_request_seconds),
        log_config=None,
        access_log=False,
        server_header=False,
        ws_max_size=settings.limit_body_bytes,
        ws_max_queue=2,  # of messages that were received and not read yet: each may be large
        ws_per_message_deflate=False,  # on loopback it costs more than it saves
        timeout_graceful_shutdown=2,
    )


class Server(uvicorn.Server):
    """Reports when and where it is ready, and ends when its parent has ended."""

    def __init__(
        self, config: uvicorn.Config, settings: Settings, listener: socket.socket, began: float
    ) -> None:
        super().__init__(config)
        self._settings = settings
        self._listener = listener
        self._began = began

    async def main_loop(self) -> None:
        self._announce()
        await super().main_loop()

    def _announce(self) -> None:
        """Say that we are ready. Not during the startup: older versions of uvicorn do not shut down after a signal then."""
        predictor = self.config.app.state.engine.predictor  # type: ignore[union-attr]
        host = f"[{self._settings.host}]" if ":" in self._settings.host else self._settings.host
        address = (
            "http://localhost"
            if self._settings.socket
            else f"http://{host}:{self._listener.getsockname()[1]}"
        )
        seconds = round(time.perf_counter() - self._began, 3)
        _log.info(
            "ready",
            extra={
                "address": address,
                "provider": predictor.provider,
                "bundle": predictor.bundle.sha256,
                "seconds": seconds,
            },
        )
        print(json.dumps({"event": "ready", "address": address, "pid": os.getpid()}), flush=True)
        if self._settings.parent_pid:
            self._watching = asyncio.create_task(self._watch_parent())

    async def _watch_parent(self) -> None:
        while is_running(self._settings.parent_pid):
            await asyncio.sleep(_PARENT_CHECK_SECONDS)
        _log.info("parent is gone")
        self.should_exit = True


if __name__ == "__main__":
    sys.exit(main())
