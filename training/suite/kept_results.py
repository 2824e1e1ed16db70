"""Results that were measured, kept in files of JSON lines: a broken run goes on where it was broken off.

They belong to one engine: the files of a bundle and the source of `model/`. Another engine has another folder, so nothing
old is ever shown as new. The thresholds of a bundle are no part of the engine.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import model
from model.inference.bundle import Bundle, read_manifest

_ABOUT = ("MODEL_CARD.md", "calibration.json")  # files of a bundle that change no answer of a judge
_SOURCE = Path(model.__path__[0])


class KeptResults:
    """JSON values by key. Without a file they are kept in memory only."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._known: dict[str, Any] = {}
        if path is not None and path.exists():
            for line in path.read_text(encoding="utf-8").split("\n"):
                if line.endswith("]"):  # the last line of a broken run may be half written
                    key, value = json.loads(line)
                    self._known[key] = value

    def get(self, key: str, measure: Callable[[], Any]) -> Any:
        """The value of a key, measured when it is not known."""
        if key not in self._known:
            self._known[key] = measure()
            if self._path is not None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with self._path.open("a", encoding="utf-8") as lines:
                    lines.write("\n" + json.dumps([key, self._known[key]]))
        return self._known[key]


def folder_of(cache: Path, bundle: Bundle) -> Path:
    """The folder for results of a bundle with the engine of this checkout."""
    files = read_manifest(bundle.directory)["files"]
    parts = [f"{name} {files[name]}" for name in sorted(files) if name not in _ABOUT]
    parts += [
        f"{path.relative_to(_SOURCE)} {hashlib.sha256(path.read_bytes()).hexdigest()}"
        for path in sorted(_SOURCE.rglob("*.py"))
    ]
    return cache / hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def keep_list(path: Path, make: Callable[[], Sequence[Any]]) -> list[Any]:
    """A list of JSON values from a file, or made and written. The file appears only when it is complete."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(path.name + ".partial")
        partial.write_text("".join(json.dumps(value) + "\n" for value in make()), encoding="utf-8")
        partial.rename(path)
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
