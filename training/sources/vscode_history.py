"""VS Code's local history: the texts of a file at each save, oldest first.

`User/History/<hash>/entries.json` names the file and its snapshots; the snapshots lie beside it.
"""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlparse

from training.sources.filters import LIMIT_BYTES, check_path, check_text

_EDITORS = ("Code", "Code - Insiders", "Code - OSS", "VSCodium", "Cursor", "Windsurf")


class SavedFile(NamedTuple):
    """The saved texts of one file, oldest first."""

    path: str
    texts: tuple[str, ...]
    times: tuple[float, ...]  # of the saves, in seconds since 1970


def default_folders() -> list[Path]:
    """The folders on this machine in which editors of VS Code's family keep their local history."""
    home = Path.home()
    if sys.platform == "darwin":
        settings = home / "Library" / "Application Support"
    elif sys.platform == "win32":
        settings = Path(os.path.expandvars("%APPDATA%"))
    else:
        settings = home / ".config"
    folders = [settings / editor / "User" / "History" for editor in _EDITORS]
    folders.append(home / ".local" / "share" / "code-server" / "User" / "History")
    return [folder for folder in folders if folder.is_dir()]


def read_saved_files(folder: Path) -> Iterator[SavedFile]:
    """All files with at least two different saved texts."""
    for entries in sorted(folder.glob("*/entries.json")):
        history = _read(entries)
        if history is not None and len(history.texts) > 1:
            yield history


def _read(entries: Path) -> SavedFile | None:
    try:
        content = json.loads(entries.read_text(encoding="utf-8"))
        path = unquote(urlparse(content["resource"]).path)
        saved = sorted(content["entries"], key=lambda entry: entry["timestamp"])
        names = [(str(entry["id"]), float(entry["timestamp"]) / 1000) for entry in saved]
    except (OSError, ValueError, KeyError, TypeError):
        return None  # half-written or of a version that we do not know: one file less
    if check_path(path.lstrip("/")) is not None:
        return None
    texts: list[str] = []
    times: list[float] = []
    for name, time in names:
        text = _read_text(entries.parent / name)
        if text is not None and (not texts or text != texts[-1]):
            texts.append(text)
            times.append(time)
    return SavedFile(path, tuple(texts), tuple(times))


def _read_text(path: Path) -> str | None:
    try:
        if path.stat().st_size > LIMIT_BYTES:
            return None
        text = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    return text if "\0" not in text and check_text(text) is None else None
