"""Dismissed suggestions, remembered across restarts by a hash: neither they nor the text around them can be read back."""

import hashlib
import logging
import os
import secrets
import time
from pathlib import Path

_LIMIT_REMEMBERED = 5000  # beyond this the oldest are forgotten
_log = logging.getLogger(__name__)


class Memory:
    """The dismissed suggestions. The first line of its file is a random key, so that equal hashes are equal here only."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._key = secrets.token_bytes(32)
        self._known: set[str] = set()
        try:
            self._load()
        except (OSError, ValueError) as error:
            _log.warning("dismissed suggestions are remembered until the end of this session only: %s", error)

    def dismiss(self, suggestion: str, surroundings: str) -> None:
        digest = self._digest(suggestion, surroundings)
        if digest in self._known:
            return
        self._known.add(digest)
        try:
            _append(self._path, f"{digest} {int(time.time())}\n")
        except OSError as error:
            _log.warning("a dismissed suggestion could not be remembered: %s", error)

    def is_dismissed(self, suggestion: str, surroundings: str) -> bool:
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
        if len(lines) > 2 * _LIMIT_REMEMBERED:
            rewrite(self._path, [first, *lines[-_LIMIT_REMEMBERED:]])


def forget_since(path: Path, since: float) -> int:
    """Remove what was dismissed at or after a time; how many there were."""
    if not path.exists():
        return 0
    first, *lines = path.read_text("ascii").splitlines() or [""]
    kept = [line for line in lines if len(line.split()) == 2 and float(line.split()[1]) < since]
    rewrite(path, [first, *kept])
    return len(lines) - len(kept)


def rewrite(path: Path, lines: list[str]) -> None:
    """Replace a file at once, so that no moment has half of it."""
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
