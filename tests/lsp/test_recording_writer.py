import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp import forget
from lsp.document import Document
from lsp.recording_writer import RecordingWriter, read_entries
from model.editing.change import Change
from training.sources.recording_reader import recordings_in


def recorded(folder: Path) -> list[dict[str, Any]]:
    return [
        entry
        for file in sorted(folder.glob("*.jsonl"))
        for entry in read_entries(file.read_text().splitlines())
    ]


def contents(folder: Path) -> dict[str, str]:
    """Replay a recording as any reader of the shape would, in UTF-16."""
    names: dict[int, str] = {}
    texts: dict[int, bytes] = {}
    for entry in recorded(folder):
        if entry["kind"] == "documentEncountered":
            names[entry["id"]] = entry["relativePath"]
        elif entry["kind"] == "setContent":
            texts[entry["id"]] = entry["content"].encode("utf-16-le")
        elif entry["kind"] == "changed":
            [[start, end, text]] = entry["edit"]
            before = texts[entry["id"]]
            texts[entry["id"]] = before[: 2 * start] + text.encode("utf-16-le") + before[2 * end :]
    return {names[number]: text.decode("utf-16-le") for number, text in texts.items()}


@contextmanager
def full_disk(folder: Path, room: int) -> Iterator[None]:
    """Let files of this process grow by so many bytes and no more: what does not fit is written in part, then refused."""
    largest = max((file.stat().st_size for file in folder.glob("*")), default=0)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest + room, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def change(recordings: RecordingWriter, document: Document, *changes: Change) -> None:
    before = document.text
    for each in changes:
        document.replace(each)
    document.version += 1
    recordings.write_changes(document, before, changes)


def test_a_recording_can_be_replayed(tmp_path: Path) -> None:
    recordings = RecordingWriter(tmp_path, "file:///w")
    first = Document("file:///w/a.py", "python", 1, "x = '😀'\n")
    second = Document("file:///w/b.py", "python", 1, "")
    recordings.write_document(first)
    recordings.write_document(second)
    change(recordings, first, Change(0, 1, "yy"), Change(8, 8, "!"))
    change(recordings, second, Change(0, 0, "new"))
    recordings.write_selection(first, 8)
    recordings.write_event(first, "accepted", suggestion="id")
    assert contents(tmp_path) == {"a.py": first.text, "b.py": "new"}
    kinds = [entry["kind"] for entry in recorded(tmp_path)]
    assert kinds[:3] == ["header", "documentEncountered", "setContent"]
    assert recorded(tmp_path)[0]["documentType"] == "workspaceRecording@1.0"
    assert recorded(tmp_path)[-2]["selection"] == [[9, 9]]
    assert recorded(tmp_path)[-1]["data"] == {"event": "accepted", "suggestion": "id"}


def test_a_line_cut_off_by_a_crash_costs_that_line(tmp_path: Path) -> None:
    recordings = RecordingWriter(tmp_path)
    document = Document("file:///w/a.py", "python", 1, "a")
    recordings.write_document(document)
    [file] = tmp_path.glob("*.jsonl")
    file.write_text(file.read_text() + '{"kind": "changed", "id": 1, "ed')
    assert len(recorded(tmp_path)) == 3


def test_the_folder_is_the_users_alone(tmp_path: Path) -> None:
    recordings = RecordingWriter(tmp_path / "recordings")
    recordings.write_document(Document("file:///w/a.py", "python", 1, "a"))
    [file] = (tmp_path / "recordings").glob("*.jsonl")
    assert file.stat().st_mode & 0o077 == 0
    assert (tmp_path / "recordings").stat().st_mode & 0o077 == 0


def test_forgetting_a_path_leaves_nothing_of_it(tmp_path: Path) -> None:
    recordings = RecordingWriter(tmp_path, "file:///w")
    kept = Document("file:///w/src/kept.py", "python", 1, "kept")
    gone = Document("file:///w/private/gone.py", "python", 1, "private words")
    recordings.write_document(kept)
    recordings.write_document(gone)
    change(recordings, gone, Change(0, 0, "more "))
    change(recordings, kept, Change(0, 0, "well "))
    assert forget.forget_path(tmp_path, "private/**") == 3
    stored = "".join(file.read_text() for file in tmp_path.glob("*"))
    assert "gone" not in stored
    assert "words" not in stored
    assert contents(tmp_path) == {"src/kept.py": "well kept"}
    change(
        recordings, kept, Change(0, 0, "very ")
    )  # the process that records goes on, in a file of another inode
    assert contents(tmp_path)["src/kept.py"] == "very well kept"


def test_forgetting_since_a_date(tmp_path: Path) -> None:
    recordings = RecordingWriter(tmp_path)
    recordings.write_document(Document("file:///w/a.py", "python", 1, "a"))
    assert forget.forget_recordings_since(tmp_path, 4e9) == 0
    assert forget.forget_recordings_since(tmp_path, 1e9) == 3
    assert list(tmp_path.glob("*")) == []


def test_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    folder = tmp_path / "likewise" / "recordings"
    RecordingWriter(folder).write_document(Document("file:///w/a.py", "python", 1, "a"))
    assert forget.main(["--path", "*.rs"]) == 0
    assert capsys.readouterr().out == "0 entries forgotten\n"
    assert forget.main(["--since", "2020-01-01"]) == 0
    assert capsys.readouterr().out == "3 entries forgotten\n"
    with pytest.raises(SystemExit):
        forget.main(["--since", "soon"])
    with pytest.raises(SystemExit):
        forget.main([])


