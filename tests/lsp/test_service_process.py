"""The whole way: the real language server and the real service that it starts, on the tiny bundle."""

import asyncio
import os
import shutil
import signal
import socket
from pathlib import Path
from typing import Any

import psutil
import pytest

from lsp.fetch import ServiceUnavailable, fetch
from lsp.service_process import ServiceProcess
from model.editing.change import Change
from model.inference.bundle import seal
from model.inference.personal import write_current
from tests.lsp.editor import Editor, editing

pytestmark = pytest.mark.asyncio

TINY_BUNDLE = Path(__file__).parent.parent / "data" / "tiny_bundle"
URI = "file:///work/a.py"
TEXT = """def total(items):
    result = 0
    for item in items:
        result += item.price
    result = result * 2
    print(result)
    return result
"""
OPTIONS: dict[str, Any] = {"bundle": str(TINY_BUNDLE), "device": "cpu", "threshold": 0.2}


def child(editor: Editor) -> psutil.Process:
    """The service that the language server started."""
    [found] = psutil.Process(editor.process.pid).children()
    return found


def rename(editor: Editor) -> int:
    """Rename the first that has its old name."""
    place = editor.documents[URI].text.index("result")
    return editor.change(URI, Change(place, place + 6, "amount"))


@pytest.mark.skipif(os.name != "posix", reason="this system has no socket files")
async def test_the_service_opens_no_port_and_its_socket_file_is_for_its_user_alone(tmp_path: Path) -> None:
    async with editing(tmp_path, **OPTIONS) as editor:
        editor.open(URI, TEXT)
        await editor.ready()
        service = child(editor)
        listening = [each for each in service.net_connections() if each.status == psutil.CONN_LISTEN]
        assert listening == []
        path = Path(service.cmdline()[service.cmdline().index("--socket") + 1])
        assert path.stat().st_mode & 0o077 == 0
        assert path.parent.stat().st_mode & 0o077 == 0
    assert not path.exists()
    assert not path.parent.exists()


async def test_one_rename_and_the_rest_is_accepted(tmp_path: Path) -> None:
    async with editing(tmp_path, **OPTIONS) as editor:
        editor.open(URI, TEXT)
        await editor.ready()
        version = rename(editor)
        while "result" in editor.documents[URI].text:
            suggestion = await editor.suggestion(URI, version)
            assert "result" in suggestion["oldText"]  # twice, where a line has it twice
            assert suggestion["newText"] == suggestion["oldText"].replace("result", "amount")
            [edit] = await editor.inline_edits(URI, 0)
            assert (edit["range"], edit["text"]) == (suggestion["range"], suggestion["newText"])
            version = editor.change(URI, editor.change_of(URI, suggestion))
            await editor.execute("likewise.lsp.accept", suggestion["id"])
        assert (await editor.notice(URI, version))["suggestion"] is None
        assert editor.documents[URI].text == TEXT.replace("result", "amount")
        service = child(editor)
        assert service.environ()["LIKEWISE_TOKEN"] not in " ".join(service.cmdline())
    assert not service.is_running() or service.status() == psutil.STATUS_ZOMBIE


async def test_all_the_rest_at_once(tmp_path: Path) -> None:
    async with editing(tmp_path, **OPTIONS) as editor:
        editor.open(URI, TEXT)
        await editor.ready()
        version = rename(editor)
        found = await editor.execute("likewise.lsp.everywhere", URI, version)
        for edit in reversed(found["edits"]):
            editor.documents[URI].replace(editor.change_of(URI, edit))
        assert editor.documents[URI].text == TEXT.replace("result", "amount")


async def test_a_killed_service_is_started_again_and_answers_come_back(tmp_path: Path) -> None:
    async with editing(tmp_path, **OPTIONS) as editor:
        editor.open(URI, TEXT)
        await editor.ready()
        version = rename(editor)
        before = await editor.notice(URI, version)
        first = child(editor)
        first.kill()
        await editor.until(lambda: editor.statuses[-1]["state"] == "trouble")
        version = editor.change(URI, Change(0, 0, "#\n"))  # editing goes on
        await editor.notice(URI, version)
        editor.change(URI, Change(0, 2, ""))
        await editor.until(lambda: editor.statuses[-1]["state"] in ("ready", "quiet"))
        await editor.until(lambda: _newest(editor)["silence"] != "no-service")
        after = _newest(editor)
        assert _without_id(after["suggestion"]) == _without_id(before["suggestion"]) is not None
        assert child(editor).pid != first.pid
        assert len([m for m in editor.client.log_messages if "trying again" in m.message]) <= 2


