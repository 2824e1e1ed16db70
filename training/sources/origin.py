"""The origin of a bundle's parts, for its manifest: the seed, the commit of the code and the hash of the data."""

import hashlib
from pathlib import Path
from typing import Any

from training.sources.git import head_of

_CHECKOUT = Path(__file__).parents[2]


def describe_origin(seed: int, data: Path) -> dict[str, Any]:
    """Describe how something was made. `data`: a corpus file, or a dataset's folder, whose manifest stands for it."""
    file = data / "manifest.json" if data.is_dir() else data
    return {
        "seed": seed,
        "code": _find_commit(),
        "data_sha256": hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else None,
    }


def _find_commit() -> str | None:
    """The commit of this checkout; None where the code is not in one."""
    if not (_CHECKOUT / ".git").exists():
        return None
    try:
        return head_of(_CHECKOUT)
    except ValueError:
        return None
