"""The workspace in this process, with a scripted service: what is told when."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from lsp.document import Document
from lsp.exclusions import LIMIT_CHARACTERS
from lsp.file_session import FileSession
from lsp.question import QuestionState
from lsp.settings import Settings
from lsp.status import EditorStatus
from lsp.suggestions import Answer
from lsp.workspace import Workspace
from model.editing.change import Change
from model.silence import Silence
from server import schema
from tests.lsp.scripted_service import ScriptedService

pytestmark = pytest.mark.asyncio

URI = "file:///work/a.py"
TEXT = "foo = 1\nx = foo + 2\nprint(foo)\n"


class Screen:
    """An editor that writes down what it is told."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, Answer]] = []
        self.statuses: list[EditorStatus] = []
        self.messages: list[str] = []

    def show(self, document: Document, answer: Answer) -> None:
        self.answers.append((document.version, answer))

    def tell(self, status: EditorStatus) -> None:
        self.statuses.append(status)

    def log(self, message: str) -> None:
        self.messages.append(message)


class Desk:
    """A workspace, its screen and hands to type with."""

    def __init__(self, workspace: Workspace, screen: Screen, service: ScriptedService) -> None:
        self.workspace = workspace
        self.screen = screen
        self.service = service

    @property
    def file(self) -> FileSession:
        return self.workspace.files[URI]

    def state(self) -> QuestionState:
        return self.file.state

    def change(self, *changes: Change) -> int:
        document = self.file.document
        version = document.version + 1
        for start, end, text in changes[:-1]:
            self._notify(start, end, text, version)
        self._notify(*changes[-1], version)
        return version

    def _notify(self, start: int, end: int, text: str, version: int) -> None:
        changed = self.file.document.range_from_offsets(start, end)
        event = types.TextDocumentContentChangePartial(range=changed, text=text)
        self.workspace.change(URI, [event], version)

    async def answer(self) -> Answer:
        return await asyncio.wait_for(self.workspace.answer(URI, None, types.Position(99, 0)), 10)


async def until(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.005)


@asynccontextmanager
async def working(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str = TEXT, **options: Any
) -> AsyncIterator[Desk]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    service = await ScriptedService().start()
    screen = Screen()
    settings = Settings(service_address=service.address, **options)
    workspace = Workspace(screen, settings, "file:///work")
    workspace.start()
    await until(lambda: workspace.status.state == "ready")
    workspace.open(URI, "python", 1, text)
    try:
        yield Desk(workspace, screen, service)
    finally:
        await workspace.stop()
        await service.stop()


async def test_a_file_is_prepared_when_opened_but_a_restored_session_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with working(tmp_path, monkeypatch) as desk:
        for number in range(10):
            desk.workspace.open(f"file:///work/{number}.py", "python", 1, TEXT)
        await until(lambda: len(desk.service.said("open")) == 3)
        desk.workspace.focus("file:///work/9.py")
        await until(lambda: desk.service.said("open")[-1].document == "file:///work/9.py")
        assert len(desk.service.said("open")) == 4


async def test_many_keys_at_once_are_one_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with working(tmp_path, monkeypatch) as desk:
        for index, key in enumerate("(1)(2)(3)"):
            desk.change(Change(index, index, key))
        answer = await desk.answer()
        assert answer.best is not None
        assert len(desk.service.said("predict")) == 1
        assert {version for version, _ in desk.screen.answers} == {10}


async def test_who_waits_for_an_old_text_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with working(tmp_path, monkeypatch, debounce_milliseconds=50) as desk:
        desk.change(Change(0, 0, "("))
        waiting = asyncio.create_task(desk.answer())
        await asyncio.sleep(0.01)
        desk.change(Change(0, 0, "("))
        assert (await waiting).silence == "stale"
        assert (await desk.answer()).best is not None


