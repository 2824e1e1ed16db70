"""The speed of the service: `python -m tests.bench.bench_service [--full] [--bundle DIR]`.

Starts the real process and speaks to it as an editor's client does, from the same machine: the client's own work is in the
figures.
"""

import argparse
import asyncio
import contextlib
import http.client
import inspect
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Coroutine, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import psutil
import websockets

from model.editing.edits import DELETE, END, START, Edit, Slots
from model.editing.tokenizer import Tokenizer
from model.inference.bundle import DEFAULT

Row = tuple[str, str, str]

_SESSIONS, _EVERY_SECONDS = 50, 0.2
_SHORT_SECONDS, _FULL_SECONDS = 8.0, 60.0
_EDITS = 100  # in the history when we ask
_SWEPT_SECONDS = 12.0  # by then the service has given back what closed sessions held


class Service:
    """`python -m server` on a free port, or on one that is given."""

    def __init__(self, bundle: Path, port: int = 0) -> None:
        command = [
            sys.executable,
            "-m",
            "server",
            "--port",
            str(port),
            "--bundle",
            str(bundle),
            "--device",
            "cpu",
        ]
        began = time.perf_counter()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the service did not start")
        self.seconds_to_ready = time.perf_counter() - began
        self.address = json.loads(line)["address"].removeprefix("http://")
        self._usage = psutil.Process(self.process.pid)

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    @property
    def megabytes(self) -> float:
        return float(self._usage.memory_info().rss / 1e6)

    @property
    def cpu_seconds(self) -> float:
        times = self._usage.cpu_times()
        return float(times.user + times.system)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def get(self, path: str) -> Any:
        connection = http.client.HTTPConnection(self.address)
        connection.request("GET", path)
        return json.loads(connection.getresponse().read())


@contextlib.contextmanager
def running(bundle: Path) -> Iterator[Service]:
    service = Service(bundle)
    try:
        yield service
    finally:
        service.kill()


def run_client(work: Coroutine[Any, Any, list[Row]]) -> list[Row]:
    """On the quickest event loop there is: fifty clients share the machine with the service that they measure."""
    try:
        import uvloop
    except ImportError:  # not for every system
        return asyncio.run(work)
    return uvloop.run(work)


class Document:
    """A file of so many tokens, in which somebody renames something here and there."""

    def __init__(self, tokenizer: Tokenizer, tokens: int) -> None:
        source = "".join(inspect.getsource(module) for module in (argparse, inspect, http.client, subprocess))
        text = tokenizer.encode(source)
        text *= 1 + tokens // len(text)
        self.state = [START, *text[: tokens - 2], END]
        self.edits = _renames(self.state, tokenizer)

    def wire(self, first: int, last: int) -> list[dict[str, Any]]:
        return [
            {"position": edit.position, "content": "DELETE" if edit.content == DELETE else edit.content}
            for edit in self.edits[first:last]
        ]


