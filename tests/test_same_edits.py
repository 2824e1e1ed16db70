"""One stream of changes gives the same edits through the language server's process, POST and the reader of recordings.

The process records what it is told, with its own times; POST and the reader are given that recording.
"""

import asyncio
from itertools import count
from pathlib import Path
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model.editing.change import Change, trimmed
from model.editing.edits import DELETE, Edit, Slots, State
from model.editing.tokenizer import Tokenizer
from model.inference.bundle import Bundle
from model.inference.predictor import Predictor
from server.schema import TextEdit, TextRequest
from server.settings import Settings
from server.suggest import limit_edits, question_from_text
from tests.lsp.editor import Editor, editing
from tests.lsp.scripted_service import ScriptedService
from training.sources.recording_reader import Recording, recordings_in, trajectories_of
from training.trajectories.excerpts import ExcerptCutter
from training.trajectories.mining_setting import MiningSetting
from training.trajectories.trajectory import instance_from_trajectory

TINY = Path(__file__).parent / "data" / "tiny_bundle"
PAUSE_SECONDS = 1.2  # longer than the pause that ends a burst
TEXT = "def total(items):\n    result = 0  # \U0001f600\n    for item in items:\n        result += item\n    return result\n"
DIGITS = "a = 1\nb = 2\nc = 3\nd = 4\n"
BLOCK = "".join(f"value_{number} = compute({number})\n" for number in range(30))  # so much is a rewrite

Step = list[Change]
Stream = tuple[str, list[Step], list[Step]]  # a text, the steps before a pause and those after it


@st.composite
def streams(draw: st.DrawFn) -> Stream:
    """A text and steps as a user makes them: typing, deleting, jumps, several cursors, undo, now and then a large paste."""
    start = draw(st.sampled_from([TEXT, DIGITS, ""]))
    texts, cursor = [start], 0
    parts: list[list[Step]] = []
    for _ in range(2):
        parts.append([])
        for _ in range(draw(st.integers(1, 7))):
            text = texts[-1]
            cursor = min(cursor, len(text))
            kind = draw(
                st.sampled_from(["type"] * 6 + ["jump", "jump", "delete", "several", "undo", "paste"])
            )
            if kind == "jump":
                cursor = draw(st.integers(0, len(text)))
            step = [
                Change(cursor, cursor, draw(st.sampled_from(["a", "x_", "(", "()", " ", "1", "\n    ", "."])))
            ]
            if kind == "delete":
                step = [Change(max(0, cursor - 1), cursor, "")]
            elif kind == "several":
                offsets = draw(st.sets(st.integers(0, len(text)), min_size=1, max_size=3))
                step = [Change(offset, offset, step[0].text) for offset in sorted(offsets, reverse=True)]
            elif kind == "undo":
                step = [trimmed(Change(0, len(text), draw(st.sampled_from(texts))), text)]
            elif kind == "paste" and draw(st.integers(0, 3)) == 0:
                step = [Change(cursor, cursor, BLOCK)]
            for change in step:
                text = change.apply_to(text)
            cursor = step[-1].new_end
            texts.append(text)
            parts[-1].append(step)
    return start, parts[0], parts[1]


class Still(Random):
    """Chance that always takes the largest window."""

    def random(self) -> float:
        return 0.0


class Paths:
    """The three ways, with one service and one language server for all examples."""

    def __init__(self, editor: Editor, service: ScriptedService, predictor: Predictor, folder: Path) -> None:
        self.editor = editor
        self.service = service
        self.predictor = predictor
        self.folder = folder
        self.numbers = count()

    async def send(self, drawn: list[Stream]) -> list[str]:
        """Send streams to the process, all at once with one pause for all; the names of their files."""
        names = [f"{next(self.numbers)}.py" for _ in drawn]
        for name, (text, _, _) in zip(names, drawn, strict=True):
            self.editor.open(f"file:///work/{name}", text)
        for part in (1, 2):
            for name, stream in zip(names, drawn, strict=True):
                for step in stream[part]:
                    self.editor.change(f"file:///work/{name}", *step)
            await asyncio.sleep(PAUSE_SECONDS)
        for name in names:  # with a question the service hears all that was told
            self.editor.change(f"file:///work/{name}", Change(0, 0, "("))
            await self.editor.inline_edits(f"file:///work/{name}", 1)
        return names

    def recordings(self) -> dict[str, Recording]:
        lines = [
            line for file in sorted(self.folder.rglob("*.jsonl")) for line in file.read_text().splitlines()
        ]
        return {recording.path: recording for recording in recordings_in(lines)}

    def heard(self, name: str) -> tuple[State, list[Edit]]:
        slots = self.service.sessions[f"file:///work/{name}"].slots
        return tuple(slots.contents[: slots.state_length]), slots.edits

    def posted(self, recording: Recording) -> tuple[State, list[Edit]]:
        edits: list[TextEdit] = []
        time = 0
        for step in recording.steps:
            time = max(time + 1, step.milliseconds)
            edits += [TextEdit(start=c.start, end=c.end, text=c.text, time=time) for c in step.changes]
        request = TextRequest(text=recording.text, edits=edits)
        question = question_from_text(request, self.predictor, Settings(bundle=TINY))
        return question.state, question.edits

    def trained(self, recording: Recording) -> tuple[State, list[Edit]]:
        tokenizer = self.predictor.bundle.require_tokenizer()
        cutter = ExcerptCutter(tokenizer, MiningSetting(limit_state=100_000, limit_edits=1000))
        *_, trajectory = trajectories_of(recording, cutter, Still())
        instance = instance_from_trajectory(trajectory, tokenizer, 1000)
        assert instance is not None
        return instance.state, list(instance.edits)


def test_the_process_post_and_the_reader_record_the_same_edits(tmp_path: Path) -> None:
    predictor = Predictor(Bundle.load(TINY))
    tokenizer = predictor.bundle.require_tokenizer()
    service = ScriptedService(
        lambda text, question: [], limit_edits=limit_edits(predictor), tokenizer=tokenizer
    )
    with asyncio.Runner() as runner:
        runner.run(service.start())
        process = editing(tmp_path, serviceAddress=service.address, record=True)
        editor = runner.run(process.__aenter__())
        paths = Paths(editor, service, predictor, tmp_path)

        @settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
        @given(st.lists(streams(), min_size=8, max_size=12))
        def check(drawn: list[Stream]) -> None:
            names = runner.run(paths.send(drawn))
            recordings = paths.recordings()
            for name in names:
                heard = paths.heard(name)
                assert heard[1]
                assert paths.posted(recordings[name]) == heard
                assert paths.trained(recordings[name]) == heard

        try:
            runner.run(editor.ready())
            digits: Step = [Change(22, 23, "9")]
            (name,) = runner.run(paths.send([(DIGITS, [digits, [Change(4, 5, "7")]], [])]))
            assert told(paths.heard(name), tokenizer) == "-4+9-1+7+("
            check()
        finally:
            runner.run(process.__aexit__(None, None, None))
            runner.run(service.stop())


def told(stream: tuple[State, list[Edit]], tokenizer: Tokenizer) -> str:
    """A stream as a reader sees it: what went and what came."""
    slots = Slots(stream[0])
    result = ""
    for edit in stream[1]:
        slots.apply(edit)
        is_deletion = edit.content == DELETE
        text = tokenizer.decode([slots.contents[edit.position] if is_deletion else edit.content])
        result += (
            ("-" if is_deletion else "+") + text if text else ""
        )  # the end of a lexical token has no text
    return result
