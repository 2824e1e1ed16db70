"""Bundle: the shipped folder with graphs, tokenizer, configuration and calibration. A manifest has the SHA-256 of each.

encode.onnx   state -> hidden states, the caches of an empty history and the first position's distribution
step.onnx     appends edits to the caches and predicts the next position
content.onnx  the content at a position
weights.safetensors   the weights, which the graphs read and training continues from
config.json, calibration.json, tokenizer.json (absent where tokens are not text), MODEL_CARD.md, manifest.json
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model.config import ModelConfig
from model.editing.tokenizer import Tokenizer
from model.inference.calibration import Calibration
from model.inference.graph_names import GRAPHS

FORMAT = 2
DEFAULT = Path(__file__).parent.parent / "default"
_NEEDED = (*(f"{graph}.onnx" for graph in GRAPHS), "weights.safetensors", "config.json", "calibration.json")


class BundleError(Exception):
    """A folder is not a whole bundle, or not one that this version reads."""


class OldBundleError(BundleError):
    """A bundle has an older format than this version reads."""


@dataclass(frozen=True)
class Bundle:
    """A bundle that has been read and checked."""

    directory: Path
    name: str
    sha256: str  # of the whole: two bundles with one hash are the same
    config: ModelConfig
    calibration: Calibration
    tokenizer: Tokenizer | None

    @classmethod
    def load(cls, directory: Path | str) -> "Bundle":
        """Read and check a bundle."""
        directory = Path(directory)
        manifest = read_manifest(directory)
        _check_format(directory, manifest["format"])
        missing = [name for name in _NEEDED if name not in manifest["files"]]
        if missing:
            raise BundleError(f"the bundle in {directory} lacks {', '.join(missing)}")
        try:
            config = ModelConfig.from_text(_read(directory / "config.json").decode())
            calibration = Calibration.from_json(json.loads(_read(directory / "calibration.json")))
            tokenizer = None
            if "tokenizer.json" in manifest["files"]:
                tokenizer = Tokenizer(_read(directory / "tokenizer.json").decode())
        except (ValueError, TypeError, KeyError) as error:
            raise BundleError(f"the bundle in {directory} cannot be read: {error}") from None
        if tokenizer is not None and len(tokenizer) != config.vocabulary_size:
            raise BundleError(
                f"the tokenizer in {directory} has {len(tokenizer)} tokens and the model {config.vocabulary_size}:"
                " they do not belong together"
            )
        return cls(directory, manifest["name"], _hash_whole(manifest), config, calibration, tokenizer)

    def require_tokenizer(self) -> Tokenizer:
        if self.tokenizer is None:
            raise BundleError(f"the bundle in {self.directory} has no tokenizer: it was not trained on text")
        return self.tokenizer


def seal(directory: Path, name: str, origin: Mapping[str, Any] | None = None) -> None:
    """Write the manifest of a complete folder. `origin` is added to what an older manifest there says about it."""
    files = sorted(path for path in directory.iterdir() if path.name != "manifest.json")
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "name": name,
        "files": {path.name: _sha256(path.read_bytes()) for path in files},
    }
    if known := _read_origin(directory) | dict(origin or {}):
        manifest["origin"] = known
    (directory / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")


def _read_origin(directory: Path) -> dict[str, Any]:
    """Read the origin of the files from the manifest of a folder."""
    try:
        origin = json.loads((directory / "manifest.json").read_text()).get("origin")
    except (OSError, ValueError, AttributeError):
        return {}
    return origin if isinstance(origin, dict) else {}


def read_manifest(directory: Path) -> dict[str, Any]:
    """Read the manifest of a bundle of any format, and check that its files are as they were sealed."""
    try:
        manifest = json.loads(_read(directory / "manifest.json"))
        version, files, name = manifest["format"], manifest["files"], manifest["name"]
    except (ValueError, KeyError, TypeError):
        raise BundleError(f"the manifest in {directory} cannot be read") from None
    is_whole = isinstance(version, int) and isinstance(name, str) and isinstance(files, dict)
    if not is_whole or any(Path(file).name != file for file in files):  # nothing outside of the folder
        raise BundleError(f"the manifest in {directory} cannot be read")
    for file, expected in files.items():
        if _sha256(_read(directory / file)) != expected:
            raise BundleError(f"{file} in {directory} is damaged: its SHA-256 is not the manifest's")
    return dict(manifest)


def _check_format(directory: Path, theirs: int) -> None:
    """Refuse a bundle of another format, and say what to do."""
    found = (
        f"the bundle in {directory} has format {theirs} and this version of Likewise reads format {FORMAT}"
    )
    if theirs < FORMAT:
        raise OldBundleError(
            f"{found}: export it again with python -m training.export {directory} --out FOLDER"
        )
    if theirs > FORMAT:
        raise BundleError(f"{found}: update Likewise")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise BundleError(f"{path.parent} is not a bundle: it has no {path.name}") from None
    except OSError as error:
        raise BundleError(f"{path} cannot be read: {error.strerror}") from None


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _hash_whole(manifest: dict[str, Any]) -> str:
    # The model card describes the bundle and has no part in its answers.
    files = {name: value for name, value in manifest["files"].items() if name != "MODEL_CARD.md"}
    return _sha256(json.dumps(files, sort_keys=True).encode())
