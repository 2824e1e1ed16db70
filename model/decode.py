"""From scores to edits: greedy, subtoken by subtoken, to the end of a lexical token or of a whole hunk.

The confidence of a prediction is the log-probability of its sequence, as in the paper, read through the bundle's
calibration. A sequence only gets less likely as it grows, so one that falls below the threshold is given up at once: being
quiet is cheap. Every silence has a reason.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.calibration import Calibration
from model.edits import DELETE, END, START, Edit, Slots
from model.tokenizer import Tokenizer
from model.window import AnyHistory, Predicted

Until = Literal["token", "hunk"]
Silence = Literal[
    "nothing-edited", "below-threshold", "stop-predicted", "too-long", "no-op", "undo", "token-complete"
]

_LONGEST = 48  # edits of one prediction; what is longer is not the next edit but a new piece of code
_BECAUSE = 3  # past edits named for a prediction
_BECAUSE_SHARE = 0.5  # of the most attended one's weight
_LOOK_BACK = 24  # edits within which to come back to an earlier state is to undo
_LEAST = np.float32(-1e8)  # below this a slot is not there


class Wish(NamedTuple):
    """What is asked for."""

    until: Until = "token"
    limit: int = 1
    threshold: float = 0.5
    cursor: int | None = None  # the slot left of the cursor
    prefix: str = ""  # the beginning of a name that is being typed there; not part of the history


class Prediction(NamedTuple):
    """Edits that come next, and how sure that is."""

    edits: tuple[Edit, ...]
    log_probability: float
    confidence: float
    because: tuple[int, ...]  # past edits that it follows from, most important first
    continues_prefix: bool = False


class Decoded(NamedTuple):
    """Predictions above the threshold, best first; or why there are none.

    The silence "token-complete" says that the prefix is a whole token already: ask again with the token as an edit."""

    predictions: list[Prediction]
    silence: Silence | None


class _Failed(Exception):
    """A sequence that comes to nothing, with the reason."""

    def __init__(self, reason: Silence) -> None:
        self.reason: Silence = reason


def decode(history: AnyHistory, wish: Wish, tokenizer: Tokenizer, calibration: Calibration) -> Decoded:
    """The next edits. The history is left as it was found."""
    decoder = _Decoder(history, wish, tokenizer, calibration)
    try:
        if wish.prefix and wish.cursor is not None:
            return _one(decoder.continue_prefix)
        return decoder.next_edits()
    finally:
        history.keep(decoder.known)


def _one(attempt: Callable[[], Prediction]) -> Decoded:
    try:
        return Decoded([attempt()], None)
    except _Failed as failed:
        return Decoded([], failed.reason)


class _Decoder:
    def __init__(
        self, history: AnyHistory, wish: Wish, tokenizer: Tokenizer, calibration: Calibration
    ) -> None:
        self.history, self.wish, self.tokenizer, self.calibration = history, wish, tokenizer, calibration
        self.known = len(history.slots.edits)
        self.root = history.predict()

    def next_edits(self) -> Decoded:
        """The most likely places, each decoded."""
        if not self.known:
            return Decoded([], "nothing-edited")
        predictions: list[Prediction] = []
        reason: Silence | None = None
        for position in self._likely_positions():
            if position == self.history.slots.state_length - 1:
                reason = reason or "stop-predicted"
                continue
            try:
                predictions.append(self._from(position))
            except _Failed as failed:
                reason = reason or failed.reason
            self.history.keep(self.known)
            if len(predictions) >= self.wish.limit:
                break
        predictions.sort(key=lambda prediction: -prediction.confidence)
        return Decoded(predictions, None if predictions else reason or "below-threshold")

    def continue_prefix(self) -> Prediction:
        """The rest of the name that is being typed, and on to the end of what was asked for."""
        assert self.wish.cursor is not None
        rest = self.wish.prefix.encode("utf-8", "surrogatepass")
        sequence = _Sequence(self, self.root)
        position = self.wish.cursor
        while rest:
            token, score = self._best_consistent(sequence.predicted, position, rest)
            sequence.score += score
            sequence.add(Edit(position, token))
            rest = rest[len(self.tokenizer.bytes_of[token]) :]
            position = sequence.newest_slot
            if not rest and self.tokenizer.ends[token] and self._text(sequence) == self.wish.prefix:
                raise _Failed("token-complete")
        sequence.finish_token()
        if self.wish.until == "hunk":
            sequence.finish_hunk()
        return self._checked(sequence, continues_prefix=True)

    def _text(self, sequence: "_Sequence") -> str:
        return b"".join(self.tokenizer.bytes_of[edit.content] for edit in sequence.edits).decode(
            "utf-8", "replace"
        )

    def _likely_positions(self) -> Iterator[int]:
        """Slots, best first, as long as there is hope."""
        scores = self.root.positions
        for position in np.argsort(-scores)[: 2 * self.wish.limit + 1]:
            if self.confidence(float(scores[position])) < self.wish.threshold:
                return
            yield int(position)

    def _from(self, position: int) -> Prediction:
        sequence = _Sequence(self, self.root)
        sequence.go_on(position)
        sequence.finish_token()
        if self.wish.until == "hunk":
            sequence.finish_hunk()
        return self._checked(sequence)

    def _best_consistent(self, predicted: Predicted, position: int, rest: bytes) -> tuple[int, float]:
        """The most likely token that agrees with what is typed, and its log-probability among those that do."""
        scores = self.history.content(predicted, position)
        agreeing = [
            token
            for token, spelled in enumerate(self.tokenizer.bytes_of)
            if spelled
            and (spelled.startswith(rest) or (rest.startswith(spelled) and not self.tokenizer.ends[token]))
        ]
        if not agreeing:
            raise _Failed("below-threshold")
        likely = scores[agreeing].astype(np.float64)
        total = np.logaddexp.reduce(likely)
        best = int(likely.argmax())
        return agreeing[best], float(likely[best] - total)

    def _checked(self, sequence: "_Sequence", *, continues_prefix: bool = False) -> Prediction:
        confidence = sequence.check()
        if not continues_prefix:
            _refuse_idle(self.history.slots, self.known)
        because = _because(self.root.because)
        return Prediction(tuple(sequence.edits), sequence.score, confidence, because, continues_prefix)

    def confidence(self, score: float) -> float:
        return self.calibration.confidence(self.wish.until, score)


class _Sequence:
    """Edits decoded so far, appended to the history one by one."""

    def __init__(self, decoder: _Decoder, predicted: Predicted) -> None:
        self._decoder, self._history = decoder, decoder.history
        self.predicted = predicted
        self.score = 0.0
        self.edits: list[Edit] = []
        self._deleted = DELETE  # the token that the newest edit deleted
        self._newest_place = 0
        self._first, self._last = 0, 0  # places that the hunk covers

    @property
    def newest_slot(self) -> int:
        return len(self._history.slots.contents) - 1

    def check(self) -> float:
        """The confidence so far; fails when it is below the threshold."""
        confidence = self._decoder.confidence(self.score)
        if confidence < self._decoder.wish.threshold:
            raise _Failed("below-threshold")
        return confidence

    def add(self, edit: Edit) -> None:
        if len(self.edits) >= _LONGEST:
            raise _Failed("too-long")
        slots = self._history.slots
        place = self._newest_place = slots.explicit_position(edit.position)
        self._deleted = slots.contents[edit.position]
        is_deletion = edit.content == DELETE
        begin = place if is_deletion else place + 1
        if not self.edits:
            self._first, self._last = begin, place + 1
        self._first = min(self._first, begin)
        self._last = max(self._last, place + 1) + (-1 if is_deletion else 1)
        self._history.append([edit])
        self.edits.append(edit)
        self.predicted = self._history.predict()

    def go_on(self, position: int) -> None:
        """One more edit, at a position: the most likely content there."""
        self.score += float(self.predicted.positions[position])
        self.check()
        scores = self._history.content(self.predicted, position)
        content = int(_possible(scores, self._history.slots, position).argmax())
        self.score += float(scores[content])
        self.check()
        self.add(Edit(position, content))

    def finish_token(self) -> None:
        """To the end of the lexical token that was begun."""
        ends = self._decoder.tokenizer.ends
        while True:
            newest = self.edits[-1]
            if newest.content == DELETE:
                if ends[self._deleted]:
                    return
                self._delete_next()
            else:
                if ends[newest.content]:
                    return
                self.go_on(self.newest_slot)
                if self.edits[-1].content == DELETE:
                    raise _Failed("below-threshold")  # it took back half a token: no text to show

    def finish_hunk(self) -> None:
        """While the next position touches the hunk. That it ends there is part of its probability."""
        while True:
            touching = self._touching()
            scores = self.predicted.positions[touching]
            best = int(scores.argmax())
            goes_on = float(np.exp(scores.astype(np.float64)).sum())
            if goes_on < 0.5:
                self.score += float(np.log1p(-min(goes_on, 1 - 1e-9)))
                return
            self.go_on(touching[best])
            self.finish_token()

    def _delete_next(self) -> None:
        slots = self._history.slots
        position = slots.order[self._newest_place]  # what moved up to where the deleted token stood
        scores = self._history.content(self.predicted, position)
        self.score += float(self.predicted.positions[position]) + float(scores[DELETE])
        self.check()
        if slots.contents[position] in (START, END):
            raise _Failed("below-threshold")
        self.add(Edit(position, DELETE))

    def _touching(self) -> list[int]:
        """Slots whose edit would touch the hunk: from the one before it to the one after."""
        order = self._history.slots.order
        return order[max(0, self._first - 1) : min(self._last + 1, len(order) - 1)]


def _possible(scores: NDArray[np.float32], slots: Slots, position: int) -> NDArray[np.float32]:
    """Scores without the contents that make no sense at a position."""
    scores = scores.copy()
    scores[:DELETE] = _LEAST
    if slots.contents[position] in (START, END):
        scores[DELETE] = _LEAST
    return scores


def _refuse_idle(slots: Slots, known: int) -> None:
    """Fails when the edits beyond the known ones change nothing, or bring back what the user has just changed."""
    after = slots.tokens()
    earlier = slots.copy()
    earlier.keep(known)
    if earlier.tokens() == after:
        raise _Failed("no-op")
    for count in range(known - 1, max(-1, known - 1 - _LOOK_BACK), -1):
        earlier.keep(count)
        if len(earlier.order) == len(after) and earlier.tokens() == after:
            raise _Failed("undo")


def _because(weights: Sequence[float] | NDArray[np.float32]) -> tuple[int, ...]:
    values = np.asarray(weights)
    if not len(values):
        return ()
    order = np.argsort(-values, kind="stable")[:_BECAUSE]
    return tuple(int(index) for index in order if values[index] >= _BECAUSE_SHARE * values[order[0]])
