"""The time from a keystroke to its suggestion, through both processes: `python -m tests.bench.bench_lsp [--bundle DIR]`.

The client here is as light as it can be, so that the figures are the language server's and the service's.
"""

import argparse
import asyncio
import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import psutil

from model.inference.bundle import DEFAULT, Bundle

Row = tuple[str, str, str]

_ROOT = Path(__file__).resolve().parent.parent.parent
_TINY = _ROOT / "tests" / "data" / "tiny_bundle"
_KEYS = 150
_PAUSE_SECONDS = 0.06  # between an answer and the next key: nobody types faster
_LONG_LINES = 10_000
_CROSSINGS = 10
_CALM_SECONDS = 1.5  # after an edit at the other end: all work for it is done by then
_URI = "file:///work/bench.py"
_TYPED = "amount = compute(item.price, other)\n"


class Editor:
    """Speaks the protocol over the pipes of a `python -m lsp`."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.version = 1
        self._numbers = iter(range(1, 1_000_000))
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._notices: dict[int, float] = {}
        self._states: list[str] = []
        self._news = asyncio.Event()
        self._reading = asyncio.create_task(self._read())

    def notify(self, method: str, params: Any) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    async def request(self, method: str, params: Any) -> Any:
        number = next(self._numbers)
        self._answers[number] = asyncio.get_running_loop().create_future()
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return await self._answers[number]

    async def ready(self) -> None:
        while "ready" not in self._states:
            self._news.clear()
            await self._news.wait()

    async def type(self, line: int, character: int, text: str) -> float:
        """Type and wait for what is said to it; the seconds that took."""
        self.version += 1
        place = {"line": line, "character": character}
        change = {"range": {"start": place, "end": place}, "text": text}
        document = {"uri": _URI, "version": self.version}
        began = time.perf_counter()
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
        while self.version not in self._notices:
            self._news.clear()
            await asyncio.wait_for(self._news.wait(), 60)
        return self._notices[self.version] - began

    async def close(self) -> None:
        await self.request("shutdown", None)
        self.notify("exit", None)
        self._reading.cancel()
        await self.process.wait()

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    async def _read(self) -> None:
        assert self.process.stdout is not None
        while header := await self.process.stdout.readuntil(b"\r\n\r\n"):
            length = int(header.split(b"Content-Length: ")[1].split(b"\r\n")[0])
            message = json.loads(await self.process.stdout.readexactly(length))
            arrived = time.perf_counter()
            if message.get("method") == "likewise/suggestion":
                self._notices.setdefault(message["params"]["version"], arrived)
            elif message.get("method") == "likewise/status":
                self._states.append(message["params"]["state"])
            elif "method" not in message and message.get("id") in self._answers:
                self._answers.pop(message["id"]).set_result(message.get("result"))
            self._news.set()


@contextlib.asynccontextmanager
async def editing(bundle: Path, text: str) -> AsyncIterator[Editor]:
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "XDG_DATA_HOME": folder, "PYTHONPATH": str(_ROOT)}
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "lsp"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=environment,
            limit=2**24,
        )
        editor = Editor(process)
        options = {
            "push": True,
            "bundle": str(bundle),
            "device": "cpu",
            "logLevel": "warning",
        }
        await editor.request(
            "initialize", {"capabilities": {}, "processId": None, "initializationOptions": options}
        )
        editor.notify("initialized", {})
        await asyncio.wait_for(editor.ready(), 120)
        item = {"uri": _URI, "languageId": "python", "version": 1, "text": text}
        editor.notify("textDocument/didOpen", {"textDocument": item})
        try:
            yield editor
        finally:
            await editor.close()


async def _seconds_to_initialize(bundle: Path) -> float:
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "lsp"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
    )
    editor = Editor(process)
    await editor.request("initialize", {"capabilities": {}, "processId": None})
    seconds = time.perf_counter() - began
    await editor.close()
    return seconds


async def _latencies(bundle: Path, text: str, keys: int = _KEYS) -> list[float]:
    """Typing line after line in the middle of a text."""
    async with editing(bundle, text) as editor:
        middle = text.count("\n") // 2
        result = []
        line, character = middle, 0
        for number in range(keys + 20):
            key = _TYPED[number % len(_TYPED)]
            seconds = await editor.type(line, character, key)
            line, character = (line + 1, 0) if key == "\n" else (line, character + 1)
            if number >= 20:  # the first ones open and warm
                result.append(seconds)
            await asyncio.sleep(_PAUSE_SECONDS)
        return result


async def _seconds_at_other_end(bundle: Path) -> list[float]:
    """Seconds from an edit at one end of a long file to its answer, when the edit before was at the other end."""
    text = "\n".join(f"value_{number} = compute(item.price)" for number in range(_LONG_LINES)) + "\n"
    async with editing(bundle, text) as editor:
        await editor.type(0, 0, "a")  # the first one opens
        result = []
        for number in range(_CROSSINGS):
            line = _LONG_LINES - 1 if number % 2 == 0 else 0
            result.append(await editor.type(line, 0, "b"))
            await asyncio.sleep(_CALM_SECONDS)
        return result


async def _cpu_per_key(bundle: Path, text: str, line: int) -> float:
    """Seconds of the language server's CPU for each key, with all that follows from it."""
    async with editing(bundle, text) as editor:
        usage = psutil.Process(editor.process.pid)
        for number in range(10):
            await editor.type(line, number, "x")
        before = usage.cpu_times()
        character = 10
        for number in range(_KEYS):
            await editor.type(line, character, _TYPED[number % (len(_TYPED) - 1)])
            character += 1
        after = usage.cpu_times()
        return float(after.user + after.system - before.user - before.system) / _KEYS


