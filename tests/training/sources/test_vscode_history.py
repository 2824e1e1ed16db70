"""VS Code's local history, with everything that can be wrong with it."""

import json
from pathlib import Path

import pytest

from training.sources.vscode_history import default_folders, read_saved_files


def save(folder: Path, resource: str, texts: dict[str, bytes], order: list[str]) -> None:
    folder.mkdir(parents=True)
    entries = [{"id": name, "timestamp": number} for number, name in enumerate(order)]
    content = {"version": 1, "resource": resource, "entries": entries[::-1]}
    (folder / "entries.json").write_text(json.dumps(content))
    for name, text in texts.items():
        (folder / name).write_bytes(text)


def test_saves_come_in_the_order_of_their_times_and_repeated_ones_once(tmp_path: Path) -> None:
    texts = {"b.py": b"one", "a.py": b"two", "c.py": b"two", "d.py": b"three"}
    save(tmp_path / "1", "file:///home/me/my%20file.py", texts, ["b.py", "a.py", "c.py", "d.py"])
    (file,) = read_saved_files(tmp_path)
    assert (file.path, file.texts) == ("/home/me/my file.py", ("one", "two", "three"))
    assert list(file.times) == sorted(file.times)
    assert len(file.times) == 3


def test_what_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    save(
        tmp_path / "1",
        "file:///a.py",
        {"a": b"one", "b": b"\xff\xfe", "c": b"x" * 300_000, "d": b"two"},
        list("abcde"),
    )
    save(tmp_path / "2", "file:///a.png", {"a": b"one", "b": b"two"}, ["a", "b"])
    (tmp_path / "3").mkdir()
    (tmp_path / "3" / "entries.json").write_text("{")
    assert [file.texts for file in read_saved_files(tmp_path)] == [("one", "two")]


def test_no_history_is_no_error(tmp_path: Path) -> None:
    assert list(read_saved_files(tmp_path / "missing")) == []


def test_the_editors_of_this_machine_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr("sys.platform", "linux")
    assert default_folders() == []
    folder = tmp_path / ".config" / "VSCodium" / "User" / "History"
    folder.mkdir(parents=True)
    assert default_folders() == [folder]
