"""The library of a user's own bundles."""

import shutil
from pathlib import Path

import pytest

from model.inference.bundle import Bundle, BundleError
from model.inference.personal import find_current, read_current, write_current
from training.personal.library import KEPT, Library

_TINY = Path(__file__).parents[2] / "data" / "tiny_bundle"


def _add(library: Library, name: str, *, is_better: bool = True) -> None:
    library.add(name, _TINY, "<html>", {"is_better": is_better, "summary": "as good as it gets"})


def test_an_added_bundle_is_in_use_only_when_it_is_used(tmp_path: Path) -> None:
    library = Library(tmp_path / "bundles")
    _add(library, "one")
    assert find_current(library.folder) is None
    library.use("one")
    current = find_current(library.folder)
    assert current is not None
    assert Bundle.load(current).sha256 == Bundle.load(_TINY).sha256
    assert "* one" in library.describe()
    assert "as good as it gets" in library.describe()


def test_restore_goes_back_to_the_installed_bundle_before_then_to_the_shipped_one(tmp_path: Path) -> None:
    library = Library(tmp_path)
    _add(library, "2026-1")
    _add(library, "2026-2", is_better=False)
    _add(library, "2026-3")
    library.use("2026-3")
    assert library.restore(None) == "2026-1"
    assert library.restore(None) == "shipped"
    assert find_current(tmp_path) is None
    with pytest.raises(ValueError, match="nothing to go back from"):
        library.restore(None)
    assert library.restore("2026-2") == "2026-2"  # a refused one, because the user says so
    with pytest.raises(ValueError, match="there are shipped, 2026-1"):
        library.restore("2025")


def test_the_last_three_are_kept_and_the_one_in_use_always(tmp_path: Path) -> None:
    library = Library(tmp_path)
    names = [f"2026-{number}" for number in range(KEPT + 3)]
    for name in names:
        _add(library, name)
    library.use(names[0])
    library.trim()
    assert [entry.name for entry in library.entries()] == [names[0], *names[-KEPT:]]


def test_a_damaged_bundle_is_neither_added_nor_used(tmp_path: Path) -> None:
    library = Library(tmp_path / "bundles")
    broken = tmp_path / "broken"
    shutil.copytree(_TINY, broken)
    (broken / "config.json").write_text("{}")
    with pytest.raises(BundleError):
        library.add("one", broken, "", {})
    assert library.entries() == []
    _add(library, "two")
    (library.folder / "two" / "bundle" / "config.json").write_text("{}")
    with pytest.raises(BundleError):
        library.use("two")
    assert read_current(library.folder) is None


def test_a_half_written_bundle_of_a_killed_command_is_not_listed(tmp_path: Path) -> None:
    library = Library(tmp_path)
    _add(library, "one")
    (tmp_path / "one").rename(tmp_path / "one.partial")
    assert library.entries() == []


def test_the_file_that_names_the_bundle_may_name_no_other_folder(tmp_path: Path) -> None:
    write_current(tmp_path, "../elsewhere")
    assert find_current(tmp_path) is None
