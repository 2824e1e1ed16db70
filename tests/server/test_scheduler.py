import asyncio
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from model.editing.edits import DELETE, END, START, Edit
from model.inference.bundle import Bundle
from model.inference.predictor import Predictor
from model.inference.together import step_together
from server.metrics import Metrics
from server.scheduler import Overloaded, Scheduler

TINY = Path(__file__).parent.parent / "data" / "tiny_bundle"


def make_scheduler(limit_waiting: int = 10, *, together: bool = False) -> Scheduler:
    return Scheduler(
        step_threads=1,
        limit_waiting=limit_waiting,
        metrics=Metrics(),
        together=step_together if together else None,
    )


@pytest.mark.parametrize("together", [False, True])
def test_a_step_does_not_wait_for_an_encoding(together: bool) -> None:
    async def scenario() -> None:
        scheduler, gate = make_scheduler(together=together), threading.Event()
        encoding = asyncio.create_task(scheduler.encode(lambda: gate.wait(10)))
        await asyncio.sleep(0)
        step = await scheduler.step(lambda: "stepped")
        assert step.value == "stepped"
        assert not encoding.done()
        gate.set()
        assert (await encoding).value is True
        scheduler.close()

    asyncio.run(scenario())


def test_too_many_waiting_encodings_are_refused_and_room_comes_back() -> None:
    async def scenario() -> None:
        scheduler, gate = make_scheduler(limit_waiting=2), threading.Event()
        waiting = [asyncio.create_task(scheduler.encode(lambda: gate.wait(10))) for _ in range(2)]
        await asyncio.sleep(0)
        assert scheduler.is_full
        with pytest.raises(Overloaded):
            await scheduler.encode(lambda: None)
        gate.set()
        await asyncio.gather(*waiting)
        assert not scheduler.is_full
        scheduler.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("together", [False, True])
def test_what_was_cancelled_before_it_began_never_runs(together: bool) -> None:
    async def scenario() -> None:
        scheduler, gate, ran = make_scheduler(together=together), threading.Event(), threading.Event()
        first = asyncio.create_task(scheduler.step(lambda: gate.wait(10)))
        second = asyncio.create_task(scheduler.step(ran.set))
        await asyncio.sleep(0.01)
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)
        gate.set()
        await first
        await scheduler.step(lambda: None)
        assert not ran.is_set()
        scheduler.close()

    asyncio.run(scenario())


def test_what_waits_when_the_scheduler_closes_is_cancelled() -> None:
    async def scenario() -> None:
        scheduler, gate, ran = make_scheduler(), threading.Event(), threading.Event()
        first = asyncio.create_task(scheduler.encode(lambda: gate.wait(10)))
        second = asyncio.create_task(scheduler.encode(ran.set))
        await asyncio.sleep(0.01)
        scheduler.close()
        gate.set()
        assert (await first).value is True
        with pytest.raises(asyncio.CancelledError):
            await second
        assert not ran.is_set()

    asyncio.run(scenario())


@pytest.mark.parametrize("seconds", [[0.0], [0.0, 0.0, 0.0], [0.15], [0.03, 0.03, 0.03, 0.03]])
def test_the_heap_is_trimmed_after_long_encodings_or_many(
    seconds: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    trimmed = threading.Event()
    monkeypatch.setattr("server.scheduler.trim_heap", trimmed.set)

    async def scenario() -> None:
        scheduler = make_scheduler()
        for each in seconds:
            await scheduler.encode(partial(time.sleep, each))
        assert trimmed.is_set() == (sum(seconds) > 0)
        scheduler.close()

    asyncio.run(scenario())


def test_steps_that_wait_are_handed_over_together_and_fail_alone() -> None:
    async def scenario() -> None:
        scheduler, gate = make_scheduler(together=True), threading.Event()
        ran: list[int] = []

        def fail() -> None:
            raise ValueError("this one")

        first = asyncio.create_task(scheduler.step(lambda: gate.wait(10)))
        await asyncio.sleep(0.01)
        others = [asyncio.create_task(scheduler.step(partial(ran.append, number))) for number in range(3)]
        failing = asyncio.create_task(scheduler.step(fail))
        await asyncio.sleep(0.01)
        assert not ran
        gate.set()
        results = await asyncio.gather(first, *others, failing, return_exceptions=True)
        assert ran == [0, 1, 2]
        assert isinstance(results[-1], ValueError)
        assert not any(isinstance(result, Exception) for result in results[:-1])
        scheduler.close()

    asyncio.run(scenario())


def test_handed_over_together_the_answers_are_the_same() -> None:
    predictor = Predictor(Bundle.load(TINY), device="cpu")
    state = (START, *range(10, 60), END)

    def distribution(number: int) -> NDArray[np.float32]:
        history = predictor.open(state)
        history.append([Edit(5 + number, DELETE), Edit(4 + number, 20 + number)])
        return history.predict().positions

    async def together() -> list[NDArray[np.float32]]:
        scheduler = make_scheduler(together=True)
        done = await asyncio.gather(*(scheduler.step(partial(distribution, number)) for number in range(12)))
        scheduler.close()
        return [each.value for each in done]

    for number, found in enumerate(asyncio.run(together())):
        np.testing.assert_allclose(found, distribution(number), atol=1e-4)
