"""All candidates at one moment, with their evidence. Serving, training and measuring call the same function.

Offsets are those of the editor's text: a half-typed word counts as part of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model.editing.change import Change
from model.editing.edits import Edit, Slots
from model.proposals.candidates import (
    Candidate,
    Origin,
    Situation,
    change_of,
    read_situation,
    replay_candidates,
)
from model.proposals.completions import find_completions
from model.proposals.evidence import COLUMNS, LEAST, Floats, Moment, gather_evidence
from model.proposals.lexical_text import LexicalTables
from model.proposals.network_opinion import NetworkOpinion
from model.proposals.sequences import describe_sequence
from model.proposals.words import find_words

LIMIT_CANDIDATES = 160


@dataclass(frozen=True, slots=True)
class Proposals:
    """Candidates at one moment, and a row of evidence for each."""

    situation: Situation
    candidates: list[Candidate]
    rows: Floats
    rendered: dict[
        int, Change
    ]  # by the number of the candidate: changes that are not those of its lexical tokens

    def change_at(self, number: int) -> Change:
        """The change that a candidate makes in the text."""
        known = self.rendered.get(number)
        return known if known is not None else change_of(self.candidates[number], self.situation.text)

    @property
    def changes(self) -> list[Change]:
        return [self.change_at(number) for number in range(len(self.candidates))]


def propose(
    slots: Slots,
    burst_ends: Sequence[int],
    tables: LexicalTables,
    moment: Moment,
    *,
    cursor: int | None = None,
    network: NetworkOpinion | None = None,
) -> Proposals:
    """Find candidates for the next edit.

    `cursor` is the slot to the left of the half-typed word `moment.prefix`, or of the cursor. Without it, the user is where
    the newest edit was made.
    """
    ends, word_slot = list(burst_ends), cursor
    if moment.prefix and cursor is not None:
        slots, ends, cursor = _with_word(slots, ends, tables, cursor, moment.prefix)
    situation = read_situation(slots, ends, tables, cursor)
    candidates = replay_candidates(situation)[:LIMIT_CANDIDATES]
    if moment.prefix and cursor is not None:
        candidates = [each for each in candidates if not _touches(each, situation)]
    found = Proposals(situation, candidates, gather_evidence(situation, candidates, moment, network), {})
    if moment.prefix and word_slot is not None:
        words = find_words(situation, moment, network, word_slot)
        found = _join(found, words.candidates, words.changes, words.rows)
    if moment.is_open:
        return _with_completions(found, ends, tables, moment)
    return found if network is None or moment.prefix else _with_sequence(found, moment, network)


def _join(
    found: Proposals, candidates: Sequence[Candidate], changes: Sequence[Change], rows: Floats
) -> Proposals:
    """Add candidates whose changes are known."""
    first = len(found.candidates)
    return Proposals(
        found.situation,
        [*found.candidates, *candidates],
        np.concatenate([found.rows, rows]),
        found.rendered | dict(enumerate(changes, start=first)),
    )


def _with_completions(
    found: Proposals, ends: Sequence[int], tables: LexicalTables, moment: Moment
) -> Proposals:
    """Add what is left of a repeat that the user has begun."""
    situation = found.situation
    at = int(situation.text.offsets[min(situation.cursor, len(situation.text))])
    completions = find_completions(situation, ends, tables, at)
    if completions is None or not completions.found:
        return found
    more = [completion.candidate for completion in completions.found]
    rows = gather_evidence(completions.before, more, moment, None)
    rows[:, COLUMNS["typed_letters"]] = [each.typed_letters for each in completions.found]
    rows[:, COLUMNS["rest_letters"]] = [each.rest_letters for each in completions.found]
    return _join(found, more, [completion.change for completion in completions.found], rows)


def _with_sequence(found: Proposals, moment: Moment, network: NetworkOpinion) -> Proposals:
    """Add the network's own hunk, or note the candidate that makes the same change."""
    sequence = network.sequence
    if sequence is None:
        return found
    column = COLUMNS["network_sequence"]
    found.rows[:, column] = LEAST
    same = [number for number, change in enumerate(found.changes) if change == sequence.change]
    if same:
        found.rows[same, column] = sequence.log_probability
        return found
    candidate, row = describe_sequence(found.situation, sequence, moment, network)
    return _join(found, [candidate], [sequence.change], row)


def _with_word(
    slots: Slots, ends: list[int], tables: LexicalTables, cursor: int, prefix: str
) -> tuple[Slots, list[int], int]:
    """The slots with the half-typed word put in, as the last edits of the newest burst or as a burst of their own."""
    result = slots.copy()
    explicit = result.explicit_position(cursor)
    begin = ends[-2] if len(ends) > 1 else 0
    newest = slots.explicit_positions()[begin:]
    # An edit of the newest burst beside the cursor; the edits after it may have moved it.
    goes_on = bool(ends) and any(abs(each - explicit) <= 1 + len(newest) - n for n, each in enumerate(newest))
    for token in tables.tokenizer.encode_segment(prefix):
        result.apply_explicit(Edit(explicit, token))
        explicit += 1
    count = len(result.edits)
    return result, [*(ends[:-1] if goes_on else ends), count], len(result.contents) - 1


def _touches(candidate: Candidate, situation: Situation) -> bool:
    """Would the candidate change the word that is being typed? That word is only ever completed."""
    word = situation.cursor - 1
    return candidate.origin != Origin.COMPLETION and any(
        span.first <= word < max(span.last, span.first + 1) for span in candidate.site
    )
