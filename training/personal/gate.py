"""The gate for a tuned bundle: it replaces the one that it began with only if it is better."""

import shutil
from pathlib import Path

import torch
from torch import nn

from model.inference.bundle import Bundle, seal
from training.data.batches import Batches
from training.personal.restore import swap_in
from training.runs.accuracy import measure_accuracy
from training.runs.checkpoint import BUNDLE, load_network


def replace_if_better(
    bundle: Path, run_folder: Path, held_out: Batches, device: torch.device, *, keep_previous: bool
) -> bool:
    """Replace a bundle by the one that a run made of it, if that is better on the held-out data; return whether it was."""
    old = _measure(load_network(bundle)[0], held_out, device)
    new = _measure(load_network(run_folder)[0], held_out, device)
    print(f"held-out accuracy of whole edits: {100 * old:.2f} before, {100 * new:.2f} after")
    if new <= old:
        print(f"it did not get better: {bundle} stays as it is")
        return False
    tuned = run_folder / BUNDLE
    before = Bundle.load(bundle)
    # How sure a log-probability is was measured on many repositories, not on one person's edits: it stays.
    shutil.copy(bundle / "calibration.json", tuned / "calibration.json")
    seal(tuned, f"{before.name.removesuffix('+own')}+own")
    fresh = bundle.with_name(bundle.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.copytree(tuned, fresh)
    swap_in(fresh, bundle, keep_previous=keep_previous)
    print(f"{bundle} is the new one" + (f"; go back with --restore {bundle}" if keep_previous else ""))
    return True


def _measure(network: nn.Module, held_out: Batches, device: torch.device) -> float:
    return measure_accuracy(network.to(device), held_out, device).edit_accuracy
