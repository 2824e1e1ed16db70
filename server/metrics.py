"""The metrics of the service, in Prometheus's format. Each app has its own registry, so tests share no numbers."""

import time

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
    ProcessCollector,
    generate_latest,
)
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# From one fast step to a request that its client has given up.
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.015, 0.025, 0.04, 0.06, 0.1, 0.15, 0.3, 0.6, 1.2, 5.0)


class Metrics:
    """All counters and histograms of one app."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self.model = Info("likewise_model", "The bundle and the provider in use", registry=registry)
        self.encode = Histogram(
            "likewise_encode_seconds", "Encoding of a state", buckets=_SECONDS, registry=registry
        )
        self.step = Histogram(
            "likewise_step_seconds", "Keeping and appending edits", buckets=_SECONDS, registry=registry
        )
        self.predict = Histogram(
            "likewise_predict_seconds", "Decoding of a prediction", buckets=_SECONDS, registry=registry
        )
        self.waiting = Histogram(
            "likewise_waiting_seconds",
            "Before a worker was free",
            ["work"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.together = Histogram(
            "likewise_steps_together",
            "Histories stepped in one go, where steps are batched",
            buckets=(1, 2, 4, 6, 8),
            registry=registry,
        )
        self.sessions = Gauge("likewise_sessions", "Documents that are streamed", registry=registry)
        self.session_bytes = Gauge("likewise_session_bytes", "Caches of all sessions", registry=registry)
        self.connections = Gauge("likewise_connections", "Open streams", registry=registry)
        self.evictions = Counter(
            "likewise_sessions_ended", "Sessions that the service ended", ["reason"], registry=registry
        )
        self.suggestions = Counter("likewise_suggestions", "Suggestions made", registry=registry)
        self.silences = Counter("likewise_silences", "Predictions without one", ["reason"], registry=registry)
        self.feedback = Counter(
            "likewise_feedback", "What clients say became of suggestions", ["event"], registry=registry
        )
        for event in ("shown", "accepted", "dismissed"):
            self.feedback.labels(event)
        self.requests = Histogram(
            "likewise_http_seconds", "HTTP requests", ["path", "status"], buckets=_SECONDS, registry=registry
        )

    async def export(self) -> bytes:
        """Write all metrics in Prometheus's text format."""
        return generate_latest(self.registry)

    def count_answer(self, suggestions: int, silence: str | None) -> None:
        self.suggestions.inc(suggestions)
        if silence is not None:
            self.silences.labels(silence).inc()


class MeasuredRequests:
    """Times HTTP requests by route and status."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, send_and_note)
        finally:
            # The route, not the path as sent: otherwise a caller could make labels without end.
            path = getattr(scope.get("route"), "path", "other")
            self.metrics.requests.labels(path, str(status)).observe(time.perf_counter() - began)
