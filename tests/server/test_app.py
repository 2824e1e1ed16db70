import asyncio
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from model.editing.edits import END, START, Edit
from model.inference.predictor import Predictor
from server.app import repeat
from server.schema import TextRequest
from tests.server.conftest import TEXT

EXAMPLE: dict[str, Any] = TextRequest.model_config["json_schema_extra"]["examples"][0]  # type: ignore[index,assignment]
MakeClient = Callable[..., TestClient]


def code_of(response: Any) -> tuple[int, str]:
    body = response.json()
    assert set(body) == {"code", "message"}
    return response.status_code, body["code"]


def test_the_example_of_the_docs_works(client: TestClient) -> None:
    response = client.post("/predict", json=EXAMPLE)
    assert response.status_code == 200
    body = response.json()
    assert bool(body["suggestions"]) == (body["silence"] is None)
    assert body["timings"]["encode"] > 0


def test_suggestions_are_replacements_in_the_text_after_all_edits(client: TestClient) -> None:
    text = EXAMPLE["text"]
    for edit in EXAMPLE["edits"]:
        text = text[: edit["start"]] + edit["text"] + text[edit["end"] :]
    body = client.post("/predict", json=EXAMPLE | {"threshold": 0.0, "limit": 5}).json()
    for suggestion in body["suggestions"]:
        assert 0 <= suggestion["start"] <= suggestion["end"] <= len(text)
        assert text[suggestion["start"] : suggestion["end"]] != suggestion["text"]
        assert set(suggestion["because"]) <= {0, 1}
    confidences = [suggestion["confidence"] for suggestion in body["suggestions"]]
    assert confidences == sorted(confidences, reverse=True)


def test_text_and_tokens_are_the_same_question(client: TestClient, predictor: Predictor) -> None:
    bundle = predictor.bundle
    state = [START, *bundle.require_tokenizer().encode("x = 1\ny = 1\n"), END]
    one, two = bundle.require_tokenizer().encode("1"), bundle.require_tokenizer().encode("2")
    at = state.index(one[0])
    edits = [Edit(at + index, 3) for index in range(len(one))]
    left = at - 1
    for token in two:
        edits.append(Edit(left, token))
        left = len(state) - 1 + len(edits)
    wire = [{"position": e.position, "content": "DELETE" if e.content == 3 else e.content} for e in edits]
    wish = {"threshold": 0.0, "until": "hunk", "limit": 3}
    in_tokens = client.post("/predict", json={"state": state, "edits": wire, "bundle": bundle.sha256, **wish})
    in_text = client.post(
        "/predict", json={"text": "x = 1\ny = 1\n", "edits": [{"start": 4, "end": 5, "text": "2"}], **wish}
    )
    assert in_tokens.status_code == in_text.status_code == 200
    places = [
        [(s["start"], s["end"], s["text"], s["edits"]) for s in answer.json()["suggestions"]]
        for answer in (in_tokens, in_text)
    ]
    assert places[0] == places[1]
    assert in_tokens.json()["silence"] == in_text.json()["silence"]


def test_a_half_typed_name_is_continued_or_left_alone(client: TestClient) -> None:
    start = TEXT.index("return result") + len("return ")
    edits = [{"start": start, "end": start + len("result"), "text": "r"}]
    request = {
        "text": TEXT,
        "edits": edits,
        "cursor": start + 1,
        "threshold": 0.0,
        "limit": 5,
        "until": "token",
    }
    body = client.post("/predict", json=request).json()
    for suggestion in body["suggestions"]:
        if suggestion["continues_prefix"]:
            assert suggestion["start"] == start + 1
        assert not suggestion["start"] <= start < suggestion["end"]


def test_without_edits_there_is_silence_with_a_reason(client: TestClient) -> None:
    body = client.post("/predict", json={"text": TEXT, "edits": []}).json()
    assert body["suggestions"] == []
    assert body["silence"] == "nothing-edited"


def test_nothing_is_sure_enough_for_a_threshold_of_one(client: TestClient) -> None:
    body = client.post("/predict", json=EXAMPLE | {"threshold": 1.0}).json()
    assert body["suggestions"] == []
    assert body["silence"]


def test_any_text_is_served(client: TestClient) -> None:
    for text in ("", "\r\n", "😀" * 50, "\x00", '"', "\t\r\r\n x", "a" * 10_000, "\ud800"):
        edits = [{"start": 0, "end": 0, "text": "é😀\r\n"}, {"start": 1, "end": 2, "text": ""}]
        body = json.dumps(
            {"text": text, "edits": edits, "cursor": 1, "threshold": 0.0}
        )  # escapes the lone surrogate
        response = client.post("/predict", content=body, headers={"Content-Type": "application/json"})
        assert response.status_code == 200, response.text


