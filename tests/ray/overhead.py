"""The cost of the ingress, in one run with the plain service: `python -m tests.ray.overhead`.

Both services answer the same questions in turns, so both meet the same load of the machine.
"""

import asyncio
import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from statistics import median

import psutil

from model.editing.tokenizer import Tokenizer
from model.inference.bundle import DEFAULT
from tests.bench.bench_service import Document, Service, Stream, connected, percentile, running
from tests.ray.cluster import find_free_port

_ROUNDS, _KEYS, _EDITS = 20, 15, 40


class OnRay(Service):
    """`python -m server.ray` with one replica."""

    def __init__(self) -> None:
        port = str(find_free_port())
        command = [
            sys.executable,
            "-m",
            "server.ray",
            "--replicas",
            "1",
            "--port",
            port,
            "--bundle",
            str(DEFAULT),
        ]
        self.process = subprocess.Popen(
            [*command, "--device", "cpu"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the service did not start")
        self.address = json.loads(line)["address"].removeprefix("http://")
        self._usage = psutil.Process(self.process.pid)

    @property
    def megabytes(self) -> float:
        """The memory of all its processes."""
        processes = [self._usage, *self._usage.children(recursive=True)]
        return sum(float(each.memory_info().rss) for each in processes) / 1e6


@contextlib.contextmanager
def running_on_ray() -> Iterator[OnRay]:
    service = OnRay()
    try:
        yield service
    finally:
        service.process.terminate()
        service.process.wait(60)


async def _ask(stream: Stream) -> list[float]:
    seconds = []
    for key in range(_KEYS):
        last = 1 + key % _EDITS
        taken, answer = await stream.ask(last - 1, last)
        assert answer["type"] == "prediction", answer
        seconds.append(taken)
    return seconds


async def _compare(plain: Service, on_ray: Service, sha256: str, document: Document) -> None:
    taken: dict[str, list[float]] = {"plain": [], "on Ray": []}
    async with (
        connected(plain, sha256, document) as one,
        connected(on_ray, sha256, document) as other,
    ):
        await one.open()
        await other.open()
        for _ in range(_ROUNDS):
            taken["plain"] += await _ask(one)
            taken["on Ray"] += await _ask(other)
    for name, service in (("plain", plain), ("on Ray", on_ray)):
        seconds = taken[name]
        p50, p99 = 1000 * median(seconds), 1000 * percentile(seconds, 0.99)
        print(f"{name:7} p50 {p50:.1f} ms, p99 {p99:.1f} ms, {service.megabytes:.0f} MB", flush=True)


def main() -> None:
    with running(DEFAULT) as plain, running_on_ray() as on_ray:
        model = plain.get("/model")
        document = Document(Tokenizer(model["tokenizer"]), 1_000)
        asyncio.run(_compare(plain, on_ray, model["sha256"], document))


if __name__ == "__main__":
    main()
