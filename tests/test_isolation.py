"""Nothing in the user's project is imported: both programs run among files that bear the names of their modules."""

import asyncio
import json
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from lsp.fetch import fetch
from lsp.service_process import ServiceProcess
from model.editing.change import Change
from tests.lsp.editor import Editor, editing

TINY_BUNDLE = Path(__file__).parent / "data" / "tiny_bundle"
OURS = ("lsp", "server", "model", "training")
TRIED_BY_PYTHON = ("sitecustomize", "usercustomize")
SCRIPTS = Path(sys.executable).parent
LANGUAGE_SERVERS = ((str(SCRIPTS / "likewise-lsp"),), (sys.executable, "-P", "-m", "lsp"))
SERVICES = ((str(SCRIPTS / "likewise-server"),), (sys.executable, "-P", "-m", "server"))
URI = "file:///work/a.py"
TEXT = "result = 0\nprint(result)\nprint(result)\n"

# Runs a module as the program and, at a signal, writes the names of all imported modules into a file.
_RUN = """
import runpy, signal, sys

path, module = sys.argv.pop(1), sys.argv.pop(1)

def write_names(*_):
    with open(path, "w") as file:
        print(*sys.modules, file=file)

signal.signal(signal.SIGUSR1, write_names)
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Top-level names of everything that the two programs import until they have answered."""
    folder = tmp_path_factory.mktemp("imported")
    names = [folder / "lsp", folder / "server"]

    async def edit() -> None:
        command = (sys.executable, "-P", "-c", _RUN, str(names[0]), "lsp")
        async with editing(folder, command=command, bundle=str(TINY_BUNDLE), device="cpu") as editor:
            await get_answer(editor)
            editor.process.send_signal(signal.SIGUSR1)
            await editor.until(lambda: names[0].exists() and names[0].read_text().endswith("\n"))

    asyncio.run(edit())
    with serving((sys.executable, "-P", "-c", _RUN, str(names[1]), "server"), folder) as process:
        predict(process)
        process.send_signal(signal.SIGUSR1)
        while not (names[1].exists() and names[1].read_text().endswith("\n")):
            assert process.poll() is None
    found = {name.partition(".")[0] for path in names for name in path.read_text().split()}
    assert {"asyncio", "fastapi", "numpy", "onnxruntime", "pygls", "websockets", "lsp", "server"} <= found
    return found


@pytest.fixture
def workspace(tmp_path: Path, imported: set[str]) -> Path:
    """A project with a file of each name; a file that runs leaves a marker."""
    return make_hostile(tmp_path / "workspace", {*imported, *TRIED_BY_PYTHON}, packages=OURS)


def make_hostile(folder: Path, names: Iterable[str], packages: Iterable[str]) -> Path:
    folder.mkdir()
    for name in names:
        (folder / f"{name}.py").write_text(hostile_text(folder, name))
    for name in packages:
        (folder / name).mkdir()
        for file in ("__init__.py", "__main__.py"):
            (folder / name / file).write_text(hostile_text(folder, name))
    return folder


def hostile_text(folder: Path, name: str) -> str:
    return f"open({str(folder / name)!r} + '.ran', 'w').close()\n"


def names_that_ran(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.ran"))


async def get_answer(editor: Editor) -> None:
    """Rename a variable once and wait until the service has answered."""
    editor.open(URI, TEXT)
    await editor.ready()
    version = editor.change(URI, Change(0, 6, "amount"))
    await editor.until(
        lambda: any(
            each["version"] == version and each["silence"] not in ("no-service", "not-connected")
            for each in editor.notices
        )
    )


@contextmanager
def serving(command: Sequence[str], folder: Path) -> Iterator[subprocess.Popen[str]]:
    arguments = ("--port", "0", "--bundle", str(TINY_BUNDLE), "--device", "cpu")
    with subprocess.Popen([*command, *arguments], cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def predict(process: subprocess.Popen[str]) -> None:
    """Wait until the service is ready and get an answer from it."""
    output: IO[str] | None = process.stdout
    assert output is not None
    address = json.loads(output.readline())["address"]
    body = {"text": TEXT, "edits": [{"start": 0, "end": 6, "text": "amount"}]}
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{address}/predict", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as response:
        assert response.status == 200


def test_the_hostile_files_would_run(workspace: Path) -> None:
    subprocess.run([sys.executable, "-c", "import numpy, server"], cwd=workspace, check=True)
    assert names_that_ran(workspace) == ["numpy", "server"]


@pytest.mark.parametrize("command", LANGUAGE_SERVERS, ids=" ".join)
async def test_the_language_server_and_its_service_import_nothing_from_the_project(
    tmp_path: Path, workspace: Path, command: Sequence[str]
) -> None:
    options = {"bundle": str(TINY_BUNDLE), "device": "cpu"}
    async with editing(tmp_path, command=command, workspace=workspace, **options) as editor:
        await get_answer(editor)
    assert names_that_ran(workspace) == []


@pytest.mark.parametrize("command", SERVICES, ids=" ".join)
def test_the_service_imports_nothing_from_the_project(workspace: Path, command: Sequence[str]) -> None:
    with serving(command, workspace) as process:
        predict(process)
    assert names_that_ran(workspace) == []


async def test_the_child_imports_nothing_that_the_users_environment_names(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace)
    monkeypatch.setenv("PYTHONPATH", str(workspace))
    service = ServiceProcess(str(TINY_BUNDLE), "cpu", "warning")
    try:
        await fetch(await service.address(), "/model", timeout_seconds=30)
    finally:
        await service.stop()
    assert names_that_ran(workspace) == []


async def test_the_child_finds_a_bundle_that_is_named_from_the_current_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(TINY_BUNDLE.parent)
    service = ServiceProcess(TINY_BUNDLE.name, "cpu", "warning")
    try:
        await fetch(await service.address(), "/model", timeout_seconds=30)
    finally:
        await service.stop()


@pytest.fixture
def imported_by_us(imported: set[str]) -> set[str]:
    """All names but those that Python itself imports before it runs the first line of a module."""
    command = [sys.executable, "-c", "import runpy, sys; print(*sys.modules)"]
    before = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return imported - {name.partition(".")[0] for name in before}


async def test_the_language_server_leaves_the_current_folder_before_it_imports(
    tmp_path: Path, imported_by_us: set[str]
) -> None:
    workspace = make_hostile(
        tmp_path / "workspace", imported_by_us - {"lsp"}, packages=("server", "model", "training")
    )
    command = (sys.executable, "-m", "lsp")
    options = {"bundle": str(TINY_BUNDLE), "device": "cpu"}
    async with editing(tmp_path, command=command, workspace=workspace, **options) as editor:
        await get_answer(editor)
    assert names_that_ran(workspace) == []


def test_the_service_leaves_the_current_folder_before_it_imports(
    tmp_path: Path, imported_by_us: set[str]
) -> None:
    workspace = make_hostile(
        tmp_path / "workspace", imported_by_us - {"server"}, packages=("lsp", "model", "training")
    )
    with serving((sys.executable, "-m", "server"), workspace) as process:
        predict(process)
    assert names_that_ran(workspace) == []
