"""Where the language server keeps what outlives it: a folder of the user's that no one else may read."""

from pathlib import Path

import platformdirs


def data_folder() -> Path:
    folder = Path(platformdirs.user_data_dir("likewise", appauthor=False))
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def recordings_folder() -> Path:
    return data_folder() / "recordings"


def dismissed_file() -> Path:
    return data_folder() / "dismissed"
