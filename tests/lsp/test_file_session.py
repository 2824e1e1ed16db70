"""One open file with real predictions: the states of its question, and what it publishes."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from lsp.document import Document
from lsp.exclusions import LIMIT_CHARACTERS
from lsp.file_session import FileSession
from lsp.file_view import FileView
from lsp.predictions import Predictions
from lsp.question import QuestionState
from lsp.settings import Settings
from lsp.suggestions import Answer, Suggestion
from model.editing.change import Change
from model.silence import Silence
from tests.lsp.test_predictions import RENAMED, TEXT, URI, Served, serving

pytestmark = pytest.mark.asyncio


class Desk:
    """A session, a clock and everything that was published."""

    def __init__(self, served: Served, text: str = TEXT) -> None:
        self.served = served
        self.published: list[tuple[Answer, bool]] = []
        self.session = FileSession(Document(URI, "python", 1, text), None, self.publish)
        self.session.begin_stream(served.predictions)
        self.now = 0.0

    def publish(self, session: FileSession, answer: Answer, is_new: bool) -> None:
        assert session is self.session
        assert session.answer is answer
        self.published.append((answer, is_new))

    def state(self) -> QuestionState:
        return self.session.state  # mypy takes a property for a constant

    def change(self, change: Change) -> list[Change]:
        self.now += 2.0
        document = self.session.document
        event = types.TextDocumentContentChangePartial(
            range=document.range_from_offsets(change.start, change.end), text=change.text
        )
        return self.session.change([event], document.version + 1, self.now)

    async def ask(self) -> Suggestion:
        """Ask, and expect a suggestion."""
        self.session.ask(self.served.predictions)
        best = (await self.session.wait_for_answer()).best
        assert best is not None
        return best


async def until(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.005)


async def test_a_question_passes_through_all_its_states(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        desk = Desk(served)
        session = desk.session
        assert desk.state() is QuestionState.IDLE
        assert desk.change(RENAMED) == [RENAMED]
        session.ask(served.predictions)
        assert desk.state() is QuestionState.ASKING
        await session.wait_for_answer()
        assert desk.state() is QuestionState.LOOKING_AHEAD
        await until(lambda: session.state is QuestionState.ANSWERED)
        desk.change(Change(0, 0, "#\n"))
        assert desk.state() is QuestionState.IDLE
        session.close()


async def test_nothing_is_asked_about_a_file_without_edits(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        desk = Desk(served)
        desk.session.ask(served.predictions)
        assert desk.state() is QuestionState.ANSWERED
        assert desk.published == [(Answer(silence=Silence.NOTHING_EDITED), False)]
        assert not desk.session.is_edited


async def test_typing_along_answers_at_once_with_the_rest(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        desk = Desk(served)
        desk.change(RENAMED)
        best = await desk.ask()
        assert desk.published[-1][1]  # new
        desk.change(Change(12, 15, "b"))
        assert desk.session.answer_at_once(served.predictions)
        shown = desk.session.shown
        assert shown is not None
        assert (shown.id, shown.change) == (best.id, Change(13, 13, "ar"))
        assert not desk.published[-1][1]
        desk.session.close()


async def test_typing_something_else_needs_a_question(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        desk = Desk(served)
        desk.change(RENAMED)
        await desk.ask()
        desk.change(Change(12, 15, "x"))
        assert not desk.session.answer_at_once(served.predictions)
        assert desk.session.shown is None
        assert desk.state() is QuestionState.IDLE


async def test_after_a_look_ahead_acceptance_answers_at_once(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        desk = Desk(served)
        desk.change(RENAMED)
        best = await desk.ask()
        await until(lambda: desk.session.state is QuestionState.ANSWERED)
        desk.session.accept(best.id)
        desk.change(best.change)
        assert desk.session.answer_at_once(served.predictions)
        answer = desk.session.answer
        assert answer is not None
        assert answer.best is not None
        assert answer.best.change == Change(26, 29, "bar")
        assert desk.state() is QuestionState.LOOKING_AHEAD  # of the next
        desk.session.close()


async def test_a_dismissed_suggestion_leaves_and_does_not_return(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        desk = Desk(served)
        desk.change(RENAMED)
        best = await desk.ask()
        assert desk.session.find_offered(best.id) is best
        assert desk.session.dismiss(best) is best
        assert desk.state() is QuestionState.ANSWERED
        assert desk.session.shown is None
        desk.change(Change(0, 0, "#\n"))
        desk.session.ask(served.predictions)
        assert (await desk.session.wait_for_answer()).silence is Silence.DISMISSED


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x" * (LIMIT_CHARACTERS + 1), Silence.TOO_LARGE),
        ("-----BEGIN PRIVATE KEY-----\n", Silence.SECRET),
    ],
)
async def test_a_change_may_exclude_the_file(tmp_path: Path, text: str, reason: Silence) -> None:
    async with serving(tmp_path) as served:
        desk = Desk(served)
        desk.change(RENAMED)
        best = await desk.ask()
        desk.change(Change(0, 0, text))
        session = desk.session
        assert session.excluded is reason
        assert session.document.text == ""
        assert session.recorder is None
        assert session.shown is None
        assert session.find_offered(best.id) is None
        assert desk.published[-1] == (Answer(silence=reason), False)
        session.change([types.TextDocumentContentChangeWholeDocument(text="foo")], 9, 0.0)
        assert (session.document.version, session.document.text) == (9, "")


class BrokenPredictions(Predictions):
    async def find_answer(self, view: FileView, pause_seconds: float | None = None) -> Answer:
        raise RuntimeError(view.document.text)


async def test_whatever_fails_there_is_an_answer_and_a_log_without_text(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(tmp_path) as served:
        desk = Desk(served)
        desk.change(RENAMED)
        broken = BrokenPredictions(
            Settings(service_address="http://[::1]"), served.dismissals, served.counters
        )
        desk.session.ask(broken)
        assert (await desk.session.wait_for_answer()).silence is Silence.INTERNAL
        assert "RuntimeError" in caplog.text
        assert "foo" not in caplog.text


async def test_a_long_text_is_read_in_the_background_unless_the_file_is_closed(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        text = TEXT * 2000
        desk = Desk(served, text)
        assert desk.session.recorder is None
        desk.change(RENAMED)
        await until(lambda: desk.session.recorder is not None)
        assert desk.session.is_edited
        reading = desk.session.begin_stream(served.predictions)
        assert reading is not None
        desk.session.close()
        await asyncio.gather(reading, return_exceptions=True)
        assert desk.session.recorder is None


async def test_a_half_typed_name_is_finished_when_the_cursor_leaves_it(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        desk = Desk(served)
        end = len(TEXT)
        desk.change(Change(end, end, "n"))
        desk.change(Change(end + 1, end + 1, "a"))
        assert not desk.session.leave_name(end + 2)
        assert desk.session.leave_name(0)
        assert not desk.session.leave_name(0)
