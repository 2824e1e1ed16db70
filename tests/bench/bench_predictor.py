"""One more edit and the distribution of the next, incremental against a full pass, in the Predictor alone."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from model.config import ModelConfig
from model.editing.edits import DELETE, END, START, Edit
from model.inference.predictor import Predictor
from model.networks.build import build
from model.networks.incremental import IncrementalNetwork
from training.export import export

_TOKENS, _EDITS, _HIDDEN, _VOCABULARY = 1_000, 100, 256, 4096
_ROUNDS = 15


def rows() -> list[tuple[str, str, str]]:
    """Rows of the table: the measure, its figure, the wanted figure."""
    torch.manual_seed(0)
    config = ModelConfig("IA-ag", _VOCABULARY, hidden_size=_HIDDEN, limit_tokens=2048)
    network = build(config)
    assert isinstance(network, IncrementalNetwork)
    with tempfile.TemporaryDirectory() as folder:
        predictor = Predictor(
            export(network, config, None, Path(folder) / "bundle", name="bench"), device="cpu"
        )
        return _measure(predictor)


def _measure(predictor: Predictor) -> list[tuple[str, str, str]]:
    random = np.random.default_rng(0)
    state = (START, *(int(token) for token in random.integers(4, _VOCABULARY, _TOKENS)), END)
    edits = [Edit(3 * index + 5, DELETE) for index in range(_EDITS)]
    one_more = Edit(3 * _EDITS + 50, DELETE)
    history = predictor.open(state)
    history.append(edits)

    def full() -> None:
        fresh = predictor.open(state)
        fresh.append([*edits, one_more])
        fresh.content(fresh.predict(), 7)

    def incremental() -> None:
        history.append([one_more])
        history.content(history.predict(), 7)
        history.keep(_EDITS)

    slow, fast = _milliseconds(full), _milliseconds(incremental)
    return [
        ("Predictor, full pass, 1,000 tokens, 100 edits", f"{slow:.1f} ms", ""),
        ("Predictor, one more edit and its prediction", f"{fast:.2f} ms", ""),
        ("Predictor, full pass against incremental", f"{slow / fast:.0f} x", ">= 20 x"),
    ]


def _milliseconds(work: Callable[[], None]) -> float:
    times = []
    for _ in range(_ROUNDS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return 1000 * min(times)  # the round that the machine's other work disturbed least


if __name__ == "__main__":
    for row in rows():
        print("  ".join(row))
