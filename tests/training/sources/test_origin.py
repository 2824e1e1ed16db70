"""The origin of a bundle's parts."""

import hashlib
from pathlib import Path

from training.sources.origin import describe_origin


def test_a_dataset_is_named_by_the_hash_of_its_manifest(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    origin = describe_origin(7, tmp_path)
    assert origin["seed"] == 7
    assert origin["data_sha256"] == hashlib.sha256(b"{}").hexdigest()
    assert describe_origin(7, tmp_path / "manifest.json") == origin
    assert describe_origin(7, Path("synthetic:Append1"))["data_sha256"] is None
