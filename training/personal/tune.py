"""Fine-tuning for one person: the data that their editors kept, and gentle options."""

from itertools import chain
from pathlib import Path
from typing import Any

import platformdirs

from model.inference.bundle import DEFAULT, Bundle
from training.data.line_cache import CachingTokenizer
from training.personal.own_history import read_recordings, read_saves, write_own_history
from training.sources.recording_reader import default_folder
from training.sources.vscode_history import default_folders
from training.trajectories.excerpts import ExcerptCutter
from training.trajectories.mining_setting import SETTINGS

_EDITS_PER_MINUTE = 6_000  # what a laptop's core trains on; for the estimate alone
_EPOCHS = 3
_LEAST_MINUTES, _MOST_MINUTES = 2.0, 60.0


def prepare_own_history(bundle: Path = DEFAULT) -> tuple[Path, float]:
    """Write a dataset of what the user's editors kept; return its folder and the minutes that training will take."""
    tokenizer = CachingTokenizer(Bundle.load(bundle).require_tokenizer().json)
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
    cutter = ExcerptCutter(tokenizer, setting)
    trajectories = chain(read_recordings([recordings], cutter, 0), read_saves(histories, cutter, 0))
    out = Path(platformdirs.user_cache_dir("likewise")) / "own"
    out.parent.mkdir(parents=True, exist_ok=True)
    splits = write_own_history(trajectories, tokenizer, setting, out)["splits"]
    minutes = splits["train"]["edits"] * _EPOCHS / _EDITS_PER_MINUTE
    minutes = min(max(minutes, _LEAST_MINUTES), _MOST_MINUTES)
    print(
        f"{splits['train']['edits']} edits to learn from, {splits['dev']['edits']} held out; about {minutes:.0f} minutes"
    )
    return out, minutes


def defaults_for(bundle: Path) -> dict[str, Any]:
    """The options of a gentle fine-tuning of this bundle."""
    config = Bundle.load(bundle).config
    return {"model": config.model, "hidden": config.hidden_size, "lr": 2e-4, "warmup": 50, "batch": 12}
