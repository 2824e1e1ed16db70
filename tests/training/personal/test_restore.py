"""A replaced bundle can come back."""

import shutil
from pathlib import Path

import pytest

from model.inference.bundle import Bundle, seal
from training.personal.restore import restore_bundle, swap_in

_TINY = Path(__file__).parents[2] / "data" / "tiny_bundle"


def _copy_bundle(folder: Path, name: str) -> Path:
    shutil.copytree(_TINY, folder)
    seal(folder, name)
    return folder


def test_the_bundle_before_comes_back(tmp_path: Path) -> None:
    bundle = _copy_bundle(tmp_path / "bundle", "old")
    swap_in(_copy_bundle(tmp_path / "fresh", "new"), bundle, keep_previous=True)
    assert Bundle.load(bundle).name == "new"
    restore_bundle(bundle)
    assert Bundle.load(bundle).name == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["bundle"]


def test_a_bundle_that_is_not_kept_is_removed(tmp_path: Path) -> None:
    bundle = _copy_bundle(tmp_path / "bundle", "old")
    swap_in(_copy_bundle(tmp_path / "fresh", "new"), bundle, keep_previous=False)
    assert [path.name for path in tmp_path.iterdir()] == ["bundle"]


def test_without_a_bundle_before_there_is_nothing_to_go_back_to(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nothing was kept"):
        restore_bundle(tmp_path / "bundle")
