"""Data and cache folders of the user that are the test's own."""

from pathlib import Path

import pytest


@pytest.fixture
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The test's own home: nothing is found in it, and nothing outside of it is written."""
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        folder = tmp_path / name.lower()
        folder.mkdir()
        monkeypatch.setenv(name, str(folder))
    return tmp_path
