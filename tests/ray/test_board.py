"""The board without a cluster: metrics of several replicas as one text, and who is about to stop."""

from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from server.metrics import Metrics

pytest.importorskip("ray")

from server.ray_board import Board, label_metrics


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def count_offers(number: int) -> CollectorRegistry:
    metrics = Metrics()
    metrics.suggestions.inc(number)
    return metrics.registry


async def test_replicas_and_bundles_are_counted_apart() -> None:
    board = Board(ask_nobody, Clock())
    await board.report("one", label_metrics(count_offers(3), replica="one", bundle="old"))
    await board.report("two", label_metrics(count_offers(5), replica="two", bundle="new"))
    families = {
        family.name: family for family in text_string_to_metric_families((await board.export()).decode())
    }
    offers = {
        (sample.labels["replica"], sample.labels["bundle"]): sample.value
        for sample in families["likewise_suggestions"].samples
        if sample.name == "likewise_suggestions_total"
    }
    assert offers == {("one", "old"): 3.0, ("two", "new"): 5.0}
    assert (await board.export()).count(b"# TYPE likewise_suggestions_total counter") == 1


async def test_a_replica_that_no_longer_reports_is_forgotten() -> None:
    clock = Clock()
    board = Board(ask_nobody, clock)
    await board.report("one", label_metrics(count_offers(3), replica="one"))
    clock.now += 60
    await board.report("two", label_metrics(count_offers(5), replica="two"))
    text = (await board.export()).decode()
    assert 'replica="two"' in text
    assert 'replica="one"' not in text


async def test_a_replica_that_ray_stops_is_told_so() -> None:
    replicas = [{"replica_id": "a", "state": "RUNNING"}, {"replica_id": "b", "state": "STOPPING"}]

    async def ask() -> dict[str, Any]:
        return {"applications": {"likewise": {"deployments": {"likewise": {"replicas": replicas}}}}}

    board = Board(ask, Clock())
    assert not await board.report("a", [])
    assert await board.report("b", [])


async def ask_nobody() -> dict[str, Any]:
    return {}
