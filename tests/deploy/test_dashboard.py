"""The dashboard asks for nothing that the service does not export."""

import json
import re
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from model.inference.bundle import Bundle
from model.inference.predictor import Predictor
from server.app import create_app
from server.settings import Settings
from tests.server.conftest import ADDRESS, TEXT, TINY_BUNDLE

DASHBOARD = Path(__file__).parents[2] / "deploy" / "grafana" / "dashboards" / "likewise.json"
# Words of the query language that the dashboard uses; all other names must be metrics or labels.
LANGUAGE = {"histogram_quantile", "sum", "count", "rate", "increase", "by", "le"}
# Ours of replicas on Ray: see server.ray_board.
LABELS_OF_REPLICAS = {"replica", "bundle"}
SUFFIXES = {
    "histogram": ("_bucket", "_sum", "_count"),
    "counter": ("_total",),
    "gauge": ("",),
    "info": ("_info",),
}


def read_queries() -> list[str]:
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    return [target["expr"] for panel in panels for target in panel["targets"]]


def names_in(query: str) -> set[str]:
    """Find the names in a query, without the ranges and the values of labels."""
    query = re.sub(r"\[[^]]*\]|\"[^\"]*\"", "", query)
    return set(re.findall(r"[a-zA-Z_]\w*", query)) - LANGUAGE


@pytest.fixture(scope="module")
def exported() -> tuple[set[str], set[str]]:
    """The names of metrics and of labels that the service exports."""
    app = create_app(Predictor(Bundle.load(TINY_BUNDLE), "cpu"), Settings())
    with TestClient(app, base_url=ADDRESS) as client:
        request = {"text": TEXT, "edits": [{"start": 4, "end": 9, "text": "sum"}]}
        assert client.post("/predict", json=request).status_code == 200
        engine = app.state.engine
        engine.metrics.evictions.labels("idle")
        engine.metrics.silences.labels("stop-predicted")
        families = list(text_string_to_metric_families(client.get("/metrics").text))
    metrics = {family.name + suffix for family in families for suffix in SUFFIXES.get(family.type, ("",))}
    metrics |= {sample.name for family in families for sample in family.samples}
    return metrics, {label for family in families for sample in family.samples for label in sample.labels}


def test_every_query_names_what_is_exported(exported: tuple[set[str], set[str]]) -> None:
    metrics, labels = exported
    for query in read_queries():
        unknown = names_in(query) - metrics - labels - LABELS_OF_REPLICAS
        assert not unknown, query
        assert names_in(query) & metrics, query


def test_a_query_for_something_else_would_be_found(exported: tuple[set[str], set[str]]) -> None:
    metrics, labels = exported
    query = 'sum by (reason) (rate(likewise_quiet_total{reason="x"}[5m]))'
    assert names_in(query) - metrics - labels == {"likewise_quiet_total"}


@pytest.mark.parametrize("subject", ["predict", "sessions", "suggestions", "accepted", "silences"])
def test_the_dashboard_shows_what_an_operator_asks_for(subject: str) -> None:
    assert any(subject in query for query in read_queries())
