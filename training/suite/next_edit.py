"""The next-edit suite: a bundle's answer to each case, and figures of all answers.

A case is put to the Predictor that ships, as the service would put it, once and without a threshold. The confidence then
says at which thresholds the answer would have been shown.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from model.editing.change import Change
from model.editing.recorder import Recorder
from model.editing.rendering import render
from model.inference.calibration import Evidence
from model.inference.history import AnyHistory
from model.inference.predictor import Predictor
from model.inference.search import Wish, decode
from model.proposals.suggester import StreamFacts, Suggester
from model.silence import Silence
from training.suite.cases import KINDS, Case
from training.suite.floors import replay

THRESHOLDS = (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98)
_BINS = 10
_NOTHING = Evidence(0.0, 0.0)


class CaseAnswer(NamedTuple):
    """The answer of a bundle, or of a floor, to a case."""

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


def ask_replay(case: Case) -> CaseAnswer:
    """The floor that needs no network: always sure."""
    change = replay(case)
    return _make_answer(case, change, _NOTHING, 1.0 if change else 0.0, None)


def _make_answer(
    case: Case, change: Change | None, evidence: Evidence, confidence: float, silence: str | None
) -> CaseAnswer:
    is_right = case.expected_text is not None and change is not None and case.is_right(change)
    return CaseAnswer(case, change, evidence, confidence, silence, is_right)


def summary(answers: Sequence[CaseAnswer], threshold: float) -> dict[str, Any]:
    """The figures at one threshold, of all cases and of each kind."""
    return {"threshold": threshold, "all": _figures(answers, threshold)} | {
        kind: _figures([answer for answer in answers if answer.case.kind == kind], threshold)
        for kind in KINDS
    }


def by_language(answers: Sequence[CaseAnswer], threshold: float) -> dict[str, Any]:
    languages = sorted({answer.case.language for answer in answers})
    return {name: _figures([a for a in answers if a.case.language == name], threshold) for name in languages}


def _figures(answers: Sequence[CaseAnswer], threshold: float) -> dict[str, Any]:
    shown = [answer for answer in answers if answer.change is not None and answer.confidence >= threshold]
    right = sum(answer.is_right for answer in shown)
    due = sum(answer.case.expected_text is not None for answer in answers)
    return {
        "cases": len(answers),
        "shown": len(shown),
        "right": right,
        "precision": right / len(shown) if shown else None,
        "recall": right / due if due else None,
        "quiet": 1 - len(shown) / len(answers) if answers else None,
    }


def calibration_error(answers: Sequence[CaseAnswer]) -> float:
    """Expected calibration error: how far confidence is from the share that was right, over equal bins."""
    spoken = [answer for answer in answers if answer.change is not None]
    if not spoken:
        return 0.0
    confidence = np.array([answer.confidence for answer in spoken])
    right = np.array([answer.is_right for answer in spoken], dtype=float)
    bins = np.minimum((confidence * _BINS).astype(int), _BINS - 1)
    gaps = [abs(confidence[bins == b].sum() - right[bins == b].sum()) for b in range(_BINS)]
    return float(sum(gaps) / len(spoken))


def precision_at_recall(answers: Sequence[CaseAnswer], recall: float) -> float | None:
    """The precision at the highest threshold that reaches a recall."""
    due = sum(answer.case.expected_text is not None for answer in answers)
    spoken = sorted((a for a in answers if a.change is not None), key=lambda a: -a.confidence)
    right = np.cumsum([answer.is_right for answer in spoken])
    for shown, found in enumerate(right, start=1):
        if found >= recall * due:
            return float(found / shown)
    return None


def report(answers: Sequence[CaseAnswer], floor: Sequence[CaseAnswer], threshold: float) -> dict[str, Any]:
    """Everything, as JSON. `threshold` is the bundle's own."""
    repeats = [answer for answer in answers if answer.case.kind == "repeat"]
    floor_repeat = _figures([answer for answer in floor if answer.case.kind == "repeat"], 0.5)
    return {
        "default_threshold": threshold,
        "at_default": summary(answers, threshold),
        "by_threshold": [summary(answers, value) for value in THRESHOLDS],
        "by_language": by_language(answers, threshold),
        "calibration_error": calibration_error(answers),
        "replay": summary(floor, 0.5),
        "repeat_precision_at_replay_recall": precision_at_recall(repeats, floor_repeat["recall"] or 0.0),
        "silences": _silences(answers),
    }


def _silences(answers: Sequence[CaseAnswer]) -> dict[str, int]:
    reasons = [answer.silence for answer in answers if answer.silence]
    return {reason: reasons.count(reason) for reason in sorted(set(reasons))}
