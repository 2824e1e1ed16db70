"""Engine: the parts of the service that all connections share."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from model.inference.predictor import Predictor
from server.metrics import Metrics
from server.scheduler import Scheduler
from server.sessions import Sessions
from server.settings import Settings


class Engine:
    """The predictor with its sessions, its threads and its metrics."""

    def __init__(self, predictor: Predictor, settings: Settings) -> None:
        self.predictor = predictor
        self.settings = settings
        self.metrics = Metrics()
        self.sessions = Sessions(settings, self.metrics)
        self.scheduler = Scheduler(
            step_threads=settings.step_threads,
            limit_waiting=settings.limit_waiting,
            limit_waiting_bytes=settings.limit_waiting_bytes,
            metrics=self.metrics,
            together=predictor.provider == "CUDAExecutionProvider",
        )
        self.hang_ups: dict[object, Callable[[], Coroutine[Any, Any, None]]] = {}  # by connection
        self._ending: set[asyncio.Task[None]] = set()
        self._describe()

    def replace(self, predictor: Predictor) -> None:
        """Run another bundle from now on. All sessions end and all streams hang up: their clients connect again."""
        self.predictor = predictor
        for session in list(self.sessions):
            self.sessions.end(session)
        for hang_up in list(self.hang_ups.values()):
            task = asyncio.create_task(hang_up())
            self._ending.add(task)  # the loop itself does not hold on to tasks
            task.add_done_callback(self._ending.discard)
        self._describe()

    def _describe(self) -> None:
        self.metrics.model.info({"sha256": self.predictor.bundle.sha256, "provider": self.predictor.provider})
