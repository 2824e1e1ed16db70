import re
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from model.editing.change import Change
from model.editing.edits import Instance
from model.editing.recorder import Recorder
from model.inference.bundle import Bundle, seal
from training.data.batches import Batches, BatchSize
from training.data.examples import Examples
from training.personal import tune as personal
from training.runs.checkpoint import load_network

_TINY = Path(__file__).parents[2] / "data" / "tiny_bundle"
_CPU = torch.device("cpu")
_TEXT = "def total(items):\n    result = 0\n    for item in items:\n        result += item.price\n    return result\n"


def _spoiled(folder: Path) -> Path:
    """A bundle whose weights are noise."""
    shutil.copytree(_TINY, folder)
    weights = load_file(folder / "weights.safetensors")
    generator = torch.Generator().manual_seed(0)
    noise = {name: torch.randn(value.shape, generator=generator) for name, value in weights.items()}
    save_file(noise, folder / "weights.safetensors")
    seal(folder, "spoiled")
    return folder


def _run(folder: Path, bundle: Path) -> Path:
    """The folder of a run that ended with this bundle."""
    shutil.copytree(bundle, folder / "bundle")
    shutil.copy(bundle / "config.json", folder / "config.json")
    shutil.copy(bundle / "weights.safetensors", folder / "best.safetensors")
    return folder


def _held_out() -> Batches:
    """A rename at three places."""
    bundle = Bundle.load(_TINY)
    recorder = Recorder(bundle.require_tokenizer(), _TEXT)
    places = [found.start() for found in re.finditer("result", _TEXT)]
    for place in places:
        recorder.record([Change(place, place + len("result"), "amount")])  # as long as the old name
    instance = Instance(recorder.state, tuple(recorder.edits), conditioning=1)
    examples = Examples([instance] * 3, bundle.config.vocabulary_size)
    return Batches(examples, load_network(_TINY)[1], BatchSize(2, 1000))


def test_a_better_bundle_takes_the_place_and_the_one_before_can_come_back(tmp_path: Path) -> None:
    bundle, run = _spoiled(tmp_path / "bundle"), _run(tmp_path / "run", _TINY)
    before = Bundle.load(bundle).sha256
    assert personal.replace_if_better(bundle, run, _held_out(), _CPU, keep_previous=True)
    assert Bundle.load(bundle).name == "spoiled+own"
    personal.restore(bundle)
    assert Bundle.load(bundle).sha256 == before


def test_a_bundle_that_is_not_better_is_refused(tmp_path: Path) -> None:
    shutil.copytree(_TINY, tmp_path / "bundle")
    run = _run(tmp_path / "run", _spoiled(tmp_path / "spoiled"))
    assert not personal.replace_if_better(tmp_path / "bundle", run, _held_out(), _CPU, keep_previous=True)
    assert Bundle.load(tmp_path / "bundle").sha256 == Bundle.load(_TINY).sha256


def test_without_a_bundle_before_there_is_nothing_to_go_back_to(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nothing was kept"):
        personal.restore(tmp_path / "bundle")


def test_where_no_history_is_found_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    with pytest.raises(ValueError, match="turn on 'record my edits'"):
        personal.find_own(_TINY)
