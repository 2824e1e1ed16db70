"""The writer of recordings: the user's changes, kept for training if they say so.

The shape is `workspaceRecording@1.0`: JSON lines. Each process writes one file a day. Offsets count UTF-16 code units, as in
the recordings of other tools. The folder is made with the first recording.

A recording never goes on from a text that it does not have. A line is written whole or taken back, and after a line that
could not be written each document begins again with its whole content. Each line of a document has a number `n`, so a
reader sees if one is missing. A document whose lines somebody removed is not recorded until it is opened again.
"""

import itertools
import json
import logging
import os
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from lsp.data_paths import make_private_folder
from lsp.dismissals import replace_lines
from lsp.document import Document
from model.editing.change import Change
from model.editing.code_units import count_units

SHAPE = "workspaceRecording@1.0"
_RETRY_SECONDS = 5.0  # each attempt writes whole documents
_NO_FILE = -1  # in place of an inode
_log = logging.getLogger(__name__)


@dataclass
class _RecordedDocument:
    """A document in the current file: its id there, and the number of its lines so far."""

    number: int
    lines: int = 0


class RecordingWriter:
    """The recording of one process."""

    def __init__(
        self, folder: Path, root: str | None = None, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._folder = folder
        self._now = now
        self._root = root
        self._session = uuid.uuid4().hex
        self._file: Path | None = None  # none: the next line begins a page
        self._inode = 0
        self._documents: dict[str, _RecordedDocument] = {}  # by uri
        self._forgotten: set[str] = set()  # uris
        self._numbers = itertools.count(1)
        self._is_broken = False
        self._broken_until = float("-inf")

    def write_document(self, document: Document) -> None:
        """Write a document that was opened just now."""
        self._forgotten.discard(document.uri)
        self._encounter(document)

    def write_changes(self, document: Document, before: str, changes: Sequence[Change]) -> None:
        """Write changes that have just been made to the text `before`."""
        if not self._encounter(document):  # its new content is in the recording already, or must not be
            return
        for change in changes:
            edit = _convert_to_units(before, change)
            if not self._write("changed", document, edit=[edit], v=document.version):
                return
            before = change.apply_to(before)

    def write_selection(self, document: Document, offset: int) -> None:
        if self._encounter(document):
            unit = count_units(document.text[:offset])
            self._write("selectionChanged", document, selection=[[unit, unit]])

    def write_event(self, document: Document, name: str, **data: Any) -> None:
        """Write a save, a change of focus or the fate of a suggestion."""
        if self._encounter(document):
            self._write("event", document, data={"event": name, **data})

    def write_suggestion(self, document: Document, suggestion: str, change: Change) -> None:
        edit = _convert_to_units(document.text, change)
        self.write_event(document, "suggested", suggestion=suggestion, edit=[edit])

    def close(self, document: Document) -> None:
        """End the recording of a document; when it is opened again, it begins with its whole content."""
        self._documents.pop(document.uri, None)
        self._forgotten.discard(document.uri)

    def erase(self, document: Document) -> None:
        """Remove all lines of a document from this file: it turned out to hold a secret."""
        recorded = self._documents.pop(document.uri, None)
        if recorded is None or self._file is None:
            return
        try:
            lines = self._file.read_text("utf-8", errors="replace").splitlines()
            kept = [entry for entry in read_entries(lines) if entry.get("id") != recorded.number]
            replace_lines(self._file, [json.dumps(entry) for entry in kept])
            self._inode = _read_inode(self._file)
        except OSError as error:
            _log.warning("the recording of a file with a secret could not be removed: %s", error.strerror)

    def _encounter(self, document: Document) -> bool:
        """Write the document into today's file unless it is there; return whether it was there before."""
        if not self._turn_page() or document.uri in self._forgotten:
            return False
        if document.uri in self._documents:
            return True
        self._documents[document.uri] = _RecordedDocument(next(self._numbers))
        path = self._relative_path(document.uri)
        if self._write("documentEncountered", document, relativePath=path) and self._write(
            "setContent", document, content=document.text, v=document.version
        ):
            self._is_broken = False
        return False

    def _turn_page(self) -> bool:
        """Begin today's file unless it is begun. Returns whether it can be written."""
        if self._now() < self._broken_until:
            return False
        if self._file is not None and _read_inode(self._file) != self._inode:
            self._follow_forgetting(self._file)
        file = self._folder / f"{date.today().isoformat()}.{self._session[:8]}.jsonl"
        if file == self._file and self._inode != _NO_FILE:
            return True
        self._file = file
        self._documents.clear()
        header = {"kind": "header", "documentType": SHAPE, "uuid": self._session, "repoRootUri": self._root}
        is_written = self._put(header)
        self._inode = _read_inode(file)
        return is_written

    def _follow_forgetting(self, file: Path) -> None:
        """Somebody removed or replaced our file: find the documents that lost lines, and leave them alone."""
        self._inode = _read_inode(file)
        try:
            entries = read_entries(file.read_text("utf-8", errors="replace").splitlines())
            left = Counter(entry.get("id") for entry in entries)
        except OSError:
            left = Counter()
        for uri, recorded in list(self._documents.items()):
            if left[recorded.number] < recorded.lines:
                del self._documents[uri]
                self._forgotten.add(uri)

    def _write(self, kind: str, document: Document, **values: Any) -> bool:
        recorded = self._documents[document.uri]
        entry = {"kind": kind, "id": recorded.number, "n": recorded.lines, **values}
        recorded.lines += 1
        return self._put(entry)

    def _put(self, entry: dict[str, Any]) -> bool:
        """Append a line. If that fails the page ends, so each document begins again with its whole content."""
        assert self._file is not None
        line = json.dumps({**entry, "time": round(time.time() * 1000)}) + "\n"
        try:
            make_private_folder(self._folder)
            _append(self._file, line.encode("ascii"))
        except OSError as error:
            if not self._is_broken:
                _log.warning("the recording cannot be written: %s; trying again", error.strerror)
            self._is_broken = True
            self._broken_until = self._now() + _RETRY_SECONDS
            self._file = None
            self._documents.clear()
            return False
        return True

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


def _append(file: Path, line: bytes) -> None:
    """Append a line, whole or not at all, to a file that may end in half a line."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        size = os.fstat(descriptor).st_size
        if (
            size and _read_last_byte(descriptor, size) != b"\n"
        ):  # a write before failed, and could not be taken back
            line = b"\n" + line
        try:
            while line:
                line = line[os.write(descriptor, line) :]
        except OSError:
            os.ftruncate(descriptor, size)
            raise
    finally:
        os.close(descriptor)


def _read_last_byte(descriptor: int, size: int) -> bytes:
    os.lseek(descriptor, size - 1, os.SEEK_SET)
    return os.read(descriptor, 1)


def _read_inode(file: Path) -> int:
    try:
        return file.stat().st_ino
    except OSError:
        return _NO_FILE


def _convert_to_units(text: str, change: Change) -> list[Any]:
    """Convert a change of a text to the units of recordings."""
    return [count_units(text[: change.start]), count_units(text[: change.end]), change.text]
