"""A history whose scores come from a script, for tests of the search."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from model.editing.edits import DELETE, END, START, Edit, Slots
from model.editing.tokenizer import train
from model.inference.calibration import Calibration
from model.inference.history import AnyHistory, NextPosition
from model.inference.search import Decoded, Wish, decode

PLAIN = Calibration()
# In its vocabulary these words, operators and digits are one token each, others are spelled letter by letter.
TOKENIZER = train(["a = 1\nb = 2\nresult total item\n"] * 9, 320)

# What a scripted model says after the edits since the question: at which slot, and which content, each with its probability.
Said = tuple[dict[int, float], dict[int, float]]
Script = Callable[[Sequence[Edit]], Said]
STOP = -1  # the slot of the end token


@dataclass(frozen=True)
class SaidPosition(NextPosition):
    """A scripted distribution, and after how many edits it was asked for."""

    edits: int


class ScriptedHistory:
    """A history whose scores come from a script."""

    def __init__(self, text: str, edits: Sequence[Edit], script: Script) -> None:
        self.slots = Slots((START, *TOKENIZER.encode(text), END))
        self.nbytes = 0
        self.repeats_after: dict[int, int] = {}  # by the number of edits since the question
        self._script = script
        self.append(edits)
        self._known = len(edits)

    @property
    def repeats(self) -> int:
        return self.repeats_after.get(len(self.slots.edits) - self._known, 0)

    def keep(self, count: int) -> None:
        self.slots.keep(count)

    def append(self, edits: Sequence[Edit]) -> None:
        for edit in edits:
            self.slots.apply(edit)

    @contextmanager
    def try_edits(self) -> Iterator[None]:
        known = len(self.slots.edits)
        yield
        self.keep(known)

    def predict(self) -> NextPosition:
        said = self._script(self.slots.edits[self._known :])[0]
        said = {self.slots.state_length - 1 if slot == STOP else slot: p for slot, p in said.items()}
        weights = np.arange(len(self.slots.edits), dtype=np.float32)
        return SaidPosition(self._scores(said, len(self.slots.contents)), weights, len(self.slots.edits))

    def content(self, predicted: NextPosition, position: int) -> NDArray[np.float32]:
        assert isinstance(predicted, SaidPosition)
        since = self.slots.edits[self._known : predicted.edits]
        return self._scores(self._script(since)[1], len(TOKENIZER))

    @staticmethod
    def _scores(said: dict[int, float], size: int) -> NDArray[np.float32]:
        scores = np.full(size, -30.0, dtype=np.float32)
        for index, probability in said.items():
            scores[index] = math.log(probability)
        return scores


def say(*steps: Said) -> Script:
    """One thing after each number of edits; then to stop."""
    return lambda edits: steps[len(edits)] if len(edits) < len(steps) else ({STOP: 0.99}, {DELETE + 1: 0.5})


def spell(text: str) -> list[int]:
    return TOKENIZER.encode(text)


def ask(history: AnyHistory, wish: Wish, calibration: Calibration = PLAIN) -> Decoded:
    before, edits = history.slots.tokens(), list(history.slots.edits)
    decoded = decode(history, wish, TOKENIZER, calibration)
    assert (history.slots.tokens(), history.slots.edits) == (before, edits)  # left as it was found
    return decoded


# "a = 1" and an edit already made: a second "1" after the first.
BASE = "a = 1\nb = 2\n"
ONE, TWO = spell("1")[0], spell("2")[0]
MADE = [Edit(5, ONE)]
NEWEST = 2 + len(spell(BASE)) + 1  # slot of the first edit that will be decoded


def scripted(*steps: Said, made: Sequence[Edit] = MADE, text: str = BASE) -> ScriptedHistory:
    return ScriptedHistory(text, made, say(*steps))
