"""A user's own changes in one form, oldest first, and the newest held out."""

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.training.small_repository import make_repository
from tests.training.sources.test_git import git
from training.personal.changes import list_commits, read_commits, read_recordings, read_saves, split_by_time


@given(st.integers(1, 500))
def test_every_unit_is_in_one_part_and_the_newest_tenth_is_held_out(count: int) -> None:
    units = [str(number) for number in range(count)]
    split = split_by_time(units)
    assert [*split.learn, *split.check, *split.held_out] == units
    assert len(split.held_out) == max(1, count // 10)


def test_commits_come_oldest_first_and_no_held_out_one_is_learned_from(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "one", 30)
    units = list_commits(repository, "HEAD")
    split = split_by_time(units)
    learned = read_commits(repository, "one", "HEAD", split.learn, 100)
    assert list(dict.fromkeys(change.unit for change in learned)) == list(split.learn)
    assert len(learned) == 2 * len(split.learn)
    assert units[-1] == git(repository, "rev-parse", "HEAD")
    newest = read_commits(repository, "one", "HEAD", split.learn, 5)
    assert newest == learned[-5:]
    assert learned[0].commit_file() is not None
    assert learned[0].file_change().language == "python"


def test_saves_come_in_the_order_of_their_times(tmp_path: Path) -> None:
    for folder, times in (("a", (3000, 9000)), ("b", (1000, 5000))):
        path = tmp_path / folder
        path.mkdir()
        entries = [{"id": f"{time}.py", "timestamp": time} for time in times]
        for time in times:
            (path / f"{time}.py").write_text(f"x = {time}\n")
        resource = f"file:///home/me/{folder}.py"
        (path / "entries.json").write_text(json.dumps({"resource": resource, "entries": entries}))
    assert [(change.path[-4:], change.time) for change in read_saves(tmp_path)] == [
        ("b.py", 5.0),
        ("a.py", 9.0),
    ]


def test_a_recorded_session_is_a_change_from_its_first_text_to_its_last(tmp_path: Path) -> None:
    lines = [
        {"kind": "documentEncountered", "id": 1, "relativePath": "a.py", "time": 0},
        {"kind": "setContent", "id": 1, "content": "one = 1\n", "time": 1000},
        {"kind": "changed", "id": 1, "edit": [[0, 3, "two"]], "v": 1, "time": 2000},
        {"kind": "changed", "id": 1, "edit": [[6, 7, "2"]], "v": 2, "time": 3000},
    ]
    (tmp_path / "one.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (change,) = read_recordings(tmp_path)
    assert (change.before, change.after, change.time) == ("one = 1\n", "two = 2\n", 2.0)
