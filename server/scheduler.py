"""Who runs when: a step is milliseconds and somebody is typing; an encoding is hundreds and nobody is.

So they have threads of their own, and an encoding of a large file never stands before another session's step. The threads
sleep when there is nothing to do. Steps are not batched: on CPU it is slower than one after another.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, NamedTuple, TypeVar

from server.metrics import Metrics

T = TypeVar("T")


class Overloaded(Exception):
    """More waits than will be done in time; try again later."""


class Done(NamedTuple, Generic[T]):
    value: T
    waiting_seconds: float


class Scheduler:
    def __init__(self, *, step_threads: int, limit_waiting: int, metrics: Metrics) -> None:
        self._steps = ThreadPoolExecutor(step_threads, thread_name_prefix="step")
        self._encodes = ThreadPoolExecutor(1, thread_name_prefix="encode")
        self._limit_waiting = limit_waiting
        self._metrics = metrics
        self.encodes_waiting = 0

    @property
    def is_full(self) -> bool:
        return self.encodes_waiting >= self._limit_waiting

    async def step(self, function: Callable[[], T]) -> Done[T]:
        return await self._run(self._steps, "step", function)

    async def encode(self, function: Callable[[], T]) -> Done[T]:
        if self.is_full:
            raise Overloaded(f"{self.encodes_waiting} requests are waiting already")
        self.encodes_waiting += 1
        try:
            return await self._run(self._encodes, "encode", function)
        finally:
            self.encodes_waiting -= 1

    async def _run(self, pool: ThreadPoolExecutor, work: str, function: Callable[[], T]) -> Done[T]:
        asked = time.perf_counter()

        def timed() -> Done[T]:
            waiting = time.perf_counter() - asked
            self._metrics.waiting.labels(work).observe(waiting)
            return Done(function(), waiting)

        # A cancelled caller takes what has not begun out of the queue; what runs, runs to its end.
        return await asyncio.get_running_loop().run_in_executor(pool, timed)

    def close(self) -> None:
        self._steps.shutdown(wait=False, cancel_futures=True)
        self._encodes.shutdown(wait=False, cancel_futures=True)
