"""A network as a bundle: what the graphs say is what the network says."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from model.config import ModelConfig
from model.editing.edits import DELETE, END, START, Edit
from model.inference.bundle import FORMAT, Bundle, BundleError, seal
from model.inference.calibration import Calibration
from model.inference.graph_names import GRAPHS
from model.inference.predictor import Predictor
from model.networks.build import build
from model.networks.incremental import IncrementalNetwork
from tests.tokenizing import small_tokenizer
from training.export import export, load_run, main, measure_disagreement
from training.runs import checkpoint

TINY_BUNDLE = Path(__file__).parent.parent / "data" / "tiny_bundle"
CONFIG = ModelConfig("IA-vg", len(small_tokenizer()), 14, heads=7, limit_tokens=101, limit_edits=17)


def make_network(config: ModelConfig = CONFIG) -> IncrementalNetwork:
    torch.manual_seed(0)
    network = build(config)
    assert isinstance(network, IncrementalNetwork)
    return network


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training run as it stands on disk, of a network that has learned nothing."""
    folder = tmp_path_factory.mktemp("run")
    checkpoint.write_json(folder / checkpoint.CONFIG, CONFIG.to_json())
    checkpoint.save_tensors(folder / checkpoint.BEST, make_network().state_dict(), {})
    (folder / "tokenizer.json").write_text(small_tokenizer().json)
    return folder


@pytest.fixture(scope="module")
def exported(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Exporting takes seconds: all tests share one."""
    out = tmp_path_factory.mktemp("bundles") / "small"
    assert main([str(run), "--out", str(out)]) == 0
    return out


def test_the_tiny_bundle_is_its_network() -> None:
    """IA-next. When this fails because the network has changed: python -m tests.make_tiny_bundle."""
    network, _, _ = load_run(TINY_BUNDLE)
    assert measure_disagreement(network.eval(), Predictor(Bundle.load(TINY_BUNDLE), "cpu")) < 1e-4


def test_an_exported_bundle_is_its_network(exported: Path) -> None:
    bundle = Bundle.load(exported)
    assert (bundle.name, bundle.config) == ("small", CONFIG)
    assert measure_disagreement(make_network().eval(), Predictor(bundle, "cpu")) < 1e-4


def test_what_runs_at_each_keystroke_is_in_eight_bits(tmp_path: Path) -> None:
    config = ModelConfig("IA-next", len(small_tokenizer()), 64, heads=4, limit_tokens=101, limit_edits=17)
    network = make_network(config)
    bundle = export(network, config, None, tmp_path / "larger", name="larger")
    operators = {graph: (bundle.directory / f"{graph}.onnx").read_bytes() for graph in GRAPHS}
    assert [graph for graph in GRAPHS if b"MatMulNBits" in operators[graph]] == ["step", "content"]
    predictor = Predictor(bundle, "cpu")
    assert 1e-4 < measure_disagreement(network.eval(), predictor) < 0.5
    # Rounding is no reason for the same history to mean two things.
    at_once, one_by_one = (
        predictor.open((START, *range(4, 60), END)),
        predictor.open((START, *range(4, 60), END)),
    )
    edits = [Edit(3, 9), Edit(7, DELETE), Edit(58, 11), Edit(60, 12)]
    at_once.append(edits)
    for edit in edits:
        one_by_one.append([edit])
        one_by_one.predict()
    assert np.allclose(at_once.predict().positions, one_by_one.predict().positions, atol=1e-4)


def test_a_weight_is_stored_once(exported: Path) -> None:
    graphs = sum(path.stat().st_size for path in exported.glob("*.onnx"))
    assert graphs < 250_000
    network, config, tokenizer = load_run(exported)
    assert config == CONFIG
    assert tokenizer is not None
    for name, weight in make_network().state_dict().items():
        assert torch.equal(weight, network.state_dict()[name])


def test_nothing_else_is_left_beside_the_bundle(exported: Path) -> None:
    assert [path.name for path in exported.parent.iterdir()] == ["small"]
    manifest = json.loads((exported / "manifest.json").read_text())
    assert {path.name for path in exported.iterdir()} == {*manifest["files"], "manifest.json"}


def test_a_folder_of_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(ValueError, match="is not empty and not a bundle: it is not replaced"):
        export(make_network(), CONFIG, None, tmp_path, name="small")
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_a_network_that_the_graphs_do_not_follow_is_refused(exported: Path) -> None:
    other = make_network()
    with torch.no_grad():
        other.embedding.weight[5] += 1  # type: ignore[union-attr, operator, index]
    assert measure_disagreement(other.eval(), Predictor(Bundle.load(exported), "cpu")) > 1e-4


@pytest.mark.parametrize(
    ("model", "message"),
    [("E", "holds the model E, which cannot be exported"), (None, "is neither a training run nor a bundle")],
)
def test_what_cannot_be_exported_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], model: str | None, message: str
) -> None:
    if model is not None:
        config = ModelConfig(model, 11, 7)
        checkpoint.write_json(tmp_path / checkpoint.CONFIG, config.to_json())
        checkpoint.save_tensors(tmp_path / checkpoint.BEST, build(config).state_dict(), {})
    assert main([str(tmp_path), "--out", str(tmp_path / "out")]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_bundle_of_an_older_format_is_made_anew_with_all_that_it_knew(
    exported: Path, tmp_path: Path
) -> None:
    old, new = Path(shutil.copytree(exported, tmp_path / "old")), tmp_path / "new"
    calibration = Calibration(thresholds={"token": 0.7})
    (old / "calibration.json").write_text(json.dumps(calibration.to_json()))
    (old / "MODEL_CARD.md").write_text("# small\n\nKnows much.\n")
    seal(old, "small+own")
    manifest = json.loads((old / "manifest.json").read_text())
    (old / "manifest.json").write_text(json.dumps(manifest | {"format": FORMAT - 1}))
    with pytest.raises(BundleError, match=r"export it again with python -m training\.export"):
        Bundle.load(old)
    assert main([str(old), "--out", str(new)]) == 0
    bundle = Bundle.load(new)
    assert (bundle.name, bundle.calibration) == ("small+own", calibration)
    assert bundle.require_tokenizer().spellings == small_tokenizer().spellings
    assert (new / "MODEL_CARD.md").read_text() == "# small\n\nKnows much.\n"


def test_a_damaged_bundle_is_not_made_anew(
    exported: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = Path(shutil.copytree(exported, tmp_path / "old"))
    (old / "calibration.json").write_text(json.dumps(Calibration(thresholds={"token": 0.1}).to_json()))
    assert main([str(old), "--out", str(tmp_path / "new")]) == 1
    assert "calibration.json" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
