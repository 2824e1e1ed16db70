"""Batch size against latency: `python -m tests.bench --device cuda`, or `cpu` to see that single steps are faster there."""

import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from model.editing.edits import DELETE, END, START, Edit
from model.inference.bundle import DEFAULT
from model.inference.history import History
from model.inference.predictor import Predictor
from model.inference.together import step_together
from training.export import export, load_run

_TOKENS, _EDITS, _ROUNDS = 1_000, 50, 30
_KEYS_PER_SECOND = 0.5  # of one developer who has a file open and types, pauses included


def rows(device: str) -> list[tuple[str, str, str]]:
    """Rows of the table: the measure, its figure, the wanted figure."""
    with tempfile.TemporaryDirectory() as folder:
        network, config, tokenizer = load_run(DEFAULT)
        bundle = export(network, config, tokenizer, Path(folder) / "bundle", name="bench", device="cuda")
        predictor = Predictor(bundle, device, with_judge=False, together=True)
        result = [("provider", predictor.provider, "")]
        for size in (1, *reversed(predictor.runner.sizes_together)):
            seconds = _measure(predictor, size)
            each = 1000 * seconds / size
            keys = f"{size / seconds:.0f} steps a second, {size / seconds / _KEYS_PER_SECOND:.0f} sessions"
            figure = f"{1000 * seconds:.2f} ms, {each:.2f} ms for each, {keys}"
            result.append((f"step of {size} histories, {_TOKENS:,} tokens, about {_EDITS} edits", figure, ""))
        return result


def _measure(predictor: Predictor, size: int) -> float:
    """Return the median seconds of one run of `size` histories, each with one new edit."""
    random = np.random.default_rng(0)
    vocabulary = predictor.bundle.config.vocabulary_size
    histories = []
    for number in range(size):
        tokens = random.integers(4, vocabulary, _TOKENS - 40 * number)
        history = predictor.open((START, *map(int, tokens), END))
        history.append([Edit(3 * index + 5, DELETE) for index in range(_EDITS - 3 * number)])
        history.predict()
        histories.append(history)
    taken = []
    for _ in range(_ROUNDS):
        for history in histories:
            history.append([Edit(400, DELETE)])
        began = time.perf_counter()
        step_together(history for history in histories if isinstance(history, History))
        for history in histories:
            history.predict()
        taken.append(time.perf_counter() - began)
        for history in histories:
            history.keep(len(history.slots.edits) - 1)
    return statistics.median(taken)
