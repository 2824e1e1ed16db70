"""Engine: the parts of the service that all connections share."""

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
