"""A small git repository with a history to learn from: code that is renamed and changed again and again."""

from pathlib import Path

from tests.training.sources.test_git import git

_NAMES = ("value", "amount", "total", "price", "weight", "count", "size", "length", "score", "level")
_FUNCTION = """def {verb}_{name}(rows):
    {name} = 0
    for row in rows:
        {name} += row.{name}
    print("{verb}", {name})
    return {name}


"""


def make_repository(folder: Path, commits: int = 60) -> Path:
    """A repository with two files of functions; each commit renames one variable or changes one call everywhere."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main", ".")
    text = "".join(_FUNCTION.format(verb=verb, name="value") for verb in ("add", "read", "store", "send"))
    call = "print"
    for number in range(commits):
        for name in ("rows.py", "cells.py"):
            (folder / name).write_text(f"NAME = {name!r}\n\n\n{text}")
        git(folder, "add", ".")
        git(folder, "commit", "-q", "-m", f"change {number}")
        if number % 3 == 2:
            new = ("print", "log", "show")[(number // 3 + 1) % 3]
            text, call = text.replace(f"{call}(", f"{new}("), new
        else:
            text = text.replace(_current(text), f"{_NAMES[number % len(_NAMES)]}{number}")
    return folder


def _current(text: str) -> str:
    """The name of the variable in the first function."""
    return text.partition("    return ")[2].partition("\n")[0]
