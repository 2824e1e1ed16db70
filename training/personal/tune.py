"""Retraining for one person: find what their editor kept, fine-tune the shipped bundle on it, replace it only by a better one.

python -m training.fit                                 looks for recordings and VS Code's local history
python -m training.fit --init BUNDLE --data DATASET    fine-tunes on any dataset
python -m training.fit --restore BUNDLE                goes back to the bundle before
"""

import shutil
from itertools import chain
from pathlib import Path
from typing import Any

import platformdirs
import torch
from torch import nn

from model.inference.bundle import DEFAULT, Bundle, seal
from training.data.batches import Batches
from training.personal.own_history import recorded, saved_sessions, write_own
from training.runs.checkpoint import load_network
from training.runs.measure import measure
from training.sources.recording_reader import default_folder
from training.sources.vscode_history import default_folders
from training.trajectories.excerpts import SETTINGS, Windows
from training.trajectories.trajectory import RememberingTokenizer

_EDITS_PER_MINUTE = 6_000  # what a laptop's core trains on; for the estimate alone
_EPOCHS = 3
_LEAST_MINUTES, _MOST_MINUTES = 2.0, 60.0


def find_own(bundle: Path = DEFAULT) -> tuple[Path, float]:
    """A dataset of what the user's editors kept, and the minutes that training on it will take. Tells what it found."""
    tokenizer = RememberingTokenizer(Bundle.load(bundle).require_tokenizer().json)
    setting = SETTINGS["product"]
    recordings, histories = default_folder(), default_folders()
    folders = [folder for folder in [recordings, *histories] if folder.is_dir()]
    if not folders:
        raise ValueError(
            "neither recordings nor a local history of VS Code were found: turn on 'record my edits',"
            " or mine a repository with python -m training.mine git and give it as --data"
        )
    for folder in folders:
        print(f"found {folder}")
    windows = Windows(tokenizer, setting)
    sessions = chain(recorded([recordings], windows, 0), saved_sessions(histories, windows, 0))
    out = Path(platformdirs.user_cache_dir("likewise")) / "own"
    out.parent.mkdir(parents=True, exist_ok=True)
    splits = write_own(sessions, tokenizer, setting, out)["splits"]
    minutes = splits["train"]["edits"] * _EPOCHS / _EDITS_PER_MINUTE
    minutes = min(max(minutes, _LEAST_MINUTES), _MOST_MINUTES)
    print(
        f"{splits['train']['edits']} edits to learn from, {splits['dev']['edits']} held out; about {minutes:.0f} minutes"
    )
    return out, minutes


def replace_if_better(
    bundle: Path, run_folder: Path, held_out: Batches, device: torch.device, *, keep_previous: bool
) -> bool:
    """Put a run's bundle in the place of the one it began with, if it is better on the held-out slice."""
    old = _accuracy(load_network(bundle)[0], held_out, device)
    new = _accuracy(load_network(run_folder)[0], held_out, device)
    print(f"held-out accuracy of whole edits: {100 * old:.2f} before, {100 * new:.2f} after")
    if new <= old:
        print(f"it did not get better: {bundle} stays as it is")
        return False
    made = run_folder / "bundle"
    before = Bundle.load(bundle)
    # How sure a log-probability is was measured on many repositories, not on one person's edits: it stays.
    shutil.copy(bundle / "calibration.json", made / "calibration.json")
    seal(made, f"{before.name.removesuffix('+own')}+own")
    fresh = bundle.with_name(bundle.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.copytree(made, fresh)
    _put(fresh, bundle, keep_previous=keep_previous)
    print(f"{bundle} is the new one" + (f"; go back with --restore {bundle}" if keep_previous else ""))
    return True


def restore(bundle: Path) -> None:
    """Back to the bundle that was replaced."""
    previous = _previous(bundle)
    if not previous.is_dir():
        raise ValueError(f"{previous} is not there: nothing was kept to go back to")
    Bundle.load(previous)
    _put(previous, bundle, keep_previous=False)


def _put(fresh: Path, place: Path, *, keep_previous: bool) -> None:
    """Rename, so that there is a whole bundle in the place but for a moment."""
    aside = _previous(place) if keep_previous else place.with_name(place.name + ".old")
    shutil.rmtree(aside, ignore_errors=True)
    place.rename(aside)
    fresh.rename(place)
    if not keep_previous:
        shutil.rmtree(aside)


def _previous(bundle: Path) -> Path:
    return bundle.with_name(bundle.name + ".previous")


def _accuracy(network: nn.Module, held_out: Batches, device: torch.device) -> float:
    return measure(network.to(device), held_out, device).edit_accuracy


def defaults_for(bundle: Path) -> dict[str, Any]:
    """Options of a fine-tuning that nobody needs to know."""
    config = Bundle.load(bundle).config
    return {"model": config.model, "hidden": config.hidden_size, "lr": 2e-4, "warmup": 50, "batch": 12}
