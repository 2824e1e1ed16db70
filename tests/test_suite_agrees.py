"""The suite, `POST /predict` and a stream give the same answers: what is measured is what ships.

The cases are renames in modules of Python's standard library: two uses are renamed, and the next one is asked for.
"""

import sysconfig
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from starlette.testclient import TestClient, WebSocketTestSession

from model.editing.change import Change
from model.editing.edits import DELETE
from model.editing.recorder import Recorder
from model.inference.bundle import DEFAULT, Bundle
from model.inference.predictor import Predictor
from server.app import create_app
from server.settings import Settings
from tests.server.conftest import ADDRESS
from training.suite.engine import EngineSuggest
from training.suite.renames import draw_rename
from training.trajectories.draft import Draft

CASES = 50
_LIMIT_CHARACTERS = 12_000
_LIMIT_OFFERS = 3


def find_cases() -> Iterator[tuple[str, list[Change]]]:
    """Texts, and two changes of each."""
    random = Random(7)
    modules = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    random.shuffle(modules)
    found = 0
    for path in modules:
        text = path.read_text(encoding="utf-8", errors="replace")
        rename = draw_rename("stdlib", path.name, text, random) if len(text) < _LIMIT_CHARACTERS else None
        if rename is None:
            continue
        draft, changes = Draft(text, rename.uses()), []
        for number in range(2):
            changes.append(draft.remaining(number))
            draft.replace([number], 0, len(draft.contents[number]), rename.new)
        yield text, changes
        found += 1
        if found == CASES:
            return


def ask_suite(engine: EngineSuggest, recorder: Recorder, threshold: float) -> list[Any]:
    offers = engine.ask_recorder(recorder, None, [threshold])[0][:_LIMIT_OFFERS]
    return [(*offer.change, pytest.approx(offer.confidence, abs=1e-3)) for offer in offers]


def ask_post(client: TestClient, text: str, changes: list[Change]) -> list[Any]:
    body = {
        "text": text,
        "edits": [{"start": each.start, "end": each.end, "text": each.text} for each in changes],
        "until": "hunk",
        "limit": _LIMIT_OFFERS,
    }
    response = client.post("/predict", json=body)
    assert response.status_code == 200, response.text
    return read_suggestions(response.json())


def ask_stream(socket: WebSocketTestSession, bundle: Bundle, recorder: Recorder) -> list[Any]:
    socket.send_json(
        {
            "type": "open",
            "document": "a.py",
            "version": 1,
            "bundle": bundle.sha256,
            "state": list(recorder.state),
        }
    )
    assert socket.receive_json()["type"] == "opened"
    append = [
        {"position": edit.position, "content": "DELETE" if edit.content == DELETE else edit.content}
        for edit in recorder.edits
    ]
    socket.send_json({"type": "edits", "document": "a.py", "version": 2, "keep": 0, "append": append})
    question = {"until": "hunk", "limit": _LIMIT_OFFERS, "bursts": list(recorder.burst_ends)}
    socket.send_json({"type": "predict", "document": "a.py", "version": 2, **question})
    return read_suggestions(socket.receive_json())


def read_suggestions(answer: dict[str, Any]) -> list[Any]:
    return [(each["start"], each["end"], each["text"], each["confidence"]) for each in answer["suggestions"]]


def test_fifty_cases_get_the_same_answers_from_the_suite_from_post_and_from_a_stream() -> None:
    bundle = Bundle.load(DEFAULT)
    predictor = Predictor(bundle, device="cpu")
    engine, threshold = EngineSuggest(predictor), bundle.calibration.threshold("hunk")
    asked = offered = 0
    with (
        TestClient(create_app(predictor, Settings()), base_url=ADDRESS) as client,
        client.websocket_connect("ws://127.0.0.1:8377/stream") as socket,
    ):
        for text, changes in find_cases():
            recorder = Recorder(bundle.require_tokenizer(), text, bundle.config.limit_history)
            for change in changes:
                recorder.record([change])
            recorder.finish_name()
            measured = ask_suite(engine, recorder, threshold)
            assert ask_post(client, text, changes) == measured
            assert ask_stream(socket, bundle, recorder) == measured
            asked += 1
            offered += bool(measured)
    assert asked == CASES
    assert offered > CASES // 2  # equal silences alone would prove little
