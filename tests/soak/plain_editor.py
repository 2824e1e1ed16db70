"""An editor that speaks the protocol in plain JSON: fast enough for hundreds of thousands of changes."""

import asyncio
import itertools
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lsprotocol import types

from lsp.document import Document
from model.editing.change import Change

ROOT = Path(__file__).resolve().parent.parent.parent


class PlainEditor:
    """Has its own text of each file, and notes every notice that does not fit that text."""

    def __init__(
        self,
        folder: Path,
        options: dict[str, Any],
        *,
        command: Sequence[str] = (sys.executable, "-P", "-m", "lsp"),
        workspace: Path = ROOT,
    ) -> None:
        """`folder` is for the data of the language server and its log; it runs in the workspace."""
        self._folder = folder
        self._command = command
        self._workspace = workspace
        self._options = options
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self.documents: dict[str, Document] = {}
        self.problems: list[str] = []
        self.notices = 0
        self.suggestions: dict[str, dict[str, Any]] = {}  # the newest of each file, for its current text
        self.longest_wait = 0.0

    @property
    def pid(self) -> int:
        return self._process.pid

    async def start(self) -> None:
        """Start the language server, and open all files in it."""
        environment = {**os.environ, "XDG_DATA_HOME": str(self._folder)}
        with (self._folder / "log").open("a") as log:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                env=environment,
                cwd=self._workspace,
                limit=2**26,
            )
        self._reading = asyncio.create_task(self._read())
        parameters = {
            "capabilities": {},
            "rootUri": self._workspace.as_uri(),
            "initializationOptions": self._options,
        }
        await self.request("initialize", parameters)
        self.notify("initialized", {})
        for document in self.documents.values():
            self._tell_open(document)

    async def stop(self) -> int:
        """End the conversation in order. Returns the exit code of the language server."""
        await self.request("shutdown", None)
        self.notify("exit", None)
        async with asyncio.timeout(30):
            code = await self._process.wait()
        await self._reading
        return code

    async def kill(self) -> None:
        self._process.kill()
        await self._process.wait()
        await self._reading

    def open(self, uri: str, text: str) -> None:
        self.documents[uri] = Document(uri, "python", 1, text)
        self._tell_open(self.documents[uri])

    def change(self, uri: str, *changes: Change) -> None:
        """Make changes, one after another, and tell them in one notification."""
        document = self.documents[uri]
        events = []
        for change in changes:
            start, end = (document.position_from_offset(each) for each in (change.start, change.end))
            sides = {
                "start": {"line": start.line, "character": start.character},
                "end": {"line": end.line, "character": end.character},
            }
            events.append({"range": sides, "text": change.text})
            document.replace(change)
        document.version += 1
        self.suggestions.pop(uri, None)
        identifier = {"uri": uri, "version": document.version}
        self.notify("textDocument/didChange", {"textDocument": identifier, "contentChanges": events})

    async def wait(self) -> float:
        """Wait until the server has taken in all that was told. Returns the seconds that it took."""
        began = time.monotonic()
        await self.request("workspace/executeCommand", {"command": "likewise.lsp.status", "arguments": []})
        seconds = time.monotonic() - began
        self.longest_wait = max(self.longest_wait, seconds)
        return seconds

    async def ask_status(self) -> str:
        status = await self.request(
            "workspace/executeCommand", {"command": "likewise.lsp.status", "arguments": []}
        )
        return str(status["state"])

    def notify(self, method: str, params: Any) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    async def request(self, method: str, params: Any) -> Any:
        number = next(self._numbers)
        future = self._waiting[number] = asyncio.get_running_loop().create_future()
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        async with asyncio.timeout(60):
            return await future

    def _tell_open(self, document: Document) -> None:
        item = {
            "uri": document.uri,
            "languageId": "python",
            "version": document.version,
            "text": document.text,
        }
        self.notify("textDocument/didOpen", {"textDocument": item})

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps(message).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    async def _read(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        while header := await stdout.readline():
            length = 0
            while header.strip():
                if header.lower().startswith(b"content-length:"):
                    length = int(header.split(b":")[1])
                header = await stdout.readline()
            try:
                self._take(json.loads(await stdout.readexactly(length)))
            except asyncio.IncompleteReadError:  # it was killed
                break
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(ConnectionError("the language server is gone"))
        self._waiting.clear()

    def _take(self, message: dict[str, Any]) -> None:
        if "method" not in message:
            future = self._waiting.pop(message["id"], None)
            if future is not None and not future.done():
                if "error" in message:
                    future.set_exception(RuntimeError(message["error"]["message"]))
                else:
                    future.set_result(message["result"])
        elif message["method"] == "likewise/suggestion":
            self._check(message["params"])

    def _check(self, notice: dict[str, Any]) -> None:
        """Compare a suggestion for the current text with that text."""
        self.notices += 1
        document, suggestion = self.documents[notice["uri"]], notice["suggestion"]
        if suggestion is None or notice["version"] != document.version:
            return
        start, end = (_offset_of(document, suggestion["range"][side]) for side in ("start", "end"))
        if document.slice(start, end) != suggestion["oldText"]:
            self.problems.append(f"a suggestion for another text than that of {document.uri}")
        self.suggestions[document.uri] = suggestion


def _offset_of(document: Document, position: dict[str, int]) -> int:
    return document.offset_from_position(types.Position(**position))
