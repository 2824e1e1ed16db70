"""The user's own bundles: folders in the user's data folder, and a small file that names the one in use.

    bundles/current              the name of the one in use; absent: the shipped bundle
    bundles/NAME/bundle/         a bundle
    bundles/NAME/about.json      when and from what it was made, and what was measured
    bundles/NAME/report.html

`training.personal` writes them, the service reads them.
"""

import os
from pathlib import Path

import platformdirs

_CURRENT = "current"
BUNDLE = "bundle"


def personal_folder() -> Path:
    """The folder of the user's own bundles. It may not exist."""
    return Path(platformdirs.user_data_dir("likewise", appauthor=False)) / "bundles"


def read_current(folder: Path) -> str | None:
    """The name of the bundle in use; None when it is the shipped one."""
    try:
        name = (folder / _CURRENT).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeError):
        return None
    return name if name and Path(name).name == name else None


def write_current(folder: Path, name: str | None) -> None:
    """Name the bundle in use; None goes back to the shipped one. A reader sees the old name or the new one."""
    path = folder / _CURRENT
    if name is None:
        path.unlink(missing_ok=True)
        return
    partial = path.with_name(path.name + ".partial")
    partial.write_text(name + "\n", encoding="utf-8")
    os.replace(partial, path)


def find_current(folder: Path) -> Path | None:
    """The folder of the bundle in use; None when it is the shipped one."""
    name = read_current(folder)
    return None if name is None else folder / name / BUNDLE
