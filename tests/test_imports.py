"""Who may know whom, seen from outside: each import in a Python of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OURS = ("server", "lsp", "model", "training")
TRAINING_ONLY = ("torch", "onnx", "onnxscript", "safetensors", "matplotlib", "tqdm")

_IMPORT = """
import sys

class Absent:
    \"\"\"An installation without some packages.\"\"\"

    def __init__(self, names):
        self.names = names

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent(sys.argv[2].split(",")))
__import__(sys.argv[1])
print(*sys.modules)
"""


def modules_after(name: str, without: tuple[str, ...] = ()) -> set[str]:
    """List the modules that an import brings in, where some packages are not installed."""
    command = [sys.executable, "-c", _IMPORT, name, ",".join(without)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def ours(modules: set[str]) -> set[str]:
    return {name for name in modules if name.partition(".")[0] in OURS}


def packages(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


@pytest.mark.parametrize("name", ["server.app", "server.__main__", "lsp.server", "lsp.__main__"])
def test_serving_brings_no_torch(name: str) -> None:
    assert not packages(modules_after(name)) & {*TRAINING_ONLY, "training"}


@pytest.mark.parametrize("name", ["training.fit", "training.personal.learning", "training.fit_judge"])
def test_a_judge_is_fitted_without_torch(name: str) -> None:
    modules_after(name, without=("torch", "safetensors", "onnxscript", "matplotlib"))


@pytest.mark.parametrize(
    "name", ["server.__main__", "lsp.__main__", "model.inference.predictor", "model.inference.search"]
)
def test_an_installation_without_torch_can_serve(name: str) -> None:
    modules_after(name, without=(*TRAINING_ONLY, "cydifflib"))


@pytest.mark.parametrize(
    "name", ["server.app", "server.__main__", "server.users", "lsp.__main__", "training.mine", "training.fit"]
)
def test_an_installation_without_ray_lacks_nothing(name: str) -> None:
    assert "ray" not in packages(modules_after(name, without=("ray",)))


@pytest.mark.parametrize("name", ["lsp.server", "lsp.__main__"])
def test_the_language_server_brings_no_runtime_and_no_service(name: str) -> None:
    modules = modules_after(name)
    assert not packages(modules) & {"onnxruntime", "fastapi", "uvicorn"}
    assert {each for each in modules if each.startswith("server")} <= {"server", "server.schema"}


@pytest.mark.parametrize(
    "name", ["model.editing.edits", "model.config", "model.inference.calibration", "model.editing.change"]
)
def test_the_words_of_the_paper_stand_alone(name: str) -> None:
    modules = modules_after(name, without=("cydifflib",))
    assert ours(modules) == {"model", name.rpartition(".")[0], name}
    assert "numpy" not in modules


def test_the_model_knows_nobody() -> None:
    for name in ("model.inference.predictor", "model.inference.search", "model.networks.build"):
        assert packages(modules_after(name)) & set(OURS) == {"model"}


@pytest.mark.parametrize("package", OURS)
def test_the_files_that_make_packages_are_empty(package: str) -> None:
    assert all(path.read_text() == "" for path in (ROOT / package).rglob("__init__.py"))


_RUNTIME = """
import importlib.abc
import os
import sys

class Watch(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "onnxruntime":
            print(os.environ.get("ORT_DISABLE_TELEMETRY"))

sys.meta_path.insert(0, Watch())
__import__(sys.argv[1])
"""


@pytest.mark.parametrize("name", ["server.__main__", "model.inference.predictor", "training.evaluate"])
def test_the_runtime_is_told_to_report_to_nobody_before_it_is_loaded(name: str) -> None:
    command = [sys.executable, "-c", _RUNTIME, name]
    environment = {key: value for key, value in os.environ.items() if key != "ORT_DISABLE_TELEMETRY"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.split() == ["1"]
