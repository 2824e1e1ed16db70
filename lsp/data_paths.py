"""The files that outlive the language server, in a folder that only the user may read."""

from pathlib import Path

import platformdirs


def data_folder() -> Path:
    folder = Path(platformdirs.user_data_dir("likewise", appauthor=False))
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def recordings_folder() -> Path:
    return data_folder() / "recordings"


def dismissals_file() -> Path:
    return data_folder() / "dismissed"
