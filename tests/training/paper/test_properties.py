import pytest

from training.paper.properties import compute_properties
from training.paper.tables import PROPERTIES


def test_the_table_has_the_papers_edits_per_replacement_and_context_displacement_and_comes_near_its_pomp() -> (
    None
):
    rows = compute_properties()
    assert [row["name"] for row in rows] == list(PROPERTIES)
    for row in rows:
        assert row["epr"] == row["paper_epr"], row
        assert row["acd"] == row["paper_acd"], row
        assert row["pomp"] == pytest.approx(row["paper_pomp"], abs=1.5), row
