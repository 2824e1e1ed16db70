"""Dismissed suggestions, kept across restarts as hashes, so that no text can be read back."""

import hashlib
import logging
import os
import secrets
import time
from pathlib import Path

_LIMIT_KEPT = 5000  # beyond this the oldest are forgotten
_log = logging.getLogger(__name__)


class Dismissals:
    """The dismissed suggestions. The first line of the file is a random key, so its hashes are its own."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._key = secrets.token_bytes(32)
        self._known: set[str] = set()
        try:
            self._load()
        except (OSError, ValueError) as error:
            _log.warning("dismissed suggestions are kept until the end of this session only: %s", error)

    def add(self, suggestion: str, surroundings: str) -> None:
        digest = self._digest(suggestion, surroundings)
        if digest in self._known:
            return
        self._known.add(digest)
        try:
            _append(self._path, f"{digest} {int(time.time())}\n")
        except OSError as error:
            _log.warning("a dismissed suggestion could not be written: %s", error)

    def has(self, suggestion: str, surroundings: str) -> bool:
        return self._digest(suggestion, surroundings) in self._known

    def _digest(self, suggestion: str, surroundings: str) -> str:
        hashed = hashlib.blake2b(key=self._key, digest_size=16)
        for part in (suggestion, surroundings):
            data = part.encode("utf-8", "surrogatepass")
            hashed.update(len(data).to_bytes(8, "little") + data)
        return hashed.hexdigest()

    def _load(self) -> None:
        if not self._path.exists():
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _append(self._path, self._key.hex() + "\n")
        first, *lines = self._path.read_text("ascii").splitlines() or [""]
        self._key = bytes.fromhex(first)
        lines = [line for line in lines if len(line.split()) == 2]
        self._known = {line.split()[0] for line in lines}
        if len(lines) > 2 * _LIMIT_KEPT:
            replace_lines(self._path, [first, *lines[-_LIMIT_KEPT:]])


def forget_since(path: Path, since: float) -> int:
    """Remove the suggestions that were dismissed at or after a time; return their number."""
    if not path.exists():
        return 0
    first, *lines = path.read_text("ascii").splitlines() or [""]
    kept = [line for line in lines if len(line.split()) == 2 and float(line.split()[1]) < since]
    replace_lines(path, [first, *kept])
    return len(lines) - len(kept)


def replace_lines(path: Path, lines: list[str]) -> None:
    """Replace a file at once, so that it is never half written."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(line + "\n" for line in lines)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def _append(path: Path, line: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(descriptor, line.encode("ascii"))
    finally:
        os.close(descriptor)