def test_a_file_of_ten_thousand_lines_is_served(client: TestClient) -> None:
    text = "".join(f"value_{number} = total(items, {number})\n" for number in range(10_000))
    start = len(text) // 2
    edits = [{"start": start, "end": start, "text": "\nnew = 1\n"}]
    response = client.post("/predict", json={"text": text, "edits": edits, "threshold": 0.0})
    assert response.status_code == 200


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"edits": [{"start": 5, "end": 4, "text": ""}]}, (422, "invalid-edit")),
        ({"edits": [{"start": 0, "end": 10_000, "text": ""}]}, (422, "invalid-edit")),
        ({"edits": [{"start": 0, "end": 0, "text": ""}] * 1001}, (422, "too-many-edits")),
        ({"cursor": 10_000}, (422, "invalid-cursor")),
        ({"limit": 0}, (422, "invalid-request")),
        ({"limit": True}, (422, "invalid-request")),
        ({"threshold": 2}, (422, "invalid-request")),
        ({"until": "never"}, (422, "invalid-request")),
        ({"unknown": 1}, (422, "invalid-request")),
        ({"text": None}, (422, "invalid-request")),
    ],
)
def test_wrong_requests_have_their_own_errors(
    client: TestClient, change: Any, expected: tuple[int, str]
) -> None:
    assert code_of(client.post("/predict", json=EXAMPLE | change)) == expected


def test_wrong_tokens_have_their_own_errors(client: TestClient, predictor: Predictor) -> None:
    bundle = predictor.bundle
    right: dict[str, Any] = {"state": [1, 9, 2], "edits": [], "bundle": bundle.sha256}
    assert client.post("/predict", json=right).status_code == 200
    size = len(bundle.require_tokenizer())
    wrong: list[tuple[dict[str, Any], tuple[int, str]]] = [
        ({"bundle": "0" * 64}, (409, "other-bundle")),
        ({"bundle": "no hash"}, (422, "invalid-request")),
        ({"state": [9, 2]}, (422, "invalid-state")),
        ({"state": []}, (422, "invalid-state")),
        ({"state": [1, 3, 2]}, (422, "invalid-state")),
        ({"state": [1, size, 2]}, (422, "invalid-state")),
        ({"edits": [{"position": 0, "content": size}]}, (422, "invalid-edit")),
        ({"edits": [{"position": 0, "content": "DELETE"}]}, (422, "invalid-edit")),
        ({"edits": [{"position": 7, "content": 9}]}, (422, "invalid-edit")),
        ({"edits": [{"position": 1, "content": "DELETE"}] * 2}, (422, "invalid-edit")),
        ({"edits": [{"position": 0, "content": 9}] * 500}, (422, "too-many-edits")),
        ({"edits": [{"position": 0, "content": 2}]}, (422, "invalid-request")),
        ({"cursor": 3}, (422, "invalid-cursor")),
    ]
    for change, expected in wrong:
        assert code_of(client.post("/predict", json=right | change)) == expected, change


def test_a_text_over_the_limit_is_too_large(make_client: MakeClient, predictor: Predictor) -> None:
    client = make_client(limit_text=10, limit_tokens=10)
    assert code_of(client.post("/predict", json={"text": "a" * 11, "edits": []})) == (413, "text-too-long")
    grown = {"text": "a" * 9, "edits": [{"start": 0, "end": 0, "text": "bb"}]}
    assert code_of(client.post("/predict", json=grown)) == (413, "text-too-long")
    state = {"state": [1, *[9] * 10, 2], "edits": [], "bundle": predictor.bundle.sha256}
    assert code_of(client.post("/predict", json=state)) == (413, "state-too-long")


@pytest.mark.parametrize(
    "body", [b"{", b"\xff", b"[]", b"null", b'{"text": "", "edits": [], "threshold": NaN}', b"[" * 5000]
)
def test_what_is_no_request_is_an_error_in_json(client: TestClient, body: bytes) -> None:
    status, code = code_of(
        client.post("/predict", content=body, headers={"Content-Type": "application/json"})
    )
    assert status in (400, 422)
    assert code == "invalid-request"


def test_errors_do_not_repeat_what_was_sent(client: TestClient) -> None:
    for request in ({"text": "hunter2", "edits": "hunter2"}, {"text": "hunter2", "edits": [], "hunter3": 1}):
        assert "hunter2" not in client.post("/predict", json=request).text


def test_unknown_addresses_and_methods_are_errors_in_json(client: TestClient) -> None:
    assert code_of(client.get("/nowhere")) == (404, "not-found")
    assert code_of(client.get("/predict")) == (405, "method-not-allowed")
    assert code_of(client.get("/stream")) == (404, "not-found")


