"""The GPU build of the runtime on a machine without a GPU. `make test-gpu` installs it; elsewhere there is nothing to test."""

import json
import subprocess
import sys
import urllib.request

import onnxruntime
import pytest

import model.inference.graph_runner as graph_runner
from tests.server.conftest import TEXT, TINY_BUNDLE

needs_gpu_build = pytest.mark.skipif(
    "CUDAExecutionProvider" not in onnxruntime.get_available_providers() or graph_runner._has_cuda_driver(),
    reason="needs the GPU build of ONNX Runtime and no GPU",
)


@needs_gpu_build
def test_the_service_says_so_in_one_sentence_and_runs_on_the_cpu() -> None:
    command = [sys.executable, "-m", "server", "--port", "0", "--bundle", str(TINY_BUNDLE)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = json.loads(process.stdout.readline())["address"]
        body = json.dumps({"text": TEXT, "edits": [{"start": 4, "end": 9, "text": "sum"}]}).encode()
        request = urllib.request.Request(address + "/predict", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as response:
            assert "suggestions" in json.load(response)
        process.terminate()
        log = process.communicate(timeout=60)[1]
    entries = [json.loads(line) for line in log.splitlines()]
    said = [entry["detail"] for entry in entries if entry["event"] == "no GPU"]
    assert said == ["There is no CUDA driver on this machine: the service runs on the CPU."]


@needs_gpu_build
def test_a_service_that_must_have_cuda_does_not_start() -> None:
    command = [sys.executable, "-m", "server", "--port", "0", "--device", "cuda"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "there is no CUDA driver on this machine" in done.stderr


def test_a_runtime_for_the_cpu_has_nothing_to_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["CPUExecutionProvider"])
    assert graph_runner.explain_cpu("CPUExecutionProvider") is None
