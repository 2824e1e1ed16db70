"""Engine: the parts of the service that all connections share."""

from collections.abc import Awaitable, Callable

from model.inference.predictor import Predictor
from model.inference.together import step_together
from server.connections import Connections
from server.metrics import Metrics
from server.scheduler import Scheduler
from server.sessions import Sessions
from server.settings import Settings
from server.users import Shares, Users


class Engine:
    """The predictor with its sessions, its threads and its metrics."""

    def __init__(self, predictor: Predictor, settings: Settings) -> None:
        self.predictor = predictor
        self.settings = settings
        self.metrics = Metrics()
        # One of several replicas replaces it by the metrics of all.
        self.export_metrics: Callable[[], Awaitable[bytes]] = self.metrics.export
        self.users = Users(settings.users) if settings.has_users else None
        self.connections = Connections(settings, self.metrics)
        self.requests = Shares(settings.limit_user_requests)
        self.sessions = Sessions(settings, self.metrics)
        self.scheduler = Scheduler(
            step_threads=settings.step_threads,
            limit_waiting=settings.limit_waiting,
            limit_waiting_bytes=settings.limit_waiting_bytes,
            metrics=self.metrics,
            together=step_together if predictor.runner.sizes_together else None,
        )
        self._describe()

    async def replace(self, predictor: Predictor) -> None:
        """Replace the bundle. All sessions end and all streams close: their clients connect again."""
        self.predictor = predictor
        for session in list(self.sessions):
            self.sessions.end(session)
        self._describe()
        await self.connections.close_all()

    def _describe(self) -> None:
        self.metrics.model.info({"sha256": self.predictor.bundle.sha256, "provider": self.predictor.provider})
