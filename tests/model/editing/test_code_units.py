import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.editing.code_units import count_units, offset_from_units
from tests.tokenizing import texts


@given(texts, st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_units_and_offsets_are_each_others_inverse(text: str, encoding: str) -> None:
    for offset in range(len(text) + 1):
        assert offset_from_units(text, count_units(text[:offset], encoding), encoding) == offset


@pytest.mark.parametrize(("units", "offset"), [(0, 0), (1, 0), (2, 1), (3, 2), (99, 2)])
def test_an_offset_inside_of_a_character_is_before_it(units: int, offset: int) -> None:
    assert offset_from_units("😀x", units) == offset
