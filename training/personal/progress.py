"""Progress of a long command: stages with the time left, as a bar for people or as JSON lines for programs."""

import json
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from tqdm import tqdm

T = TypeVar("T")
_SECONDS_BETWEEN_LINES = 1.0


class Progress:
    """Tells how far a command is."""

    def __init__(self, stages: int, *, as_json: bool = False) -> None:
        self._stages, self._as_json = stages, as_json
        self._stage = 0
        self._title = ""
        self._bar: Any = None
        self._began = self._told = 0.0

    def begin(self, title: str, total: int) -> None:
        """Begin the next stage, which has `total` parts."""
        self.end()
        self._stage += 1
        self._title, self._total = title, max(1, total)
        self._began, self._told = time.monotonic(), 0.0
        if self._as_json:
            self._tell(0, None)
        else:
            self._bar = tqdm(
                total=self._total,
                desc=f"{self._stage}/{self._stages} {title}",
                bar_format="{desc}: {percentage:3.0f} % |{bar:20}| {elapsed}, {remaining} left",
            )

    def reach(self, done: int) -> None:
        """Say how many parts of the stage are done."""
        if self._bar is not None:
            self._bar.n = done
            self._bar.update(0)
            self._bar.refresh() if done >= self._total else None
        elif time.monotonic() - self._told > _SECONDS_BETWEEN_LINES or done >= self._total:
            spent = time.monotonic() - self._began
            self._tell(done, spent * (self._total - done) / done if done else None)

    def over(self, title: str, parts: Iterable[T], total: int) -> Iterator[T]:
        """Go through the parts of a stage."""
        self.begin(title, total)
        for number, part in enumerate(parts):
            yield part
            self.reach(number + 1)

    def end(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def say(self, text: str) -> None:
        """Tell a person something between the stages."""
        if self._as_json:
            print(json.dumps({"event": "note", "text": text}), flush=True)
        else:
            print(text, flush=True)

    def result(self, values: dict[str, Any]) -> None:
        """Tell a program how it ended."""
        if self._as_json:
            print(json.dumps({"event": "result", **values}), flush=True)

    def _tell(self, done: int, seconds_left: float | None) -> None:
        self._told = time.monotonic()
        share = (self._stage - 1 + min(1.0, done / self._total)) / self._stages
        line = {
            "event": "progress",
            "stage": self._stage,
            "stages": self._stages,
            "title": self._title,
            "share": round(share, 4),
            "seconds_left": None if seconds_left is None else round(seconds_left),
        }
        print(json.dumps(line), flush=True)
        sys.stdout.flush()
