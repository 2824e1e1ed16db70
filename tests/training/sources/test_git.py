"""Histories of a real git repository."""

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from training.sources.git import (
    ExcludedCommits,
    files_at,
    group_by_file,
    head_of,
    held_out_commits,
    list_modifications,
    read_texts,
    read_versions,
)


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=A", "-c", "user.email=a@example.org", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Three versions of a.py, two of a data file, one commit that renames."""
    git(tmp_path, "init", "-q", "-b", "main", ".")
    for number, text in enumerate(["one = 1\n", "one = 2\n", "two = 2\n"]):
        (tmp_path / "a.py").write_text(text)
        (tmp_path / "data.csv").write_text(str(number))
        (tmp_path / "naïve name.py").write_bytes(b"x = 1\n" if number == 0 else b"x = \xff\n")
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "-q", "-m", f"commit {number}")
    git(tmp_path, "mv", "a.py", "b.py")
    git(tmp_path, "commit", "-q", "-m", "rename")
    return tmp_path


def test_versions_of_a_file_come_together_and_oldest_first(repository: Path) -> None:
    counts: Counter[str] = Counter()
    found = list_modifications(repository, head_of(repository), ExcludedCommits(), counts)
    assert [m.path for m in found] == ["a.py", "naïve name.py", "a.py"]
    assert counts == {"file pairs": 5, "data file": 2}
    (a, other) = list(read_versions(repository, group_by_file(found)))
    assert [run.texts for run in a] == [("one = 1\n", "one = 2\n", "two = 2\n")]
    assert [run.texts for run in other] == [("x = 1\n", None)]  # not UTF-8


def test_excluded_commits_are_left_out_by_the_beginning_of_their_hash(repository: Path) -> None:
    counts: Counter[str] = Counter()
    found = list_modifications(repository, "HEAD", ExcludedCommits(), counts)
    excluded = ExcludedCommits([found[0].commit[:12] + "\n", ""])
    remaining = list_modifications(repository, "HEAD", excluded, counts)
    assert {m.commit for m in remaining} == {m.commit for m in found} - {found[0].commit}
    assert counts["excluded commit"] == 1


def test_the_history_ends_at_the_commit_asked_for(repository: Path) -> None:
    assert len(list_modifications(repository, "HEAD~2", ExcludedCommits(), Counter())) == 2


def test_the_files_of_a_commit_can_be_read(repository: Path) -> None:
    files = files_at(repository, "HEAD")
    assert [path for path, _ in files] == ["b.py", "naïve name.py"]
    assert list(read_texts(repository, [blob for _, blob in files])) == ["two = 2\n", None]
    assert list(read_texts(repository, ["0" * 40])) == [None]


def test_what_is_no_repository_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"git rev-parse in .*not a git repository"):
        head_of(tmp_path)


def test_held_out_commits_are_always_excluded() -> None:
    held_out = held_out_commits()
    assert len(held_out) > 90
    assert all(commit in ExcludedCommits() for commit in held_out)
    assert all(commit in ExcludedCommits(["0123456789ab"]) for commit in held_out)
    assert "0123456789ab" not in ExcludedCommits()
