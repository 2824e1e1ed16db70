import asyncio
import threading

import pytest

from server.metrics import Metrics
from server.scheduler import Overloaded, Scheduler


def make_scheduler(limit_waiting: int = 10) -> Scheduler:
    return Scheduler(step_threads=1, limit_waiting=limit_waiting, metrics=Metrics())


def test_a_step_does_not_wait_for_an_encoding() -> None:
    async def scenario() -> None:
        scheduler, gate = make_scheduler(), threading.Event()
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


def test_what_was_cancelled_before_it_began_never_runs() -> None:
    async def scenario() -> None:
        scheduler, gate, ran = make_scheduler(), threading.Event(), threading.Event()
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
