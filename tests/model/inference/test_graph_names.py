"""The names that bundles rely on."""

import onnxruntime
import pytest

from model.features.slot_positions import EDIT_FEATURES
from model.inference import graph_names as names
from model.inference.bundle import DEFAULT
from tests.model.conftest import TINY_BUNDLE


@pytest.mark.parametrize("folder", [TINY_BUNDLE, DEFAULT], ids=["tiny", "default"])
def test_every_name_in_a_bundle_is_declared(folder: object) -> None:
    declared = {value for key, value in vars(names).items() if key.isupper() and isinstance(value, str)}
    declared |= set(names.EDIT_INPUTS.values())
    for graph in names.GRAPHS:
        session = onnxruntime.InferenceSession(f"{folder}/{graph}.onnx", providers=["CPUExecutionProvider"])
        for value in [*session.get_inputs(), *session.get_outputs()]:
            name = value.name
            is_part = names.cache_of(name) is not None or names.is_row(name) or names.is_encoded(name)
            assert is_part or name.startswith(names.new_of("")) or name in declared, name


def test_each_edit_feature_has_one_input() -> None:
    assert tuple(names.EDIT_INPUTS) == EDIT_FEATURES
    assert len(set(names.EDIT_INPUTS.values())) == len(EDIT_FEATURES)
    assert names.EDIT_INPUTS["explicit_positions"] == "places"  # as bundles of this format have it


def test_names_of_caches_and_rows_come_back() -> None:
    assert names.cache_of(names.past_of("rows")) == "rows"
    assert names.cache_of(names.new_of("rows")) is None
    assert names.row_name(names.row_of("query")) == "query"
