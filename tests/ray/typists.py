"""People who type at a service, each in a file of their own, with answers that are known beforehand.

They speak through the language server's own client, so a lost replica costs them what it costs an editor.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lsp.client import Client, Snapshot
from lsp.fetch import Address, ServiceUnavailable
from model.editing.change import Change
from model.editing.recorder import Recorder
from model.inference.predictor import Predictor
from model.silence import Silence
from server.schema import Predict, Prediction
from server.suggest import answer_stream, look_at_cursor, sync_history

Answer = tuple[tuple[int, int, str], ...]

_LINES = 8


class Moment(NamedTuple):
    """A question of a typist, and the right answer to it."""

    snapshot: Snapshot
    right: Answer


def plan_moments(predictor: Predictor, number: int) -> list[Moment]:
    """A file of a typist's own, in which a name is changed line by line."""
    # Each file has another length, so no two typists ever get the same answer.
    head = f"# {'x' * number}\n"
    text = head + "".join(f"    result = total_{number} + {line}\n" for line in range(_LINES))
    recorder = Recorder(predictor.bundle.require_tokenizer(), text)
    moments = []
    for line in range(3):
        old, new = f"total_{number}", f"amount_{number}"
        start = text.index(old)
        text = text.replace(old, new, 1)
        recorder.record([Change(start, start + len(old), new)], 10.0 * line)
        recorder.freeze()
        snapshot = Snapshot(
            f"{number}.py",
            recorder.state,
            tuple(recorder.edits),
            cursor=recorder.cursor,
            bursts=tuple(recorder.burst_ends),
        )
        moments.append(Moment(snapshot, _answer_here(predictor, snapshot)))
    return moments


def _answer_here(predictor: Predictor, snapshot: Snapshot) -> Answer:
    """Answer in this process, without any service."""
    question = Predict(
        document=snapshot.document,
        version=0,
        cursor=snapshot.cursor,
        prefix=snapshot.prefix,
        until="hunk",
        threshold=0.0,
        limit=1,
        bursts=list(snapshot.bursts),
    )
    history = predictor.open(snapshot.state)
    sync_history(history, 0, snapshot.edits)
    look_at_cursor(history, question.cursor, question.prefix)
    return tuple(
        (each.start, each.end, each.text) for each in answer_stream(predictor, history, question).suggestions
    )


def read_answer(prediction: Prediction) -> Answer:
    return tuple((each.start, each.end, each.text) for each in prediction.suggestions)


@dataclass
class Typist:
    """One person at one editor."""

    address: str
    moments: Sequence[Moment]
    token: str = ""
    seconds: list[float] = field(default_factory=list)  # of each right answer
    right_times: list[float] = field(default_factory=list)
    wrong: int = 0
    silences: list[str] = field(default_factory=list)  # the reasons of answers without a suggestion
    unanswered: list[str] = field(default_factory=list)  # the reasons
    problems: list[tuple[float, str]] = field(default_factory=list)  # that an editor would show
    bundles: list[str] = field(default_factory=list)

    async def type(self, is_over: Callable[[], bool], every_seconds: float, first_seconds: float) -> None:
        async def locate() -> Address:
            return Address(self.address, self.token)

        client = Client(locate)
        following = asyncio.create_task(self._follow(client))
        try:
            await asyncio.sleep(first_seconds)
            while not client.is_connected:
                await asyncio.sleep(0.05)
            turn = 0
            while not is_over():
                began = time.monotonic()
                await self._ask(client, self.moments[turn % len(self.moments)])
                turn += 1
                await asyncio.sleep(max(0.0, began + every_seconds - time.monotonic()))
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)

    async def _follow(self, client: Client) -> None:
        async for event in client.run():
            if isinstance(event, ServiceUnavailable):
                self.problems.append((time.monotonic(), event.reason))
            else:
                self.bundles.append(event.sha256)

    async def _ask(self, client: Client, moment: Moment) -> None:
        began = time.monotonic()
        try:
            prediction = await client.ask(moment.snapshot, threshold=0.0)
        except ServiceUnavailable as error:
            if error.silence is not Silence.SUPERSEDED:  # an editor asks again by itself
                self.unanswered.append(error.reason)
            return
        if read_answer(prediction) == moment.right:
            self.seconds.append(time.monotonic() - began)
            self.right_times.append(time.monotonic())
        elif prediction.silence is not None:
            self.silences.append(prediction.silence.value)
        else:
            self.wrong += 1


async def type_together(typists: Sequence[Typist], is_over: Callable[[], bool], every_seconds: float) -> None:
    """Let all of them type until it is over, each beginning a little after the one before."""
    await asyncio.gather(
        *(
            typist.type(is_over, every_seconds, every_seconds * number / len(typists))
            for number, typist in enumerate(typists)
        )
    )
