"""Scheduler: threads for steps, which take milliseconds while a user types, one thread for encodings, which take long, and one
that reads large messages.

An encoding of a large file never delays another session's step. The threads sleep when there is nothing to do. Large messages
are read one after another, so only one of them is in memory as Python's objects.

On the CPU each step is handed to a thread by itself: one batch of several steps is slower there than one after another. On
CUDA, where all steps share one device, the steps that wait are handed over together. Their histories take in their edits
first; then one run of the graph steps all of them (`model.inference.together`); then each question is answered.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, NamedTuple, TypeVar

from model.inference.history import AnyHistory
from server.heap import trim_heap
from server.metrics import Metrics

_log = logging.getLogger(__name__)

T = TypeVar("T")

_LIMIT_TOGETHER = 8  # steps handed over at once; the first caller waits for the last
# Encodings need much memory while they run. After this much encoding time the heap is trimmed. After each short encoding it
# would cost too much: a POST takes a quarter longer when its memory comes from the operating system again.
_LONG_SECONDS = 0.1


class Overloaded(Exception):
    """More waits than will be done in time; try again later."""


class Done(NamedTuple, Generic[T]):
    """The result of scheduled work, and the time before a thread was free."""

    value: T
    waiting_seconds: float


class _Job(NamedTuple):
    prepare: Callable[[], AnyHistory | None]
    work: Callable[[], Any]
    future: asyncio.Future[Any]


def _prepare_nothing() -> None:
    pass


class Scheduler:
    """Runs functions in threads and awaits their results."""

    def __init__(
        self,
        *,
        step_threads: int,
        limit_waiting: int,
        metrics: Metrics,
        limit_waiting_bytes: int = 2**30,
        together: Callable[[list[AnyHistory]], int] | None = None,
    ) -> None:
        """`together`: runs the waiting edits of several histories; then steps that wait are handed over together."""
        self._steps = ThreadPoolExecutor(
            1 if together is not None else step_threads, thread_name_prefix="step"
        )
        self._encodes = ThreadPoolExecutor(1, thread_name_prefix="encode")
        self._reads = ThreadPoolExecutor(1, thread_name_prefix="read")
        self._limit_waiting = limit_waiting
        self._limit_waiting_bytes = limit_waiting_bytes
        self._waiting_bytes = 0
        self._metrics = metrics
        self._together = together
        self._waiting: deque[_Job] = deque()
        self._is_handed_over = False
        self.encodes_waiting = 0
        self._untrimmed_seconds = 0.0  # of encodings since the heap was trimmed

    @property
    def is_full(self) -> bool:
        return self.encodes_waiting >= self._limit_waiting

    async def step(
        self, function: Callable[[], T], prepare: Callable[[], AnyHistory | None] = _prepare_nothing
    ) -> Done[T]:
        """Run `prepare` and then `function`. In between, the history that `prepare` returns may run with others."""
        loop = asyncio.get_running_loop()
        if self._together is None:

            def prepare_and_run() -> T:
                prepare()
                return function()

            return await loop.run_in_executor(self._steps, self._measure("step", prepare_and_run))
        job = _Job(prepare, self._measure("step", function), loop.create_future())
        self._waiting.append(job)
        self._hand_over(loop)
        done: Done[T] = await job.future
        return done

    async def read(self, function: Callable[[], T]) -> T:
        """Read a large message in a thread: on the event loop all others would wait for it."""
        return await asyncio.get_running_loop().run_in_executor(self._reads, function)

    async def encode(self, function: Callable[[], T], nbytes: int = 0) -> Done[T]:
        """Run an encoding. `nbytes` is the memory that its request takes while it waits."""
        if self.is_full:
            raise Overloaded(f"{self.encodes_waiting} requests are waiting already")
        if self.encodes_waiting and self._waiting_bytes + nbytes > self._limit_waiting_bytes:
            raise Overloaded(f"{self.encodes_waiting} large requests are waiting already")
        self.encodes_waiting += 1
        self._waiting_bytes += nbytes
        try:
            timed = self._measure("encode", lambda: self._run_and_trim(function))
            # A cancelled caller takes what has not begun out of the queue; what runs, runs to its end.
            return await asyncio.get_running_loop().run_in_executor(self._encodes, timed)
        finally:
            self.encodes_waiting -= 1
            self._waiting_bytes -= nbytes

    def close(self) -> None:
        self._steps.shutdown(wait=False, cancel_futures=True)
        self._encodes.shutdown(wait=False, cancel_futures=True)
        self._reads.shutdown(wait=False, cancel_futures=True)

    def _measure(self, work: str, function: Callable[[], T]) -> Callable[[], Done[T]]:
        asked = time.perf_counter()

        def timed() -> Done[T]:
            waiting = time.perf_counter() - asked
            self._metrics.waiting.labels(work).observe(waiting)
            return Done(function(), waiting)

        return timed

    def _run_and_trim(self, function: Callable[[], T]) -> T:
        """Run a function in the one thread that encodes, and trim the heap from time to time."""
        began = time.perf_counter()
        try:
            return function()
        finally:
            self._untrimmed_seconds += time.perf_counter() - began
            if self._untrimmed_seconds > _LONG_SECONDS:
                self._untrimmed_seconds = 0.0
                trim_heap()

    def _hand_over(self, loop: asyncio.AbstractEventLoop) -> None:
        """Give the waiting jobs to the thread, unless it has some already. Runs in the event loop."""
        if self._waiting and not self._is_handed_over:
            self._is_handed_over = True
            jobs = [self._waiting.popleft() for _ in range(min(len(self._waiting), _LIMIT_TOGETHER))]
            self._steps.submit(self._run, loop, jobs)

    def _run(self, loop: asyncio.AbstractEventLoop, jobs: Sequence[_Job]) -> None:
        """Run jobs. Runs in the thread."""
        prepared = [_try(job, job.prepare) for job in jobs]
        histories = [each for each in prepared if each is not None and not isinstance(each, Exception)]
        assert self._together is not None
        try:
            self._metrics.together.observe(max(1, self._together(histories)))
        except Exception:  # each of them is run by its own question, and fails alone
            _log.exception("steps failed together")
        outcomes = [
            before if isinstance(before, Exception) else _try(job, job.work)
            for job, before in zip(jobs, prepared, strict=True)
        ]
        loop.call_soon_threadsafe(self._deliver, loop, jobs, outcomes)

    def _deliver(
        self, loop: asyncio.AbstractEventLoop, jobs: Sequence[_Job], outcomes: Sequence[Any]
    ) -> None:
        self._is_handed_over = False
        for job, outcome in zip(jobs, outcomes, strict=True):
            if job.future.done():  # cancelled
                continue
            if isinstance(outcome, BaseException):
                job.future.set_exception(outcome)
            else:
                job.future.set_result(outcome)
        self._hand_over(loop)


def _try(job: _Job, work: Callable[[], Any]) -> Any:
    """Return the result of a job's work, or the exception that it raised; do nothing for a caller that is gone."""
    if job.future.cancelled():
        return None
    try:
        return work()
    except Exception as error:  # its caller's, not its neighbours'
        return error
