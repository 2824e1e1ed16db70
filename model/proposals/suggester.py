"""The suggester: from a history to the changes that are sure enough to be shown.

Candidates come from the user's own changes, evidence about them from the text, the moment and the network, and the judge
decides. Offsets are those of the editor's text, which holds the half-typed word.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.editing.change import Change
from model.editing.edits import DELETE, Edit, Slots
from model.inference.history import AnyHistory
from model.proposals.candidates import Candidate, Origin, Situation
from model.proposals.change_edits import edits_of_change
from model.proposals.evidence import COLUMNS, Moment
from model.proposals.judge import Judge
from model.proposals.lexical_text import LexicalTables
from model.proposals.network_opinion import NetworkOpinion
from model.proposals.precedents import Pattern
from model.proposals.proposals import Proposals, propose
from model.proposals.ranking import rank_candidates
from model.proposals.unfinished import looks_unfinished
from model.silence import Silence

OPEN_SECONDS = 1.0  # a burst may go on for so long after its last key
SETTLED_SECONDS = 0.8  # a change that is still being made is not repeated before so much quiet
FINISHED_SECONDS = 2.5  # the same for one that looks as if it goes on
# Between two keys nobody reads a doubtful offer, and there are ten such moments for each pause: the threshold rises there,
# by most in the middle. 0 still shows everything.
_RISE_BETWEEN_KEYS = 0.65
ORDER_WEIGHT = 0.3  # of confidence beside order, when changes are ranked
_BECAUSE = 3  # precedents that are named as reasons


class StreamFacts(NamedTuple):
    """The facts that a client knows about its stream beside the edits."""

    burst_ends: Sequence[
        int
    ] = ()  # for each burst the number of edits up to its end; empty when it is unknown
    pause_seconds: float | None = None  # since the last change
    cursor: int | None = None  # the slot left of the cursor
    prefix: str = ""  # the word that is being typed there


class JudgedChange(NamedTuple):
    """A change that is sure enough, in the editor's text."""

    change: Change
    edits: tuple[Edit, ...]  # after those that insert the half-typed word
    confidence: float
    because: tuple[int, ...]  # past edits that it repeats
    places_left: int = 1  # where the same change is sure enough, this one included


class Judgement(NamedTuple):
    """The changes to show, best first, or the reason why there are none."""

    changes: list[JudgedChange]
    silence: Silence | None
    word_edits: tuple[Edit, ...] = ()  # the edits that insert the half-typed word


@dataclass(frozen=True, slots=True)
class Weighed:
    """The candidates of one moment with the judge's verdicts. The threshold decides which of them are shown."""

    proposals: Proposals
    ends: list[int]  # of the bursts
    edits: int  # in the history
    is_between_keys: bool
    confidence: NDArray[np.float32]
    order: NDArray[np.float32]

    def choose(self, threshold: float, limit: int) -> Judgement:
        """The first `limit` changes to show at a threshold."""
        if self.is_between_keys:
            threshold += _RISE_BETWEEN_KEYS * threshold * (1 - threshold)
        proposals, situation = self.proposals, self.proposals.situation
        travel = proposals.rows[:, COLUMNS["rank_in_travel"]]
        order = self.order + ORDER_WEIGHT * self.confidence
        ranked = rank_candidates(proposals.candidates, self.confidence, order, travel, threshold)
        if not ranked:
            return Judgement([], Silence.BELOW_THRESHOLD)
        changes = [
            JudgedChange(
                change := proposals.change_at(each.number),
                edits_of_change(situation.slots, situation.text, change),
                each.confidence,
                _because(proposals.candidates[each.number], self.ends, self.edits),
                each.places,
            )
            for each in ranked[:limit]
        ]
        return Judgement(changes, None, tuple(situation.slots.edits[self.edits :]))


class Suggester:
    """Finds and judges candidates."""

    def __init__(self, tables: LexicalTables, judge: Judge) -> None:
        self._tables, self._judge = tables, judge

    def suggest(
        self,
        history: AnyHistory,
        facts: StreamFacts,
        threshold: float,
        limit: int,
        *,
        with_network: bool = True,
    ) -> Judgement:
        """Find the next changes. The history is left as it was found."""
        if not history.slots.edits:
            return Judgement([], Silence.NOTHING_EDITED)
        return self.weigh(history, facts, with_network=with_network).choose(threshold, limit)

    def weigh(self, history: AnyHistory, facts: StreamFacts, *, with_network: bool = True) -> Weighed:
        """Find candidates and judge them. Without the network, the plain evidence alone speaks."""
        slots = history.slots
        ends = list(facts.burst_ends) or find_bursts(slots)
        is_open = facts.pause_seconds is not None and facts.pause_seconds < OPEN_SECONDS
        moment = Moment(facts.pause_seconds, is_open, facts.prefix)
        opinion = NetworkOpinion(history, self._tables.tokenizer) if with_network else None
        proposals = propose(slots, ends, self._tables, moment, cursor=facts.cursor, network=opinion)
        confidence, order = self._judge.judge(proposals.rows)
        confidence = np.where(_is_unsettled(proposals, facts), 0.0, confidence).astype(np.float32)
        return Weighed(proposals, ends, len(slots.edits), _is_early(facts), confidence, order)


def find_bursts(slots: Slots) -> list[int]:
    """Find the ends of bursts when the client does not tell them: edits that touch belong together."""
    ends: list[int] = []
    first = last = -2  # explicit positions of the run of edits so far
    for index, (position, edit) in enumerate(zip(slots.explicit_positions(), slots.edits, strict=True)):
        at = position if edit.content == DELETE else position + 1
        if index and not first - 1 <= at <= last + 1:
            ends.append(index)
            first = last = at
        first = min(first, at) if first >= 0 else at
        last = max(last, at)
    return [*ends, len(slots.edits)]


def _is_unsettled(proposals: Proposals, facts: StreamFacts) -> NDArray[np.bool_]:
    """Does a candidate rest only on a change that is still being made?"""
    unsettled = np.zeros(len(proposals.candidates), np.bool_)
    if facts.pause_seconds is None or facts.pause_seconds >= FINISHED_SECONDS:
        return unsettled
    situation, known = proposals.situation, dict[int, bool]()  # by the pattern's identity
    for number, candidate in enumerate(proposals.candidates):
        pattern = candidate.pattern
        # The rest of a begun repeat rests on the changes before it.
        if pattern is None or candidate.origin == Origin.COMPLETION or not _is_newest(pattern, situation):
            continue
        if id(pattern) not in known:
            others = [other.key for other in situation.patterns]
            known[id(pattern)] = _is_early(facts) or looks_unfinished(
                pattern.key, others, situation.text.tables
            )
        unsettled[number] = known[id(pattern)]
    return unsettled


def _is_newest(pattern: Pattern, situation: Situation) -> bool:
    """Was the change made by the newest burst alone?"""
    return all(precedent.burst == situation.bursts - 1 for precedent in pattern.precedents)


def _is_early(facts: StreamFacts) -> bool:
    """Is the user in the middle of typing?"""
    return facts.pause_seconds is not None and facts.pause_seconds < SETTLED_SECONDS


def _because(candidate: Candidate, ends: Sequence[int], count: int) -> tuple[int, ...]:
    """The last edit of each of the newest precedents."""
    if candidate.pattern is None:
        return ()
    bursts = [precedent.burst for precedent in reversed(candidate.pattern.precedents)]
    found = dict.fromkeys(ends[burst] - 1 for burst in bursts if burst < len(ends))
    return tuple(index for index in found if index < count)[:_BECAUSE]
