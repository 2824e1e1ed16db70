"""The files that outlive the language server, in a folder that only the user may read."""

from pathlib import Path

import platformdirs


def data_folder() -> Path:
    """The folder of our data. Its writers create it, because that may fail and must stop nothing else."""
    return Path(platformdirs.user_data_dir("likewise", appauthor=False))


def recordings_folder() -> Path:
    return data_folder() / "recordings"


def dismissals_file() -> Path:
    return data_folder() / "dismissed"


def make_private_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for the user alone. Raises OSError."""
    if not folder.is_dir():
        make_private_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
