from pathlib import Path

import pytest

from lsp import dismissals
from lsp.dismissals import Dismissals, forget_since


def test_what_is_dismissed_is_known_here_and_after_a_restart(tmp_path: Path) -> None:
    first = Dismissals(tmp_path / "dismissed")
    first.add("3 5 name", "around it")
    for each in (first, Dismissals(tmp_path / "dismissed")):
        assert each.has("3 5 name", "around it")
        assert not each.has("3 5 name", "around that")
        assert not each.has("3 5 nam", "earound it")


def test_the_file_has_no_text_and_nobody_else_may_read_it(tmp_path: Path) -> None:
    Dismissals(tmp_path / "dismissed").add("name", "surroundings")
    stored = (tmp_path / "dismissed").read_text()
    assert "name" not in stored
    assert "surroundings" not in stored
    assert (tmp_path / "dismissed").stat().st_mode & 0o077 == 0


def test_a_broken_file_costs_memory_not_the_session(tmp_path: Path) -> None:
    (tmp_path / "dismissed").write_text("not hexadecimal\n")
    broken = Dismissals(tmp_path / "dismissed")
    broken.add("name", "around")
    assert broken.has("name", "around")


def test_it_does_not_grow_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dismissals, "_LIMIT_KEPT", 5)
    first = Dismissals(tmp_path / "dismissed")
    for number in range(20):
        first.add(str(number), "")
    second = Dismissals(tmp_path / "dismissed")
    assert second.has("19", "")
    assert len((tmp_path / "dismissed").read_text().splitlines()) == 6


def test_forgetting_by_date(tmp_path: Path) -> None:
    first = Dismissals(tmp_path / "dismissed")
    first.add("name", "around")
    assert forget_since(tmp_path / "dismissed", 4e9) == 0
    assert forget_since(tmp_path / "dismissed", 1e9) == 1
    assert not Dismissals(tmp_path / "dismissed").has("name", "around")
    assert forget_since(tmp_path / "nothing", 0) == 0
