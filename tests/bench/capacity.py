"""The capacity of a core: `python -m tests.bench.capacity [--cores 1] [--key-ms 8 --open-ms 60]`.

Measures the cost of a key and of opening a file in the real service, then replays a working day in simulated time: people
type with the gaps of a recording (tests/data/vscode_stream.jsonl), pause, and open files. Prints queueing delay against load.
The assumptions about a day are the constants below.
"""

import argparse
import asyncio
import heapq
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from model.editing.tokenizer import Tokenizer
from model.inference.bundle import DEFAULT
from tests.bench.bench_service import Document, Service, connected, running

RECORDING = Path(__file__).parents[1] / "data" / "vscode_stream.jsonl"
_TYPING_GAP_SECONDS = 2.0  # a longer gap in the recording is not typing
# Assumptions: a developer types in a fifth of the working time, in runs of about 40 keys, and opens 15 files an hour.
_TYPING_SHARE = 0.2
_RUN_KEYS = 40
_OPENS_PER_HOUR = 15
# The share of developers at work in each hour of the day; the busiest hour decides.
_DAY = (
    0,
    0,
    0,
    0,
    0,
    0,
    0.05,
    0.2,
    0.5,
    0.8,
    0.9,
    0.9,
    0.5,
    0.7,
    0.9,
    0.9,
    0.8,
    0.5,
    0.2,
    0.1,
    0.1,
    0.1,
    0.05,
    0,
)
_DEVELOPERS = (5, 10, 20, 40, 80, 120, 160, 240, 320)
_MINUTES_OF_HOUR = 10  # of each hour that are replayed: its load does not change within the hour
_TOKENS, _EDITS, _KEYS, _OPENS = 1_000, 40, 150, 10

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Costs:
    """Processor time of the service, and memory."""

    key_seconds: float
    open_seconds: float
    session_kilobytes: float


def measure_costs() -> Costs:
    """Measure the real service: one stream, a file of 1,000 tokens, questions as an editor asks them."""
    with running(DEFAULT) as service:
        model = service.get("/model")
        document = Document(Tokenizer(model["tokenizer"]), _TOKENS)
        return asyncio.run(_measure(service, model["sha256"], document))


async def _measure(service: Service, sha256: str, document: Document) -> Costs:
    async with connected(service, sha256, document) as stream:
        before = service.cpu_seconds
        for _ in range(_OPENS):
            stream.version += 1
            await stream.open()
        opened = (service.cpu_seconds - before) / _OPENS
        before = service.cpu_seconds
        for key in range(_KEYS):
            stream.version += 1
            last = 1 + key % _EDITS
            await stream.say("edits", keep=last - 1, append=document.wire(last - 1, last))
            await stream.say("predict", until="hunk")
            answer = await stream.hear()
            assert answer["type"] == "prediction", answer
        key_seconds = (service.cpu_seconds - before) / _KEYS
        return Costs(key_seconds, opened, _read_session_bytes(service) / 1000)


def _read_session_bytes(service: Service) -> float:
    import http.client

    connection = http.client.HTTPConnection(service.address)
    connection.request("GET", "/metrics")
    lines = connection.getresponse().read().decode().splitlines()
    return float(next(line for line in lines if line.startswith("likewise_session_bytes ")).split()[1])


def read_gaps(path: Path = RECORDING) -> Floats:
    """Read the seconds between changes that belong to one run of typing."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    times = (
        np.array([row["milliseconds"] for row in rows if row.get("method") == "textDocument/didChange"])
        / 1000
    )
    gaps = np.diff(times)
    return np.asarray(gaps[(gaps > 0) & (gaps < _TYPING_GAP_SECONDS)])


def draw_arrivals(
    random: np.random.Generator, gaps: Floats, developers: int, seconds: float
) -> tuple[Floats, Floats]:
    """Draw when keys are pressed and when files are opened."""
    keys = []
    for _ in range(developers):
        now = random.uniform(0, seconds)  # each is somewhere in a cycle of typing and pausing
        begin = now - seconds
        while begin < seconds:
            run = random.choice(gaps, 1 + random.poisson(_RUN_KEYS)).cumsum()
            keys.append(begin + run)
            pause = run[-1] * (1 - _TYPING_SHARE) / _TYPING_SHARE
            begin += run[-1] + random.exponential(pause)
    times = np.concatenate(keys) if keys else np.empty(0)
    opens = random.uniform(0, seconds, random.poisson(developers * _OPENS_PER_HOUR * seconds / 3600))
    return np.sort(times[(times >= 0) & (times < seconds)]), np.sort(opens)


def wait_in_queue(arrivals: Floats, services: Floats, cores: int) -> Floats:
    """Return the wait of each arrival for one of the cores, first come, first served."""
    free = [0.0] * cores
    waits = np.empty(len(arrivals))
    for index, (arrival, service) in enumerate(zip(arrivals, services, strict=True)):
        begin = max(arrival, heapq.heappop(free))
        waits[index] = begin - arrival
        heapq.heappush(free, begin + service)
    return waits


def replay_day(developers: int, cores: int, costs: Costs, seed: int = 0) -> dict[str, float]:
    """Simulate a day and return the load and the delays of keys."""
    random, gaps, seconds = np.random.default_rng(seed), read_gaps(), 60.0 * _MINUTES_OF_HOUR
    waits: list[Floats] = []
    busiest = 0.0
    for share in _DAY:
        keys, opens = draw_arrivals(random, gaps, round(developers * share), seconds)
        times = np.concatenate([keys, opens])
        # The work of a key varies as the length of files and the number of candidates do.
        services = np.concatenate(
            [random.gamma(4.0, costs.key_seconds / 4.0, len(keys)), np.full(len(opens), costs.open_seconds)]
        )
        order = np.argsort(times)
        waited = wait_in_queue(times[order], services[order], cores)
        waits.append(waited[order < len(keys)])
        busiest = max(busiest, float(services.sum()) / (seconds * cores))
    waited = np.concatenate(waits)
    return {
        "busiest": busiest,
        "p50": 1000 * float(np.quantile(waited, 0.5)),
        "p99": 1000 * float(np.quantile(waited, 0.99)),
        "late": float((waited > 0.1).mean()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--key-ms", type=float, help="cost of a key; measured if it is not given")
    parser.add_argument("--open-ms", type=float, help="cost of opening a file; measured if it is not given")
    options = parser.parse_args()
    if options.key_ms is None or options.open_ms is None:
        costs = measure_costs()
    else:
        costs = Costs(options.key_ms / 1000, options.open_ms / 1000, 0.0)
    print(
        f"a key {1000 * costs.key_seconds:.1f} ms, opening a file {1000 * costs.open_seconds:.0f} ms of a core,",
        end=" ",
    )
    print(f"a session {costs.session_kilobytes:.0f} kB; {options.cores} core(s)")
    print("developers  busiest hour  wait p50    p99     over 100 ms")
    for developers in _DEVELOPERS:
        day = replay_day(developers * options.cores, options.cores, costs)
        print(
            f"{developers * options.cores:10}  {100 * day['busiest']:10.0f} %  {day['p50']:6.1f} ms  "
            f"{day['p99']:7.1f} ms  {100 * day['late']:5.2f} %",
            flush=True,
        )
        if day["busiest"] > 1.2:
            break


if __name__ == "__main__":
    main()
