"""The contract of the default `POST /predict`, field by field, and of what `/model` says about thresholds.

The answers were recorded on the tests' own bundle. A change that moves one of them changes what clients rely on.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

GOLDEN = json.loads((Path(__file__).parent.parent / "data" / "golden_predict.json").read_text())
# Machines round differently; the last digits are not part of the contract.
_APPROXIMATE = ("confidence", "log_probability")


def with_tolerance(suggestion: dict[str, Any]) -> dict[str, Any]:
    return suggestion | {name: pytest.approx(suggestion[name], abs=1e-4) for name in _APPROXIMATE}


@pytest.mark.parametrize("case", GOLDEN, ids=[case["name"] for case in GOLDEN])
def test_the_default_answer_is_what_it_was(client: TestClient, case: dict[str, Any]) -> None:
    assert case["request"].get("until", "token") == "token"
    response = client.post("/predict", json=case["request"])
    assert response.status_code == 200
    answer = response.json()
    assert set(answer.pop("timings")) == {"waiting", "encode", "step", "predict"}
    expected = case["answer"]
    assert answer == expected | {"suggestions": [with_tolerance(each) for each in expected["suggestions"]]}


def test_a_language_is_accepted_and_changes_nothing(client: TestClient) -> None:
    request = next(case["request"] for case in GOLDEN if "language" in case["request"])
    with_language = client.post("/predict", json=request).json()
    without = client.post("/predict", json={k: v for k, v in request.items() if k != "language"}).json()
    assert with_language["suggestions"] == without["suggestions"]


def test_the_model_tells_the_threshold_for_hunks(client: TestClient) -> None:
    assert client.get("/model").json()["calibration"]["thresholds"]["hunk"] == 0.4
