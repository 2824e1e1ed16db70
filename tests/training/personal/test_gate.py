"""A tuned bundle replaces the old one only if it is better."""

import re
import shutil
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from model.editing.change import Change
from model.editing.edits import Instance
from model.editing.recorder import Recorder
from model.inference.bundle import Bundle, seal
from training.data.batches import Batches, BatchSize
from training.data.examples import Examples
from training.personal.gate import replace_if_better
from training.personal.restore import restore_bundle
from training.runs.checkpoint import load_network

_TINY = Path(__file__).parents[2] / "data" / "tiny_bundle"
_CPU = torch.device("cpu")
_TEXT = "def total(items):\n    result = 0\n    for item in items:\n        result += item.price\n    return result\n"


def _spoil_bundle(folder: Path) -> Path:
    """A bundle whose weights are noise."""
    shutil.copytree(_TINY, folder)
    weights = load_file(folder / "weights.safetensors")
    generator = torch.Generator().manual_seed(0)
    noise = {name: torch.randn(value.shape, generator=generator) for name, value in weights.items()}
    save_file(noise, folder / "weights.safetensors")
    seal(folder, "spoiled")
    return folder


def _make_run(folder: Path, bundle: Path) -> Path:
    """The folder of a run that ended with this bundle."""
    shutil.copytree(bundle, folder / "bundle")
    shutil.copy(bundle / "config.json", folder / "config.json")
    shutil.copy(bundle / "weights.safetensors", folder / "best.safetensors")
    return folder


def _make_held_out() -> Batches:
    """Three uses of a name renamed."""
    bundle = Bundle.load(_TINY)
    recorder = Recorder(bundle.require_tokenizer(), _TEXT)
    starts = [found.start() for found in re.finditer("result", _TEXT)]
    for start in starts:
        recorder.record([Change(start, start + len("result"), "amount")])  # as long as the old name
    instance = Instance(recorder.state, tuple(recorder.edits), conditioning=1)
    examples = Examples([instance] * 3, bundle.config.vocabulary_size)
    return Batches(examples, load_network(_TINY)[1], BatchSize(2, 1000))


def test_a_better_bundle_replaces_the_old_one_which_can_come_back(tmp_path: Path) -> None:
    bundle, run = _spoil_bundle(tmp_path / "bundle"), _make_run(tmp_path / "run", _TINY)
    before = Bundle.load(bundle).sha256
    assert replace_if_better(bundle, run, _make_held_out(), _CPU, keep_previous=True)
    assert Bundle.load(bundle).name == "spoiled+own"
    restore_bundle(bundle)
    assert Bundle.load(bundle).sha256 == before


def test_a_bundle_that_is_not_better_is_refused(tmp_path: Path) -> None:
    shutil.copytree(_TINY, tmp_path / "bundle")
    run = _make_run(tmp_path / "run", _spoil_bundle(tmp_path / "spoiled"))
    assert not replace_if_better(tmp_path / "bundle", run, _make_held_out(), _CPU, keep_previous=True)
    assert Bundle.load(tmp_path / "bundle").sha256 == Bundle.load(_TINY).sha256
