"""A bundle's answer to a case.

A case is put to the Predictor that ships, as the service would put it, once and without a threshold. The confidence then
says at which thresholds the answer would have been shown.
"""

from typing import NamedTuple

from model.editing.change import Change
from model.editing.recorder import Recorder
from model.editing.rendering import render
from model.inference.calibration import Evidence
from model.inference.history import AnyHistory
from model.inference.predictor import Predictor
from model.inference.search import Wish, decode
from model.proposals.suggester import StreamFacts, Suggester
from model.silence import Silence
from training.suite.cases import Case

_NOTHING = Evidence(0.0, 0.0)


class CaseAnswer(NamedTuple):
    """The answer of a bundle to a case."""

    case: Case
    change: Change | None
    evidence: Evidence  # what the confidence was read from
    confidence: float
    silence: str | None
    is_right: bool


def ask(predictor: Predictor, case: Case) -> CaseAnswer:
    """Put a case to a bundle: the next hunk, whatever its confidence."""
    bundle = predictor.bundle
    tokenizer = bundle.require_tokenizer()
    recorder = Recorder(tokenizer, case.text, bundle.config.limit_history)
    for change in case.edits:
        recorder.record([change])
    recorder.finish_name()
    if not recorder.edits:
        silence = Silence.TOO_LONG if recorder.last_rebase else Silence.NOTHING_EDITED
        return _make_answer(case, None, _NOTHING, 0.0, silence)
    history = predictor.open(recorder.state)
    history.append(recorder.edits)
    if predictor.suggester is not None:
        return _ask_judge(case, predictor.suggester, history, recorder, bundle.calibration.threshold("hunk"))
    decoded = decode(history, Wish(until="hunk", threshold=0.0), tokenizer, bundle.calibration)
    if not decoded.predictions:
        return _make_answer(case, None, _NOTHING, 0.0, decoded.silence)
    best = decoded.predictions[0]
    try:
        made = render(history.slots, best.edits, tokenizer)
    except UnicodeError:
        return _make_answer(case, None, _NOTHING, 0.0, "no-op")
    return _make_answer(case, made, best.evidence, best.confidence, None)


def _ask_judge(
    case: Case, suggester: Suggester, history: AnyHistory, recorder: Recorder, threshold: float
) -> CaseAnswer:
    """Ask at the default threshold, on which the order of the sites depends; a silence is asked for its best candidate."""
    facts = StreamFacts(recorder.burst_ends)
    for least in (threshold, 0.0):
        judgement = suggester.suggest(history, facts, least, 1)
        if judgement.changes:
            best = judgement.changes[0]
            return _make_answer(case, best.change, _NOTHING, best.confidence, None)
    return _make_answer(case, None, _NOTHING, 0.0, judgement.silence)


def _make_answer(
    case: Case, change: Change | None, evidence: Evidence, confidence: float, silence: str | None
) -> CaseAnswer:
    is_right = case.expected_text is not None and change is not None and case.is_right(change)
    return CaseAnswer(case, change, evidence, confidence, silence, is_right)
