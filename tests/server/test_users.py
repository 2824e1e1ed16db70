"""Users of a shared service: their tokens, their revocation and their limits."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocketDisconnect

from server.settings import Settings
from server.users import Shares, TooMuch, Users, add_user, read_users, revoke_user
from tests.server.conftest import stream

MakeClient = Callable[..., TestClient]


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_a_file_of_users_never_holds_a_token(tmp_path: Path) -> None:
    path = tmp_path / "users"
    tokens = [add_user(path, name) for name in ("anna", "bo@example.org", "anna")]
    assert len(set(tokens)) == 3
    assert sorted(read_users(path).values()) == ["anna", "anna", "bo@example.org"]
    assert not any(token in path.read_text() for token in tokens)
    assert path.stat().st_mode & 0o077 == 0


def test_a_revoked_user_is_out_and_the_others_stay(tmp_path: Path) -> None:
    path, clock = tmp_path / "users", Clock()
    anna, bo = add_user(path, "anna"), add_user(path, "bo")
    users = Users(path, clock)
    assert (users.find(anna), users.find(bo), users.find("x")) == ("anna", "bo", None)
    assert revoke_user(path, "anna") == 1
    clock.now += 5
    assert (users.find(anna), users.find(bo)) == (None, "bo")
    assert not users.has("anna")


def test_a_file_that_was_damaged_lets_nobody_in(tmp_path: Path) -> None:
    path, clock = tmp_path / "users", Clock()
    anna = add_user(path, "anna")
    users = Users(path, clock)
    path.write_text(path.read_text() + "half a li")
    clock.now += 5
    assert users.find(anna) is None
    with pytest.raises(ValueError, match=r"line 2 of .* is not a name and a hash"):
        read_users(path)


def test_the_service_needs_a_file_that_it_can_read(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be read"):
        Users(tmp_path / "missing")
    with pytest.raises(ValueError, match="not both"):
        Settings(users=tmp_path / "users", token="x")
    assert Settings(host="0.0.0.0", users=tmp_path / "users").has_users


def test_only_users_come_in(tmp_path: Path, make_client: MakeClient) -> None:
    path = tmp_path / "users"
    token = add_user(path, "anna")
    client = make_client(users=path)
    assert client.get("/model").status_code == 401
    assert client.get("/model", headers=bearer("x" * 43)).status_code == 401
    assert client.get("/model", headers=bearer(token)).status_code == 200
    assert client.get("/healthz").status_code == 200


def test_one_user_cannot_take_all_streams(tmp_path: Path, make_client: MakeClient) -> None:
    path = tmp_path / "users"
    anna, bo = add_user(path, "anna"), add_user(path, "bo")
    client = make_client(users=path, limit_user_connections=1)
    with stream(client, **bearer(anna)):
        with pytest.raises(WebSocketDenialResponse) as denial, stream(client, **bearer(anna)):
            pass
        assert denial.value.status_code == 429
        with stream(client, **bearer(bo)):
            pass
    with stream(client, **bearer(anna)):
        pass


def test_shares_are_given_back() -> None:
    shares = Shares(1)
    with shares.hold("anna"), pytest.raises(TooMuch), shares.hold("anna"):
        pass
    with shares.hold("anna"), shares.hold("bo"), shares.hold(None), shares.hold(None):
        pass


def test_open_streams_of_a_revoked_user_are_closed(tmp_path: Path, make_client: MakeClient) -> None:
    path = tmp_path / "users"
    anna, bo = add_user(path, "anna"), add_user(path, "bo")
    client = make_client(users=path)
    engine = client.app.state.engine  # type: ignore[attr-defined]
    assert client.portal is not None
    with stream(client, **bearer(anna)) as hers, stream(client, **bearer(bo)) as his:
        revoke_user(path, "anna")
        client.portal.call(engine.connections.close_revoked, Users(path))
        with pytest.raises(WebSocketDisconnect) as closed:
            hers.receive_json()
        assert closed.value.code == 1008
        his.send_text("{}")
        assert his.receive_json()["code"] == "invalid-message"


def test_a_service_that_leaves_closes_its_streams_and_takes_no_more(client: TestClient) -> None:
    engine = client.app.state.engine  # type: ignore[attr-defined]
    assert client.portal is not None
    with stream(client) as socket:
        client.portal.call(engine.connections.leave)
        with pytest.raises(WebSocketDisconnect) as closed:
            socket.receive_json()
        assert closed.value.code == 1012
    with pytest.raises(WebSocketDenialResponse) as denial, stream(client):
        pass
    assert (denial.value.status_code, denial.value.json()["code"]) == (503, "leaving")


def test_a_stream_for_another_bundle_is_refused_before_it_opens(client: TestClient) -> None:
    address = "ws://127.0.0.1:8377/stream?wire=1&bundle=" + "0" * 64
    with pytest.raises(WebSocketDenialResponse) as denial, client.websocket_connect(address):
        pass
    assert (denial.value.status_code, denial.value.json()["code"]) == (409, "other-bundle")


def test_the_program_prints_a_token_once_and_revokes(tmp_path: Path) -> None:
    path = tmp_path / "users"

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "server.users", *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=60)

    token = run("add", str(path), "anna").stdout.strip()
    assert Users(path).find(token) == "anna"
    assert run("revoke", str(path), "anna").returncode == 0
    assert path.read_text() == ""
    again = run("revoke", str(path), "anna")
    assert (again.returncode, "no user anna" in again.stderr) == (2, True)
    assert run("add", str(path), "a b").returncode == 2
