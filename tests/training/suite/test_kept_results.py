"""Results that outlive a broken run."""

import json
import shutil
from pathlib import Path

import pytest

from model.inference.bundle import Bundle, seal
from training.suite.kept_results import KeptResults, folder_of, keep_list

TINY = Path(__file__).parents[2] / "data" / "tiny_bundle"


def test_a_broken_measurement_goes_on_where_it_was_broken_off(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "results.jsonl"
    assert KeptResults(path).get("a", lambda: {"wrong": 2}) == {"wrong": 2}
    with path.open("a") as lines:
        lines.write('\n["b", {"wro')  # the run was broken off here
    again = KeptResults(path)
    assert again.get("a", lambda: pytest.fail("measured twice")) == {"wrong": 2}
    assert again.get("b", lambda: 5) == 5
    assert KeptResults(path).get("b", lambda: pytest.fail("measured twice")) == 5


def test_a_list_is_made_once(tmp_path: Path) -> None:
    path = tmp_path / "list.jsonl"
    assert keep_list(path, lambda: [[1, "a\u2028b"]]) == [[1, "a\u2028b"]]
    assert keep_list(path, lambda: pytest.fail("made twice")) == [[1, "a\u2028b"]]


def test_thresholds_are_no_part_of_the_engine_and_weights_are(tmp_path: Path) -> None:
    folder = tmp_path / "bundle"
    shutil.copytree(TINY, folder)
    first = folder_of(tmp_path, Bundle.load(folder))
    calibration = json.loads((folder / "calibration.json").read_text())
    (folder / "calibration.json").write_text(json.dumps(calibration | {"eagerness": {"quiet": 0.91}}))
    seal(folder, "same")
    assert folder_of(tmp_path, Bundle.load(folder)) == first
    (folder / "judge.onnx").write_bytes(b"another")
    seal(folder, "same")
    assert folder_of(tmp_path, Bundle.load(folder)) != first
