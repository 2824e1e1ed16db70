"""Dismissed suggestions, each of one file, kept for some days as hashes, so that no text can be read back."""

import hashlib
import logging
import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path

from lsp.data_paths import make_private_folder

_LIMIT_KEPT = 5000  # beyond this the oldest are forgotten
_KEPT_SECONDS = 7 * 24 * 3600.0  # a dismissal is about the work at hand, and that is another one after a week
_log = logging.getLogger(__name__)


class Dismissals:
    """The dismissed suggestions. The first line of the file is a random key, so its hashes are its own."""

    def __init__(self, path: Path, now: Callable[[], float] = time.time) -> None:
        self._path = path
        self._now = now
        self._key = secrets.token_bytes(32)
        self._times: dict[str, float] = {}  # of each dismissal, by its hash
        try:
            self._load()
        except (OSError, ValueError) as error:
            _log.warning("dismissed suggestions are kept until the end of this session only: %s", error)

    def add(self, uri: str, suggestion: str, surroundings: str) -> None:
        digest, now = self._digest(uri, suggestion, surroundings), self._now()
        self._times[digest] = now
        try:
            _append(self._path, f"{digest} {int(now)}\n")
        except OSError as error:
            _log.warning("a dismissed suggestion could not be written: %s", error)

    def has(self, uri: str, suggestion: str, surroundings: str) -> bool:
        dismissed = self._times.get(self._digest(uri, suggestion, surroundings))
        return dismissed is not None and not self._is_faded(dismissed)

    def forget_all(self) -> None:
        self._times.clear()
        try:
            forget_since(self._path, float("-inf"))
        except (OSError, ValueError) as error:
            _log.warning("the dismissed suggestions of earlier sessions are still there: %s", error)

    def _is_faded(self, dismissed: float) -> bool:
        return self._now() - dismissed > _KEPT_SECONDS

    def _digest(self, uri: str, suggestion: str, surroundings: str) -> str:
        hashed = hashlib.blake2b(key=self._key, digest_size=16)
        for part in (uri, suggestion, surroundings):
            data = part.encode("utf-8", "surrogatepass")
            hashed.update(len(data).to_bytes(8, "little") + data)
        return hashed.hexdigest()

    def _load(self) -> None:
        if not self._path.exists():
            make_private_folder(self._path.parent)
            _append(self._path, self._key.hex() + "\n")
        first, *lines = self._path.read_text("ascii").splitlines() or [""]
        self._key = bytes.fromhex(first)
        found = [(digest, float(dismissed)) for digest, dismissed in map(str.split, filter(_is_entry, lines))]
        kept = [(digest, dismissed) for digest, dismissed in found if not self._is_faded(dismissed)]
        self._times = dict(kept)
        if len(kept) < len(found) or len(kept) > 2 * _LIMIT_KEPT:
            newest = [f"{digest} {int(dismissed)}" for digest, dismissed in kept[-_LIMIT_KEPT:]]
            replace_lines(self._path, [first, *newest])


def forget_since(path: Path, since: float) -> int:
    """Remove the suggestions that were dismissed at or after a time; return their number."""
    if not path.exists():
        return 0
    first, *lines = path.read_text("ascii").splitlines() or [""]
    kept = [line for line in lines if _is_entry(line) and float(line.split()[1]) < since]
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


def _is_entry(line: str) -> bool:
    """Is it a whole line? The last one may have been cut."""
    return len(line.split()) == 2


def _append(path: Path, line: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(descriptor, line.encode("ascii"))
    finally:
        os.close(descriptor)