def test_entries_are_json_lines(tmp_path: Path) -> None:
    RecordingWriter(tmp_path).write_document(
        Document("file:///w/a.py", "python", 1, "line\u2028one\nline two")
    )
    [file] = tmp_path.glob("*.jsonl")
    assert [json.loads(line)["kind"] for line in file.read_text().split("\n") if line] == [
        "header",
        "documentEncountered",
        "setContent",
    ]


def last_texts(folder: Path) -> dict[str, str]:
    """The text at the end of each document's newest recording, as training reads it."""
    texts = {}
    for file in sorted(folder.glob("*.jsonl")):
        with file.open(encoding="utf-8") as lines:
            for recording in recordings_in(lines):
                text = recording.text
                for step in recording.steps:
                    for each in step.changes:
                        text = each.apply_to(text)
                texts[recording.path] = text
    return texts


@given(st.integers(0, 400))
def test_a_recording_goes_on_rightly_after_the_disk_was_full(
    tmp_path_factory: pytest.TempPathFactory, room: int
) -> None:
    folder, clock = tmp_path_factory.mktemp("recordings"), Clock()
    recordings = RecordingWriter(folder, now=clock)
    first = Document("file:///w/a.py", "python", 1, "aaaa")
    second = Document("file:///w/b.py", "python", 1, "bbbb")
    recordings.write_document(first)
    recordings.write_document(second)
    with full_disk(folder, room):
        change(recordings, first, Change(0, 0, "1"), Change(0, 4, "2"))
        change(recordings, second, Change(1, 2, "x" * 50))
    clock.seconds += 60
    change(recordings, first, Change(0, 1, "3"))
    change(recordings, second, Change(0, 0, "4"))
    assert last_texts(folder) == {first.uri: first.text, second.uri: second.text}
    for file in folder.glob("*.jsonl"):
        for line in file.read_text().splitlines():
            json.loads(line)  # nothing is torn


def test_while_the_disk_is_full_it_is_not_tried_at_each_key(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    recordings = RecordingWriter(tmp_path, now=Clock())
    document = Document("file:///w/a.py", "python", 1, "a" * 200)
    recordings.write_document(document)
    with full_disk(tmp_path, 150):  # a header would fit
        for _ in range(5):
            change(recordings, document, Change(0, 0, "b" * 200))
    assert len(caplog.records) == 1
    assert len(recorded(tmp_path)) == 3


def test_a_file_that_somebody_tore_is_not_gone_on_with_in_the_torn_line(tmp_path: Path) -> None:
    recordings = RecordingWriter(tmp_path)
    document = Document("file:///w/a.py", "python", 1, "a")
    recordings.write_document(document)
    [file] = tmp_path.glob("*.jsonl")
    with file.open("a") as torn:
        torn.write('{"kind": "changed", "id": 1, "ed')
    change(recordings, document, Change(0, 0, "b"))
    assert [entry["kind"] for entry in recorded(tmp_path)][-1] == "changed"


def test_a_forgotten_file_that_is_open_is_not_recorded_again(tmp_path: Path) -> None:
    recordings = RecordingWriter(tmp_path)
    kept = Document("file:///w/kept.py", "python", 1, "kept")
    gone = Document("file:///w/gone.py", "python", 1, "private words")
    recordings.write_document(kept)
    recordings.write_document(gone)
    forget.forget_path(tmp_path, "gone.py")
    change(recordings, gone, Change(0, 0, "more "))
    change(recordings, kept, Change(0, 0, "well "))
    assert "private" not in "".join(file.read_text() for file in tmp_path.glob("*"))
    assert contents(tmp_path) == {kept.uri: "well kept"}
    forget.forget_recordings_since(tmp_path, 0)
    change(recordings, kept, Change(0, 0, "very "))
    assert contents(tmp_path) == {}
    recordings.write_document(gone)  # the user opened it again
    assert contents(tmp_path) == {gone.uri: "more private words"}


def test_what_follows_a_forgotten_stretch_is_not_taken_for_its_continuation(tmp_path: Path) -> None:
    recordings = RecordingWriter(tmp_path)
    document = Document("file:///w/a.py", "python", 1, "a")
    recordings.write_document(document)
    change(recordings, document, Change(0, 0, "b"))
    [file] = tmp_path.glob("*.jsonl")
    lines = file.read_text().splitlines()
    file.unlink()
    file.write_text("\n".join(lines[:-1]) + "\n")
    change(recordings, document, Change(0, 0, "c"))
    assert last_texts(tmp_path) == {document.uri: "a"}


def test_forgetting_leaves_no_torn_line_and_no_left_over(tmp_path: Path) -> None:
    (tmp_path / "2026-01-01.torn.jsonl").write_text('{"kind": "setContent", "id": 1, "content": "private wor')
    (tmp_path / "2026-01-01.aaaa.jsonl.77.new").write_text("private words")
    recordings = RecordingWriter(tmp_path)
    recordings.write_document(Document("file:///w/a.py", "python", 1, "a"))
    assert forget.forget_path(tmp_path, "*.rs") == 1
    assert "private" not in "".join(file.read_text() for file in tmp_path.glob("*"))
    assert contents(tmp_path) == {"file:///w/a.py": "a"}


def test_a_document_with_a_secret_is_erased_and_the_others_go_on(tmp_path: Path) -> None:
    recordings = RecordingWriter(tmp_path)
    kept = Document("file:///w/kept.py", "python", 1, "kept")
    gone = Document("file:///w/gone.py", "python", 1, "private words")
    recordings.write_document(kept)
    recordings.write_document(gone)
    recordings.erase(gone)
    change(recordings, kept, Change(0, 0, "well "))
    assert "gone" not in "".join(file.read_text() for file in tmp_path.glob("*"))
    assert last_texts(tmp_path) == {kept.uri: "well kept"}
