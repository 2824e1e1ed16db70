"""The network's own hunk as a candidate, with the evidence for it."""

import numpy as np

from model.proposals.candidates import Candidate, Origin, Situation
from model.proposals.evidence import COLUMNS, Floats, Moment, gather_evidence
from model.proposals.network_opinion import NetworkOpinion, Sequence
from model.proposals.sites import Span


def describe_sequence(
    situation: Situation, sequence: Sequence, moment: Moment, network: NetworkOpinion
) -> tuple[Candidate, Floats]:
    """A candidate that makes the network's hunk, and its row of evidence."""
    text, tables = situation.text, situation.text.tables
    change = sequence.change
    first = text.index_at(change.start)
    last = int(np.searchsorted(text.offsets, change.end, side="left"))
    come = tuple(tables.split(tables.tokenizer.encode_segment(change.text))) if change.text else ()
    candidate = Candidate(Origin.NETWORK, (Span(first, max(first, last)),), (come,), None)
    row = gather_evidence(situation, [candidate], moment, network)
    row[:, COLUMNS["gone_letters"]] = change.end - change.start
    row[:, COLUMNS["come_letters"]] = len(change.text)
    row[:, COLUMNS["come_lines"]] = change.text.count("\n")
    row[:, COLUMNS["network_sequence"]] = sequence.log_probability
    return candidate, row
