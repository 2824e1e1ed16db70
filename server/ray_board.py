"""Board: one small actor of a Ray cluster that all replicas report to.

A request for `/metrics` reaches any one replica, and Prometheus wants all of them: so each replica sends its metrics to the
board, and each can export the metrics of all, told apart by replica and bundle. The board also knows which replicas Ray is
about to stop: Ray itself tells a replica only after its requests have ended, and a stream does not end by itself.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Any

import ray
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import Metric
from ray.serve._private.constants import SERVE_CONTROLLER_NAME, SERVE_NAMESPACE

from server.engine import Engine

_log = logging.getLogger(__name__)

_NAME = "likewise-board"
_REPORT_SECONDS = 1.0
_FORGET_SECONDS = 10.0  # a replica that has not reported for so long is gone


async def ask_controller() -> Mapping[str, Any]:
    """Ask Ray's controller for the state of all applications."""
    controller = ray.get_actor(SERVE_CONTROLLER_NAME, namespace=SERVE_NAMESPACE)
    details: Mapping[str, Any] = await controller.get_serve_instance_details.remote()
    return details


class Board:
    """The metrics of all replicas, and the replicas that are about to stop."""

    def __init__(
        self,
        ask: Callable[[], Awaitable[Mapping[str, Any]]] = ask_controller,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ask = ask
        self._clock = clock
        self._reports: dict[str, tuple[float, list[Metric]]] = {}
        self._stopping: set[str] = set()
        self._looked = -_REPORT_SECONDS

    async def report(self, replica: str, metrics: list[Metric]) -> bool:
        """Keep the metrics of a replica and tell it whether it is about to stop."""
        self._reports[replica] = self._clock(), metrics
        await self._look()
        return replica in self._stopping

    async def export(self) -> bytes:
        """Write the metrics of all replicas in Prometheus's text format."""
        oldest = self._clock() - _FORGET_SECONDS
        self._reports = {name: kept for name, kept in self._reports.items() if kept[0] > oldest}
        return generate_latest(_Collected(metrics for _, metrics in self._reports.values()))

    async def _look(self) -> None:
        """Ask Ray's controller for the states of replicas, at most once in a while for all replicas together."""
        if self._clock() - self._looked < _REPORT_SECONDS:
            return
        self._looked = self._clock()
        with contextlib.suppress(
            ray.exceptions.RayError, ValueError
        ):  # without it replicas end a little later
            self._stopping = set(_find_stopping(await self._ask()))


class _Collected:
    """Families of metrics from several replicas, each family once."""

    def __init__(self, reports: Iterable[list[Metric]]) -> None:
        self._families: dict[str, Metric] = {}
        for metric in (metric for metrics in reports for metric in metrics):
            family = self._families.setdefault(
                metric.name, Metric(metric.name, metric.documentation, metric.type, metric.unit)
            )
            family.samples.extend(metric.samples)

    def collect(self) -> Iterator[Metric]:
        yield from self._families.values()


def _find_stopping(details: Mapping[str, Any]) -> Iterator[str]:
    for application in details.get("applications", {}).values():
        for deployment in application.get("deployments", {}).values():
            for replica in deployment.get("replicas", []):
                if replica["state"] == "STOPPING":
                    yield replica["replica_id"]


def label_metrics(registry: CollectorRegistry, **labels: str) -> list[Metric]:
    """Collect the metrics of a registry, each sample with these labels as well."""
    result = []
    for metric in registry.collect():
        labelled = Metric(metric.name, metric.documentation, metric.type, metric.unit)
        labelled.samples = [each._replace(labels={**each.labels, **labels}) for each in metric.samples]
        result.append(labelled)
    return result


def find_board() -> Any:
    """Find the board of this cluster, or start it."""
    actor = ray.remote(num_cpus=0, max_restarts=-1)(Board)
    return actor.options(
        name=_NAME, namespace=SERVE_NAMESPACE, get_if_exists=True, lifetime="detached"
    ).remote()


async def report_to_board(engine: Engine, replica: str) -> None:
    """Report again and again. When this replica is about to stop, send its clients to the others."""
    bundle = engine.predictor.bundle.sha256[:12]
    board = find_board()
    while True:
        metrics = label_metrics(engine.metrics.registry, replica=replica, bundle=bundle)
        try:
            is_stopping = await board.report.remote(replica, metrics)
        except ray.exceptions.RayError:  # it starts again by itself
            is_stopping = False
        if is_stopping and not engine.connections.is_leaving:
            _log.info("leaving", extra={"replica": replica, "streams": len(engine.connections)})
            await engine.connections.leave()
        await asyncio.sleep(_REPORT_SECONDS)
