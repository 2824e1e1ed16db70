from pathlib import Path

import pytest

from lsp import dismissals
from lsp.dismissals import Dismissals, forget_since

URI = "file:///work/a.py"
DAY = 24 * 3600.0


def test_what_is_dismissed_is_known_here_and_after_a_restart(tmp_path: Path) -> None:
    first = Dismissals(tmp_path / "dismissed")
    first.add(URI, "3 5 name", "around it")
    for each in (first, Dismissals(tmp_path / "dismissed")):
        assert each.has(URI, "3 5 name", "around it")
        assert not each.has(URI, "3 5 name", "around that")
        assert not each.has(URI, "3 5 nam", "earound it")
        assert not each.has("file:///work/b.py", "3 5 name", "around it")


def test_the_file_has_no_text_and_nobody_else_may_read_it(tmp_path: Path) -> None:
    Dismissals(tmp_path / "dismissed").add(URI, "name", "surroundings")
    stored = (tmp_path / "dismissed").read_text()
    assert "name" not in stored
    assert "surroundings" not in stored
    assert (tmp_path / "dismissed").stat().st_mode & 0o077 == 0


def test_a_broken_file_costs_memory_not_the_session(tmp_path: Path) -> None:
    (tmp_path / "dismissed").write_text("not hexadecimal\n")
    broken = Dismissals(tmp_path / "dismissed")
    broken.add(URI, "name", "around")
    assert broken.has(URI, "name", "around")


def test_it_does_not_grow_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dismissals, "_LIMIT_KEPT", 5)
    first = Dismissals(tmp_path / "dismissed")
    for number in range(20):
        first.add(URI, str(number), "")
    second = Dismissals(tmp_path / "dismissed")
    assert second.has(URI, "19", "")
    assert len((tmp_path / "dismissed").read_text().splitlines()) == 6


def test_forgetting_by_date(tmp_path: Path) -> None:
    first = Dismissals(tmp_path / "dismissed")
    first.add(URI, "name", "around")
    assert forget_since(tmp_path / "dismissed", 4e9) == 0
    assert forget_since(tmp_path / "dismissed", 1e9) == 1
    assert not Dismissals(tmp_path / "dismissed").has(URI, "name", "around")
    assert forget_since(tmp_path / "nothing", 0) == 0


def test_a_dismissal_fades_here_and_in_the_file(tmp_path: Path) -> None:
    day = 1.0
    first = Dismissals(tmp_path / "dismissed", lambda: day * DAY)
    first.add(URI, "old", "around")
    day = 6.0
    first.add(URI, "new", "around")
    day = 7.9
    assert first.has(URI, "old", "around")
    day = 8.1
    for each in (first, Dismissals(tmp_path / "dismissed", lambda: day * DAY)):
        assert not each.has(URI, "old", "around")
        assert each.has(URI, "new", "around")
    assert len((tmp_path / "dismissed").read_text().splitlines()) == 2


def test_a_second_dismissal_begins_the_time_again(tmp_path: Path) -> None:
    day = 1.0
    first = Dismissals(tmp_path / "dismissed", lambda: day * DAY)
    first.add(URI, "name", "around")
    day = 6.0
    first.add(URI, "name", "around")
    day = 12.0
    for each in (first, Dismissals(tmp_path / "dismissed", lambda: day * DAY)):
        assert each.has(URI, "name", "around")


def test_all_are_forgotten_here_and_in_the_file(tmp_path: Path) -> None:
    first = Dismissals(tmp_path / "dismissed")
    first.add(URI, "name", "around")
    first.forget_all()
    for each in (first, Dismissals(tmp_path / "dismissed")):
        assert not each.has(URI, "name", "around")
    first.add(URI, "name", "around")
    assert Dismissals(tmp_path / "dismissed").has(URI, "name", "around")