async def test_the_suggestion_in_view_does_not_flicker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service that changes its mind at each key between two of nearly equal confidence."""
    turn = 0

    def script(text: str, question: schema.Predict) -> list[Change]:
        nonlocal turn
        turn += 1
        changes = [Change(text.index("foo"), text.index("foo") + 3, "bar")]
        changes.append(Change(text.index("print"), text.index("print") + 5, "log"))
        return changes if turn % 2 else changes[::-1]

    async with working(tmp_path, monkeypatch, limit_suggestions=2) as desk:
        desk.service.script = script
        seen = []
        end = len(TEXT)
        for index in range(6):
            desk.change(Change(end + index, end + index, "("))
            best = (await desk.answer()).best
            assert best is not None
            seen.append((best.id, best.change.text))
        assert len(set(seen)) == 1


async def test_accepting_before_or_after_the_change_tags_the_edits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for early in (True, False):
        async with working(tmp_path, monkeypatch) as desk:
            desk.change(Change(0, 3, "(y)"))
            best = (await desk.answer()).best
            assert best is not None
            if early:
                desk.workspace.accept(best.id)
            desk.change(best.change)
            if not early:
                desk.workspace.accept(best.id)
            recorder = desk.file.recorder
            assert recorder is not None
            assert [burst.accepted for burst in recorder.bursts] == [False, True]
            assert desk.workspace.counters["accepted"] == 1


async def test_a_formatter_on_save_begins_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with working(tmp_path, monkeypatch) as desk:
        desk.change(Change(0, 3, "(y)"))
        await desk.answer()
        document = desk.file.document
        first = document.range_from_offsets(20, 21)
        second = document.range_from_offsets(5, 5)
        events: list[types.TextDocumentContentChangeEvent] = [
            types.TextDocumentContentChangePartial(range=first, text="  "),
            types.TextDocumentContentChangePartial(range=second, text="   "),
        ]
        desk.workspace.change(URI, events, 7)
        desk.workspace.save(URI)
        assert (await desk.answer()).silence == "nothing-edited"


async def test_another_branch_begins_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with working(tmp_path, monkeypatch) as desk:
        desk.change(Change(0, 3, "(y)"))
        assert (await desk.answer()).best is not None
        desk.workspace.switch_branch()
        assert (await desk.answer()).silence == "nothing-edited"
        desk.change(Change(0, 3, "(z)"))  # the editor reads the file again
        assert (await desk.answer()).silence == "nothing-edited"


async def test_a_file_that_grows_too_large_is_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with working(tmp_path, monkeypatch) as desk:
        desk.change(Change(0, 0, "x" * (LIMIT_CHARACTERS + 1)))
        assert desk.file.excluded == "too-large"
        assert desk.file.document.text == ""
        desk.workspace.change(URI, [types.TextDocumentContentChangeWholeDocument(text="foo")], 9)
        assert desk.file.document.text == ""
        assert desk.file.document.version == 9


async def test_a_long_file_is_read_while_the_user_types(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = TEXT * 4000
    async with working(tmp_path, monkeypatch, text=text) as desk:
        desk.change(Change(0, 3, "(y)"))
        desk.change(Change(1, 2, "z"))
        assert desk.file.recorder is None
        await until(lambda: desk.file.recorder is not None)
        assert desk.file.recorder is not None
        assert desk.file.recorder.text.text == desk.file.document.text == "(z)" + text[3:]
        assert desk.file.recorder.edits
        desk.change(Change(len(text), len(text), "("))
        assert (await desk.answer()).best is not None


async def test_new_globs_let_files_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with working(tmp_path, monkeypatch) as desk:
        desk.change(Change(0, 3, "(y)"))
        await desk.answer()
        settings = Settings(service_address=desk.service.address, exclude=("a.py",))
        await desk.workspace.configure(settings)
        assert desk.file.excluded == "excluded"
        await until(lambda: desk.service.said("close"))


async def test_what_was_suggested_and_accepted_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with working(tmp_path, monkeypatch, record=True) as desk:
        desk.change(Change(0, 3, "(y)"))
        best = (await desk.answer()).best
        assert best is not None
        desk.workspace.accept(best.id)
        desk.change(best.change)
        await desk.answer()
        [file] = (tmp_path / "likewise" / "recordings").glob("*.jsonl")
        recorded = file.read_text()
        assert recorded.count('"suggested"') == 2
        assert recorded.count('"accepted"') == 1
        assert recorded.count('"changed"') == 2


async def test_an_edit_taken_back_takes_its_suggestion_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with working(tmp_path, monkeypatch) as desk:
        desk.change(Change(0, 3, "(y)"))
        assert (await desk.answer()).best is not None
        desk.change(Change(0, 3, "foo"))
        assert (await desk.answer()).silence == "nothing-edited"


async def test_a_service_that_fails_inside_is_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def script(text: str, question: schema.Predict) -> list[Change]:
        return [Change(len(text) + 5, len(text) + 9, "beyond")]

    async with working(tmp_path, monkeypatch) as desk:
        desk.service._suggestion = lambda session, text, change, question: schema.Suggestion(  # type: ignore[method-assign]
            start=change.start,
            end=change.end,
            text=change.text,
            confidence=0.9,
            log_probability=-0.1,
            edits=[],
            tokens=[],
            because=[99],
        )
        desk.service.script = script
        desk.change(Change(0, 3, "(y)"))
        answer = await desk.answer()
        assert answer.best is None or answer.best.old == ""


async def test_while_the_model_is_slow_the_status_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with working(tmp_path, monkeypatch) as desk:
        desk.service.hangs = True
        desk.change(Change(0, 3, "total"))
        await until(lambda: desk.workspace.status.state == "thinking")
        desk.service.hangs = False
        await until(lambda: desk.workspace.status.state in ("ready", "quiet"))


async def test_the_status_says_why_nothing_is_suggested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with working(tmp_path, monkeypatch, languages={"markdown": False}) as desk:
        desk.service.script = lambda text, question: []
        desk.change(Change(0, 3, "(y)"))
        await desk.answer()
        silence = Silence.STOP_PREDICTED
        assert desk.workspace.status == EditorStatus("quiet", silence.value, silence.sentence)
        desk.workspace.open("file:///work/a.md", "markdown", 1, "")
        desk.workspace.change(
            "file:///work/a.md", [types.TextDocumentContentChangeWholeDocument(text="x")], 2
        )
        silence = Silence.LANGUAGE_OFF
        assert desk.workspace.status == EditorStatus("off", silence.value, silence.sentence)


async def test_the_status_is_about_the_file_in_focus_and_follows_the_settings_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with working(tmp_path, monkeypatch) as desk:
        workspace = desk.workspace
        desk.change(Change(0, 3, "(y)"))
        await desk.answer()
        workspace.open("file:///work/a.md", "markdown", 1, "")
        workspace.open("file:///work/.env", "plaintext", 1, "")
        on, off = {"*": True, "python": True}, {"*": True, "python": False}
        for languages, state in ((off, "off"), (on, "ready"), (off, "off")):
            await workspace.configure(replace(workspace.settings, languages=languages))
            assert workspace.status.state == state
            assert desk.screen.statuses[-1] == workspace.status
        workspace.focus("file:///work/a.md")
        assert workspace.status.message == Silence.NOTHING_EDITED.sentence
        workspace.focus("file:///work/.env")
        assert workspace.status.message == Silence.EXCLUDED.sentence
        workspace.focus(URI)
        assert workspace.status.message == Silence.LANGUAGE_OFF.sentence
        # A settings file that the editor writes in the background.
        event = types.TextDocumentContentChangeWholeDocument(text="x")
        workspace.change("file:///work/a.md", [event], 2)
        assert workspace.status.message == Silence.LANGUAGE_OFF.sentence


async def test_one_dismissal_clears_the_alternatives_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with working(tmp_path, monkeypatch, push=True, limit_suggestions=3) as desk:
        desk.service.script = lambda text, question: [
            Change(at, at + 3, "bar") for old in ("foo +", "foo)") if (at := text.find(old)) >= 0
        ]
        desk.change(Change(0, 3, "(y)"))
        await until(lambda: desk.screen.answers and len(desk.screen.answers[-1][1].suggestions) == 2)
        first = desk.screen.answers[-1][1].suggestions[0]
        desk.workspace.dismiss(first.id)
        assert desk.screen.answers[-1][1] == Answer(silence=Silence.DISMISSED)
        assert await desk.answer() == Answer(silence=Silence.DISMISSED)
        desk.change(Change(len(TEXT), len(TEXT), "#\n"))  # another text, another question
        best = (await desk.answer()).best
        assert best is not None
        assert not best.is_same(first)


async def test_what_was_dismissed_is_suggested_again_when_all_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with working(tmp_path, monkeypatch) as desk:
        desk.change(Change(0, 3, "(y)"))
        first = (await desk.answer()).best
        assert first is not None
        desk.workspace.dismiss(first.id)
        assert (await desk.answer()).silence is Silence.DISMISSED
        desk.workspace.forget_dismissed()
        again = (await desk.answer()).best
        assert again is not None
        assert again.is_same(first)


async def test_everywhere_is_asked_before_the_next_question_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with working(tmp_path, monkeypatch) as desk:
        desk.change(Change(0, 3, "y"))  # a name that may not be whole
        await until(lambda: desk.state() is QuestionState.ANSWERED)
        desk.service.seconds = 0.1
        finding = asyncio.create_task(desk.workspace.find_everywhere(URI, None))
        await asyncio.sleep(0.05)
        assert not finding.done()
        # A question of the file would replace that one in the service.
        assert desk.state() is QuestionState.ANSWERED
        assert len(await asyncio.wait_for(finding, 10)) == 2
        assert desk.state() is QuestionState.ASKING
        finding = asyncio.create_task(desk.workspace.find_everywhere(URI, None))  # while that one is open
        await asyncio.sleep(0.05)
        assert desk.state() is QuestionState.IDLE
        assert len(await asyncio.wait_for(finding, 10)) == 2
        assert desk.state() is QuestionState.ASKING


async def test_a_dismissal_while_a_question_is_open_does_not_cost_its_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with working(tmp_path, monkeypatch) as desk:
        desk.change(Change(0, 3, "(y)"))
        first = (await desk.answer()).best
        assert first is not None
        desk.service.hangs = True
        desk.change(Change(len(TEXT), len(TEXT), "#\n"))
        desk.workspace.dismiss(first.id)
        assert desk.screen.answers[-1][1].silence == "dismissed"
        assert desk.file.state is QuestionState.ASKING
        desk.service.script = lambda text, question: [
            Change(text.index("print"), text.index("print") + 5, "log")
        ]
        desk.service.hangs = False
        best = (await desk.answer()).best
        assert best is not None
        assert best.change.text == "log"


async def test_a_model_that_cannot_be_read_is_told_once_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    service = await ScriptedService(tokenizer_json="{}").start()
    screen = Screen()
    workspace = Workspace(screen, Settings(service_address=service.address))
    workspace.start()
    await until(lambda: workspace.status.state == "trouble")
    assert workspace.status.reason == "internal"
    service.tokenizer_json = service.tokenizer.json
    await until(lambda: workspace.status.state == "ready")
    assert len([message for message in screen.messages if "failed" in message]) == 1
    await workspace.stop()
    await service.stop()


async def test_a_change_that_cannot_be_taken_in_ends_the_file_and_not_its_truth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with working(tmp_path, monkeypatch, record=True) as desk:
        desk.change(Change(0, 0, "("))
        desk.workspace.lose(URI)
        assert desk.file.excluded is Silence.INTERNAL
        desk.workspace.change(URI, [types.TextDocumentContentChangeWholeDocument(text="b")], 9)
        assert len(desk.file.document) == 0
        desk.workspace.open(URI, "python", 10, TEXT)
        assert desk.file.excluded is None


async def test_an_editor_without_versions_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with working(tmp_path, monkeypatch) as desk:
        desk.workspace.change(URI, [types.TextDocumentContentChangeWholeDocument(text="(" + TEXT)], None)
        assert desk.file.document.text == "(" + TEXT
        assert (await desk.answer()).best is not None


PRIVATE_KEY = "-----BEGIN RSA PRIVATE" + " KEY-----"  # in two parts: this file holds none
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize("secret", [PRIVATE_KEY, TOKEN], ids=["private key", "token"])
@pytest.mark.parametrize("size", [1, 9, 100], ids=["typed", "in pieces", "pasted"])
async def test_a_secret_is_neither_recorded_nor_kept_by_the_service_and_the_status_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, secret: str, size: int
) -> None:
    async with working(tmp_path, monkeypatch, record=True) as desk:
        for start in range(0, len(secret), size):
            desk.change(Change(start, start, secret[start : start + size]))
        assert desk.file.excluded is Silence.SECRET
        assert len(desk.file.document) == 0
        assert desk.workspace.status.reason == "secret"
        await until(lambda: URI not in desk.service.sessions)
        recorded = "".join(file.read_text() for file in (tmp_path / "likewise" / "recordings").glob("*"))
        assert "a.py" not in recorded
        assert "changed" not in recorded


async def test_one_letter_that_completes_a_secret_is_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with working(tmp_path, monkeypatch, text=PRIVATE_KEY.replace("Y", "") + "\nabc\n") as desk:
        assert desk.file.excluded is None
        place = PRIVATE_KEY.index("Y")
        desk.change(Change(place, place, "Y"))
        assert desk.file.excluded is Silence.SECRET


async def test_a_key_in_a_very_long_line_lets_the_file_go_with_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with working(tmp_path, monkeypatch, text=TEXT + "x = [" + "1, " * 10_000 + "]\n" + TEXT) as desk:
        desk.change(Change(0, 3, "(y)"))  # elsewhere in the file all is as usual
        assert (await desk.answer()).best is not None
        desk.change(Change(len(TEXT) + 9, len(TEXT) + 9, "2"))
        assert desk.file.excluded is Silence.LONG_LINE
        assert desk.workspace.status.reason == "long-line"


async def test_a_move_to_another_replica_costs_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with working(tmp_path, monkeypatch) as desk:
        desk.change(Change(0, 3, "(y)"))
        await desk.answer()
        heard = len(desk.service.said("edits"))
        desk.service.hangs = True
        desk.change(Change(len(TEXT), len(TEXT), "#\n"))
        asking = asyncio.create_task(desk.answer())
        await until(lambda: len(desk.service.said("edits")) > heard)
        await desk.service.send_away()
        assert (await asking).best is not None


async def test_a_key_typed_during_a_move_is_answered_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with working(tmp_path, monkeypatch) as desk:
        desk.change(Change(0, 3, "(y)"))
        await desk.answer()
        before = len(desk.screen.statuses)
        await desk.service.send_away()
        await asyncio.sleep(0.03)
        desk.change(Change(len(TEXT), len(TEXT), "#\n"))
        assert (await desk.answer()).best is not None
        assert {each.state for each in desk.screen.statuses[before:]} <= {"ready", "quiet", "thinking"}
