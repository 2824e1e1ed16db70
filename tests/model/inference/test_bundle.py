"""A bundle is whole, or says what is wrong with it."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from model.editing.tokenizer import train
from model.inference.bundle import Bundle, BundleError, OldBundleError, read_manifest, seal
from model.inference.predictor import Predictor
from tests.model.conftest import TINY_BUNDLE


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(TINY_BUNDLE, tmp_path / "bundle"))


def change_json(path: Path, **values: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def test_a_bundle_is_read(bundle: Bundle) -> None:
    assert bundle.name == "tiny"
    assert len(bundle.sha256) == 64
    assert bundle.config.model == "IA-next"
    assert len(bundle.require_tokenizer()) == bundle.config.vocabulary_size


def test_the_tiny_bundle_is_small() -> None:
    assert sum(path.stat().st_size for path in TINY_BUNDLE.iterdir()) <= 500_000


def test_the_hash_is_of_what_it_computes(folder: Path, bundle: Bundle) -> None:
    (folder / "MODEL_CARD.md").write_text("# Another card\n")
    seal(folder, "another name")
    assert Bundle.load(folder).sha256 == bundle.sha256
    change_json(folder / "calibration.json", thresholds={"token": 0.9})
    seal(folder, "tiny")
    assert Bundle.load(folder).sha256 != bundle.sha256


def test_no_folder_at_all(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=r"is not a bundle: it has no manifest\.json"):
        Bundle.load(tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    with pytest.raises(BundleError, match=r"cannot be read|is not a bundle"):
        Bundle.load(tmp_path / "file")


@pytest.mark.parametrize("name", ["encode.onnx", "weights.safetensors", "tokenizer.json", "config.json"])
def test_a_damaged_file_is_named(folder: Path, name: str) -> None:
    content = bytearray((folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(BundleError, match=f"{name} in .* is damaged: its SHA-256 is not the manifest's"):
        Bundle.load(folder)


@pytest.mark.parametrize("name", ["step.onnx", "calibration.json"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(BundleError, match=f"it has no {name}"):
        Bundle.load(folder)
    seal(folder, "tiny")
    with pytest.raises(BundleError, match=f"lacks {name}"):
        Bundle.load(folder)


@pytest.mark.parametrize(
    "manifest",
    [
        "",
        "[]",
        "{}",
        '{"format": 2, "name": "a", "files": []}',
        '{"format": 2, "name": 3, "files": {}}',
        '{"format": "two", "name": "a", "files": {}}',
        '{"format": 2, "name": "a", "files": {"../secret": "0"}}',
        '{"format": 2, "name": "a", "files": {"..": "0"}}',
        '{"format": 2, "name": "a", "files": {"": "0"}}',
    ],
)
def test_a_manifest_that_cannot_be_read(folder: Path, manifest: str) -> None:
    (folder / "manifest.json").write_text(manifest)
    with pytest.raises(BundleError, match="cannot be read"):
        Bundle.load(folder)


@pytest.mark.parametrize(
    ("version", "error", "advice"),
    [
        (1, OldBundleError, "export it again with python -m training.export"),
        (3, BundleError, "update Likewise"),
    ],
)
def test_another_format_is_named_with_what_to_do(
    folder: Path, version: int, error: type[BundleError], advice: str
) -> None:
    change_json(folder / "manifest.json", format=version)
    with pytest.raises(
        error, match=f"has format {version} and this version of Likewise reads format 2: {advice}"
    ):
        Bundle.load(folder)


def _config(folder: Path) -> None:
    change_json(folder / "config.json", model="IA-x")


def _field(folder: Path) -> None:
    change_json(folder / "config.json", colour=1)


def _knots(folder: Path) -> None:
    change_json(folder / "calibration.json", knots=[])


def _tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{}")


def _vocabulary(folder: Path) -> None:
    (folder / "tokenizer.json").write_text(train(["other words"], 270).json)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_config, "unknown model 'IA-x'"),
        (_field, "colour"),
        (_knots, "not a calibration"),
        (_tokenizer, "not a tokenizer file"),
        (_vocabulary, "tokens and the model .*: they do not belong together"),
    ],
)
def test_parts_that_do_not_fit_are_refused(
    folder: Path, change: Callable[[Path], None], message: str
) -> None:
    change(folder)
    seal(folder, "tiny")
    with pytest.raises(BundleError, match=message):
        Bundle.load(folder)


def test_graphs_of_another_network_are_refused(folder: Path) -> None:
    size = json.loads((folder / "config.json").read_text())["hidden_size"]
    change_json(folder / "config.json", hidden_size=2 * size)
    seal(folder, "tiny")
    with pytest.raises(BundleError, match=r"are not of the network in config\.json"):
        Predictor(Bundle.load(folder), "cpu")


def test_a_graph_that_is_none_is_refused(folder: Path) -> None:
    (folder / "step.onnx").write_bytes(b"no graph")
    seal(folder, "tiny")
    with pytest.raises(BundleError, match=r"ONNX Runtime cannot read .*step\.onnx"):
        Predictor(Bundle.load(folder), "cpu")


def test_a_bundle_without_a_tokenizer_has_no_text(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    seal(folder, "tiny")
    with pytest.raises(BundleError, match="has no tokenizer: it was not trained on text"):
        Bundle.load(folder).require_tokenizer()


def test_nothing_in_a_bundle_is_a_pickle() -> None:
    assert {path.suffix for path in TINY_BUNDLE.iterdir()} == {".onnx", ".safetensors", ".json", ".md"}


def test_the_manifest_keeps_where_each_part_comes_from(folder: Path) -> None:
    before = Bundle.load(folder).sha256
    seal(folder, "tiny", {"network": {"seed": 1}})
    seal(folder, "tiny", {"judge": {"seed": 2}})
    seal(folder, "tiny")
    assert read_manifest(folder)["origin"] == {"network": {"seed": 1}, "judge": {"seed": 2}}
    assert Bundle.load(folder).sha256 == before  # where it comes from changes no answer
