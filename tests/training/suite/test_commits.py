"""Whole commits are found in a real repository, with the right edits called reachable."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from training.sources.corpus import Repository
from training.sources.git import ExcludedCommits, head_of
from training.suite.commits import CommitFile, choose_commit_files, find_commit_files
from training.trajectories.lexical_hunks import apply_all, lexical_hunks

REPETITIVE = ("log.info(a)\n" * 6, "log.debug(a)\n" * 6)
ORDINARY = ("one(1)\ntwo(2)\nthree(3)\nfour(4)\n", "one(11)\nzwei(2)\nthree(x)\nfour(4, y)\n")


def git(folder: Path, *arguments: str) -> None:
    command = ["git", "-C", str(folder), "-c", "user.name=A", "-c", "user.email=a@example.org", *arguments]
    subprocess.run(command, check=True, capture_output=True)


def commit(folder: Path, files: Sequence[tuple[str, str]]) -> None:
    for name, text in files:
        (folder / name).write_text(text)
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "change")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    git(tmp_path, "init", "-q", "-b", "main", ".")
    pairs = {"a.py": REPETITIVE, "b.go": ORDINARY, "c.md": ORDINARY, "d.py": ("x = 1\n", "x = 2\n")}
    for version in (0, 1):
        commit(tmp_path, [(name, texts[version]) for name, texts in pairs.items()])
    return Repository("owner/name", tmp_path, "dev", commit=head_of(tmp_path))


def test_files_with_several_hunks_of_code_are_found(repository: Repository) -> None:
    found = {file.path: file for file in find_commit_files(repository, ExcludedCommits(), Random(0))}
    assert set(found) == {"a.py", "b.go"}
    assert found["a.py"].is_repetitive
    assert (len(found["a.py"].hunks), found["a.py"].reachable) == (6, 5)
    assert not found["b.go"].is_repetitive
    assert found["b.go"].reachable == 0
    for file in found.values():
        assert apply_all(file.before, file.hunks) == file.after


def test_excluded_commits_are_not_found(repository: Repository) -> None:
    exclusions = ExcludedCommits([repository.commit[:12]])
    assert not list(find_commit_files(repository, exclusions, Random(0)))


def test_both_kinds_are_chosen(repository: Repository) -> None:
    chosen = choose_commit_files([repository], 2, seed=0)
    assert [(file.path, file.is_repetitive) for file in chosen] == [("a.py", True), ("b.go", False)]


def test_an_edit_without_a_word_is_not_reachable() -> None:
    before, after = "f(1)\ng(1)\nh(1)\nk(1)\n", "f(2)\ng(2)\nh(2)\nk(2)\n"
    file = CommitFile("owner/name", "c", "a.py", before, after, tuple(lexical_hunks(before, after) or ()))
    assert len(file.hunks) == 4
    assert file.reachable == 0
