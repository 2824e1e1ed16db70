"""The rows of the paper's tables: their order, and which result is kept."""

import json
from pathlib import Path

import pytest

from training.paper import tables as paper
from training.paper.rows import Row, keep_better, order_rows, run_folder
from training.runs.fit_config import FitConfig


def test_the_order_has_every_number_of_the_papers_tables_once() -> None:
    rows = order_rows()
    assert len(rows) == len(set(rows)) == len(paper.ACCURACIES)
    assert {(row.model, row.task) for row in rows} == set(paper.ACCURACIES)
    assert order_rows(["IR:Meta*1"])[0] == Row("IR", "MetaAppend1")
    with pytest.raises(ValueError, match="no row matches IX:"):
        order_rows(["IX:*"])


def test_another_setting_replaces_a_result_only_if_it_is_better_on_dev(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    for accuracy in (50.0, 40.0, 60.0):
        keep_better(path, {"dev_accuracy": accuracy})
    assert json.loads(path.read_text()) == {"dev_accuracy": 60.0}


def test_another_configuration_has_another_folder(tmp_path: Path) -> None:
    row = Row("IR", "Append1")
    configs = [FitConfig("IR", "synthetic:Append1", steps=3, seed=seed) for seed in range(2)]
    configs.append(FitConfig("IR", "synthetic:Append1", minutes=3))
    assert len({run_folder(tmp_path, row, config) for config in configs}) == 3
