"""`likewise-lsp forget --path GLOB | --since DATE`: remove recordings for good."""

import argparse
from collections.abc import Callable, Sequence
from datetime import datetime
from json import dumps
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from lsp.data_paths import dismissals_file, recordings_folder
from lsp.dismissals import forget_since, replace_lines
from lsp.exclusions import matches
from lsp.recording_writer import read_entries


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="likewise-lsp forget", description=__doc__)
    choice = parser.add_mutually_exclusive_group(required=True)
    choice.add_argument("--path", metavar="GLOB", help="the recordings of these files")
    choice.add_argument(
        "--since",
        metavar="DATE",
        type=_read_time,
        help="the recordings from this day or moment on, like 2026-11-16",
    )
    chosen = parser.parse_args(arguments)
    if chosen.path is not None:
        removed = forget_path(recordings_folder(), chosen.path)
    else:
        removed = forget_recordings_since(recordings_folder(), chosen.since)
        removed += forget_since(dismissals_file(), chosen.since)
    print(f"{removed} entries forgotten")
    return 0


def forget_path(folder: Path, glob: str) -> int:
    return _forget(folder, lambda found: _drop_documents(found, glob))


def forget_recordings_since(folder: Path, since: float) -> int:
    return _forget(folder, lambda found: [entry for entry in found if _time_of(entry) < since * 1000])


def _forget(folder: Path, choose: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> int:
    """Keep the entries that `choose` returns. Remove torn lines and left-overs: their content is unknown."""
    for left_over in folder.glob("*.new"):
        left_over.unlink()
    return sum(_keep(file, choose) for file in sorted(folder.glob("*.jsonl")))


def _drop_documents(found: list[dict[str, Any]], glob: str) -> list[dict[str, Any]]:
    kept: list[dict[str, Any]] = []
    root, forgotten = "", set[Any]()
    for entry in found:
        if entry.get("kind") == "header":  # from here on, numbers mean other documents
            root, forgotten = str(entry.get("repoRootUri") or ""), set()
        if entry.get("kind") == "documentEncountered":
            relative = str(entry.get("relativePath", ""))
            paths = (relative, f"{root}/{relative}".removeprefix("file://"), relative.removeprefix("file://"))
            if any(matches(glob, unquote(path)) for path in paths):
                forgotten.add(entry.get("id"))
        if "id" not in entry or entry["id"] not in forgotten:
            kept.append(entry)
    return kept


def _keep(file: Path, choose: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> int:
    lines = [line for line in file.read_text("utf-8", errors="replace").splitlines() if line]
    kept = choose(list(read_entries(lines)))
    if len(kept) == len(lines):
        return 0
    if any(entry.get("kind") != "header" for entry in kept):
        replace_lines(file, [dumps(entry) for entry in kept])
    else:
        file.unlink()
    return len(lines) - len(kept)


def _time_of(entry: dict[str, Any]) -> float:
    """The time of an entry in milliseconds; one that has none may be of any time, so it counts as new."""
    time = entry.get("time")
    return time if isinstance(time, int | float) else float("inf")


def _read_time(value: str) -> float:
    try:
        return datetime.fromisoformat(value).timestamp()
    except ValueError:
        raise argparse.ArgumentTypeError(f"{value!r} is not a date like 2026-11-16") from None
