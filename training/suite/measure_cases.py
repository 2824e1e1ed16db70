"""A bundle's answers to the written cases."""

from collections.abc import Sequence
from typing import Any

from tqdm import tqdm

from model.inference.bundle import Bundle
from model.inference.predictor import Predictor
from training.suite.cases import Case
from training.suite.next_edit import CaseAnswer, ask
from training.suite.written_cases import WrittenCase


def measure_written_cases(bundle: Bundle, cases: Sequence[WrittenCase]) -> list[dict[str, Any]]:
    """The bundle's answer to each written case at its default threshold."""
    threshold = bundle.calibration.threshold("hunk")
    rows = []
    for written, answer in zip(cases, _ask_all(bundle, [written.case for written in cases]), strict=True):
        is_shown = answer.change is not None and answer.confidence >= threshold
        row: dict[str, Any] = {"name": written.name, "title": written.title, "status": written.status}
        row |= {"is_shown": is_shown, "confidence": answer.confidence, "silence": answer.silence}
        rows.append(row | {"is_right": written.case.is_right(answer.change if is_shown else None)})
    return rows


def _ask_all(bundle: Bundle, cases: Sequence[Case]) -> list[CaseAnswer]:
    predictor = Predictor(bundle, device="cpu")
    return [ask(predictor, case) for case in tqdm(cases, unit=" cases", desc=bundle.name)]
