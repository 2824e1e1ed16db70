"""Steps of several histories in one run give what single steps give."""

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from model.config import ModelConfig
from model.editing.edits import Instance
from model.inference.bundle import Bundle
from model.inference.history import History
from model.inference.predictor import Predictor
from model.inference.together import step_together
from model.networks.build import build
from model.networks.incremental import IncrementalNetwork
from training.export import export
from training.graphs.network_graphs import random_instance

TOLERANCE = 2e-5  # a product of several rows may add in another order

CONFIG = ModelConfig(
    "IA-next", 97, hidden_size=16, heads=2, limit_tokens=256, limit_edits=64, attention_block=8
)


@pytest.fixture(scope="module")
def predictor(tmp_path_factory: pytest.TempPathFactory) -> Predictor:
    """A small network in a bundle for a GPU, run on the CPU."""
    torch.manual_seed(7)
    network = build(CONFIG)
    assert isinstance(network, IncrementalNetwork)
    folder: Path = tmp_path_factory.mktemp("bundle") / "cuda"
    return Predictor(
        Bundle.load(export(network, CONFIG, None, folder, name="t", device="cuda").directory),
        "cpu",
        together=True,
    )


def open_history(predictor: Predictor, instance: Instance, known: int) -> History:
    """A history of which the first edits have run, and the others wait."""
    history = predictor.open(instance.state)
    assert isinstance(history, History)
    if known:
        history.append(instance.edits[:known])
        history.predict()
    history.append(instance.edits[known:])
    return history


def assert_equal_answers(together: History, alone: History, position: int) -> None:
    ours, theirs = together.predict(), alone.predict()
    np.testing.assert_allclose(ours.positions, theirs.positions, atol=TOLERANCE, rtol=1e-5)
    np.testing.assert_allclose(ours.because, theirs.because, atol=TOLERANCE)
    np.testing.assert_allclose(
        together.content(ours, position), alone.content(theirs, position), atol=TOLERANCE, rtol=1e-5
    )


@settings(max_examples=15)
@given(
    st.lists(st.tuples(st.integers(3, 90), st.integers(0, 12)), min_size=2, max_size=8),
    st.integers(1, 3),
    st.integers(0, 1000),
)
def test_histories_of_any_lengths_get_the_answers_of_single_steps(
    predictor: Predictor, lengths: list[tuple[int, int]], new: int, seed: int
) -> None:
    instances = [
        random_instance(CONFIG, length=length, edits=known + new + 1, seed=seed + number)
        for number, (length, known) in enumerate(lengths)
    ]
    makes = [Instance(instance.state, instance.edits[:-1]) for instance in instances]
    together = [open_history(predictor, each, known) for each, (_, known) in zip(makes, lengths, strict=True)]
    alone = [open_history(predictor, each, known) for each, (_, known) in zip(makes, lengths, strict=True)]
    assert step_together(together) == len(lengths) // 2 * 2
    for ours, theirs, instance in zip(together, alone, instances, strict=True):
        assert_equal_answers(ours, theirs, instance.edits[-1].position)
        # The rows that the run wrote into the caches serve the next step.
        for history in (ours, theirs):
            history.append(instance.edits[-1:])
        assert_equal_answers(ours, theirs, 1)


def test_a_history_grows_beyond_its_room_in_a_batch(predictor: Predictor) -> None:
    instances = [random_instance(CONFIG, length=20, edits=40, seed=seed) for seed in (1, 2)]
    together = [open_history(predictor, each, 32) for each in instances]
    alone = [open_history(predictor, each, 32) for each in instances]
    assert step_together(together) == 2
    for ours, theirs in zip(together, alone, strict=True):
        assert_equal_answers(ours, theirs, 3)


def test_what_does_not_wait_or_waits_with_another_number_of_edits_runs_by_itself(
    predictor: Predictor,
) -> None:
    instances = [random_instance(CONFIG, length=20, edits=3, seed=seed) for seed in (1, 2, 3)]
    histories = [
        open_history(predictor, each, known) for each, known in zip(instances, (3, 2, 1), strict=True)
    ]
    assert step_together(histories) == 0
    for history, instance in zip(histories, instances, strict=True):
        assert_equal_answers(history, open_history(predictor, instance, 0), 1)


def test_a_bundle_for_the_cpu_steps_nothing_together(predictor: Predictor) -> None:
    from model.inference.bundle import DEFAULT

    plain = Predictor(Bundle.load(DEFAULT), "cpu", together=True)
    assert plain.runner.sizes_together == []
