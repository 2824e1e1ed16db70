"""From scores to edits: greedy, subtoken by subtoken, to the end of a lexical token or of a whole hunk.

The confidence of a prediction is read from the log-probability of its sequence, as in the paper, and from what else speaks
for it (model.inference.calibration). A sequence only gets less likely as it grows, so one that falls below the threshold is given up
at once: being quiet is cheap. Every silence has a reason.

Differs from the paper for whole hunks: a hunk goes on to the end of its line, and where the same change is likely at several
places, as in the middle of a rename, it does not matter which one the user would have taken first. Each is as sure as the
likeliest of them.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import pairwise, takewhile
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.editing.edits import DELETE, END, START, Edit, Slots
from model.editing.tokenizer import Tokenizer
from model.inference.calibration import Calibration, Evidence
from model.inference.window import AnyHistory, Predicted

Until = Literal["token", "hunk"]
Silence = Literal[
    "nothing-edited", "below-threshold", "stop-predicted", "too-long", "no-op", "undo", "token-complete"
]

_LONGEST = 48  # edits of one prediction; what is longer is not the next edit but a new piece of code
_BECAUSE = 3  # past edits named for a prediction
_BECAUSE_SHARE = 0.5  # of the most attended one's weight
_LOOK_BACK = 24  # edits within which to come back to an earlier state is to undo
_BEGINNINGS = 16  # beginnings of a name that are followed, to continue what is being typed
_FOLLOWED = 4  # tokens after each of them
_COMPANIONS = 6  # places at which the same change is looked for
_COMPANION = math.log(0.02)  # log-probability of a place that is worth a look
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
    evidence: Evidence  # what confidence is read from
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
        self._stop = float(self.root.positions[history.slots.state_length - 1])
        self._best_repeats = calibration.best_repeats(wish.until)
        self._together = 0.0  # log-probability of all places that are looked at

    def next_edits(self) -> Decoded:
        """The most likely places, each decoded."""
        if not self.known:
            return Decoded([], "nothing-edited")
        sequences: list[_Sequence] = []
        stop = self.history.slots.state_length - 1
        reason: Silence | None = "stop-predicted" if int(self.root.positions.argmax()) == stop else None
        for position in self._likely_positions():
            if position == stop:
                continue
            try:
                sequence = self._from(position)
                if not any(_touch(sequence.region, other.region) for other in sequences):
                    sequence.refuse_half_tokens()
                    _refuse_idle(self.history.slots, self.known)
                    sequences.append(sequence)
            except _Failed as failed:
                reason = reason or failed.reason
            self.history.keep(self.known)
            if self.wish.until == "token" and len(sequences) >= self.wish.limit:
                break
        predictions = [
            self._prediction(sequence, *self._likeliest_and_shared(sequence, sequences))
            for sequence in sequences
        ]
        predictions = [each for each in predictions if each.confidence >= self.wish.threshold]
        predictions.sort(key=lambda each: (-each.confidence, -each.log_probability))
        silence = None if predictions else reason or "below-threshold"
        return Decoded(predictions[: self.wish.limit], silence)

    def _likeliest_and_shared(
        self, sequence: "_Sequence", sequences: Sequence["_Sequence"]
    ) -> tuple[float, float]:
        """The log-probability of a change at the likeliest of the places where it was found, and at any of them."""
        if self.wish.until == "token":
            return sequence.score, sequence.score
        same = [other.score for other in sequences if other.change == sequence.change]
        together = min(0.0, float(np.logaddexp.reduce(same)))
        # A place that hardly counts among them is not one of them.
        is_one = sequence.score - together > _COMPANION
        return (max(same), together) if is_one else (sequence.score, sequence.score)

    def continue_prefix(self) -> Prediction:
        """The rest of the name that is being typed, and on to the end of what was asked for."""
        assert self.wish.cursor is not None
        prefix = self.wish.prefix.encode("utf-8", "surrogatepass")
        tokens, score = self._name(self.wish.cursor, prefix)
        if self._spelled(tokens) == prefix and self.tokenizer.ends[tokens[-1]]:
            raise _Failed("token-complete")
        self.history.keep(self.known)
        sequence = _Sequence(self, self.root)
        sequence.score = score
        sequence.check()
        for edit in self._spelling(self.wish.cursor, tokens):
            sequence.add(edit)
        self._finish(sequence)
        sequence.check()
        sequence.refuse_half_end()
        _refuse_idle(self.history.slots, self.known, look_back=0)  # to type what was there again is no undo
        prediction = self._prediction(sequence, sequence.score, sequence.score, continues_prefix=True)
        if prediction.confidence < self.wish.threshold:
            raise _Failed("below-threshold")
        return prediction

    def _name(self, position: int, prefix: bytes) -> tuple[tuple[int, ...], float]:
        """The likeliest name that begins with the prefix, and its log-probability given the prefix.

        The likeliest beginning is always followed first, so the name is the best one; unless the search ends early, and
        then it may be unfinished."""
        unfinished: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]  # a heap: log-probabilities negated
        found: tuple[int, ...] = ()
        best, total = (
            -math.inf,
            -math.inf,
        )  # log-probability of what is found, and of all that agrees with the prefix
        for _ in range(_BEGINNINGS):
            if not unfinished or -unfinished[0][0] <= best:
                break
            if self.most_confidence(min(0.0, -unfinished[0][0] - total)) < self.wish.threshold:
                break  # nothing better will be shown
            negated, tokens = heappop(unfinished)
            rest = prefix[len(self._spelled(tokens)) :]
            for token, score in self._going_on(position, tokens, rest):
                score -= negated
                is_typed = len(self.tokenizer.bytes_of[token]) >= len(rest)  # all of the prefix
                if rest and is_typed:
                    total = float(np.logaddexp(total, score))
                if not (is_typed and self.tokenizer.ends[token]):
                    heappush(unfinished, (-score, (*tokens, token)))
                elif score > best:
                    best, found = score, (*tokens, token)
        for negated, tokens in sorted(unfinished):
            if len(self._spelled(tokens)) < len(prefix):
                total = float(np.logaddexp(total, -negated))
            elif not found:
                best, found = -negated, tokens
        if not found:
            raise _Failed("below-threshold")
        return found, min(0.0, best - total)

    def _going_on(self, position: int, tokens: tuple[int, ...], rest: bytes) -> Iterator[tuple[int, float]]:
        """Tokens that may follow these, inserted at a position, and their log-probabilities."""
        self.history.keep(self.known)
        predicted = self.root
        if tokens:
            self.history.append(self._spelling(position, tokens), tentative=True)
            predicted = self.history.predict()
            position = len(self.history.slots.contents) - 1
        scores = self.history.content(predicted, position)
        if rest:  # the user types on here: that is given
            yield from ((token, float(scores[token])) for token in self.tokenizer.agreeing(rest))
            return
        words = _best(scores[DELETE + 1 :], _FOLLOWED) + DELETE + 1
        here = float(predicted.positions[position])
        yield from ((int(token), here + float(scores[token])) for token in words)

    def _spelled(self, tokens: tuple[int, ...]) -> bytes:
        return b"".join(self.tokenizer.bytes_of[token] for token in tokens)

    def _spelling(self, position: int, tokens: tuple[int, ...]) -> list[Edit]:
        """The edits that insert the tokens one after another."""
        first = self.history.slots.state_length + self.known
        return [Edit(first + i - 1 if i else position, token) for i, token in enumerate(tokens)]

    def _likely_positions(self) -> Iterator[int]:
        """Slots, best first, as long as there is hope."""
        for position in self._ranked_positions():
            score, slack = float(self.root.positions[position]), self._slack(position)
            if self.most_confidence(score, slack) < self.wish.threshold:
                return
            yield position

    def _ranked_positions(self) -> Iterator[int]:
        """Slots, best first."""
        scores = self.root.positions
        is_hunk = self.wish.until == "hunk"
        if not is_hunk:  # one is all that is asked for as a rule: the rest is not sorted yet
            yield int(scores.argmax())
        there = (scores > _LEAST).nonzero()[0]  # of a long file the model sees a part
        order = there[_best(scores[there], max(2 * self.wish.limit + 1, _COMPANIONS))]
        if is_hunk:
            order = order[(scores[order] > _COMPANION) | (np.arange(len(order)) < 2 * self.wish.limit - 1)]
            chosen = scores[order[order != self.history.slots.state_length - 1]].astype(np.float64)
            self._together = float(np.logaddexp.reduce(chosen)) if len(chosen) else -np.inf
        yield from order[0 if is_hunk else 1 :].tolist()

    def _slack(self, position: int) -> float:
        """How much more likely the same change at other places can make the one at a position."""
        if self.wish.until == "token":
            return 0.0
        return max(0.0, self._together - float(self.root.positions[position]))

    def _from(self, position: int) -> "_Sequence":
        sequence = _Sequence(self, self.root)
        sequence.slack = self._slack(position)
        sequence.go_on(position)
        self._finish(sequence)
        return sequence

    def _finish(self, sequence: "_Sequence") -> None:
        sequence.finish_token()
        if self.wish.until == "hunk":
            sequence.finish_hunk()

    def _prediction(
        self, sequence: "_Sequence", likeliest: float, shared: float, *, continues_prefix: bool = False
    ) -> Prediction:
        evidence = Evidence(likeliest, shared, self._stop, sequence.repeats)
        return Prediction(
            edits=tuple(sequence.edits),
            log_probability=sequence.score,
            confidence=self.calibration.confidence(self.wish.until, evidence),
            because=_because(self.root.because),
            evidence=evidence,
            continues_prefix=continues_prefix,
        )

    def most_confidence(self, score: float, slack: float = 0.0) -> float:
        """What can still become of a sequence that other places may make likelier by the slack."""
        most = min(0.0, score + slack)
        evidence = Evidence(most, most, self._stop, self._best_repeats)
        return self.calibration.confidence(self.wish.until, evidence)


class _Sequence:
    """Edits decoded so far, appended to the history one by one."""

    def __init__(self, decoder: _Decoder, predicted: Predicted) -> None:
        self._decoder, self._history = decoder, decoder.history
        self._predicted: Predicted | None = predicted
        self.score = 0.0
        self.repeats = 0  # how often the same change was made before
        self.slack = 0.0  # what other places may add to it in the end
        self.edits: list[Edit] = []
        self._gone: list[int] = []  # tokens deleted
        self._deleted = DELETE  # the token that the newest edit deleted
        self._newest_place = 0
        self._first, self._last = 0, 0  # places that the hunk covers
        self._grown = 0  # tokens inserted less tokens deleted

    @property
    def predicted(self) -> Predicted:
        """What comes after the edits so far; not computed after the last one, when nobody asks."""
        if self._predicted is None:
            self._predicted = self._history.predict()
        return self._predicted

    @property
    def newest_slot(self) -> int:
        return len(self._history.slots.contents) - 1

    @property
    def change(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """What it does, wherever it does it: the tokens that go and those that come."""
        return tuple(self._gone), tuple(edit.content for edit in self.edits if edit.content != DELETE)

    @property
    def region(self) -> tuple[int, int]:
        """The places of the state, as it was before, that the edits replace."""
        return self._first, self._last - self._grown

    def check(self) -> None:
        """Fails when not even the same change at other places could bring it to the threshold, however low: in a long file
        a hunk may come to the border of what the model sees, and what is behind it is impossible."""
        if (
            self.score < _LEAST
            or self._decoder.most_confidence(self.score, self.slack) < self._decoder.wish.threshold
        ):
            raise _Failed("below-threshold")

    def add(self, edit: Edit) -> None:
        if len(self.edits) >= _LONGEST:
            raise _Failed("too-long")
        slots = self._history.slots
        place = self._newest_place = slots.explicit_position(edit.position)
        self._deleted = slots.contents[edit.position]
        if edit.content == DELETE:
            self._gone.append(self._deleted)
        grown = -1 if edit.content == DELETE else 1
        begin = place if edit.content == DELETE else place + 1
        if not self.edits:
            self._first, self._last = begin, place + 1
        self._first = min(self._first, begin)
        self._last = max(self._last, place + 1) + grown
        self._grown += grown
        self._history.append([edit], tentative=True)
        self.edits.append(edit)
        self._predicted = None

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
        """While the next edit is on the line of the hunk. That it ends there is part of its probability.

        Half of a line is no suggestion: `Optional[str]` becomes `str | None` by two runs of edits with a name between."""
        repeats = []
        while True:
            line = self._line()
            if self._begins_next_line(line):
                line.pop()
            scores = self.predicted.positions[line]
            best = line[int(scores.argmax())]
            goes_on = float(np.exp(scores.astype(np.float64)).sum())
            if goes_on < 0.5:
                self.score += float(np.log1p(-min(goes_on, 1 - 1e-9)))
                break
            if not self._touches(best):
                repeats.append(self._history.repeats)  # another run of edits begins
            self.go_on(best)
            self.finish_token()
        self.repeats = min([*repeats, self._history.repeats])

    def refuse_half_tokens(self) -> None:
        """Fails when the edits begin inside of a token of the state. The token of an edit may be unfinished: they go on."""
        slots = self._history.slots
        before = slots.order[self._first - 1]
        if before < slots.state_length and not self._decoder.tokenizer.ends[slots.contents[before]]:
            raise _Failed("below-threshold")
        self.refuse_half_end()

    def refuse_half_end(self) -> None:
        """Fails when the edits leave a token that does not end before what follows them."""
        slots = self._history.slots
        if not self._decoder.tokenizer.ends[slots.contents[slots.order[self._last - 1]]]:
            raise _Failed("below-threshold")

    def _delete_next(self) -> None:
        slots = self._history.slots
        position = slots.order[self._newest_place]  # what moved up to where the deleted token stood
        if slots.contents[position] == END:
            raise _Failed("below-threshold")
        self.score += float(self.predicted.positions[position])
        self.check()
        self.score += float(self._history.content(self.predicted, position)[DELETE])
        self.check()
        self.add(Edit(position, DELETE))

    def _line(self) -> list[int]:
        """Slots whose edit would touch the hunk, or be on the line where it begins or on the one where it ends."""
        order = self._history.slots.order
        first, last = max(0, self._first - 1), min(self._last, len(order) - 2)
        begins_line = self._first <= last and self._breaks(order[self._first])
        if not begins_line:
            while first > 0 and not self._breaks(order[first]):
                first -= 1
        if not self._breaks(order[last]):
            while last < len(order) - 2 and not self._breaks(order[last + 1]):
                last += 1
        return order[first : last + 1]

    def _begins_next_line(self, line: Sequence[int]) -> bool:
        """Would the next edit be one at the beginning of the line after, rather than join it with this one?"""
        is_after = line[-1] == self._history.slots.order[self._last] and self._breaks(line[-1])
        if not is_after or int(self.predicted.positions[line].argmax()) < len(line) - 1:
            return False
        scores = self._history.content(self.predicted, line[-1])
        return int(_possible(scores, self._history.slots, line[-1]).argmax()) != DELETE

    def _breaks(self, slot: int) -> bool:
        """Does a line begin with this token?"""
        return b"\n" in self._decoder.tokenizer.bytes_of[self._history.slots.contents[slot]]

    def _touches(self, slot: int) -> bool:
        """Would an edit there touch the newest one?"""
        distance = self._history.slots.explicit_position(slot) - self._newest_place
        return -1 <= distance <= 0 if self.edits[-1].content == DELETE else 0 <= distance <= 2


def _best(scores: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """The indices of the highest scores, best first; the first of two that are equal."""
    if count < len(scores):
        least = np.partition(scores, len(scores) - count)[-count]
        candidates = (scores >= least).nonzero()[0]
    else:
        candidates = np.arange(len(scores))
    best: NDArray[np.int64] = candidates[np.argsort(-scores[candidates], kind="stable")][:count]
    return best


def _possible(scores: NDArray[np.float32], slots: Slots, position: int) -> NDArray[np.float32]:
    """Scores without the contents that make no sense at a position."""
    scores = scores.copy()
    scores[:DELETE] = _LEAST
    if slots.contents[position] in (START, END):
        scores[DELETE] = _LEAST
    return scores


def _refuse_idle(slots: Slots, known: int, look_back: int | None = None) -> None:
    """Fails when the edits beyond the known ones change nothing, or bring back what the user has just changed."""
    if look_back is None:
        look_back = max(_LOOK_BACK, _newest_run(slots.explicit_positions()[:known]))
    balance: dict[int, int] = {}  # of each token: how many came less how many went, where that is not none
    for count in range(len(slots.edits) - 1, max(0, known - look_back) - 1, -1):
        edit = slots.edits[count]
        is_deletion = edit.content == DELETE
        token = slots.contents[edit.position] if is_deletion else edit.content
        more = balance.pop(token, 0) + (-1 if is_deletion else 1)
        if more and edit.content != END:
            balance[token] = more
        # What lacks a token or has one more is not the same: states themselves are hardly ever compared.
        if count <= known and not balance and _tokens_before(slots, count) == slots.tokens():
            raise _Failed("no-op" if count == known else "undo")


def _tokens_before(slots: Slots, count: int) -> list[int]:
    """The state after so many of the edits."""
    tokens, places = slots.tokens(), slots.explicit_positions()
    for edit, place in zip(reversed(slots.edits[count:]), reversed(places[count:]), strict=True):
        if edit.content == DELETE:
            tokens.insert(place, slots.contents[edit.position])
        elif edit.content != END:
            del tokens[place + 1]
    return tokens


def _newest_run(places: Sequence[int]) -> int:
    """How many of the newest edits were made in one go, side by side: together they may be one change of a whole block."""
    steps = (abs(newer - older) <= 1 for older, newer in pairwise(reversed(places)))
    return min(len(places), 1 + sum(takewhile(bool, steps)))


def _touch(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


def _because(weights: Sequence[float] | NDArray[np.float32]) -> tuple[int, ...]:
    values = np.asarray(weights)
    if not len(values):
        return ()
    most = (values >= _BECAUSE_SHARE * values.max()).nonzero()[0].tolist()
    return tuple(sorted(most, key=lambda index: -values[index])[:_BECAUSE])
