"""The README's commands for retraining, run as they stand there on a small repository, with small limits."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.training.small_repository import make_repository

ROOT = Path(__file__).parent.parent
_LINKED = (
    ".venv",
    "Makefile",
    "constraints.txt",
    "lsp",
    "model",
    "pyproject.toml",
    "server",
    "tests",
    "training",
)
_LIMITS = {
    "LIKEWISE_FIT_MINUTES": "0.1",
    "LIKEWISE_FIT_CHANGES": "40",
    "LIKEWISE_FIT_CASES": "10",
    "LIKEWISE_PORT": "0",
}


def read_commands() -> list[str]:
    """The lines of the code blocks below the heading, without their comments."""
    section = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Retrain it")[2]
    blocks = re.findall(r"```\n(.*?)```", section.partition("\n## ")[0], re.DOTALL)
    return [re.sub(r"\s+# .*", "", line) for block in blocks for line in block.splitlines()]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder that looks like the checkout, is a repository with a history, and has another one beside it."""
    if Path(sys.prefix) != ROOT / ".venv":
        pytest.skip("the README's commands name .venv: make setup")
    folder = make_repository(tmp_path / "checkout", 70)
    for name in _LINKED:
        (folder / name).symlink_to(ROOT / name)
    make_repository(folder / "PATH" / "TO" / "REPOSITORY", 40)
    for name in ("home", "data", "cache"):
        (tmp_path / name).mkdir()
    return folder


def test_the_commands_for_retraining_work_as_they_stand_in_the_readme(checkout: Path) -> None:
    home = checkout.parent
    environment = os.environ | _LIMITS
    environment |= {"HOME": str(home / "home"), "XDG_DATA_HOME": str(home / "data")}
    environment |= {"XDG_CACHE_HOME": str(home / "cache")}
    commands = read_commands()
    assert len(commands) > 8
    for command in commands:
        if command.endswith("make run"):
            _see_it_serve(command, checkout, environment)
        else:
            _run(command, checkout, environment)


def _run(command: str, folder: Path, environment: dict[str, str]) -> None:
    """Run a command at a terminal where somebody answers yes."""
    ours, theirs = pty.openpty()
    try:
        os.write(ours, b"y\n")
        done = subprocess.run(
            command, shell=True, cwd=folder, env=environment, stdin=theirs, capture_output=True, text=True
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


def _see_it_serve(command: str, folder: Path, environment: dict[str, str]) -> None:
    """Start the service, see that it gets ready, and end it."""
    process = subprocess.Popen(
        command,
        shell=True,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        lines = iter(process.stdout.readline, "")
        assert any('"ready"' in line for line in lines), f"{command} ended before it was ready"
    finally:
        os.killpg(process.pid, 15)
        process.wait()
        process.stdout.close()
