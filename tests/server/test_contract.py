"""schemathesis against the OpenAPI schema: whatever is sent, the answer is one that the schema tells of."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS
from starlette.testclient import TestClient

from model.inference.predictor import Predictor
from server.app import create_app
from server.settings import Settings
from tests.server.conftest import ADDRESS

# JSON Schema calls 7.0 an integer; we take integers as integers, so that check would say that we refuse good data. And
# what a schema cannot say (edits inside of the text, the bundle's own hash) is refused too.
_NOT_OURS = ("positive_data_acceptance",)


METHODS = ("POST /predict", "POST /feedback", "GET /model", "GET /metrics", "GET /healthz", "GET /readyz")
_HEADERS = {"Host": "127.0.0.1"}


@pytest.fixture(scope="module")
def schema(predictor: Predictor) -> Iterator[Any]:
    app = create_app(predictor, Settings())
    with TestClient(app, base_url=ADDRESS):
        yield schemathesis.openapi.from_asgi("/openapi.json", app, headers=_HEADERS)


@pytest.mark.parametrize("label", METHODS)
def test_every_answer_is_in_the_schema(schema: Any, label: str) -> None:
    operations = {result.ok().label: result.ok() for result in schema.get_all_operations()}
    assert set(operations) == set(METHODS)
    excluded: list[Any] = [check for check in CHECKS.get_all() if check.__name__ in _NOT_OURS]
    for mode in GenerationMode if label.startswith("POST") else [GenerationMode.POSITIVE]:

        @given(case=operations[label].as_strategy(generation_mode=mode))
        @settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
        def check(case: Any) -> None:
            case.call_and_validate(headers=_HEADERS, excluded_checks=excluded)

        check()
