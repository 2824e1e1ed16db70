"""The fast path around pygls: every use of its private members is in this file.

pygls converts each message to typed objects and reads stdin in a thread. Both cost more than a keystroke may.
Here a didChange notification is taken from its JSON as it came, notifications that are plain JSON leave
without a converter, and the event loop itself reads stdin. pygls also keeps its own copy of each text, which
counts lines differently: here it is never made.
"""

import asyncio
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterable
from typing import Any, NamedTuple
from typing import Protocol as Interface

from lsprotocol import types
from pygls.exceptions import FeatureNotificationError
from pygls.io_ import StdoutWriter, run_async
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method
from pygls.protocol.json_rpc import JsonRPCNotification

_LIMIT_MESSAGE_BYTES = 2**26


class Documents(Interface):
    """The owner of the open documents' texts."""

    def open(self, uri: str, language: str, version: int, text: str) -> None: ...

    def change(
        self, uri: str, events: Iterable[types.TextDocumentContentChangeEvent], version: int | None
    ) -> None: ...

    def lose(self, uri: str) -> None: ...

    def close(self, uri: str) -> None: ...

    async def stop(self) -> None: ...

    def kill(self) -> None: ...


class _RawChange(NamedTuple):
    """A didChange notification as it came."""

    data: dict[str, Any]


class FastProtocol(LanguageServerProtocol):
    """Passes documents to their owner in the order of arrival: pygls calls these methods first."""

    _server: "FastServer"

    def structure_message(self, data: dict[str, Any]) -> Any:
        if "jsonrpc" not in data:
            return data
        if "id" not in data:
            method = data.get("method")
            if method == types.TEXT_DOCUMENT_DID_CHANGE:
                return _RawChange(data)
            # Emacs's Copilot client sends acceptance as a notification, which the protocol does not know.
            if method == types.WORKSPACE_EXECUTE_COMMAND:
                return self._converter.structure(data, JsonRPCNotification)
        return super().structure_message(data)

    def handle_message(self, message: Any) -> None:
        if not isinstance(message, _RawChange):
            super().handle_message(message)
        elif not self._shutdown:
            self._handle_change(message.data)

    def _handle_change(self, data: dict[str, Any]) -> None:
        uri = ""
        try:
            params = data["params"]
            document = params["textDocument"]
            uri, version = str(document["uri"]), document.get("version")  # some editors send null
            events = [_read_event(event) for event in params["contentChanges"]]
            self._server.files.change(uri, events, None if version is None else int(version))
        except Exception as error:  # the next message must be read, whatever failed in this one
            self._server.report_server_error(error, FeatureNotificationError)
            self._server.files.lose(uri)

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        self._server.files.open(document.uri, document.language_id, document.version, document.text)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Announces that the server wants changes; `_handle_change` takes them."""

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        self._server.files.close(params.text_document.uri)


class FastServer(LanguageServer):
    """A language server whose documents belong to `files`."""

    files: Documents

    def __init__(self, name: str, version: str) -> None:
        super().__init__(name, version, protocol_cls=FastProtocol)

    def notify_plain(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification whose parameters are plain JSON already."""
        self.protocol._send_data({"jsonrpc": "2.0", "method": method, "params": params})


def run(server: FastServer) -> None:
    """Serve over stdin and stdout until the editor ends the conversation."""
    if os.name == "nt":  # its event loop cannot read a pipe that it did not make
        try:
            server.start_io()
        finally:
            server.files.kill()
        return
    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt, asyncio.CancelledError):
        asyncio.run(_serve(server))


async def _serve(server: FastServer) -> None:
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
        await server.files.stop()


def _read_event(event: dict[str, Any]) -> types.TextDocumentContentChangeEvent:
    """Convert one change of a didChange notification."""
    changed = event.get("range")
    if changed is None:
        return types.TextDocumentContentChangeWholeDocument(text=event["text"])
    start, end = (
        types.Position(side["line"], side["character"]) for side in (changed["start"], changed["end"])
    )
    return types.TextDocumentContentChangePartial(range=types.Range(start, end), text=event["text"])
