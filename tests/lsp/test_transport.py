"""The private members of pygls that the fast path uses still exist and still do what it relies on."""

import asyncio
import json
import threading
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types
from lsprotocol.converters import get_converter
from pygls.io_ import run_async
from pygls.protocol.json_rpc import JsonRPCNotification, JsonRPCProtocol

from lsp.transport import FastServer, _read_event

URI = "file:///work/a.py"
OPEN = {"textDocument": {"uri": URI, "languageId": "python", "version": 1, "text": "a = 1\n"}}
CONVERTER = get_converter()


class Notes:
    """An owner of documents that writes down what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []

    def open(self, uri: str, language: str, version: int, text: str) -> None:
        self.told.append(("open", uri, language, version, text))

    def change(
        self, uri: str, events: Iterable[types.TextDocumentContentChangeEvent], version: int | None
    ) -> None:
        self.told.append(("change", uri, list(events), version))
        if version == 13:
            raise RuntimeError("unlucky")

    def lose(self, uri: str) -> None:
        self.told.append(("lose", uri))

    def close(self, uri: str) -> None:
        self.told.append(("close", uri))

    async def stop(self) -> None: ...

    def kill(self) -> None: ...


class Output:
    def __init__(self) -> None:
        self.written = b""

    def write(self, data: bytes) -> None:
        self.written += data

    def close(self) -> None: ...


class NotedServer(FastServer):
    """A server that writes down its documents, its output and its errors."""

    def __init__(self) -> None:
        super().__init__("test", "1")
        self.files: Notes = Notes()
        self.output = Output()
        self.errors: list[str] = []
        self.protocol.set_writer(self.output)

    def report_server_error(self, error: Exception, source: type[Exception]) -> None:
        self.errors.append(type(error).__name__)


def message(method: str, params: Any, **more: Any) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def change(version: int | None, *events: dict[str, Any]) -> bytes:
    params = {"textDocument": {"uri": URI, "version": version}, "contentChanges": list(events)}
    return message("textDocument/didChange", params)


def initialize() -> bytes:
    params: dict[str, Any] = {"capabilities": {}, "processId": None, "rootUri": None}
    return message("initialize", params, id=1)


async def read(server: FastServer, *messages: bytes) -> None:
    """Let pygls's own loop read these messages."""
    reader = asyncio.StreamReader()
    for each in messages:
        reader.feed_data(each)
    reader.feed_eof()
    await run_async(threading.Event(), reader, server.protocol, error_handler=server.report_server_error)


def test_the_private_names_exist() -> None:
    """Says by name what is gone, before the tests below fail in stranger ways."""
    protocol = NotedServer().protocol
    assert protocol._shutdown is False
    assert callable(protocol._converter.structure)
    assert callable(protocol._send_data)
    for name in ("structure_message", "handle_message"):
        assert callable(getattr(JsonRPCProtocol, name))


@pytest.mark.asyncio
async def test_documents_go_to_their_owner_in_order_and_pygls_keeps_no_text() -> None:
    server = NotedServer()
    whole = {"text": "b\n"}
    close = message("textDocument/didClose", {"textDocument": {"uri": URI}})
    await read(server, initialize(), message("textDocument/didOpen", OPEN), change(2, whole))
    assert dict(server.workspace.text_documents) == {}
    await read(server, close)
    assert server.files.told == [
        ("open", URI, "python", 1, "a = 1\n"),
        ("change", URI, [types.TextDocumentContentChangeWholeDocument(text="b\n")], 2),
        ("close", URI),
    ]
    assert server.errors == []


@pytest.mark.asyncio
async def test_a_change_that_cannot_be_read_or_taken_is_reported_and_the_next_is_read() -> None:
    server = NotedServer()
    whole = {"text": "b\n"}
    broken = message("textDocument/didChange", {"textDocument": {"uri": URI}})
    await read(server, initialize(), broken, change(13, whole), change(14, whole))
    assert server.errors == ["KeyError", "RuntimeError"]
    assert [told[0] for told in server.files.told] == ["lose", "change", "lose", "change"]


@pytest.mark.asyncio
async def test_a_change_without_a_version_is_a_change() -> None:
    server = NotedServer()
    whole = {"text": "b\n"}
    unnamed = message("textDocument/didChange", {"textDocument": {"uri": URI}, "contentChanges": [whole]})
    await read(server, initialize(), change(None, whole), unnamed)
    assert server.errors == []
    assert [(told[0], told[3]) for told in server.files.told] == [("change", None), ("change", None)]


@pytest.mark.asyncio
async def test_no_change_is_taken_after_shutdown() -> None:
    server = NotedServer()
    await read(server, initialize(), message("shutdown", None, id=2))
    async with asyncio.timeout(5):
        while not server.protocol._shutdown:
            await asyncio.sleep(0)
    await read(server, change(2, {"text": "b\n"}))
    assert server.files.told == []


def test_a_plain_notification_leaves_as_one_message() -> None:
    server = NotedServer()
    params = {"uri": URI, "text": "ä \U0001f600"}
    server.notify_plain("likewise/test", params)
    header, _, body = server.output.written.partition(b"\r\n\r\n")
    assert f"Content-Length: {len(body)}".encode() in header.split(b"\r\n")
    assert json.loads(body) == {"jsonrpc": "2.0", "method": "likewise/test", "params": params}


@pytest.mark.asyncio
async def test_a_command_may_come_as_a_notification() -> None:
    server = NotedServer()
    called: list[Any] = []
    server.command("test.command")(lambda *arguments: called.extend(arguments))
    data = {"command": "test.command", "arguments": ["x"]}
    structured = server.protocol.structure_message(
        {"jsonrpc": "2.0", "method": "workspace/executeCommand", "params": data}
    )
    assert isinstance(structured, JsonRPCNotification)
    await read(server, initialize(), message("workspace/executeCommand", data))
    await asyncio.sleep(0)
    assert called == ["x"]


positions = st.fixed_dictionaries({"line": st.integers(0, 99), "character": st.integers(0, 99)})
ranges = st.fixed_dictionaries({"start": positions, "end": positions})
events = st.one_of(
    st.fixed_dictionaries({"text": st.text()}),
    st.fixed_dictionaries({"text": st.text(), "range": ranges}),
    st.fixed_dictionaries({"text": st.text(), "range": ranges, "rangeLength": st.integers(0, 99)}),
)


@given(events)
def test_a_change_is_read_as_pygls_reads_it(event: dict[str, Any]) -> None:
    params = {"textDocument": {"uri": URI, "version": 1}, "contentChanges": [event]}
    [expected] = CONVERTER.structure(params, types.DidChangeTextDocumentParams).content_changes
    found = _read_event(event)
    assert type(found) is type(expected)
    assert found.text == expected.text
    assert getattr(found, "range", None) == getattr(expected, "range", None)
