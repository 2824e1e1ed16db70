"""Thousands of changes as editors make them, over many files: the mirror never drifts and memory stays flat.

Some are made up; some are what a real VS Code told while it was used in every way that changes a text (recorded by `make
recording` in clients/vscode), with the text of the file at each save.
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from lsprotocol import converters, types

from lsp.document import Document
from lsp.settings import Settings
from lsp.workspace import Workspace
from model.editing.change import Change
from model.editing.recorder import Recorder
from tests.lsp.editor import Editor, editing
from tests.lsp.scripted_service import ScriptedService
from tests.lsp.test_workspace import Screen
from tests.model.editing.test_recorder import spelled
from tests.tokenizing import small_tokenizer

CONVERTER = converters.get_converter()
PARAMETERS: dict[str, Any] = {
    "textDocument/didOpen": types.DidOpenTextDocumentParams,
    "textDocument/didChange": types.DidChangeTextDocumentParams,
    "textDocument/didSave": types.DidSaveTextDocumentParams,
    "textDocument/didClose": types.DidCloseTextDocumentParams,
}
RECORDED = Path(__file__).parent.parent / "data" / "vscode_stream.jsonl"
FILES = 20
CHANGES = 3_000
WORDS = (
    "result",
    "total",
    "self",
    "price",
    "naïve",
    "😀",
    "for",
    "in",
    "return",
    "x",
    "item_count",
    "0",
    "17",
)


class Developer:
    """Types, deletes, pastes, undoes, renames at several cursors, jumps about. Seeded."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.offset = 0
        self.undo: list[str] = []

    def changes(self, text: str) -> list[Change]:
        """The next changes of a text; each change applies to what the one before left."""
        choice = self.random.random()
        if choice < 0.1 or self.offset > len(text):
            self.offset = self.random.randrange(len(text) + 1)
        while 0 < self.offset < len(text) and text[self.offset - 1 : self.offset + 1] == "\r\n":
            self.offset += 1
        self.undo = [*self.undo[-20:], text]
        if choice < 0.6:
            key = self.random.choice("abcdefg_ (.,)=\n\t\"'é😀")
            start, self.offset = self.offset, self.offset + len(key)
            return [Change(start, start, key)]
        if choice < 0.75 and self.offset > 0:
            self.offset -= 1
            if text[self.offset - 1 : self.offset + 1] == "\r\n":
                self.offset -= 1
                return [Change(self.offset, self.offset + 2, "")]
            return [Change(self.offset, self.offset + 1, "")]
        if choice < 0.85:
            line = "    " + " ".join(self.random.choices(WORDS, k=5)) + self.random.choice(["\n", "\r\n"])
            start, self.offset = self.offset, self.offset + len(line)
            return [Change(start, start, line)]
        if choice < 0.9:
            word = self.random.choice(WORDS)
            places = [index for index in range(len(text)) if text.startswith(word, index)]
            return [Change(place, place + len(word), word + "s") for place in reversed(places[::7])]
        if choice < 0.97:
            return [Change(0, len(text), self.random.choice(self.undo))]
        return [Change(0, len(text), "\n".join(self.random.choices(WORDS, k=200)))]


def applied(text: str, changes: list[Change]) -> str:
    for start, end, new in changes:
        text = text[:start] + new + text[end:]
    return text


def test_the_recorder_never_drifts() -> None:
    developer = Developer(seed=1)
    texts = [f"def total_{number}(items):\n    return sum(items)\n" * 10 for number in range(FILES)]
    recorders = [Recorder(small_tokenizer(), text) for text in texts]
    now, number = 0.0, 0
    for step in range(CHANGES):
        now += developer.random.choice([0.05, 0.1, 0.2, 1.5])
        if developer.random.random() < 0.05:
            recorders[number].freeze()
            number = developer.random.randrange(FILES)
        changes = developer.changes(texts[number])
        texts[number] = applied(texts[number], changes)
        if changes:
            recorders[number].record(changes, now)
        assert recorders[number].text.text == texts[number]
        if step % 50 == 0:
            assert spelled(recorders[number]) == texts[number]
    for recorder, text in zip(recorders, texts, strict=True):
        assert spelled(recorder) == text


