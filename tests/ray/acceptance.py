"""A hundred people type at two replicas on two nodes: `python -m tests.ray.acceptance [--sessions 100] [--seconds 60]`.

In the middle one replica is killed. Later, under the same load, another bundle is deployed, and the first one again.
"""

import argparse
import asyncio
import os
import shutil
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median

from model.inference.bundle import DEFAULT, Bundle, seal
from model.inference.predictor import Predictor
from tests.bench.bench_service import percentile
from tests.ray.cluster import ServiceOnRay, two_nodes
from tests.ray.typists import Typist, plan_moments, type_together

_AFTER_SECONDS = 10.0  # of typing after something happened


@dataclass
class Figures:
    """One run of typing, during which something happened to the service."""

    typists: list[Typist]
    happened: float  # the moment when it began
    over: float

    @property
    def answers(self) -> int:
        return sum(len(typist.seconds) for typist in self.typists)

    @property
    def wrong(self) -> int:
        return sum(typist.wrong for typist in self.typists)

    @property
    def problems(self) -> list[str]:
        """Everything that an editor would have shown."""
        shown = [reason for typist in self.typists for _, reason in typist.problems]
        silent = [reason for typist in self.typists for reason in typist.silences]
        return shown + silent + [reason for typist in self.typists for reason in typist.unanswered]

    @property
    def longest_silence(self) -> float:
        """The longest time between two right answers of any session."""
        return max(
            after - before for typist in self.typists for before, after in pairwise(typist.right_times)
        )

    @property
    def bundles(self) -> set[str]:
        return {bundle for typist in self.typists for bundle in typist.bundles}

    def tell(self, what: str) -> None:
        seconds = [each for typist in self.typists for each in typist.seconds]
        print(f"{what}: {len(self.typists)} sessions, {self.answers} right answers, {self.wrong} wrong")
        print(f"  p50 {1000 * median(seconds):.0f} ms, p99 {1000 * percentile(seconds, 0.99):.0f} ms")
        print(f"  problems shown: {dict(Counter(self.problems))}")
        print(f"  took {self.over - self.happened:.0f} s; bundles seen: {len(self.bundles)}")
        print(
            f"  longest time between two right answers of a session: {self.longest_silence:.1f} s", flush=True
        )


def run_typing(
    service: ServiceOnRay,
    predictor: Predictor,
    sessions: int,
    seconds: float,
    event: Callable[[], None],
    every_seconds: float,
) -> Figures:
    """Let people type, and let something happen to the service in the middle."""
    typists = [
        Typist(service.address, plan_moments(predictor, number), service.token) for number in range(sessions)
    ]
    assert len({typist.moments[0].right for typist in typists}) == sessions, (
        "answers must tell sessions apart"
    )
    began = time.monotonic()
    moments: list[float] = []  # when it began to happen, and when it was over

    def happen() -> None:
        time.sleep(seconds / 2)
        moments.append(time.monotonic())
        event()
        moments.append(time.monotonic())

    def is_over() -> bool:
        now = time.monotonic()
        has_failed = not thread.is_alive() and len(moments) < 2
        return has_failed or (len(moments) == 2 and now > max(began + seconds, moments[1] + _AFTER_SECONDS))

    thread = threading.Thread(target=happen)
    thread.start()
    asyncio.run(type_together(typists, is_over, every_seconds))
    thread.join()
    return Figures(typists, *moments)


def kill_one_replica(service: ServiceOnRay, bundle: str) -> None:
    """kill -9, and wait until Ray has started another by itself."""
    running = [each for each in service.read_replicas() if each["state"] == "RUNNING"]
    os.kill(running[0]["pid"], signal.SIGKILL)
    time.sleep(1.0)
    service.wait_until_served(bundle)


def update(service: ServiceOnRay, file: Path, bundle: str) -> None:
    """Deploy another bundle, and wait until no replica serves the one before."""
    service.deploy(file)
    service.wait_until_served(bundle)


def make_other_bundle(folder: Path) -> Bundle:
    """Make a bundle with another hash that answers alike, so that answers stay comparable."""
    shutil.copytree(DEFAULT, folder)
    with (folder / "calibration.json").open("a", encoding="utf-8") as file:
        file.write("\n")  # it means the same, and has another hash
    seal(folder, "another")
    return Bundle.load(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--every", type=float, default=1.0, help="seconds between the questions of a session")
    options = parser.parse_args()
    predictor = Predictor(Bundle.load(DEFAULT), "cpu")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        other = make_other_bundle(folder / "other")
        limits = {"limit_connections": 2 * options.sessions, "limit_sessions": 4 * options.sessions}
        limits["limit_waiting"] = 2 * options.sessions  # all may open their files at one replica
        with two_nodes(folder, bundle=str(DEFAULT), **limits) as service:
            began = time.monotonic()
            first = service.write_file()
            service.deploy(first)
            service.wait_until_served(predictor.bundle.sha256)
            nodes = {each["node_id"] for each in service.read_replicas()}
            print(f"deployed in {time.monotonic() - began:.0f} s, replicas on {len(nodes)} nodes", flush=True)
            second = service.write_file(bundle=str(other.directory))
            sha256 = predictor.bundle.sha256
            for what, event in (
                ("kill -9 of one replica", lambda: kill_one_replica(service, sha256)),
                ("another bundle", lambda: update(service, second, other.sha256)),
                ("back to the first bundle", lambda: update(service, first, sha256)),
            ):
                figures = run_typing(
                    service, predictor, options.sessions, options.seconds, event, options.every
                )
                figures.tell(what)
            print({kind: round(megabytes) for kind, megabytes in service.megabytes.items()})


if __name__ == "__main__":
    main()
