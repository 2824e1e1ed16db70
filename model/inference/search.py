"""From scores to edits: greedy decoding, subtoken by subtoken, to the end of a lexical token or of a whole hunk.

The confidence of decoded edits is read from the log-probability of their sequence, as in the paper, and from other evidence
(model.inference.calibration). Sequences below the threshold are given up early: silence is cheap. Every silence has a reason.

Differs from the paper for whole hunks: where the same change is likely at several slots, as in the middle of a rename, it
does not matter which one the user would have taken first. Each is as sure as the likeliest of them.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from model.editing.edits import Edit
from model.editing.tokenizer import Tokenizer
from model.inference.calibration import Calibration, Evidence
from model.inference.graph_runner import Floats
from model.inference.history import AnyHistory
from model.inference.prefix import NameSearch
from model.inference.refusals import Refused, refuse_idle
from model.inference.sequence import EditSequence
from model.inference.slot_ranking import COMPANION_SCORE, iterate_slots, rank_companions
from model.silence import Silence

Until = Literal["token", "hunk"]

_BECAUSE = 3  # past edits named as reasons
_BECAUSE_SHARE = 0.5  # of the most attended one's weight


class Wish(NamedTuple):
    """The question to the search."""

    until: Until = "token"
    limit: int = 1
    threshold: float | None = 0.5  # None: the calibration's own
    cursor: int | None = None  # the slot left of the cursor
    prefix: str = ""  # the beginning of a name that is being typed there; not part of the history
    eagerness: str | None = None  # the name of a threshold, for whole hunks
    burst_ends: tuple[int, ...] = ()  # for each burst the number of edits up to its end; empty: unknown
    pause_seconds: float | None = None  # since the last edit


class DecodedEdits(NamedTuple):
    """Edits that come next, and how sure that is."""

    edits: tuple[Edit, ...]
    log_probability: float
    confidence: float
    because: tuple[int, ...]  # past edits that they follow from, most important first
    evidence: Evidence  # the source of the confidence
    continues_prefix: bool = False


class Decoded(NamedTuple):
    """Decoded edits above the threshold, best first; or the reason why there are none.

    When the prefix is a whole name already there is neither: the caller takes the name's edits as made and asks again.
    """

    predictions: list[DecodedEdits]
    silence: Silence | None
    name: tuple[Edit, ...] = ()  # the edits that insert the prefix, if it is a whole name


def decode(history: AnyHistory, wish: Wish, tokenizer: Tokenizer, calibration: Calibration) -> Decoded:
    """Decode the next edits. The history is left as it was found."""
    with history.try_edits():
        search = _Search(history, wish, tokenizer, calibration)
        if not wish.prefix or wish.cursor is None:
            return search.decode_next_edits()
        try:
            return search.continue_prefix(wish.cursor)
        except Refused as refused:
            return Decoded([], refused.reason)


class _Search:
    def __init__(
        self, history: AnyHistory, wish: Wish, tokenizer: Tokenizer, calibration: Calibration
    ) -> None:
        self._history, self._wish, self._tokenizer, self._calibration = history, wish, tokenizer, calibration
        self._threshold = (
            calibration.threshold(wish.until, wish.eagerness) if wish.threshold is None else wish.threshold
        )
        self._known = len(history.slots.edits)
        self._root = history.predict()
        self._stop = history.slots.state_length - 1  # the slot that says stop
        self._stop_score = float(self._root.positions[self._stop])
        self._best_repeats = calibration.best_repeats(wish.until)

    def decode_next_edits(self) -> Decoded:
        """Decode a sequence at each of the most likely slots."""
        if not self._known:
            return Decoded([], Silence.NOTHING_EDITED)
        sequences: list[EditSequence] = []
        is_stop = int(self._root.positions.argmax()) == self._stop
        reason = Silence.STOP_PREDICTED if is_stop else None
        for position, slack in self._hopeful_slots():
            if position == self._stop:
                continue
            with self._history.try_edits():
                try:
                    sequence = self._decode_at(position, slack)
                    if not any(sequence.touches(other) for other in sequences):
                        sequence.refuse_half_tokens()
                        refuse_idle(self._history.slots, self._known)
                        sequences.append(sequence)
                except Refused as refused:
                    reason = reason or refused.reason
            if self._wish.until == "token" and len(sequences) >= self._wish.limit:
                break
        found = [self._weigh(sequence, *self._find_companions(sequence, sequences)) for sequence in sequences]
        found = [each for each in found if each.confidence >= self._threshold]
        found.sort(key=lambda each: (-each.confidence, -each.log_probability))
        return Decoded(found[: self._wish.limit], None if found else reason or Silence.BELOW_THRESHOLD)

    def continue_prefix(self, cursor: int) -> Decoded:
        """Decode the rest of the name that is being typed, and on to the end of what was asked for."""
        name = NameSearch(
            self._history,
            self._root,
            self._tokenizer,
            self._make_hope(),
            cursor=cursor,
            prefix=self._wish.prefix,
        ).find()
        if name.is_whole_prefix:
            return Decoded([], None, name.edits)
        sequence = self._begin(score=name.score)
        sequence.check()
        for edit in name.edits:
            sequence.add(edit)
        self._finish(sequence)
        sequence.check()
        sequence.refuse_half_end()
        refuse_idle(self._history.slots, self._known, look_back=0)  # typing what was there before is no undo
        found = self._weigh(sequence, sequence.score, sequence.score, continues_prefix=True)
        if found.confidence < self._threshold:
            raise Refused(Silence.BELOW_THRESHOLD)
        return Decoded([found], None)

    def _hopeful_slots(self) -> Iterator[tuple[int, float]]:
        """Iterate over slots, best first, as long as there is hope.

        With each comes its slack: how much likelier the same change at other slots can make the one there."""
        scores, limit = self._root.positions, self._wish.limit
        if self._wish.until == "token":
            slots, together = iterate_slots(scores, limit), -np.inf
        else:
            ranking = rank_companions(scores, limit, self._stop)
            slots, together = iter(ranking.slots), ranking.together
        for position in slots:
            slack = max(0.0, together - float(scores[position]))
            if not self._make_hope(slack)(float(scores[position])):
                return
            yield position, slack

    def _decode_at(self, position: int, slack: float) -> EditSequence:
        sequence = self._begin(slack)
        sequence.add_best(position)
        self._finish(sequence)
        return sequence

    def _begin(self, slack: float = 0.0, score: float = 0.0) -> EditSequence:
        return EditSequence(self._history, self._root, self._tokenizer, self._make_hope(slack), score)

    def _finish(self, sequence: EditSequence) -> None:
        sequence.finish_token()
        if self._wish.until == "hunk":
            sequence.finish_hunk()

    def _make_hope(self, slack: float = 0.0) -> Callable[[float], bool]:
        """Make the test whether a log-probability, which other slots may raise by the slack, can be shown."""

        def is_hopeful(score: float) -> bool:
            most = min(0.0, score + slack)
            evidence = Evidence(most, most, self._stop_score, self._best_repeats)
            return self._calibration.confidence(self._wish.until, evidence) >= self._threshold

        return is_hopeful

    def _find_companions(
        self, sequence: EditSequence, sequences: Sequence[EditSequence]
    ) -> tuple[float, float]:
        """Find the log-probability of a sequence's change at its likeliest slot, and at any slot."""
        if self._wish.until == "token":
            return sequence.score, sequence.score
        same = [other.score for other in sequences if other.change == sequence.change]
        together = min(0.0, float(np.logaddexp.reduce(same)))
        # A sequence that hardly counts among its companions is not one of them.
        is_companion = sequence.score - together > COMPANION_SCORE
        return (max(same), together) if is_companion else (sequence.score, sequence.score)

    def _weigh(
        self, sequence: EditSequence, likeliest: float, shared: float, *, continues_prefix: bool = False
    ) -> DecodedEdits:
        """Give a sequence its confidence."""
        evidence = Evidence(likeliest, shared, self._stop_score, sequence.repeats)
        return DecodedEdits(
            edits=tuple(sequence.edits),
            log_probability=sequence.score,
            confidence=self._calibration.confidence(self._wish.until, evidence),
            because=_find_reasons(self._root.because),
            evidence=evidence,
            continues_prefix=continues_prefix,
        )


def _find_reasons(weights: Floats) -> tuple[int, ...]:
    """Find the past edits that a prediction attended to most."""
    if not len(weights):
        return ()
    most = (weights >= _BECAUSE_SHARE * weights.max()).nonzero()[0].tolist()
    return tuple(sorted(most, key=lambda index: -weights[index])[:_BECAUSE])
