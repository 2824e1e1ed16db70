"""The users of a shared service: a name and the hash of a token on each line of a file.

    python -m server.users add FILE NAME       writes a line and prints the token, this once
    python -m server.users revoke FILE NAME    removes the line; the service notices within seconds

A token has 256 random bits, far too many to try, so a plain SHA-256 keeps it secret.
"""

import argparse
import os
import re
import secrets
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

_LOOK_SECONDS = 2.0  # between two looks at the file
_NAME = re.compile(r"[\w.@+-]{1,64}")
_HASH = re.compile(r"[0-9a-f]{64}")


class TooMuch(Exception):
    """A user has reached a limit."""


class Users:
    """The users in a file, which is read again when it changes. A file that cannot be read lets nobody in."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._clock = clock
        self._names = read_users(path)
        self._stamp = _stamp_of(path)
        self._looked = clock()

    def find(self, token: str) -> str | None:
        """Give the name of the user who has this token; None when nobody has it."""
        self._look()
        return self._names.get(hash_token(token))

    def has(self, name: str) -> bool:
        self._look()
        return name in self._names.values()

    def _look(self) -> None:
        if self._clock() - self._looked < _LOOK_SECONDS:
            return
        self._looked = self._clock()
        stamp = _stamp_of(self._path)
        if stamp != self._stamp:
            self._stamp = stamp
            try:
                self._names = read_users(self._path)
            except ValueError:
                self._names = {}


class Shares:
    """Counts what each user has open, and refuses more than a limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._open: Counter[str] = Counter()

    @contextmanager
    def hold(self, user: str | None) -> Iterator[None]:
        """Count one more while the block runs. A service without users counts nothing."""
        if user is None:
            yield
            return
        if self._open[user] >= self._limit:
            raise TooMuch(f"One user has at most {self._limit} of these at a time.")
        self._open[user] += 1
        try:
            yield
        finally:
            self._open[user] -= 1
            if not self._open[user]:
                del self._open[user]


def hash_token(token: str) -> str:
    return sha256(token.strip().encode("utf-8", "surrogatepass")).hexdigest()


def read_users(path: Path) -> dict[str, str]:
    """Read the names by hash. A ValueError says which line is wrong, and never repeats it."""
    names = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeError) as error:
        raise ValueError(f"the users file {path} cannot be read: {type(error).__name__}") from None
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, hashed = line.strip().partition(" ")
        if not _NAME.fullmatch(name) or not _HASH.fullmatch(hashed.strip()):
            raise ValueError(f"line {number} of {path} is not a name and a hash: write it with server.users")
        names[hashed.strip()] = name
    return names


def add_user(path: Path, name: str) -> str:
    """Add a line for a user and return the token. A user may have several: one for each machine."""
    if not _NAME.fullmatch(name):
        raise ValueError("a name has 1 to 64 letters, digits or any of . _ @ + -")
    if path.exists():
        read_users(path)
    token = secrets.token_urlsafe(32)
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    if before and not before.endswith("\n"):
        before += "\n"
    _replace(path, before + f"{name} {hash_token(token)}\n")
    return token


def revoke_user(path: Path, name: str) -> int:
    """Remove the lines of a user; return how many there were."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if line.strip().partition(" ")[0] != name]
    _replace(path, "".join(kept))
    return len(lines) - len(kept)


def _replace(path: Path, text: str) -> None:
    """Replace a file at once: a service that reads it meanwhile finds the old lines or the new ones."""
    partial = path.with_name(path.name + ".partial")
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
    partial.replace(path)


def _stamp_of(path: Path) -> tuple[int, int, int]:
    try:
        status = path.stat()
    except OSError:
        return 0, 0, 0
    return status.st_mtime_ns, status.st_size, status.st_ino


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        "python -m server.users", description="Add or revoke users of a shared service."
    )
    parser.add_argument(
        "command",
        choices=("add", "revoke"),
        help="add prints a new token, this once; revoke ends all of a user",
    )
    parser.add_argument("file", type=Path, help="the users file, as in --users of the service")
    parser.add_argument("name", help="1 to 64 letters, digits or any of . _ @ + -")
    options = parser.parse_args(arguments)
    try:
        if options.command == "add":
            print(add_user(options.file, options.name))
        elif not revoke_user(options.file, options.name):
            raise ValueError(f"{options.file} has no user {options.name}")
    except (OSError, ValueError) as error:
        print(f"users: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