@pytest.mark.asyncio
async def test_the_process_never_drifts_and_its_memory_is_flat(tmp_path: Path) -> None:
    """The service decodes the stream: what it has at the end is what the editor has."""
    service = await ScriptedService(script=lambda text, question: []).start()
    developer = Developer(seed=2)
    uris = [f"file:///work/{number}.py" for number in range(FILES)]
    async with editing(tmp_path, serviceAddress=service.address) as editor:
        await editor.ready()
        for uri in uris:
            editor.open(uri, "def total(items):\n    return sum(items)\n" * 10)
        memory = []
        process = psutil.Process(editor.process.pid)
        uri = uris[0]
        for step in range(CHANGES):
            if developer.random.random() < 0.05:
                uri = developer.random.choice(uris)
                editor.notify("textDocument/didFocus", {"textDocument": {"uri": uri}})
            changes = developer.changes(editor.documents[uri].text)
            if changes:
                editor.change(uri, *changes)
            if step % 300 == 299:
                await editor.notice(uri, editor.documents[uri].version)
                service.heard.clear()
                editor.notices.clear()
                memory.append(process.memory_info().rss)
        for uri in uris:
            document: Document = editor.documents[uri]
            version = editor.change(uri, Change(0, 0, "("))
            params = {
                "textDocument": {"uri": uri, "version": version},
                "position": {"line": 0, "character": 1},
            }
            editor.notify("likewise/cursor", params)
            await editor.inline_edits(uri, 1)
            assert small_tokenizer().decode(service.sessions[uri].slots.tokens()) == document.text
    await service.stop()
    assert memory[-1] < memory[3] * 1.1


def recorded() -> Iterator[dict[str, Any]]:
    """The messages of VS Code (`method`, `params`), and the file's content after each save (`saved`, `text`)."""
    with RECORDED.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def structured(method: str, params: dict[str, Any]) -> Any:
    """The parameters as pygls wants them of methods that the protocol knows."""
    return CONVERTER.structure(params, PARAMETERS[method]) if method in PARAMETERS else params


def changes_of(params: dict[str, Any]) -> list[types.TextDocumentContentChangeEvent]:
    return list(structured("textDocument/didChange", params).content_changes)


def test_the_mirror_of_what_vscode_told_is_what_it_saved() -> None:
    workspace = Workspace(Screen(), Settings())
    checkpoints = 0
    for message in recorded():
        match message:
            case {"method": "textDocument/didOpen", "params": {"textDocument": item}}:
                workspace.open(item["uri"], item["languageId"], item["version"], item["text"])
            case {"method": "textDocument/didChange", "params": {"textDocument": item} as params}:
                workspace.change(item["uri"], changes_of(params), item["version"])
            case {"method": "textDocument/didSave", "params": {"textDocument": item}}:
                workspace.save(item["uri"])
            case {"method": "textDocument/didClose", "params": {"textDocument": item}}:
                workspace.close(item["uri"])
            case {"saved": uri, "text": text}:
                assert workspace.files[uri].document.text == text
                checkpoints += 1
    assert checkpoints > 30


def test_the_recorder_follows_what_vscode_told() -> None:
    documents: dict[str, Document] = {}
    recorders: dict[str, Recorder] = {}
    for message in recorded():
        match message:
            case {"method": "textDocument/didOpen", "params": {"textDocument": item}}:
                uri = item["uri"]
                documents[uri] = Document(uri, item["languageId"], item["version"], item["text"])
                recorders[uri] = Recorder(small_tokenizer(), item["text"])
                recorders[uri].share(documents[uri].store)
            case {"method": "textDocument/didChange", "params": {"textDocument": item} as params}:
                splices = documents[item["uri"]].update(changes_of(params), item["version"])
                now = message["milliseconds"] / 1000
                recorders[item["uri"]].follow(splices, now)
            case {"saved": uri, "text": text}:
                assert spelled(recorders[uri]) == recorders[uri].text.text == text


@pytest.mark.asyncio
async def test_the_process_follows_what_vscode_told(tmp_path: Path) -> None:
    """Again the service decodes the stream. What is told comes as fast as it can."""
    service = await ScriptedService(script=lambda text, question: []).start()
    versions: dict[str, int] = {}
    async with editing(tmp_path, serviceAddress=service.address) as editor:
        await editor.ready()
        for message in recorded():
            match message:
                case {"method": str(method), "params": params}:
                    editor.notify(method, structured(method, params))
                    item = params.get("textDocument", {})
                    if "version" in item:
                        versions[item["uri"]] = item["version"]
                case {"saved": uri, "text": text}:
                    await ask_with_a_bracket(editor, uri, versions[uri])
                    heard = small_tokenizer().decode(service.sessions[uri].slots.tokens())
                    assert heard == "(" + text
                    replace_start(editor, uri, versions[uri], length=1, text="")
    await service.stop()


async def ask_with_a_bracket(editor: Editor, uri: str, version: int) -> None:
    """With a question the service hears all that was told; there is one because something new is typed."""
    replace_start(editor, uri, version, length=0, text="(")
    where = {"textDocument": {"uri": uri, "version": version}, "position": {"line": 0, "character": 1}}
    editor.notify("likewise/cursor", where)
    await editor.request("textDocument/copilotInlineEdit", where)


def replace_start(editor: Editor, uri: str, version: int, *, length: int, text: str) -> None:
    change = {
        "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": length}},
        "text": text,
    }
    params = {"textDocument": {"uri": uri, "version": version}, "contentChanges": [change]}
    editor.notify("textDocument/didChange", structured("textDocument/didChange", params))
