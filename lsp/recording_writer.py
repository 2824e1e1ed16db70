"""The writer of recordings: the user's changes, kept for training if they say so.

The shape is `workspaceRecording@1.0`: JSON lines. Each process writes one file a day. A line is written at
once and whole, so a crash costs at most the last. Offsets count UTF-16 code units, as in the recordings of
other tools. The folder is made with the first recording.
"""

import itertools
import json
import logging
import os
import time
import uuid
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from lsp.document import Document
from model.editing.change import Change
from model.editing.code_units import count_units

SHAPE = "workspaceRecording@1.0"
_log = logging.getLogger(__name__)


class RecordingWriter:
    """The recording of one process."""

    def __init__(self, folder: Path, root: str | None = None) -> None:
        self._folder = folder
        self._root = root
        self._session = uuid.uuid4().hex
        self._file: Path | None = None
        self._inode = 0
        self._ids: dict[str, int] = {}
        self._numbers = itertools.count(1)
        self._broken = False

    def write_document(self, document: Document) -> None:
        self._encounter(document)

    def write_changes(self, document: Document, before: str, changes: Sequence[Change]) -> None:
        """Write changes that have just been made to the text `before`."""
        if not self._encounter(document):  # its new content is in the recording already
            return
        for change in changes:
            edit = _convert_to_units(before, change)
            self._write("changed", document, edit=[edit], v=document.version)
            before = change.apply_to(before)

    def write_selection(self, document: Document, offset: int) -> None:
        if self._encounter(document):
            unit = count_units(document.text[:offset])
            self._write("selectionChanged", document, selection=[[unit, unit]])

    def write_event(self, document: Document, name: str, **data: Any) -> None:
        """Write a save, a change of focus or the fate of a suggestion."""
        if self._encounter(document):
            self._write("event", document, data={"event": name, **data})

    def forget(self, document: Document) -> None:
        self._ids.pop(document.uri, None)

    def write_suggestion(self, document: Document, suggestion: str, change: Change) -> None:
        edit = _convert_to_units(document.text, change)
        self.write_event(document, "suggested", suggestion=suggestion, edit=[edit])

    def _encounter(self, document: Document) -> bool:
        """Write the document into today's file unless it is there; return whether it was there before."""
        self._turn_page()
        if document.uri in self._ids:
            return True
        self._ids[document.uri] = next(self._numbers)
        self._write("documentEncountered", document, relativePath=self._relative_path(document.uri))
        self._write("setContent", document, content=document.text, v=document.version)
        return False

    def _turn_page(self) -> None:
        file = self._folder / f"{date.today().isoformat()}.{self._session[:8]}.jsonl"
        if file == self._file and _read_inode(file) == self._inode:
            return
        self._file = file
        self._ids.clear()
        self._put({"kind": "header", "documentType": SHAPE, "uuid": self._session, "repoRootUri": self._root})
        self._inode = _read_inode(file)

    def _write(self, kind: str, document: Document, **values: Any) -> None:
        self._put({"kind": kind, "id": self._ids[document.uri], **values})

    def _put(self, entry: dict[str, Any]) -> None:
        assert self._file is not None
        line = json.dumps({**entry, "time": round(time.time() * 1000)}) + "\n"
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(descriptor, line.encode("ascii"))
            finally:
                os.close(descriptor)
        except OSError as error:
            if not self._broken:
                _log.warning("the recording cannot be written: %s", error)
            self._broken = True

    def _relative_path(self, uri: str) -> str:
        root = (self._root or "").rstrip("/") + "/"
        return uri.removeprefix(root) if self._root else uri


def read_entries(lines: Iterable[str]) -> Iterable[dict[str, Any]]:
    """Read the entries of a recording; skip a line that a crash cut off."""
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            yield entry


def _read_inode(file: Path) -> int:
    try:
        return file.stat().st_ino
    except OSError:
        return -1


def _convert_to_units(text: str, change: Change) -> list[Any]:
    """Convert a change of a text to the units of recordings."""
    return [count_units(text[: change.start]), count_units(text[: change.end]), change.text]
