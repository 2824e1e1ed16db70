"""Examples for the judge: the candidates of many moments, their evidence, and whether the author made them."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from model.inference.history import AnyHistory
from model.inference.predictor import Predictor
from model.inference.window import WindowedHistory
from model.proposals.candidates import Origin
from model.proposals.evidence import FEATURES, Floats
from model.proposals.evidence import Moment as Circumstances
from model.proposals.lexical_text import LexicalTables
from model.proposals.network_opinion import NetworkOpinion
from model.proposals.proposals import propose
from model.proposals.suggester import OPEN_SECONDS
from training.judge.moments import Moment
from training.suite.rightness import find_run, find_word


@dataclass(frozen=True)
class Examples:
    """Rows of evidence; `question` numbers the moments, and `kinds` and `is_reachable` describe them."""

    rows: Floats
    is_right: NDArray[np.bool_]
    is_next: NDArray[np.bool_]
    question: NDArray[np.int64]
    kinds: NDArray[np.str_]
    is_reachable: NDArray[np.bool_]

    def save(self, path: Path) -> None:
        np.savez_compressed(path, **vars(self))

    @classmethod
    def load(cls, path: Path) -> "Examples":
        with np.load(path) as arrays:
            return cls(**{name: arrays[name] for name in arrays.files})

    @classmethod
    def join(cls, parts: Iterable["Examples"]) -> "Examples":
        parts = list(parts)
        starts = np.cumsum([0, *(len(part.kinds) for part in parts)])
        questions = [part.question + start for part, start in zip(parts, starts, strict=False)]
        return cls(
            np.concatenate([part.rows for part in parts]),
            np.concatenate([part.is_right for part in parts]),
            np.concatenate([part.is_next for part in parts]),
            np.concatenate(questions),
            np.concatenate([part.kinds for part in parts]),
            np.concatenate([part.is_reachable for part in parts]),
        )


class Examiner:
    """Turns moments into examples. Keeps one history, so that the next moment of a file costs little."""

    def __init__(self, predictor: Predictor) -> None:
        self._predictor = predictor
        self._tables = LexicalTables(predictor.bundle.require_tokenizer())
        self._state: tuple[int, ...] | None = None
        self._history: AnyHistory | None = None

    def examine(self, moments: Iterable[Moment], *, with_network: bool = True) -> Examples:
        rows: list[Floats] = []
        is_right: list[bool] = []
        is_next: list[bool] = []
        question: list[int] = []
        kinds: list[str] = []
        is_reachable: list[bool] = []
        for number, moment in enumerate(moments):
            recorder = moment.recorder
            is_open = moment.pause_seconds is not None and moment.pause_seconds < OPEN_SECONDS
            proposals = propose(
                recorder.slots,
                recorder.burst_ends,
                self._tables,
                Circumstances(moment.pause_seconds, is_open, recorder.prefix),
                cursor=recorder.cursor,
                network=self._opinion(moment) if with_network else None,
            )
            rows.append(proposals.rows)
            for candidate, change in zip(proposals.candidates, proposals.changes, strict=True):
                find = find_word if candidate.origin == Origin.WORD else find_run
                run = find(moment.text, moment.remaining, change)
                is_right.append(run is not None)
                made = [moment.remaining[index] for index in run or ()]
                is_next.append(
                    any(a.start <= b.end and a.end >= b.start for a in made for b in moment.upcoming)
                )
                question.append(number)
            kinds.append(moment.kind)
            is_reachable.append(moment.is_reachable)
        return Examples(
            np.concatenate([np.zeros((0, len(FEATURES)), np.float32), *rows]),
            np.array(is_right, np.bool_),
            np.array(is_next, np.bool_),
            np.array(question, np.int64),
            np.array(kinds, dtype="U12"),
            np.array(is_reachable, np.bool_),
        )

    def _opinion(self, moment: Moment) -> NetworkOpinion:
        recorder = moment.recorder
        if self._history is None or self._state != recorder.state:
            self._history, self._state = self._predictor.open(recorder.state), recorder.state
        known, edits = self._history.slots.edits, recorder.edits
        kept = next(
            (n for n, (a, b) in enumerate(zip(known, edits, strict=False)) if a != b),
            min(len(known), len(edits)),
        )
        self._history.keep(kept)
        self._history.append(edits[kept:])
        if isinstance(self._history, WindowedHistory):
            self._history.look_at(recorder.cursor if recorder.prefix else None)
        return NetworkOpinion(self._history, self._predictor.bundle.require_tokenizer())
