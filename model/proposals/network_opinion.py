"""The network's opinion at one moment: where the next edit comes, what it holds, and the hunk that the network would make."""

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np

from model.editing.change import Change
from model.editing.rendering import render
from model.editing.tokenizer import Tokenizer
from model.inference.graph_runner import Floats
from model.inference.history import AnyHistory
from model.inference.refusals import Refused, refuse_idle
from model.inference.sequence import IMPOSSIBLE, EditSequence

_LEAST_SLOT = math.log(0.1)  # a less likely slot is not worth decoding
_LEAST_SEQUENCE = math.log(0.05)  # a less likely sequence is given up


class Sequence(NamedTuple):
    """The hunk that the network would make next, as a change of the text, and its log-probability."""

    change: Change
    log_probability: float


class NetworkOpinion:
    """Asks a history, and computes each answer once. The history is left as it was found."""

    def __init__(self, history: AnyHistory, tokenizer: Tokenizer) -> None:
        self._history, self._tokenizer = history, tokenizer
        self._predicted = history.predict()
        self.stop_slot = history.slots.state_length - 1

    @property
    def positions(self) -> Floats:
        """The log-probability of each slot."""
        return self._predicted.positions

    def content(self, slot: int) -> Floats | None:
        """The log-probability of each content at a slot; None where the network sees nothing."""
        positions = self.positions
        if not 0 <= slot < len(positions) or positions[slot] < IMPOSSIBLE:
            return None
        return self._history.content(self._predicted, slot)

    @cached_property
    def sequence(self) -> Sequence | None:
        """The greedy hunk at the likeliest slot; None when it is not likely enough, or changes nothing."""
        scores = self.positions.copy()
        scores[self.stop_slot] = -np.inf
        slot = int(scores.argmax())
        if scores[slot] < _LEAST_SLOT:
            return None
        history = self._history
        known = len(history.slots.edits)
        with history.try_edits():
            sequence = EditSequence(
                history, self._predicted, self._tokenizer, lambda score: score >= _LEAST_SEQUENCE
            )
            try:
                sequence.add_best(slot)
                sequence.finish_token()
                sequence.finish_hunk()
                sequence.refuse_half_tokens()
                refuse_idle(history.slots, known)
            except Refused:
                return None
        try:
            return Sequence(render(history.slots, sequence.edits, self._tokenizer), sequence.score)
        except UnicodeError:
            return None  # the tokens spell half a character
