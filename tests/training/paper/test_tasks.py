"""Tasks of the paper, by their names and as states."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.paper.tasks import ALPHABET, NAMES, TABLE_TASKS, find_task, state_from_text, text_from_state


@given(st.text(alphabet=ALPHABET))
def test_a_string_survives_its_state(text: str) -> None:
    assert text_from_state(state_from_text(text)) == text


def test_every_task_of_the_table_is_found_by_its_name() -> None:
    assert [find_task(task.name) for task in TABLE_TASKS] == list(TABLE_TASKS)
    assert "MetaSurround33" in NAMES


def test_an_unknown_task_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"unknown task 'Append9'; .*Append1, .*MultiTask"):
        find_task("Append9")


def test_meta_characters_are_filled_in() -> None:
    assert find_task("MetaAppend1").with_characters("C", "D") == ("C", "CD")
    assert find_task("MetaAppend1").is_meta
    assert not find_task("Append1").is_meta
