"""Random editors, kills, hangs, a full disk and restarts against the real processes: `make soak`.

    python -m tests.soak --minutes 10
    python -m tests.soak --minutes 60 --changes 500000 --faults kill --seconds-between-faults 4

Each editor changes files at random and records. In the end every recording must lead to the text that its editor has, every
suggestion must have been for the text that the editor had, no answer may have taken longer than some seconds, memory must be
flat, suggestions must come again, and no process may be left. Ends with "nothing lost", or says what was.
"""

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import psutil

from model.editing.change import Change
from tests.lsp.test_replay import Developer
from tests.soak import faults
from tests.soak.plain_editor import ROOT, PlainEditor
from training.sources.recording_reader import recordings_in

_FILES = 8
_TEXT = "def total(items):\n    return sum(items)\n" * 10
_BATCH = 40  # changes between two questions of the editor whether all was taken in
_LIMIT_SECONDS = 5.0  # of any answer to the editor
_WORDS_BYTES = 60e6  # the tokenizer remembers words up to a limit, and random keys are always new ones
_FAULTS = ("kill", "hang", "disk", "restart")
_RENAMED = "result = 0\nresult += 1\nprint(result)\nreturn result\n"


class Soak:
    """One editor with its language server, and everything that happens to them."""

    def __init__(self, number: int, folder: Path, options: argparse.Namespace) -> None:
        self.random = random.Random(options.seed + number)
        self.developer = Developer(options.seed + number)
        self.options = options
        self.folder = folder / str(number)
        self.folder.mkdir()
        bundle = str(options.bundle)
        settings = {"push": True, "record": True, "bundle": bundle, "device": "cpu", "threshold": 0.2}
        self.editor = PlainEditor(self.folder, settings)
        self.changes = 0
        self.happened: Counter[str] = Counter()
        self.memory: list[int] = []  # of the language server; begins again with each restart
        self.is_full = False
        self._next_fault = time.monotonic() + options.seconds_between_faults

    async def run(self, deadline: float, share: int | None) -> None:
        await self.editor.start()
        for number in range(_FILES):
            self.editor.open(f"file:///work/{number}.py", _TEXT)
        uri = next(iter(self.editor.documents))
        while time.monotonic() < deadline and (share is None or self.changes < share):
            for _ in range(_BATCH):
                if self.developer.random.random() < 0.05:
                    uri = self.developer.random.choice(list(self.editor.documents))
                    self.editor.notify("textDocument/didFocus", {"textDocument": {"uri": uri}})
                changes = self.developer.changes(self.editor.documents[uri].text)
                if changes:
                    self.editor.change(uri, *changes)
                    self.changes += 1
            await self.editor.wait()
            self._note_memory()
            if time.monotonic() > self._next_fault:
                await self._let_something_happen()
                self._next_fault = time.monotonic() + self.options.seconds_between_faults
        await self._finish()

    def _note_memory(self) -> None:
        self.memory.append(psutil.Process(self.editor.pid).memory_info().rss)

    async def _let_something_happen(self) -> None:
        fault = self.random.choice(self.options.faults)
        pid = self.editor.pid
        if self.is_full:
            faults.empty_disk(pid)
            self.is_full = False
        if fault == "kill":
            self.happened["kill"] += faults.kill_service(pid)
        elif fault == "hang":
            self.happened["hang"] += faults.stop_service(pid)
        elif fault == "disk":
            faults.fill_disk(pid)
            self.is_full = True
            self.happened["disk"] += 1
        else:
            await self.editor.kill()
            self.memory.clear()
            await self.editor.start()
            self.happened["restart"] += 1

    async def _finish(self) -> None:
        """Let all faults end, and the recording go on: one more key in each file."""
        faults.empty_disk(self.editor.pid)
        await asyncio.sleep(6)  # after a failed write it is tried again in some seconds
        for uri in list(self.editor.documents):
            self.editor.change(uri, Change(0, 0, "("))
        await self.editor.wait()
        self._note_memory()

    async def find_losses(self) -> list[str]:
        """Check everything, and end the language server."""
        losses = list(dict.fromkeys(self.editor.problems))
        if self.editor.longest_wait > _LIMIT_SECONDS:
            losses.append(f"the editor waited {self.editor.longest_wait:.1f} s")
        losses += await self._find_silence()
        losses += self._find_drift()
        early = self.memory[len(self.memory) // 5 : len(self.memory) // 5 + 20]
        if len(self.memory) > 100 and max(self.memory[-20:]) > max(early) + _WORDS_BYTES:
            losses.append(f"memory grew from {max(early) / 1e6:.0f} to {max(self.memory[-20:]) / 1e6:.0f} MB")
        service, pid = faults.find_service(self.editor.pid), self.editor.pid
        code = await self.editor.stop()
        if code != 0:
            losses.append(f"the language server ended with {code}")
        if service is not None and service.is_running() and service.status() != psutil.STATUS_ZOMBIE:
            await asyncio.sleep(5)
            if service.is_running():
                losses.append(f"the service of {pid} is left")
        return losses

    def _find_drift(self) -> list[str]:
        """Compare the text at the end of each file's newest recording with the editor's."""
        texts: dict[str, str] = {}
        files = sorted(self.folder.rglob("*.jsonl"), key=lambda file: file.stat().st_mtime)
        for file in files:
            with file.open(encoding="utf-8") as lines:
                for recording in recordings_in(lines):
                    text = recording.text
                    for step in recording.steps:
                        for change in step.changes:
                            text = change.apply_to(text)
                    texts[recording.path] = text
        return [
            f"the recording of {uri} has another text than the editor"
            for uri, document in self.editor.documents.items()
            if texts.get(uri.removeprefix(f"{ROOT.as_uri()}/")) != document.text
        ]

    async def _find_silence(self) -> list[str]:
        """Expect a suggestion for a plain rename, after all that happened."""
        uri = "file:///work/rename.py"
        self.editor.open(uri, _RENAMED)
        until = time.monotonic() + 60
        while await self.editor.ask_status() not in ("ready", "quiet") and time.monotonic() < until:
            await asyncio.sleep(0.1)
        self.editor.change(uri, Change(0, 6, "amount"))
        while uri not in self.editor.suggestions and time.monotonic() < until:
            await asyncio.sleep(0.05)
        return [] if uri in self.editor.suggestions else ["no suggestion came after the faults"]


def _read_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.soak")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--changes", type=int, help="end after so many, if the time is not over before")
    parser.add_argument("--editors", type=int, default=2)
    parser.add_argument("--faults", nargs="*", choices=_FAULTS, default=list(_FAULTS))
    parser.add_argument("--seconds-between-faults", type=float, default=5.0)
    parser.add_argument("--bundle", type=Path, default=ROOT / "tests" / "data" / "tiny_bundle")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(arguments)


async def soak(options: argparse.Namespace) -> int:
    deadline = time.monotonic() + 60 * options.minutes
    share = -(-options.changes // options.editors) if options.changes else None
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        soaks = [Soak(number, Path(folder), options) for number in range(options.editors)]
        await asyncio.gather(*(each.run(deadline, share) for each in soaks))
        losses = [loss for each in soaks for loss in await each.find_losses()]
    happened = sum((each.happened for each in soaks), Counter[str]())
    memory = [
        f"{each.memory[len(each.memory) // 5] / 1e6:.0f} to {each.memory[-1] / 1e6:.0f} MB" for each in soaks
    ]
    print(
        f"{sum(each.changes for each in soaks)} changes in {time.monotonic() - began:.0f} s; {dict(happened)}"
    )
    print(f"{sum(each.editor.notices for each in soaks)} answers; memory {', '.join(memory)}")
    print(f"longest wait {max(each.editor.longest_wait for each in soaks):.2f} s")
    print("nothing lost" if not losses else "lost:\n" + "\n".join(losses))
    return 1 if losses else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(soak(_read_options(None))))
