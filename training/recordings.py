"""What the language server recorded: the changes of a document in their true order."""

from collections.abc import Iterator
from pathlib import Path

from training.sessions import Session
from training.windows import Windows


def recorded_sessions(folder: Path | None, windows: Windows) -> Iterator[tuple[str, Session]]:
    """Name and session of every recording in a folder."""
    yield from ()
