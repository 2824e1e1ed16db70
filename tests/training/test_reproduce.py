import json
from pathlib import Path

import pytest

from tests.training.small_dataset import write_dataset
from training import reproduce
from training.paper import report
from training.paper import tables as paper
from training.reproduce import Row, queue


@pytest.fixture(autouse=True)
def own_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "results").mkdir()
    monkeypatch.setattr(report, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(report, "REPORT", tmp_path / "RESULTS.md")
    monkeypatch.setattr(report, "SCALABILITY", tmp_path / "results" / "scalability.json")
    monkeypatch.setattr(reproduce, "RESULTS", tmp_path / "results")
    monkeypatch.setattr("training.synthetic.SPLIT_SIZES", {"train": 40, "dev": 10, "test": 10})
    monkeypatch.setattr("training.synthetic._DRAWS", 1000)


def test_the_queue_has_every_number_of_the_papers_tables_once() -> None:
    rows = queue()
    assert len(rows) == len(set(rows)) == len(paper.ACCURACIES)
    assert {(row.model, row.task) for row in rows} == set(paper.ACCURACIES)
    assert queue(["IR:Meta*1"])[0] == Row("IR", "MetaAppend1")
    with pytest.raises(ValueError, match="no row matches IX:"):
        queue(["IX:*"])


def test_a_row_is_run_once_and_stands_beside_the_papers_number(tmp_path: Path) -> None:
    arguments = ["--only", "IR:Append1", "--steps", "3", "--hidden", "8", "--runs", str(tmp_path / "runs")]
    assert reproduce.main(arguments) == 0
    path = report.result_path("IR", "Append1")
    written = path.read_text()
    values = json.loads(written)
    assert values["paper_accuracy"] == 100.0
    assert values["steps"] == 3
    text = report.REPORT.read_text()
    assert f"**{values['test_accuracy']:.1f}** (100.0)" in text
    assert "not run (83.0)" in text
    assert reproduce.main(arguments) == 0
    assert path.read_text() == written


def test_another_setting_replaces_a_result_only_if_it_is_better_on_dev(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    for accuracy in (50.0, 40.0, 60.0):
        reproduce._keep_better(path, {"dev_accuracy": accuracy})
    assert json.loads(path.read_text()) == {"dev_accuracy": 60.0}


def test_accuracy_by_step_is_plotted(tmp_path: Path) -> None:
    by_step = [{"step": step, "accuracy": 0.5, "predictions": 60} for step in range(4)]
    test = {"position_accuracy": 0.5, "content_accuracy": 0.5}
    values = {"model": "E", "task": "MetaSurround33", "test_accuracy": 50.0, "paper_accuracy": 99.1}
    values |= {"minutes": 1.0, "processor_minutes": 1.0, "threads": 1, "steps": 4, "test": test}
    values |= {"fit": {"hidden": 8, "batch": 4}, "dev": {"by_step": by_step}}
    report.result_path("E", "MetaSurround33").write_text(json.dumps(values))
    report.write()
    assert (report.RESULTS / "by_step_MetaSurround33.png").stat().st_size > 1000
    assert "MetaContextAppend31: not run" in report.REPORT.read_text()


def test_the_papers_networks_learn_from_mined_edits(tmp_path: Path) -> None:
    data = write_dataset(tmp_path / "data", 11)
    arguments = ["--real", str(data), "--steps", "2", "--hidden", "16", "--batch", "4"]
    arguments += ["--runs", str(tmp_path / "runs")]
    assert reproduce.main(arguments) == 0
    for model, accuracy in paper.REAL.items():
        values = json.loads(report.result_path(model, report.REAL).read_text())
        assert values["edits_seen"] > 0
        assert (
            f"| {model} | **{100 * values['test']['edit_accuracy']:.1f}** | {accuracy}"
            in report.REPORT.read_text()
        )
    assert (report.RESULTS / "real_by_confidence.png").stat().st_size > 1000
