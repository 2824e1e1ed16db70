"""`likewise-lsp` speaks the language server protocol over stdin and stdout; `likewise-lsp forget` forgets recordings."""

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
import logging
import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lsp.server import Server

_LIMIT_MESSAGE_BYTES = 2**26


def main() -> int:
    if sys.argv[1:2] == ["forget"]:
        from lsp.forget import main as forget

        return forget(sys.argv[2:])
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    # These write whole messages into the log, and with them the user's text.
    for name in ("pygls", "websockets", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    from lsp.server import create_server

    server = create_server()
    if os.name == "nt":
        try:
            server.start_io()
        finally:
            server.files.kill()
        return 0
    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt, asyncio.CancelledError):
        asyncio.run(_serve(server))
    return 0


async def _serve(server: "Server") -> None:
    """As pygls does it, but reading from the event loop: three threads less for each message."""
    from pygls.io_ import StdoutWriter, run_async

    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=_LIMIT_MESSAGE_BYTES)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    server.protocol.set_writer(StdoutWriter(sys.stdout.buffer))
    task = asyncio.current_task()
    assert task is not None
    loop.add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        with contextlib.suppress(asyncio.IncompleteReadError):  # the editor went in the middle of a message
            await run_async(
                threading.Event(), reader, server.protocol, error_handler=server.report_server_error
            )
    finally:
        await server.close()


if __name__ == "__main__":
    sys.exit(main())
