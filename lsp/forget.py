"""`likewise-lsp forget --path GLOB | --since DATE`: remove recordings for good."""

import argparse
from collections.abc import Sequence
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
    removed = 0
    for file in sorted(folder.glob("*.jsonl")):
        found = _read(file)
        kept = _drop_documents(found, glob)
        removed += _keep(file, found, kept)
    return removed


def forget_recordings_since(folder: Path, since: float) -> int:
    removed = 0
    for file in sorted(folder.glob("*.jsonl")):
        found = _read(file)
        kept = [entry for entry in found if float(entry.get("time", 0)) < since * 1000]
        removed += _keep(file, found, kept)
    return removed


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


def _read(file: Path) -> list[dict[str, Any]]:
    return list(read_entries(file.read_text("utf-8", errors="replace").splitlines()))


def _keep(file: Path, found: list[dict[str, Any]], kept: list[dict[str, Any]]) -> int:
    if len(kept) == len(found):
        return 0
    if any(entry.get("kind") != "header" for entry in kept):
        replace_lines(file, [dumps(entry) for entry in kept])
    else:
        file.unlink()
    return len(found) - len(kept)


def _read_time(value: str) -> float:
    try:
        return datetime.fromisoformat(value).timestamp()
    except ValueError:
        raise argparse.ArgumentTypeError(f"{value!r} is not a date like 2026-11-16") from None
