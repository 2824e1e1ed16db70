"""The real process: starts, says where it is, serves, and goes."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from model.inference.bundle import DEFAULT, Bundle
from tests.server.conftest import TEXT, TINY_BUNDLE

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start() -> Iterator[Start]:
    started = []

    def run(*arguments: str, **environment: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "server", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | environment,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


def ready(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout is not None
    line = process.stdout.readline()
    told: dict[str, Any] = json.loads(line)
    assert told["event"] == "ready"
    return told


def call(address: str, path: str, body: object = None, **headers: str) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address + path, data, {"Content-Type": "application/json", **headers})
    with urllib.request.urlopen(request, timeout=10) as response:
        return json.load(response)


def test_it_says_where_it_is_and_serves_and_ends_when_told(start: Start) -> None:
    process = start(
        "--port", "0", "--bundle", str(TINY_BUNDLE), "--log-level", "debug", LIKEWISE_TOKEN="s3cret"
    )
    told = ready(process)
    assert told["pid"] == process.pid
    assert call(told["address"], "/healthz") == {"status": "ok"}
    request = {"text": TEXT, "edits": [{"start": 4, "end": 9, "text": "hunter2"}], "threshold": 0.0}
    answer = call(told["address"], "/predict", request, Authorization="Bearer s3cret")
    assert "suggestions" in answer
    assert psutil.Process(process.pid).memory_info().rss < 300e6
    process.send_signal(signal.SIGTERM)
    _, log = process.communicate(timeout=10)
    entries = [json.loads(line) for line in log.splitlines()]
    assert [entry["event"] for entry in entries][:2] == ["ready", "predicted"]
    assert "hunter2" not in log
    assert "s3cret" not in log
    assert "result" not in log


def test_an_old_bundle_of_the_user_gives_way_to_the_shipped_one_with_one_message(
    start: Start, tmp_path: Path
) -> None:
    old = Path(shutil.copytree(TINY_BUNDLE, tmp_path / "own"))
    manifest = json.loads((old / "manifest.json").read_text())
    (old / "manifest.json").write_text(json.dumps(manifest | {"format": 1}))
    process = start("--port", "0", "--bundle", str(old))
    told = ready(process)
    assert call(told["address"], "/model")["sha256"] == Bundle.load(DEFAULT).sha256
    process.send_signal(signal.SIGTERM)
    _, log = process.communicate(timeout=10)
    warnings = [entry for entry in map(json.loads, log.splitlines()) if entry["level"] == "warning"]
    (message,) = [entry["detail"] for entry in warnings]
    assert "has format 1" in message
    assert "python -m training.export" in message
    assert "The shipped bundle is used" in message


def test_an_interrupt_is_no_error(start: Start) -> None:
    process = start("--port", "0", "--bundle", str(TINY_BUNDLE))
    ready(process)
    process.send_signal(signal.SIGINT)
    _, log = process.communicate(timeout=10)
    assert process.returncode == 0
    assert "Traceback" not in log


def test_it_goes_when_its_parent_has_gone(start: Start) -> None:
    parent = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    process = start("--port", "0", "--bundle", str(TINY_BUNDLE), "--parent-pid", str(parent.pid))
    ready(process)
    parent.kill()  # and not waited for: a zombie is gone too
    assert process.wait(timeout=10) == 0
    parent.communicate()


def test_a_port_that_is_taken_is_said(start: Start) -> None:
    first = start("--port", "0", "--bundle", str(TINY_BUNDLE))
    port = ready(first)["address"].rpartition(":")[2]
    second = start("--port", port, "--bundle", str(TINY_BUNDLE))
    output, errors = second.communicate(timeout=10)
    assert (second.returncode, output) == (1, "")
    assert f"port {port}" in errors
    assert "Traceback" not in errors


def test_after_kill_9_a_client_that_follows_the_protocol_gets_the_same_answers(start: Start) -> None:
    tokenizer = Bundle.load(TINY_BUNDLE).require_tokenizer()
    sha256 = Bundle.load(TINY_BUNDLE).sha256
    state = [1, *tokenizer.encode(TEXT), 2]
    opening = {"type": "open", "document": "a.py", "version": 1, "bundle": sha256, "state": state}
    append = [{"position": 3, "content": "DELETE"}, {"position": 2, "content": state[5]}]
    edits = {"type": "edits", "document": "a.py", "version": 2, "keep": 0, "append": append}
    question = {"type": "predict", "document": "a.py", "version": 2, "threshold": 0.0, "until": "hunk"}

    def say(socket: ClientConnection, *messages: dict[str, Any]) -> dict[str, Any]:
        for message in messages:
            socket.send(json.dumps(message))
        answer: dict[str, Any] = json.loads(socket.recv(timeout=20))
        return answer

    first = start("--port", "0", "--bundle", str(TINY_BUNDLE))
    address = ready(first)["address"]
    url = address.replace("http", "ws") + "/stream"
    with connect(url, compression=None) as socket:
        assert say(socket, opening)["type"] == "opened"
        before = say(socket, edits, question)
        socket.send(json.dumps(question))
        first.kill()
        first.wait()
        with contextlib.suppress(ConnectionClosed):
            while True:
                socket.recv(timeout=10)
    ready(start("--port", address.rpartition(":")[2], "--bundle", str(TINY_BUNDLE)))
    with connect(url, compression=None) as socket:
        assert say(socket, question)["type"] == "reopen"
        assert say(socket, opening)["type"] == "opened"
        after = say(socket, edits, question)
    assert before["type"] == after["type"] == "prediction"
    assert before["suggestions"] == after["suggestions"]
    with pytest.raises(InvalidStatus), connect(url, origin=Origin("https://evil.example")):
        pass


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--host", "0.0.0.0"], "token"),
        (["--bundle", "/nowhere"], "not a bundle"),
        (["--device", "cuda", "--bundle", str(TINY_BUNDLE)], "cuda"),
    ],
)
def test_what_cannot_start_says_why_and_no_more(start: Start, arguments: list[str], says: str) -> None:
    process = start("--port", "0", *arguments)
    output, errors = process.communicate(timeout=20)
    assert process.returncode in (1, 2)
    assert output == ""
    assert says in errors
    assert "Traceback" not in errors


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="there are no socket files here")
def test_what_cannot_start_leaves_no_socket_file(start: Start, tmp_path: Path) -> None:
    process = start("--socket", str(tmp_path / "service"), "--bundle", "/nowhere")
    process.communicate(timeout=20)
    assert process.returncode == 1
    assert not (tmp_path / "service").exists()  # the next start could not listen there


HALF_SENT = {
    "nothing": b"",
    "half a head": b"POST /predict HTTP/1.1\r\nHost: 127",
    "half a body": b"POST /predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{",
    "half a second request": b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /he",
}


def test_a_request_that_does_not_come_in_whole_is_closed(start: Start) -> None:
    process = start("--port", "0", "--bundle", str(TINY_BUNDLE), LIKEWISE_LIMIT_REQUEST_SECONDS="0.5")
    address = urlsplit(ready(process)["address"])
    assert address.hostname is not None
    for half in HALF_SENT.values():
        with socket.create_connection((address.hostname, address.port or 0), timeout=20) as connection:
            connection.sendall(half)
            while connection.recv(4096):  # ends when the service closes; a TimeoutError says that it does not
                pass


def test_a_stream_outlives_the_time_of_a_request(start: Start) -> None:
    process = start("--port", "0", "--bundle", str(TINY_BUNDLE), LIKEWISE_LIMIT_REQUEST_SECONDS="0.2")
    with connect(ready(process)["address"].replace("http", "ws") + "/stream") as client:
        time.sleep(0.6)
        client.send("{}")
        assert json.loads(client.recv(10))["code"] == "invalid-message"