def test_a_full_service_says_so(make_client: MakeClient) -> None:
    client = make_client(limit_waiting=1)
    scheduler = client.app.state.engine.scheduler  # type: ignore[attr-defined]
    scheduler.encodes_waiting = 1
    assert code_of(client.get("/readyz")) == (503, "overloaded")
    response = client.post("/predict", json=EXAMPLE)
    assert code_of(response) == (503, "overloaded")
    assert response.headers["Retry-After"] == "1"
    scheduler.encodes_waiting = 0
    assert client.get("/readyz").status_code == 200


def test_the_model_tells_all_that_a_client_needs(client: TestClient, predictor: Predictor) -> None:
    from model.editing.tokenizer import Tokenizer

    body = client.get("/model").json()
    bundle = predictor.bundle
    assert body["sha256"] == bundle.sha256
    assert body["provider"] == predictor.provider
    assert body["vocabulary_size"] == len(bundle.require_tokenizer())
    assert 0 < body["limit_edits"] <= bundle.config.limit_edits
    assert Tokenizer(body["tokenizer"]).encode(TEXT) == bundle.require_tokenizer().encode(TEXT)


def test_metrics_count_predictions_silences_and_feedback(client: TestClient) -> None:
    client.post("/predict", json={"text": TEXT, "edits": []})
    client.post("/feedback", json={"event": "accepted", "count": 2})
    client.post("/feedback", json={"event": "shown"})
    text = client.get("/metrics").text
    assert 'likewise_silences_total{reason="nothing-edited"} 1.0' in text
    assert 'likewise_feedback_total{event="accepted"} 2.0' in text
    assert 'likewise_feedback_total{event="dismissed"} 0.0' in text
    assert "likewise_encode_seconds_count 1.0" in text
    assert 'likewise_http_seconds_count{path="/predict",status="200"} 1.0' in text


def test_the_docs_are_one_page_that_loads_nothing_from_elsewhere(client: TestClient) -> None:
    page = client.get("/docs")
    assert page.status_code == 200
    assert "https://" not in page.text
    assert "http://" not in page.text


def test_the_examples_in_the_schema_work(client: TestClient) -> None:
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    assert client.post("/predict", json=schemas["TextRequest"]["examples"][0]).status_code == 200
    assert client.post("/feedback", json=schemas["Feedback"]["examples"][0]).status_code == 200


def test_a_large_body_is_read_while_others_are_served(make_client: Callable[..., TestClient]) -> None:
    client = make_client()
    gate = threading.Event()
    app: Any = client.app
    app.state.engine.scheduler._reads.submit(gate.wait, 30)  # the thread that reads has something to do
    large = {"text": "x = 1\n" * 20_000, "edits": []}
    answers = []
    asking = threading.Thread(target=lambda: answers.append(client.post("/predict", json=large)))
    asking.start()
    assert client.get("/healthz").status_code == 200
    assert client.post("/predict", json={"text": "x = 1", "edits": []}).status_code == 200
    assert answers == []
    gate.set()
    asking.join()
    assert answers[0].status_code == 200


def test_a_long_text_with_many_edits_is_refused_with_the_number_that_fits(
    make_client: Callable[..., TestClient],
) -> None:
    client = make_client(limit_work=1000)
    edits = [{"start": 0, "end": 1, "text": "b"}] * 11
    refused = client.post("/predict", json={"text": "a" * 100, "edits": edits})
    assert code_of(refused) == (413, "too-much-work")
    assert "at most 10 edits" in refused.json()["message"]
    assert client.post("/predict", json={"text": "a" * 100, "edits": edits[1:]}).status_code == 200


def test_a_text_that_grows_is_as_much_work_as_one_that_was_long(make_client: MakeClient) -> None:
    client = make_client(limit_work=1000)
    growth = {"start": 0, "end": 0, "text": "x = 1\n" * 50}
    keys = [{"start": 0, "end": 0, "text": "y"}] * 5
    refused = client.post("/predict", json={"text": "", "edits": [growth, *keys]})
    assert code_of(refused) == (413, "too-much-work")
    assert client.post("/predict", json={"text": "", "edits": [growth, *keys[:3]]}).status_code == 200


async def test_repeated_work_goes_on_after_a_failure() -> None:
    attempts, done = 0, asyncio.Event()

    async def work() -> None:
        nonlocal attempts
        attempts += 1
        if attempts == 1:
            raise RuntimeError
        done.set()

    task = asyncio.create_task(repeat(work, 0.001))
    async with asyncio.timeout(30):
        await done.wait()
    task.cancel()
