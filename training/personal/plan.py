"""The plan of one personal training: what is learned from, pinned, so that a stopped command goes on where it was."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import platformdirs

from training.personal.found import Source

_PLAN = "plan.json"


@dataclass(frozen=True)
class Plan:
    """All that decides the result."""

    sources: tuple[Source, ...]
    base: str  # the folder of the bundle to begin with
    base_sha256: str
    in_use: str  # the folder of the bundle that the new one must beat
    eagerness: str
    changes: int  # to learn from, at most
    cases: int  # of the gate, at most
    minutes: float  # of training the network; 0: only the judge learns
    threads: int
    seed: int

    def same_wishes(self, other: "Plan") -> bool:
        """Are two plans equal except for the content of their sources?"""
        return self._wishes() == other._wishes()

    def _wishes(self) -> dict[str, Any]:
        values = asdict(self)
        values["sources"] = sorted(f"{source.kind} {source.path}" for source in self.sources)
        return values

    def to_json(self) -> dict[str, Any]:
        values = asdict(self)
        for source in values["sources"]:
            source["path"] = str(source["path"])
        return values

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Plan":
        sources = tuple(
            Source(**(source | {"path": Path(source["path"]), "units": tuple(source["units"])}))
            for source in values["sources"]
        )
        return cls(**(values | {"sources": sources}))


def work_folder() -> Path:
    """The folder of unfinished work; it is removed at the end."""
    return Path(platformdirs.user_cache_dir("likewise", appauthor=False)) / "learning"


def read_plan(folder: Path) -> Plan | None:
    """The plan of a command that was stopped; None when there is none that can be read."""
    try:
        return Plan.from_json(json.loads((folder / _PLAN).read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_plan(folder: Path, plan: Plan) -> None:
    """Write a plan, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    partial = folder / (_PLAN + ".partial")
    partial.write_text(json.dumps(plan.to_json()), encoding="utf-8")
    os.replace(partial, folder / _PLAN)


def describe_sources(sources: Sequence[Source]) -> str:
    return "\n".join(f"  {source.describe()}" for source in sources)
