"""An editor for tests: the real `python -m lsp` over stdio, driven as an editor drives it."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from pytest_lsp import LanguageClient, client_capabilities, make_test_lsp_client

from lsp.document import Document
from model.editing.change import Change

ROOT = Path(__file__).resolve().parent.parent.parent
WAIT_SECONDS = 60.0  # a busy machine starts processes slowly


def plain(value: Any) -> Any:
    """Turn the named tuples of pygls back into JSON values."""
    if hasattr(value, "_asdict"):
        return {key: plain(each) for key, each in value._asdict().items()}
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value


class Editor:
    """Has its own text of each file, and everything the server said."""

    def __init__(self, client: LanguageClient) -> None:
        self.client = client
        self.documents: dict[str, Document] = {}
        self.notices: list[dict[str, Any]] = []
        self.statuses: list[dict[str, Any]] = []
        client.feature("likewise/suggestion")(lambda params: self.notices.append(plain(params)))
        client.feature("likewise/status")(lambda params: self.statuses.append(plain(params)))

    @property
    def process(self) -> asyncio.subprocess.Process:
        process = self.client._server
        assert process is not None
        return process

    def open(self, uri: str, text: str, language: str = "python") -> None:
        self.documents[uri] = Document(uri, language, 1, text)
        item = types.TextDocumentItem(uri=uri, language_id=language, version=1, text=text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def change(self, uri: str, *changes: Change) -> int:
        """Make changes, one after another, and tell them in one notification. The new version."""
        document = self.documents[uri]
        events: list[types.TextDocumentContentChangeEvent] = []
        for start, end, text in changes:
            place = document.range_from_offsets(start, end)
            events.append(types.TextDocumentContentChangePartial(range=place, text=text))
            document.replace(Change(start, end, text))
        document.version += 1
        identifier = types.VersionedTextDocumentIdentifier(uri=uri, version=document.version)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, events))
        return document.version

    def type(self, uri: str, offset: int, text: str) -> int:
        """One key after another."""
        for index, key in enumerate(text):
            self.change(uri, Change(offset + index, offset + index, key))
        return self.documents[uri].version

    def save(self, uri: str) -> None:
        identifier = types.TextDocumentIdentifier(uri)
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(identifier))

    def notify(self, method: str, params: dict[str, Any]) -> None:
        self.client.protocol.notify(method, params)

    async def request(self, method: str, params: dict[str, Any]) -> Any:
        return plain(await self.client.protocol.send_request_async(method, params))  # type: ignore[no-untyped-call]

    async def execute(self, command: str, *arguments: Any) -> Any:
        params = types.ExecuteCommandParams(command=command, arguments=list(arguments))
        return plain(await self.client.workspace_execute_command_async(params))

    async def inline_edits(self, uri: str, offset: int) -> list[dict[str, Any]]:
        """Send the request of Copilot's clients."""
        document = self.documents[uri]
        position = document.position_from_offset(offset)
        params = {
            "textDocument": {"uri": uri, "version": document.version},
            "position": {"line": position.line, "character": position.character},
        }
        found = await self.request("textDocument/copilotInlineEdit", params)
        edits: list[dict[str, Any]] = found["edits"]
        return edits

    async def inline_completions(self, uri: str, offset: int) -> list[types.InlineCompletionItem]:
        result = await self.client.text_document_inline_completion_async(
            types.InlineCompletionParams(
                context=types.InlineCompletionContext(types.InlineCompletionTriggerKind.Automatic),
                text_document=types.TextDocumentIdentifier(uri),
                position=self.documents[uri].position_from_offset(offset),
            )
        )
        assert isinstance(result, types.InlineCompletionList)
        return list(result.items)

    async def until(self, condition: Callable[[], Any], seconds: float = WAIT_SECONDS) -> Any:
        async with asyncio.timeout(seconds):
            while not (found := condition()):
                await asyncio.sleep(0.005)
            return found

    async def notice(self, uri: str, version: int) -> dict[str, Any]:
        """The newest notice for a version of a file."""

        def newest() -> dict[str, Any] | None:
            found = [each for each in self.notices if each["uri"] == uri and each["version"] == version]
            return found[-1] if found else None

        found: dict[str, Any] = await self.until(newest)
        return found

    async def suggestion(self, uri: str, version: int) -> dict[str, Any]:
        def newest() -> dict[str, Any] | None:
            found = [each for each in self.notices if each["uri"] == uri and each["version"] == version]
            return found[-1]["suggestion"] if found else None

        found: dict[str, Any] = await self.until(newest)
        return found

    async def ready(self) -> None:
        await self.until(lambda: self.statuses and self.statuses[-1]["state"] in ("ready", "quiet"))

    def change_of(self, uri: str, edit: dict[str, Any]) -> Change:
        """A suggestion or an inline edit as a change of the text."""
        document = self.documents[uri]
        start, end = (
            document.offset_from_position(types.Position(**edit["range"][side])) for side in ("start", "end")
        )
        return Change(start, end, edit["newText"] if "newText" in edit else edit["text"])


@asynccontextmanager
async def editing(
    data_folder: Path,
    *,
    command: Sequence[str] = (sys.executable, "-P", "-m", "lsp"),
    workspace: Path = ROOT,
    **options: Any,
) -> AsyncIterator[Editor]:
    """An editor that runs the language server in the workspace; `options` are its initialization options."""
    client = make_test_lsp_client()
    editor = Editor(client)
    environment = {**os.environ, "XDG_DATA_HOME": str(data_folder)}
    await client.start_io(*command, env=environment, cwd=str(workspace))
    params = types.InitializeParams(
        capabilities=client_capabilities("visual-studio-code"),
        root_uri="file:///work",
        initialization_options={"push": True, "logLevel": "debug", **options},
    )
    await client.initialize_session(params)
    try:
        yield editor
    finally:
        if editor.process.returncode is None:
            await client.shutdown_session()
        await client.stop()  # type: ignore[no-untyped-call]