async def test_another_bundle_of_the_user_is_used_without_a_restart(tmp_path: Path) -> None:
    own = tmp_path / "likewise" / "bundles"
    for name in ("one", "two"):
        shutil.copytree(TINY_BUNDLE, own / name / "bundle")
        seal(own / name / "bundle", name)
    write_current(own, "one")
    async with editing(tmp_path, device="cpu", threshold=0.2) as editor:
        editor.open(URI, TEXT)
        await editor.ready()
        assert "the bundle one" in editor.statuses[-1]["message"]
        before = await editor.suggestion(URI, rename(editor))
        first = child(editor)
        write_current(own, "two")
        await editor.until(lambda: _names_bundle(editor, "two"))
        version = editor.change(URI, Change(0, 0, "#\n"))
        await editor.notice(URI, version)
        version = editor.change(URI, Change(0, 2, ""))
        after = await editor.suggestion(URI, version)
        assert _without_id(after) == _without_id(before)
        assert child(editor).pid == first.pid


def _names_bundle(editor: Editor, name: str) -> bool:
    """Does the newest status that names a bundle name this one?"""
    messages = [status["message"] for status in editor.statuses if "the bundle" in status["message"]]
    return bool(messages) and f"the bundle {name}" in messages[-1]


async def test_a_service_that_hangs_is_replaced(tmp_path: Path) -> None:
    async with editing(tmp_path, **OPTIONS) as editor:
        editor.open(URI, TEXT)
        await editor.ready()
        await editor.notice(URI, rename(editor))
        first = child(editor)
        first.send_signal(signal.SIGSTOP)
        for _ in range(2):
            version = editor.type(URI, 0, "#")
            assert (await editor.notice(URI, version))["silence"] == "deadline"
        await editor.until(
            lambda: editor.statuses[-1]["state"] in ("ready", "quiet") and not first.is_running()
        )
        version = editor.type(URI, 0, "#")
        assert (await editor.notice(URI, version))["silence"] != "deadline"


async def test_a_stopped_service_is_replaced_while_nobody_asks(tmp_path: Path) -> None:
    async with editing(tmp_path, **OPTIONS) as editor:
        await editor.ready()
        first = child(editor)
        first.send_signal(signal.SIGSTOP)
        await editor.until(lambda: not first.is_running(), seconds=15)  # a ping of 10 s was too slow
        await editor.until(lambda: editor.statuses[-1]["state"] in ("ready", "quiet"))


@pytest.mark.parametrize("record", [False, True])
async def test_a_data_folder_that_cannot_be_made_stops_nothing(tmp_path: Path, record: bool) -> None:
    (tmp_path / "file").write_text("in the way")
    async with editing(tmp_path / "file", record=record, **OPTIONS) as editor:
        editor.open(URI, TEXT)
        await editor.ready()
        suggestion = await editor.suggestion(URI, rename(editor))
        await editor.execute("likewise.lsp.dismiss", suggestion["id"])


async def test_a_killed_language_server_leaves_no_service_behind(tmp_path: Path) -> None:
    async with editing(tmp_path, **OPTIONS) as editor:
        await editor.ready()
        service = child(editor)
        editor.client.protocol._shutdown = True
        os.kill(editor.process.pid, signal.SIGKILL)
        await editor.process.wait()
        await editor.until(lambda: not service.is_running() or service.status() == psutil.STATUS_ZOMBIE)


async def test_a_bundle_that_is_none_is_trouble_that_is_told_and_not_a_crash(tmp_path: Path) -> None:
    async with editing(tmp_path, bundle=str(tmp_path), device="cpu") as editor:
        editor.open(URI, TEXT)
        await editor.until(lambda: editor.statuses and editor.statuses[-1]["state"] == "trouble")
        version = editor.change(URI, Change(0, 5, "amount"))
        assert (await editor.notice(URI, version))["suggestion"] is None
        assert await editor.inline_edits(URI, 0) == []


async def test_a_port_that_somebody_else_has_is_trouble_that_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"  # listens, and never says a word
        taken.settimeout(0)
        async with editing(tmp_path, serviceAddress=address) as editor:
            editor.open(URI, TEXT)
            version = editor.change(URI, Change(0, 5, "amount"))
            assert (await editor.notice(URI, version))["silence"] == "no-service"
            await editor.until(lambda: editor.statuses[-1]["state"] == "trouble", seconds=40)


async def test_the_service_as_a_child(tmp_path: Path) -> None:
    service = ServiceProcess(str(TINY_BUNDLE), "cpu", "warning")
    address = await service.address()
    assert await service.address() == address
    with pytest.raises(ServiceUnavailable, match="401"):
        await fetch(address._replace(token="wrong"), "/model", timeout_seconds=5)
    service.kill()
    await asyncio.sleep(0.2)
    assert (await service.address()).token != address.token
    assert service.starts == 2
    await service.stop()
    with pytest.raises(ServiceUnavailable):
        await fetch(address, "/readyz", timeout_seconds=5)


def _newest(editor: Editor) -> dict[str, Any]:
    return next(each for each in reversed(editor.notices) if each["uri"] == URI)


def _without_id(suggestion: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if suggestion is None else {key: suggestion[key] for key in ("range", "newText", "oldText")}
