"""Predictions of a real connection to a scripted service."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from lsp.dismissals import Dismissals
from lsp.document import Document
from lsp.fetch import ServiceUnavailable
from lsp.file_view import FileView
from lsp.predictions import Predictions
from lsp.settings import Settings
from lsp.suggestions import Suggestion
from model.editing.change import Change
from model.silence import Silence
from server import schema
from tests.lsp.scripted_service import ScriptedService

pytestmark = pytest.mark.asyncio

URI = "file:///work/a.py"
TEXT = "foo = 1\nx = foo + 2\nprint(foo)\n"


class Served:
    """Predictions, their service and what they counted."""

    def __init__(self, service: ScriptedService, folder: Path, **options: Any) -> None:
        self.service = service
        self.counters: Counter[str] = Counter()
        self.dismissals = Dismissals(folder / "dismissed")
        settings = Settings(service_address=service.address, **options)
        self.predictions = Predictions(settings, self.dismissals, self.counters)
        self.connected = asyncio.Event()
        self.problems: list[str] = []

    async def watch(self) -> None:
        async for event in self.predictions.run():
            if isinstance(event, ServiceUnavailable):
                self.problems.append(event.reason)
            else:
                self.connected.set()

    async def reconnect(self) -> None:
        """Lose the service and find it again."""
        self.connected.clear()
        await self.service.stop()
        await self.service.start()
        await asyncio.wait_for(self.connected.wait(), 10)


@asynccontextmanager
async def serving(folder: Path, **options: Any) -> AsyncIterator[Served]:
    service = await ScriptedService().start()
    served = Served(service, folder, **options)
    task = asyncio.create_task(served.watch())
    await asyncio.wait_for(served.connected.wait(), 10)
    try:
        yield served
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await served.predictions.stop()
        await service.stop()


def view_after(predictions: Predictions, *changes: Change, shown: Suggestion | None = None) -> FileView:
    """A file after these changes."""
    document = Document(URI, "python", 1, TEXT)
    recorder = predictions.create_recorder(TEXT)
    assert recorder is not None
    for number, change in enumerate(changes):
        document.replace(change)
        recorder.record([change], 2.0 * number)
    recorder.move_cursor(-1)  # no name is half typed
    return FileView(document, recorder, shown, ())


RENAMED = Change(0, 3, "(y)")


async def test_a_view_in_is_an_answer_out(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        answer = await served.predictions.find_answer(view_after(served.predictions, RENAMED))
        assert answer.silence is None
        assert answer.best is not None
        assert answer.best.change == Change(12, 15, "bar")
        assert answer.best.old == "foo"
        assert [(reason.old, reason.new) for reason in answer.best.because] == [("foo", "(y)")]
        assert served.counters["answers"] == 1


async def test_without_a_model_there_is_no_recorder_and_no_answer(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        view = view_after(served.predictions, RENAMED)
    unconnected = Predictions(
        Settings(service_address=served.service.address), served.dismissals, served.counters
    )
    assert unconnected.create_recorder(TEXT) is None
    assert (await unconnected.find_answer(view)).silence is Silence.NO_SERVICE
    assert await unconnected.find_everywhere(view) == []


async def test_a_loss_is_reported_and_then_a_new_connection(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        model = served.predictions.model
        await served.reconnect()
        assert served.problems
        assert served.predictions.model is not None
        assert model is not None
        assert served.predictions.model.tokenizer is model.tokenizer  # streams need not begin again


async def test_the_suggestion_in_view_may_stay_with_less_confidence(tmp_path: Path) -> None:
    async with serving(tmp_path, threshold=0.95) as served:
        view = view_after(served.predictions, RENAMED)
        assert (await served.predictions.find_answer(view)).best is None
        shown = Suggestion(Change(12, 15, "bar"), "foo", 0.97)
        answer = await served.predictions.find_answer(view._replace(shown=shown))
        assert answer.best is not None
        assert answer.best.id == shown.id


async def test_the_likeliest_edit_can_be_asked_for_though_it_is_not_sure_enough(tmp_path: Path) -> None:
    async with serving(tmp_path, threshold=0.95) as served:
        view = view_after(served.predictions, RENAMED)
        assert (await served.predictions.find_answer(view)).best is None
        unsure = await served.predictions.find_unsure(view)
        assert unsure is not None
        assert unsure.confidence < 0.95


async def test_an_accepted_change_needs_less_confidence_unless_the_user_named_a_threshold(
    tmp_path: Path,
) -> None:
    for number in (None, 0.95):
        async with serving(tmp_path, threshold=number) as served:
            served.service.threshold = 0.95
            await served.reconnect()
            view = view_after(served.predictions, RENAMED)
            unsure = await served.predictions.find_unsure(view)
            assert unsure is not None
            assert (await served.predictions.find_answer(view)).best is None
            served.predictions.accept(unsure)
            assert ((await served.predictions.find_answer(view)).best is None) == (number is not None)


async def test_an_accepted_change_is_found_behind_one_that_is_not_sure_enough(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        served.service.threshold = 0.95
        await served.reconnect()
        view = view_after(served.predictions, RENAMED)
        unsure = await served.predictions.find_unsure(view)
        assert unsure is not None
        served.predictions.accept(unsure)
        renaming = served.service.script
        served.service.script = lambda text, asked: [Change(0, 0, "other"), *renaming(text, asked)]
        answer = await served.predictions.find_answer(view)
        assert [each.change for each in answer.suggestions] == [unsure.change]


async def test_a_silence_that_the_service_names_is_passed_on(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        served.service.script = lambda text, asked: []
        view = view_after(served.predictions, RENAMED)
        assert (await served.predictions.find_answer(view)).silence is Silence.STOP_PREDICTED


async def test_an_undo_and_a_dismissed_suggestion_are_silences(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        view = view_after(served.predictions, RENAMED)
        best = (await served.predictions.find_answer(view)).best
        assert best is not None
        served.predictions.dismiss(view.document, best)
        assert (await served.predictions.find_answer(view)).silence is Silence.DISMISSED
        served.service.script = lambda text, asked: [Change(0, 3, "foo")]
        assert (await served.predictions.find_answer(view)).silence is Silence.UNDO


async def test_a_look_ahead_answers_for_the_text_after_acceptance(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        predictions = served.predictions
        view = view_after(predictions, RENAMED)
        best = (await predictions.find_answer(view)).best
        assert best is not None
        ahead = await predictions.look_ahead(view, best)
        assert ahead is not None
        assert not ahead.is_for(view.document)
        after = view_after(predictions, RENAMED, best.change)
        assert ahead.is_for(after.document)
        answer = predictions.answer_from_ahead(after, ahead)
        assert answer.best is not None
        assert answer.best.change == Change(26, 29, "bar")
        assert served.counters["ahead"] == 1


async def test_alternatives_are_looked_for_only_if_the_editor_shows_them(tmp_path: Path) -> None:
    def script(text: str, asked: schema.Predict) -> list[Change]:
        starts = [index for index in range(len(text)) if text.startswith("foo", index)]
        return [Change(start, start + 3, "bar") for start in starts]

    for push, count in ((True, 2), (False, 0)):
        async with serving(tmp_path, push=push) as served:
            served.service.script = script
            view = view_after(served.predictions, RENAMED)
            assert len(await served.predictions.find_alternatives(view)) == count


async def test_everywhere_finds_all_changes_in_the_current_text(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        view = view_after(served.predictions, Change(0, 3, "bar "))
        found = await served.predictions.find_everywhere(view)
        assert [each.change for each in found] == [Change(13, 16, "bar"), Change(27, 30, "bar")]
        assert not served.predictions.is_dismissed(view, found[0])
