"""The numbers that shape the weights."""

import json
from typing import Any

import pytest

from model.config import MODELS, ModelConfig


@pytest.mark.parametrize("model", MODELS)
def test_a_configuration_survives_its_file(model: str) -> None:
    config = ModelConfig(model, 17, 24, heads=3)
    assert ModelConfig.from_text(json.dumps(config.to_json())) == config


def test_an_unknown_model_is_told_the_known_ones() -> None:
    with pytest.raises(
        ValueError, match="unknown model 'IA-x'; known: E, IR, IA-v, IA-vg, IA-a, IA-ag, IA-next"
    ):
        ModelConfig("IA-x", 17)


@pytest.mark.parametrize("value", [0, -3, 2.5, "8", None, True])
def test_sizes_are_positive_whole_numbers(value: Any) -> None:
    with pytest.raises(ValueError, match="hidden_size must be a positive whole number"):
        ModelConfig("IA-a", 17, value)


def test_heads_must_share_the_hidden_size() -> None:
    with pytest.raises(ValueError, match="hidden_size 30 is not a multiple of 8 heads"):
        ModelConfig("IA-a", 17, 30)
    ModelConfig("E", 17, 30)  # has none


def test_an_unknown_field_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="unknown fields in the model's configuration: colour"):
        ModelConfig.from_json({"model": "E", "vocabulary_size": 17, "colour": 3})


def test_names_say_decoder_and_aggregation() -> None:
    parts = {name: (ModelConfig(name, 17).decoder, ModelConfig(name, 17).aggregation) for name in MODELS[2:6]}
    assert parts == {
        "IA-v": ("vanilla", "sum"),
        "IA-vg": ("vanilla", "gru"),
        "IA-a": ("analogical", "sum"),
        "IA-ag": ("analogical", "gru"),
    }