def _renames(state: Sequence[int], tokenizer: Tokenizer, count: int = 2 * _EDITS) -> list[Edit]:
    """The most common name becomes another, here and there: deletions and insertions one after another."""
    new = tokenizer.encode("this")
    old = _most_common_name(state, tokenizer)
    slots = Slots(state)
    targets = [index for index, token in enumerate(state) if token == old]
    for target in targets * (1 + count // len(targets)):
        if len(slots.edits) >= count:
            break
        left = slots.order[slots.explicit_position(target) - 1] if target in slots.order else target - 1
        if target in slots.order:
            slots.apply(Edit(target, DELETE))
        elif left not in slots.order:
            continue
        for token in new:
            made = len(slots.contents)
            slots.apply(Edit(left, token))
            left = made
    return slots.edits


def _most_common_name(state: Sequence[int], tokenizer: Tokenizer) -> int:
    names = [token for token in state if tokenizer.bytes_of[token].isalpha()]
    return max(set(names), key=names.count)


class Stream:
    """A client that follows the protocol, one document."""

    def __init__(self, socket: Any, sha256: str, document: Document, name: str) -> None:
        self._socket, self._sha256, self._document, self._name = socket, sha256, document, name
        self.version = 0
        self._answers: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def say(self, kind: str, **fields: Any) -> None:
        message = {"type": kind, "document": self._name, "version": self.version, **fields}
        await self._socket.send(json.dumps(message))

    async def hear(self) -> dict[str, Any]:
        heard: dict[str, Any] = json.loads(await self._socket.recv())
        return heard

    async def open(self, edits: int = 0) -> float:
        """Seconds until it is open."""
        began = time.perf_counter()
        await self.say("open", bundle=self._sha256, state=self._document.state)
        assert (await self.hear())["type"] == "opened"
        seconds = time.perf_counter() - began
        if edits:
            await self.say("edits", keep=0, append=self._document.wire(0, edits))
        return seconds

    async def ask(self, keep: int, last: int, **wish: Any) -> tuple[float, dict[str, Any]]:
        """One more edit, or some, and a prediction: seconds, and the answer."""
        self.version += 1
        began = time.perf_counter()
        await self.say("edits", keep=keep, append=self._document.wire(keep, last))
        await self.say("predict", until="token", threshold=0.0, **wish)
        answer = await self.hear()
        return time.perf_counter() - began, answer


@contextlib.asynccontextmanager
async def connected(
    service: Service, sha256: str, document: Document, name: str = "a.py"
) -> AsyncIterator[Stream]:
    async with websockets.connect(
        f"ws://{service.address}/stream", compression=None, max_size=None
    ) as socket:
        yield Stream(socket, sha256, document, name)


def percentile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.1f} ms"


async def _latencies(stream: Stream, count: int, pause: float = 0.005) -> list[float]:
    """Somebody types on: one edit is taken back and one appended, as an open burst does."""
    result = []
    for _ in range(count):
        seconds, answer = await stream.ask(_EDITS - 1, _EDITS)
        assert answer["type"] == "prediction", answer
        result.append(seconds)
        await asyncio.sleep(pause)
    return result


def _posts(service: Service, sha256: str, document: Document, count: int) -> list[float]:
    connection = http.client.HTTPConnection(service.address)
    body = {"state": document.state, "edits": document.wire(0, _EDITS), "bundle": sha256, "threshold": 0.0}
    result = []
    for _ in range(count):
        began = time.perf_counter()
        connection.request("POST", "/predict", json.dumps(body), {"Content-Type": "application/json"})
        response = connection.getresponse()
        answer = response.read()
        assert response.status == 200, answer
        result.append(time.perf_counter() - began)
    return result


async def _typing(service: Service, sha256: str, small: Document, large: Document) -> list[Row]:
    rows = []
    for document, p50, p99 in ((small, "<= 10 ms", "<= 40 ms"), (large, "<= 30 ms", "")):
        async with connected(service, sha256, document) as stream:
            await stream.open(edits=_EDITS)
            await _latencies(stream, 20)
            seconds = await _latencies(stream, 300)
        what = f"stream: one edit + predict, {len(document.state):,} tokens, {_EDITS} edits"
        rows.append((f"{what}, p50", milliseconds(median(seconds)), p50))
        rows.append((f"{what}, p99", milliseconds(percentile(seconds, 0.99)), p99))
    return rows + await _against_post(service, sha256, small)


async def _against_post(service: Service, sha256: str, document: Document) -> list[Row]:
    """The same question both ways, in turns and without a pause: so both meet the machine in the same mood."""
    streamed: list[float] = []
    posted: list[float] = []
    cpu_streamed = cpu_posted = 0.0
    async with connected(service, sha256, document) as stream:
        await stream.open(edits=_EDITS)
        for _ in range(10):
            before = service.cpu_seconds
            streamed += await _latencies(stream, 40, pause=0.0)
            between = service.cpu_seconds
            posted += _posts(service, sha256, document, 4)
            cpu_streamed += between - before
            cpu_posted += service.cpu_seconds - between
    cpu_streamed, cpu_posted = cpu_streamed / len(streamed), cpu_posted / len(posted)
    cpu = (
        f"{milliseconds(cpu_streamed)} and {milliseconds(cpu_posted)}: {cpu_posted / cpu_streamed:.1f}x less"
    )
    return [
        ("the same, one after another, p50", milliseconds(median(streamed)), ""),
        (f"the same by POST, {len(document.state):,} tokens, p50", milliseconds(median(posted)), ""),
        ("stream against POST", f"{median(posted) / median(streamed):.1f}x faster", ">= 10x"),
        # On a machine that does other things too, the processor's time tells more than the clock's.
        ("CPU of the service, stream and POST", cpu, ""),
    ]


