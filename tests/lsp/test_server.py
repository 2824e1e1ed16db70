"""The real process over stdio, with a service that says what each test wants."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from lsprotocol import types

from model.editing.change import Change
from server import schema
from tests.lsp.editor import editing
from tests.lsp.scripted_service import ScriptedService, rename

pytestmark = pytest.mark.asyncio

URI = "file:///work/a.py"
OTHER = "file:///work/b.py"
TEXT = "foo = 1\nx = foo + 2\nprint(foo)\n"


@pytest_asyncio.fixture(loop_scope="function")
async def service() -> AsyncIterator[ScriptedService]:
    started = await ScriptedService().start()
    yield started
    await started.stop()


async def test_a_change_in_is_a_suggestion_out(tmp_path: Path, service: ScriptedService) -> None:
    async with editing(tmp_path, serviceAddress=service.address) as editor:
        await editor.ready()
        editor.open(URI, TEXT)
        version = editor.change(URI, Change(0, 3, "(y)"))
        suggestion = await editor.suggestion(URI, version)
        assert (suggestion["oldText"], suggestion["newText"]) == ("foo", "bar")
        assert suggestion["range"] == {
            "start": {"line": 1, "character": 4},
            "end": {"line": 1, "character": 7},
        }
        [reason] = suggestion["because"]
        assert (reason["oldText"], reason["newText"]) == ("foo", "(y)")
        assert reason["range"]["start"] == {"line": 0, "character": 0}


async def test_pull_and_push_agree(tmp_path: Path, service: ScriptedService) -> None:
    async with editing(tmp_path, serviceAddress=service.address) as editor:
        await editor.ready()
        editor.open(URI, TEXT)
        version = editor.change(URI, Change(0, 3, "(y)"))
        pulled, again = await asyncio.gather(editor.inline_edits(URI, 3), editor.inline_edits(URI, 3))
        pushed = await editor.suggestion(URI, version)
        assert pulled == again
        [edit] = pulled
        assert edit["text"] == pushed["newText"]
        assert edit["range"] == pushed["range"]
        assert edit["textDocument"] == {"uri": URI, "version": version}
        assert edit["command"]["arguments"] == [pushed["id"]]
        items = await editor.inline_completions(URI, 15)
        assert [list(item.command.arguments or []) for item in items if item.command] == [[pushed["id"]]]
        assert await editor.inline_completions(URI, 0) == []


async def test_an_old_version_gets_an_empty_list(tmp_path: Path, service: ScriptedService) -> None:
    async with editing(tmp_path, serviceAddress=service.address) as editor:
        await editor.ready()
        editor.open(URI, TEXT)
        editor.change(URI, Change(0, 3, "(y)"))
        editor.documents[URI].version -= 1
        assert await editor.inline_edits(URI, 3) == []


async def test_capabilities_are_announced(tmp_path: Path, service: ScriptedService) -> None:
    async with editing(tmp_path, serviceAddress=service.address) as editor:
        result = await editor.client.initialize_async(
            types.InitializeParams(capabilities=types.ClientCapabilities())
        )
        assert result.capabilities.inline_completion_provider is not None
        assert result.capabilities.execute_command_provider is not None
        assert "likewise.lsp.accept" in result.capabilities.execute_command_provider.commands
        sync = result.capabilities.text_document_sync
        assert isinstance(sync, types.TextDocumentSyncOptions)
        assert sync.change == types.TextDocumentSyncKind.Incremental


async def test_a_half_typed_name_is_continued(tmp_path: Path, service: ScriptedService) -> None:
    def script(text: str, question: schema.Predict) -> list[Change]:
        start = text.index("return ") + 7 if "return " in text else -1
        return [Change(start, start, "result")] if question.prefix == "re" else []

    service.script = script
    async with editing(tmp_path, serviceAddress=service.address) as editor:
        await editor.ready()
        editor.open(URI, "a = 1\nreturn \n")
        editor.change(URI, Change(4, 5, "(2)"))
        version = editor.type(URI, 15, "re")
        suggestion = await editor.suggestion(URI, version)
        assert editor.change_of(URI, suggestion) == Change(17, 17, "sult")
        [item] = await editor.inline_completions(URI, 17)
        assert item.insert_text == "sult"


async def test_typing_along_keeps_the_rest_and_asks_nothing(tmp_path: Path, service: ScriptedService) -> None:
    async with editing(tmp_path, serviceAddress=service.address) as editor:
        await editor.ready()
        editor.open(URI, TEXT)
        version = editor.change(URI, Change(0, 3, "(y)"))
        first = await editor.suggestion(URI, version)
        asked = len([m for m in service.said("predict") if m.limit == 1])
        version = editor.change(URI, Change(12, 15, "b"))
        rest = await editor.suggestion(URI, version)
        assert rest["id"] == first["id"]
        assert editor.change_of(URI, rest) == Change(13, 13, "ar")
        assert len([m for m in service.said("predict") if m.limit == 1]) <= asked + 1  # looking ahead
        version = editor.change(URI, Change(13, 13, "x"))
        other = await editor.suggestion(URI, version)
        assert other["id"] != first["id"]


async def test_what_was_on_its_way_when_the_user_typed_along_is_not_shown(
    tmp_path: Path, service: ScriptedService
) -> None:
    """It is about the text before."""

    def script(text: str, question: schema.Predict) -> list[Change]:
        places = [index for index in range(len(text)) if text.startswith("foo", index)]
        return [Change(start, start + 3, "bar") for start in places[: question.limit]]

    service.script, service.seconds = script, 0.1
    async with editing(tmp_path, serviceAddress=service.address) as editor:
        await editor.ready()
        editor.open(URI, TEXT + "y = foo\n" * 5)
        version = editor.change(URI, Change(0, 3, "(y)"))
        await editor.suggestion(URI, version)
        await editor.until(lambda: any(message.limit > 1 for message in service.said("predict")))
        version = editor.change(URI, Change(12, 15, "b"))
        await editor.suggestion(URI, version)
        await asyncio.sleep(0.3)
        for notice in [each for each in editor.notices if each["version"] == version]:
            for shown in [notice["suggestion"], *notice["alternatives"]]:
                assert (shown["oldText"], shown["newText"]) in {("", "ar"), ("foo", "bar")}


async def test_a_private_key_that_is_pasted_is_never_sent(tmp_path: Path, service: ScriptedService) -> None:
    async with editing(tmp_path, serviceAddress=service.address) as editor:
        await editor.ready()
        editor.open(URI, TEXT)
        await editor.suggestion(URI, editor.change(URI, Change(0, 3, "(y)")))
        heard = len(service.heard)
        editor.change(URI, Change(0, 0, "-----BEGIN PRIVATE KEY-----\nMIIE\n"))
        version = editor.change(URI, Change(0, 1, "+"))
        assert await editor.inline_edits(URI, 3) == []
        assert version == 4
        assert {message.type for message in service.heard[heard:]} <= {"close", "predict"}
        assert not any(getattr(message, "append", None) for message in service.heard[heard:])


async def test_on_acceptance_the_next_is_there_already(tmp_path: Path, service: ScriptedService) -> None:
    async with editing(tmp_path, serviceAddress=service.address) as editor:
        await editor.ready()
        editor.open(URI, TEXT)
        version = editor.change(URI, Change(0, 3, "(y)"))
        first = await editor.suggestion(URI, version)
        await editor.until(lambda: any(m.limit == 3 for m in service.said("predict")))
        await asyncio.sleep(0.1)
        service.hangs = True  # the answer cannot come from there
        version = editor.change(URI, editor.change_of(URI, first))
        second = await editor.suggestion(URI, version)
        assert second["range"]["start"] == {"line": 2, "character": 6}
        service.hangs = False
        await editor.execute("likewise.lsp.accept", first["id"])
        status = await editor.execute("likewise.lsp.status")
        assert status["counters"]["accepted"] == 1
        assert status["counters"]["ahead"] == 1


async def test_a_dismissed_suggestion_does_not_return_even_after_a_restart(
    tmp_path: Path, service: ScriptedService
) -> None:
    async with editing(tmp_path, serviceAddress=service.address) as editor:
        await editor.ready()
        editor.open(URI, TEXT)
        version = editor.change(URI, Change(0, 3, "(y)"))
        first = await editor.suggestion(URI, version)
        await editor.execute("likewise.lsp.dismiss", first["id"])
        assert (await editor.notice(URI, version))["silence"] == "dismissed"
        version = editor.change(URI, Change(len(TEXT), len(TEXT), "#\n"))
        assert (await editor.notice(URI, version))["silence"] == "dismissed"
    async with editing(tmp_path, serviceAddress=service.address) as editor:
        await editor.ready()
        editor.open(URI, TEXT)
        version = editor.change(URI, Change(0, 3, "(y)"))
        assert (await editor.notice(URI, version))["silence"] == "dismissed"
        version = editor.change(URI, Change(8, 9, "z"))  # the text around it is another now
        assert (await editor.suggestion(URI, version))["newText"] == "bar"
        editor.open(OTHER, TEXT)
        version = editor.change(
            OTHER, Change(0, 3, "(y)")
        )  # what was dismissed in one file stands in another
        assert (await editor.suggestion(OTHER, version))["newText"] == first["newText"]
    stored = (tmp_path / "likewise" / "dismissed").read_text()
    assert "foo" not in stored
    assert "bar" not in stored


async def test_what_would_undo_the_users_own_edit_is_not_suggested(
    tmp_path: Path, service: ScriptedService
) -> None:
    service.script = rename("barn", "foo")
    async with editing(tmp_path, serviceAddress=service.address) as editor:
        await editor.ready()
        editor.open(URI, TEXT)
        version = editor.change(URI, Change(0, 3, "barn"))
        assert (await editor.notice(URI, version))["silence"] == "undo"


async def test_all_places_at_once(tmp_path: Path, service: ScriptedService) -> None:
    async with editing(tmp_path, serviceAddress=service.address) as editor:
        await editor.ready()
        editor.open(URI, TEXT)
        version = editor.change(URI, Change(0, 3, "bar "))
        found = await editor.execute("likewise.lsp.everywhere", URI, version)
        assert found["version"] == version
        assert [(edit["oldText"], edit["newText"]) for edit in found["edits"]] == [("foo", "bar")] * 2
        changes = [editor.change_of(URI, edit) for edit in found["edits"]]
        for change in reversed(changes):
            editor.documents[URI].replace(change)
        assert "foo" not in editor.documents[URI].text


async def test_a_dismissed_place_is_not_among_all_places(tmp_path: Path, service: ScriptedService) -> None:
    async with editing(tmp_path, serviceAddress=service.address) as editor:
        await editor.ready()
        editor.open(URI, TEXT)
        version = editor.change(URI, Change(0, 3, "bar "))
        first = await editor.suggestion(URI, version)
        await editor.execute("likewise.lsp.dismiss", first["id"])
        found = await editor.execute("likewise.lsp.everywhere", URI, version)
        assert [edit["range"]["start"]["line"] for edit in found["edits"]] == [2]


async def test_explain_tells_where_it_comes_from(tmp_path: Path, service: ScriptedService) -> None:
    async with editing(tmp_path, serviceAddress=service.address) as editor:
        await editor.ready()
        editor.open(URI, TEXT)
        version = editor.change(URI, Change(0, 3, "(y)"))
        suggestion = await editor.suggestion(URI, version)
        explained = await editor.execute("likewise.lsp.explain", suggestion["id"])
        assert explained["suggestion"]["id"] == suggestion["id"]
        place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 3}}
        assert explained["reasons"] == [
            {
                "uri": URI,
                "range": place,
                "text": "(y)",
                "oldText": "foo",
                "newText": "(y)",
                "places": [place],
            }
        ]
        assert (await editor.execute("likewise.lsp.explain", "unknown"))["suggestion"] is None


async def test_snooze_and_languages_and_wake(tmp_path: Path, service: ScriptedService) -> None:
    async with editing(tmp_path, serviceAddress=service.address, languages={"markdown": False}) as editor:
        await editor.ready()
        editor.open(URI, TEXT)
        editor.open("file:///work/a.md", TEXT, "markdown")
        version = editor.change("file:///work/a.md", Change(0, 3, "(y)"))
        assert (await editor.notice("file:///work/a.md", version))["silence"] == "language-off"
        await editor.execute("likewise.lsp.snooze", 30)
        version = editor.change(URI, Change(0, 3, "(y)"))
        assert (await editor.notice(URI, version))["silence"] == "snoozed"
        assert editor.statuses[-1]["state"] == "snoozed"
        await editor.execute("likewise.lsp.snooze", 0)
        assert (await editor.suggestion(URI, version))["newText"] == "bar"


async def test_new_settings_count_from_now_on_and_bad_ones_are_told_once(
    tmp_path: Path, service: ScriptedService
) -> None:
    options: dict[str, Any] = {"threshold": "high", "device": "abacus"}
    async with editing(tmp_path, serviceAddress=service.address, **options) as editor:
        assert len(editor.client.messages) == 1
        assert "threshold" in editor.client.messages[0].message
        assert "device" in editor.client.messages[0].message
        await editor.ready()
        editor.open(URI, TEXT)
        version = editor.change(URI, Change(0, 3, "(y)"))
        await editor.suggestion(URI, version)
        settings = {"likewise": {"push": True, "serviceAddress": service.address, "threshold": 0.99}}
        editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))
        await editor.until(lambda: editor.notices[-1]["silence"] is not None)


async def test_secrets_are_never_sent(tmp_path: Path, service: ScriptedService) -> None:
    names = [
        ".env",
        ".env.local",
        "id_rsa",
        "server.key",
        "notes/secrets.yaml",
        "mine/a.py",
        "mine/deep/b.py",
    ]
    async with editing(tmp_path, serviceAddress=service.address, exclude=["mine/**"], record=True) as editor:
        await editor.ready()
        for name in names:
            uri = f"file:///work/{name}"
            editor.open(uri, "password = foo\n")
            editor.change(uri, Change(0, 3, "(y)"))
            assert await editor.inline_edits(uri, 3) == []
        editor.open(URI, TEXT)
        version = editor.change(URI, Change(0, 3, "(y)"))
        await editor.suggestion(URI, version)
    assert {message.document for message in service.heard} == {URI}
    recorded = "".join(file.read_text() for file in (tmp_path / "likewise" / "recordings").glob("*.jsonl"))
    assert "a.py" in recorded
    assert "password" not in recorded


async def test_nonsense_harms_nothing(tmp_path: Path, service: ScriptedService) -> None:
    async with editing(tmp_path, serviceAddress=service.address) as editor:
        await editor.ready()
        editor.open(URI, TEXT)
        stdin = editor.process.stdin
        assert stdin is not None
        change = {"textDocument": {"uri": "file:///work/other.py"}, "contentChanges": 5}
        for body in (
            b"{",
            b"[]",
            b'{"jsonrpc": "2.0"}',
            b'{"jsonrpc":"2.0","method":"nobody/knows","params":{}}',
            json.dumps({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": change}).encode(),
        ):
            stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        editor.notify("textDocument/didFocus", {})
        editor.notify("likewise/cursor", {"textDocument": {"uri": URI}, "position": {"line": -1}})
        editor.notify("textDocument/didShowInlineEdit", {"item": 1})
        editor.notify(
            "likewise/cursor", {"textDocument": {"uri": URI}, "position": {"line": 99, "character": 99}}
        )
        version = editor.change(URI, Change(0, 3, "(y)"))
        assert (await editor.suggestion(URI, version))["newText"] == "bar"
        assert editor.client.messages == []


async def test_a_change_that_cannot_be_read_ends_its_file_until_it_is_opened_again(
    tmp_path: Path, service: ScriptedService
) -> None:
    async with editing(tmp_path, serviceAddress=service.address) as editor:
        await editor.ready()
        editor.open(URI, TEXT)
        stdin = editor.process.stdin
        assert stdin is not None
        params = {"textDocument": {"uri": URI, "version": 2}, "contentChanges": 5}
        body = json.dumps({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": params}).encode()
        stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        version = editor.change(URI, Change(0, 3, "(y)"))  # it would be a change of another text
        assert await editor.inline_edits(URI, 0) == []
        editor.open(URI, TEXT)
        version = editor.change(URI, Change(0, 3, "(y)"))
        assert (await editor.suggestion(URI, version))["newText"] == "bar"


async def test_acceptance_may_be_a_notification_and_requests_may_be_cancelled(
    tmp_path: Path, service: ScriptedService
) -> None:
    async with editing(tmp_path, serviceAddress=service.address) as editor:
        await editor.ready()
        editor.open(URI, TEXT)
        version = editor.change(URI, Change(0, 3, "(y)"))
        suggestion = await editor.suggestion(URI, version)
        stdin = editor.process.stdin
        assert stdin is not None
        command = {"command": "likewise.lsp.accept", "arguments": [suggestion["id"]]}
        body = json.dumps(
            {"jsonrpc": "2.0", "method": "workspace/executeCommand", "params": command}
        ).encode()
        stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        assert (await editor.execute("likewise.lsp.status"))["counters"]["accepted"] == 1
        service.hangs = True
        editor.change(URI, Change(0, 3, "(z)"))
        params = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}}
        body = json.dumps(
            {"jsonrpc": "2.0", "id": "x", "method": "textDocument/copilotInlineEdit", "params": params}
        ).encode()
        stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        editor.client.cancel_request(types.CancelParams(id="x"))
        service.hangs = False
        assert len(await editor.inline_edits(URI, 0)) == 1


async def test_a_service_that_goes_and_comes_back(tmp_path: Path, service: ScriptedService) -> None:
    async with editing(tmp_path, serviceAddress=service.address) as editor:
        await editor.ready()
        editor.open(URI, TEXT)
        editor.change(URI, Change(0, 3, "(y)"))
        await service.stop()
        await editor.until(lambda: editor.statuses[-1]["state"] == "trouble")
        version = editor.type(URI, 0, "#abc\n")
        assert (await editor.notice(URI, version))["suggestion"] is None
        await service.start()
        assert (await editor.suggestion(URI, version))["newText"] == "bar"
        assert len([m for m in editor.client.log_messages if "trying again" in m.message]) <= 2


async def test_the_cursor_leaving_a_name_finishes_it(tmp_path: Path, service: ScriptedService) -> None:
    async with editing(tmp_path, serviceAddress=service.address) as editor:
        await editor.ready()
        editor.open(URI, TEXT + "a = \n")
        version = editor.type(URI, len(TEXT) + 4, "na")
        await editor.notice(URI, version)
        assert service.said("predict")[-1].prefix == "na"
        params = {"textDocument": {"uri": URI, "version": version}, "position": {"line": 0, "character": 0}}
        editor.notify("likewise/cursor", params)
        await editor.suggestion(URI, version)
        assert service.said("predict")[-1].prefix == ""
