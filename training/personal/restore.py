"""Going back: a replaced bundle is kept beside its successor."""

import shutil
from pathlib import Path

from model.inference.bundle import Bundle


def restore_bundle(bundle: Path) -> None:
    """Go back to the bundle that was replaced."""
    previous = _previous_folder(bundle)
    if not previous.is_dir():
        raise ValueError(f"{previous} is not there: nothing was kept to go back to")
    Bundle.load(previous)
    swap_in(previous, bundle, keep_previous=False)


def swap_in(fresh: Path, bundle: Path, *, keep_previous: bool) -> None:
    """Put a fresh bundle where the old one is, by renaming: but for a moment there is always a whole bundle."""
    aside = _previous_folder(bundle) if keep_previous else bundle.with_name(bundle.name + ".old")
    shutil.rmtree(aside, ignore_errors=True)
    bundle.rename(aside)
    fresh.rename(bundle)
    if not keep_previous:
        shutil.rmtree(aside)


def _previous_folder(bundle: Path) -> Path:
    return bundle.with_name(bundle.name + ".previous")