def program(bundle: Path, tokens: int) -> str:
    """Some source of about so many tokens."""
    tokenizer = Bundle.load(bundle).require_tokenizer()
    lines: list[str] = []
    count = 0
    while count < tokens:
        number = len(lines)
        line = (
            f"    value_{number} = compute(item.price, {number})"
            if number % 9
            else f"\ndef function_{number}(item):"
        )
        lines.append(line)
        count += len(tokenizer.encode("\n" + line))
    return "\n".join(lines) + "\n"


def rows(bundle: Path | None = None) -> list[Row]:
    return asyncio.run(_rows(bundle or (DEFAULT if DEFAULT.exists() else _TINY)))


async def _rows(bundle: Path) -> list[Row]:
    seconds = await _seconds_to_initialize(bundle)
    result: list[Row] = [("lsp: start to initialize answered", f"{1000 * seconds:.0f} ms", "")]
    for tokens, wanted in ((1_000, "p50 <= 10, p99 <= 60 ms"), (8_000, "p50 <= 25, p99 <= 60 ms")):
        latencies = sorted(await _latencies(bundle, program(bundle, tokens)))
        figure = f"p50 {1000 * median(latencies):.1f}, p99 {1000 * quantiles(latencies, n=100)[98]:.1f} ms"
        result.append((f"lsp: didChange to suggestion, both processes, {tokens:,} tokens", figure, wanted))
    crossings = await _seconds_at_other_end(bundle)
    result.append(
        (
            f"lsp: an edit at the other end of {_LONG_LINES:,} lines",
            f"p50 {1000 * median(crossings):.1f}, most {1000 * max(crossings):.1f} ms",
            "<= 60 ms",
        )
    )
    text = "\n".join(Path(argparse.__file__).read_text(encoding="utf-8").splitlines() * 2) + "\n"
    text = "\n".join(text.splitlines()[:5_000]) + "\n"
    for name, line in (("start", 1), ("middle", 2_500), ("end", 4_990)):
        cpu = await _cpu_per_key(bundle, text, line)
        result.append(
            (f"lsp: CPU per keystroke, 5,000 lines, at the {name}", f"{1000 * cpu:.2f} ms", "<= 2 ms")
        )
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bundle", type=Path)
    for row in rows(parser.parse_args().bundle):
        print("  ".join(row), flush=True)


if __name__ == "__main__":
    main()