async def _opening(service: Service, sha256: str, small: Document, large: Document) -> list[Row]:
    """Large files are opened all the time, next to somebody who types."""
    opened: list[float] = []

    async def open_on_and_on() -> None:
        async with connected(service, sha256, large, "large.py") as stream:
            while True:
                stream.version += 1
                opened.append(await stream.open())
                await asyncio.sleep(0.05)

    async with connected(service, sha256, large, "alone.py") as stream:
        alone = [await stream.open() for _ in range(5)]
    async with connected(service, sha256, small) as stream:
        await stream.open(edits=_EDITS)
        task = asyncio.create_task(open_on_and_on())
        seconds = await _latencies(stream, 200, pause=0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    return [
        (f"opening {len(large.state):,} tokens, p50", milliseconds(median(alone)), "<= 300 ms"),
        (f"typing while others open ({len(opened)} opened), p50", milliseconds(median(seconds)), ""),
        ("typing while others open, p99", milliseconds(percentile(seconds, 0.99)), "no wait for an encoding"),
    ]


async def _long(service: Service, sha256: str, document: Document) -> list[Row]:
    """A file that the model sees through a window: typing, and going to the other end of it and back."""
    jumps = []
    async with connected(service, sha256, document, "long.py") as stream:
        opened = await stream.open(edits=_EDITS)
        await _latencies(stream, 5)
        seconds = await _latencies(stream, 50)
        for place in (len(document.state) - 50, 50) * 3:
            stream.version += 1
            began = time.perf_counter()
            append = [{"position": place, "content": document.state[place]}]
            await stream.say("edits", keep=_EDITS - 1, append=append)
            await stream.say("predict", until="token", threshold=0.0)
            assert (await stream.hear())["type"] == "prediction"
            jumps.append(time.perf_counter() - began)
    what = f"{len(document.state):,} tokens, about 10,000 lines"
    return [
        (f"opening {what}", milliseconds(opened), "served"),
        (f"typing in {what}, p50", milliseconds(median(seconds)), "served"),
        (f"an edit at the other end of {what}, p50", milliseconds(median(jumps)), "served"),
    ]


async def _crowd(service: Service, sha256: str, document: Document, duration: float) -> list[Row]:
    seconds: list[float] = []
    problems: list[str] = []

    async def type_on(number: int) -> None:
        async with connected(service, sha256, document, f"{number}.py") as stream:
            await stream.open(edits=20)
            await asyncio.sleep(_EVERY_SECONDS * number / _SESSIONS)
            started = time.perf_counter()
            turn = 0
            while time.perf_counter() - started < duration:
                turn += 1
                last = 20 + (turn - 1) % 60 + 1
                took, answer = await stream.ask(last - 1 if last > 21 else 20, last)
                seconds.append(took)
                if answer["type"] != "prediction" or answer["silence"] == "superseded":
                    problems.append(f"{answer['type']} {answer.get('code') or answer.get('reason')}")
                await asyncio.sleep(max(0.0, started + turn * _EVERY_SECONDS - time.perf_counter()))

    memory: list[float] = []

    async def watch() -> None:
        while True:
            await asyncio.sleep(duration / 60)
            memory.append(service.megabytes)

    watching = asyncio.create_task(watch())
    cpu_before, stolen_before, began = service.cpu_seconds, _stolen_seconds(), time.perf_counter()
    await asyncio.gather(*(type_on(number) for number in range(_SESSIONS)))
    watching.cancel()
    cpu, stolen = service.cpu_seconds - cpu_before, _stolen_seconds() - stolen_before
    stolen_share = stolen / (time.perf_counter() - began)
    what = f"{_SESSIONS} sessions, an edit every {1000 * _EVERY_SECONDS:.0f} ms, {duration:.0f} s"
    # Histories grow, begin again, and the service gives back from time to time: tops are compared, not moments.
    half = len(memory) // 2
    grown = max(memory[half:]) - max(memory[half // 2 : half])
    return [
        (f"{what}: answers", f"{len(seconds)}", f"about {int(_SESSIONS * duration / _EVERY_SECONDS)}"),
        (f"{what}: errors or dropped", f"{len(problems)} {problems[:1] or ''}".strip(), "0"),
        (f"{what}: p50", milliseconds(median(seconds)), ""),
        (f"{what}: CPU of the service for each", milliseconds(cpu / len(seconds)), "<= 8 ms, 2 cores' worth"),
        (f"{what}: p99", milliseconds(percentile(seconds, 0.99)), "<= 150 ms"),
        (f"{what}: taken by other machines", f"{100 * stolen_share:.1f} % of a core", "0, or p99 is theirs"),
        (f"{what}: memory", f"at most {max(memory):.0f} MB, {grown:+.1f} in the second half", "flat"),
    ]


def _stolen_seconds() -> float:
    """Processor time that was ours and that the machine under this one gave to another, so far."""
    return float(getattr(psutil.cpu_times(), "steal", 0.0))


async def _recovery(bundle: Path, service: Service, sha256: str, document: Document) -> list[Row]:
    async with connected(service, sha256, document) as stream:
        await stream.open()
        _, before = await stream.ask(0, _EDITS)
        await stream.say("edits", keep=_EDITS, append=[])
        service.kill()
    restarted = time.perf_counter()
    fresh = await asyncio.to_thread(Service, bundle, service.port)
    try:
        async with connected(fresh, sha256, document) as stream:
            stream.version = 1
            await stream.say("predict", until="token", threshold=0.0)
            assert (await stream.hear())["type"] == "reopen"
            await stream.open()
            _, after = await stream.ask(0, _EDITS)
        seconds = time.perf_counter() - restarted
    finally:
        fresh.kill()
    is_same = [s["edits"] for s in before["suggestions"]] == [s["edits"] for s in after["suggestions"]]
    is_same = is_same and before["silence"] == after["silence"]
    figure = f"{seconds:.2f} s, {'the same answer' if is_same else 'ANOTHER ANSWER'}"
    return [("kill -9, restart, right answers again", figure, "<= 3 s")]


def _resident(service: Service, what: str) -> Row:
    at_once = service.megabytes
    time.sleep(_SWEPT_SECONDS)
    return (f"{what}, at once and later", f"{at_once:.0f} and {service.megabytes:.0f} MB", "<= 300 MB")


def _idle(service: Service) -> list[Row]:
    before = service.cpu_seconds
    time.sleep(3)
    return [("idle CPU", f"{100 * (service.cpu_seconds - before) / 3:.2f} % of a core", "near nothing")]


def rows(bundle: Path = DEFAULT, *, full: bool = False) -> list[Row]:
    """Rows of the table: the measure, its figure, the wanted figure."""
    with running(bundle) as service:
        result = [("start to ready", f"{service.seconds_to_ready:.2f} s", "<= 2 s")]
        model = service.get("/model")
        tokenizer, sha256 = Tokenizer(model["tokenizer"]), model["sha256"]
        small, large = Document(tokenizer, 1_000), Document(tokenizer, 8_000)
        result += run_client(_typing(service, sha256, small, large))
        result += run_client(_opening(service, sha256, small, large))
        result.append(_resident(service, "resident memory after opening 8,000-token files"))
        result += run_client(_long(service, sha256, Document(tokenizer, 100_000)))
        result += run_client(_crowd(service, sha256, small, _FULL_SECONDS if full else _SHORT_SECONDS))
        result.append(_resident(service, "resident memory when they are gone"))
        result += _idle(service)
        result += run_client(_recovery(bundle, service, sha256, small))
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bundle", type=Path, default=DEFAULT)
    parser.add_argument("--full", action="store_true", help="50 sessions for a whole minute")
    options = parser.parse_args()
    for what, figure, wanted in rows(options.bundle, full=options.full):
        print(f"{what:78} {figure:34} {wanted}", flush=True)


if __name__ == "__main__":
    main()
