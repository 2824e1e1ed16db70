"""schemathesis against the OpenAPI schema: whatever is sent, the answer is one that the schema tells of."""

from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import CHECKS
from starlette.testclient import TestClient

from model.predictor import Predictor
from server.app import create_app
from server.settings import Settings
from tests.server.conftest import ADDRESS

# JSON Schema calls 7.0 an integer; we take integers as integers, so that check would say that we refuse good data. And
# what a schema cannot say (edits inside of the text, the bundle's own hash) is refused too.
_NOT_OURS = ("positive_data_acceptance",)


@pytest.fixture
def api(predictor: Predictor) -> Iterator[schemathesis.BaseSchema]:
    app = create_app(predictor, Settings())
    with TestClient(app, base_url=ADDRESS):
        yield schemathesis.openapi.from_asgi("/openapi.json", app, headers={"Host": "127.0.0.1"})


schema = schemathesis.pytest.from_fixture("api")


@schema.parametrize()
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_answer_is_in_the_schema(case: schemathesis.Case) -> None:
    excluded = [check for check in CHECKS.get_all() if check.__name__ in _NOT_OURS]
    case.call_and_validate(headers={"Host": "127.0.0.1"}, excluded_checks=excluded)
