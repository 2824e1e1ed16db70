"""The one command, from a repository to a bundle that is installed or refused."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from model.inference.bundle import DEFAULT, Bundle
from model.inference.personal import find_current, personal_folder
from tests.training.personal.own_folders import own_folders  # noqa: F401  (a fixture)
from tests.training.small_repository import make_repository
from tests.training.sources.test_git import git
from training import fit
from training.personal.library import Library
from training.personal.plan import read_plan, work_folder

_ROOT = Path(fit.__file__).parent.parent
_SMALL = ("--yes", "--minutes", "0", "--changes", "12", "--cases", "6", "--json")

pytestmark = pytest.mark.usefixtures("own_folders")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = make_repository(tmp_path / "mine", 70)
    monkeypatch.chdir(folder)
    return folder


def test_a_repository_becomes_a_measured_bundle_with_a_report(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shipped = Bundle.load(DEFAULT).sha256
    assert fit.main(_SMALL) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert "repository mine: 69 commits" in lines[0]["text"]
    shares = [line["share"] for line in lines if line["event"] == "progress"]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    result = lines[-1]
    (entry,) = Library(personal_folder()).entries()
    assert entry.is_installed == result["is_better"]
    assert (find_current(personal_folder()) is not None) == result["is_better"]
    assert Bundle.load(entry.bundle).name.endswith("+own")
    assert Bundle.load(entry.bundle).sha256 != shipped == Bundle.load(DEFAULT).sha256
    report = Path(result["report"]).read_text(encoding="utf-8")
    assert "<script" not in report
    assert "http" not in report
    assert "Offers that appeared" in report
    assert not work_folder().exists()
    assert git(repository, "status", "--porcelain") == ""
    assert fit.main(["--list"]) == 0
    assert entry.name in capsys.readouterr().out
    assert fit.main(["--restore", entry.name]) == 0
    assert find_current(personal_folder()) == entry.bundle
    assert fit.main(["--restore"]) == 0
    assert find_current(personal_folder()) is None


# A file that appears in the work folder in each part of the way.
_MOMENTS = (
    "plan.json",
    "examples/*/your-0000.npz",
    "thresholds.jsonl",
    "before.jsonl",
    "after.jsonl",
)


def test_a_command_that_is_killed_again_and_again_goes_on_where_it_was(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--yes", "--minutes", "0", "--changes", "40", "--cases", "6"]
    kept: dict[Path, int] = {}
    for moment in _MOMENTS:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "training.fit", *arguments],
            cwd=repository,
            env=os.environ | {"PYTHONPATH": str(_ROOT)},
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 600
        while not list(work_folder().glob(moment)):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert read_plan(work_folder()) is not None
        for path, written in kept.items():  # nothing that was made is made again
            assert path.stat().st_mtime_ns == written
        kept = {path: path.stat().st_mtime_ns for path in work_folder().glob("examples/*/your-????.npz")}
        assert Library(personal_folder()).entries() == []
    assert kept
    # The repository has grown: the stopped command goes on with what it had found.
    (repository / "rows.py").write_text("x = 1\n")
    git(repository, "commit", "-q", "-a", "-m", "more")
    assert fit.main(arguments) == 0
    captured = capsys.readouterr()
    assert "is continued" in captured.err
    assert "69 commits" in captured.out
    assert len(Library(personal_folder()).entries()) == 1
    assert not work_folder().exists()


def test_a_full_disk_is_told_before_anything_is_written(
    repository: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit, "_NEEDED_BYTES", 1 << 60)
    assert fit.main(_SMALL) == 2
    assert "make room and run the same command again" in capsys.readouterr().err
    assert Library(personal_folder()).entries() == []


def test_nobody_to_ask_is_an_error_that_names_the_option(
    repository: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with open(os.devnull) as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        assert fit.main(["--minutes", "0"]) == 2
    assert "--yes" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["none", "empty", "one commit", "binary", "shallow", "submodule"])
def test_a_history_that_is_too_short_is_refused_with_advice(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "there"
    if kind == "shallow":
        source = make_repository(tmp_path / "source", 30)
        git(tmp_path, "clone", "-q", "--depth", "3", source.as_uri(), str(folder))
    else:
        folder.mkdir()
    if kind not in ("none", "shallow"):
        git(folder, "init", "-q", "-b", "main", ".")
    if kind == "one commit":
        (folder / "a.py").write_text("x = 1\n")
        git(folder, "add", ".")
        git(folder, "commit", "-q", "-m", "one")
    if kind == "binary":
        for number in range(30):
            (folder / "a.py").write_bytes(b"\0\xff" * (number + 1))
            git(folder, "add", ".")
            git(folder, "commit", "-q", "-m", f"{number}")
    if kind == "submodule":
        source = make_repository(tmp_path / "source", 3)
        git(folder, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(source), "part")
        git(folder, "commit", "-q", "-m", "a submodule")
    monkeypatch.chdir(folder)
    assert fit.main(_SMALL) == 2
    message = capsys.readouterr().err
    assert ("--unshallow" if kind == "shallow" else "--repo PATH") in message
    assert "Traceback" not in message


def test_a_folder_that_is_no_repository_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fit.main([*_SMALL, "--repo", str(tmp_path)]) == 2
    assert f"{tmp_path} is not a git repository" in capsys.readouterr().err
