from collections.abc import Callable, Iterator

import pytest
from starlette.testclient import TestClient, WebSocketDenialResponse

from tests.server.conftest import stream

MakeClient = Callable[..., TestClient]
MALFORMED_HOSTS = [
    "[::1].evil.example",
    "[::1]evil:1",
    "[::1",
    "[::1]:8377.evil.example",
    "localhost:1:2",
    "localhost:x",
]


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "0x7f.1", "", *MALFORMED_HOSTS])
def test_a_rebound_name_is_refused(client: TestClient, host: str) -> None:
    response = client.get("/healthz", headers={"Host": host})
    assert response.status_code == 403
    assert response.json()["code"] == "host-not-allowed"


@pytest.mark.parametrize("host", ["localhost", "localhost:8377", "127.0.0.1", "[::1]:8377"])
def test_loopback_names_are_served(client: TestClient, host: str) -> None:
    assert client.get("/healthz", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1:9999", "http://localhost"]
)
def test_a_web_page_gets_nowhere(client: TestClient, origin: str) -> None:
    response = client.post("/predict", json={}, headers={"Origin": origin})
    assert response.json()["code"] == "origin-not-allowed"
    with pytest.raises(WebSocketDenialResponse) as denial, stream(client, Origin=origin):
        pass
    assert denial.value.status_code == 403


def test_our_own_page_may_call(client: TestClient) -> None:
    assert client.get("/model", headers={"Origin": "http://127.0.0.1:8377"}).status_code == 200


def test_no_answer_invites_other_origins(client: TestClient) -> None:
    assert not [name for name in client.get("/model").headers if name.startswith("access-control")]


def test_with_a_token_only_those_who_have_it_come_in(make_client: MakeClient) -> None:
    client = make_client(token="s3cret")
    assert client.get("/model").status_code == 401
    assert client.get("/model", headers={"Authorization": "Bearer s3cre"}).status_code == 401
    assert client.get("/model", headers={"Authorization": "Basic s3cret"}).status_code == 401
    assert client.get("/model", headers={"Authorization": "Bearer s3cret"}).status_code == 200
    with pytest.raises(WebSocketDenialResponse) as denial, stream(client):
        pass
    assert denial.value.status_code == 401
    with stream(client, Authorization="Bearer s3cret"):
        pass


def test_health_is_told_without_a_token(make_client: MakeClient) -> None:
    client = make_client(token="s3cret")
    assert client.get("/healthz").status_code == 200
    assert client.get("/readyz").status_code == 200


def test_bound_to_other_machines_the_token_guards_any_host_name(make_client: MakeClient) -> None:
    client = make_client(host="0.0.0.0", token="s3cret")
    headers = {"Host": "gpu.example:8377", "Authorization": "Bearer s3cret"}
    assert client.get("/model", headers=headers).status_code == 200
    named = make_client(host="0.0.0.0", token="s3cret", allowed_hosts=("gpu.example",))
    assert named.get("/model", headers=headers).status_code == 200
    assert named.get("/model", headers=headers | {"Host": "other.example"}).status_code == 403


def test_a_body_over_the_limit_is_refused_with_or_without_its_length(make_client: MakeClient) -> None:
    client = make_client(limit_body_bytes=1000)

    def pieces() -> Iterator[bytes]:
        yield b" " * 600
        yield b" " * 600

    for body in (b" " * 1001, pieces()):
        response = client.post("/predict", content=body)
        assert response.status_code == 413
        assert response.json()["code"] == "body-too-large"
