"""Sessions whose steps run together get the answers that they get alone."""

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from model.inference.bundle import Bundle
from model.inference.predictor import Predictor
from server.app import create_app
from server.settings import Settings
from tests.server.conftest import ADDRESS, TEXT, TINY_BUNDLE, Talk, stream
from training.export import export, load_run

SESSIONS = 6


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """The tiny network in a bundle for a GPU."""
    network, config, tokenizer = load_run(TINY_BUNDLE)
    folder: Path = tmp_path_factory.mktemp("bundle") / "cuda"
    return export(network, config, tokenizer, folder, name="tiny", device="cuda")


def ask_at_once(bundle: Bundle, batch_steps: str) -> tuple[list[Any], str]:
    """Let several documents ask before the first answer is there; return the answers and the metrics."""
    settings = Settings(batch_steps=batch_steps)
    predictor = Predictor(bundle, "cpu", together=settings.together)
    app = create_app(predictor, settings)
    with TestClient(app, base_url=ADDRESS) as client, stream(client) as socket:
        for number in range(SESSIONS):
            Talk(socket, predictor, f"{number}.py").open(TEXT * (number + 1))
        for number in range(SESSIONS):
            talk = Talk(socket, predictor, f"{number}.py")
            append = [{"position": 3 + number, "content": "DELETE"}, {"position": 2 + number, "content": 9}]
            talk.say("edits", version=2, keep=0, append=append)
            talk.say("predict", version=2, until="token", threshold=0.0)
        answers = sorted((socket.receive_json() for _ in range(SESSIONS)), key=lambda each: each["document"])
        return answers, client.get("/metrics").text


def test_steps_in_one_run_change_no_answer(bundle: Bundle) -> None:
    together, metrics = ask_at_once(bundle, "on")
    alone, plain_metrics = ask_at_once(bundle, "off")
    for ours, theirs in zip(together, alone, strict=True):
        assert ours["type"] == theirs["type"] == "prediction"
        assert [each["edits"] for each in ours["suggestions"]] == [
            each["edits"] for each in theirs["suggestions"]
        ]
        for one, other in zip(ours["suggestions"], theirs["suggestions"], strict=True):
            assert one["log_probability"] == pytest.approx(other["log_probability"], abs=1e-4)
    assert "likewise_steps_together_count 0.0" not in metrics
    assert "likewise_steps_together_count 0.0" in plain_metrics


def test_on_the_cpu_steps_run_alone_unless_told(bundle: Bundle) -> None:
    assert Predictor(bundle, "cpu").runner.sizes_together == []
    assert Predictor(bundle, "cpu", together=True).runner.sizes_together == [8, 4, 2]
    assert json.loads((bundle.directory / "manifest.json").read_text())["files"].keys() >= {"step_8.onnx"}
