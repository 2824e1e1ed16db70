"""The real app on the tiny bundle, and what tests say to it."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient, WebSocketTestSession

from model.inference.bundle import Bundle
from model.inference.predictor import Predictor
from server.app import create_app
from server.settings import Settings

TINY_BUNDLE = Path(__file__).parent.parent / "data" / "tiny_bundle"
ADDRESS = "http://127.0.0.1:8377"

TEXT = """def total(items):
    result = 0
    for item in items:
        result += item.price
    return result
"""


@pytest.fixture(scope="session")
def predictor() -> Predictor:
    return Predictor(Bundle.load(TINY_BUNDLE), "cpu")


@pytest.fixture
def make_client(predictor: Predictor) -> Iterator[Callable[..., TestClient]]:
    """A client of an app with settings of the test's own."""
    clients = []

    def make(**settings: Any) -> TestClient:
        app = create_app(predictor, Settings(**settings))
        client = TestClient(app, base_url=ADDRESS, raise_server_exceptions=False)
        clients.append(client)
        return client.__enter__()

    yield make
    for client in clients:
        client.__exit__(None, None, None)


@pytest.fixture
def client(make_client: Callable[..., TestClient]) -> TestClient:
    return make_client()


def stream(client: TestClient, **headers: str) -> AbstractContextManager[WebSocketTestSession]:
    return client.websocket_connect("ws://127.0.0.1:8377/stream", headers=headers)


class Talk:
    """One document of a stream, as a client that follows the protocol speaks."""

    def __init__(self, socket: WebSocketTestSession, predictor: Predictor, document: str = "a.py") -> None:
        self.socket = socket
        self.bundle = predictor.bundle
        self.document = document

    def say(self, kind: str, **fields: Any) -> None:
        self.socket.send_json({"type": kind, "document": self.document, **fields})

    def hear(self) -> dict[str, Any]:
        heard: dict[str, Any] = self.socket.receive_json()
        return heard

    def open(self, text: str = TEXT, version: int = 1) -> list[int]:
        state = [1, *self.bundle.require_tokenizer().encode(text), 2]
        self.say("open", version=version, bundle=self.bundle.sha256, state=state)
        assert self.hear() == {"type": "opened", "document": self.document, "version": version}
        return state
