"""ModelConfig: every number that shapes the weights. It travels in the bundle as JSON."""

import json
from dataclasses import asdict, dataclass, fields
from typing import Any

MODELS = ("E", "IR", "IA-v", "IA-vg", "IA-a", "IA-ag", "IA-next")

_ROOM_EDITS = 16


@dataclass(frozen=True)
class ModelConfig:
    """The name of a network and its sizes."""

    model: str
    vocabulary_size: int
    hidden_size: int = 128
    heads: int = 8  # "we use 8 heads throughout"
    # Longest state and most edits. IR learns a position table of this size; for the others these are limits of use.
    limit_tokens: int = 1024
    limit_edits: int = 128
    # IA-next only.
    encoder_layers: int = 2
    decoder_layers: int = 2
    attention_block: int = 32  # a state token attends to its own block of this many and to the two beside it

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise ValueError(f"unknown model {self.model!r}; known: {', '.join(MODELS)}")
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type is int and not (type(value) is int and value > 0):
                raise ValueError(f"{field.name} must be a positive whole number, not {value!r}")
        if self.is_attentional and self.hidden_size % self.heads:
            raise ValueError(f"hidden_size {self.hidden_size} is not a multiple of {self.heads} heads")

    @property
    def is_attentional(self) -> bool:
        """Can it be exported and run incrementally?"""
        return self.model.startswith("IA")

    @property
    def limit_history(self) -> int:
        """The number of past edits that fit: decoding appends to them what it predicts, and needs some room."""
        return max(1, self.limit_edits - _ROOM_EDITS)

    @property
    def state_multiple(self) -> int:
        """States are padded to a multiple of this many tokens."""
        return self.attention_block if self.model == "IA-next" else 1

    @property
    def decoder(self) -> str:
        return "vanilla" if self.model.startswith("IA-v") else "analogical"

    @property
    def aggregation(self) -> str:
        return "gru" if self.model.endswith("g") else "sum"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "ModelConfig":
        unknown = set(values) - {field.name for field in fields(cls)}
        if unknown:
            raise ValueError(f"unknown fields in the model's configuration: {', '.join(sorted(unknown))}")
        return cls(**values)

    @classmethod
    def from_text(cls, text: str) -> "ModelConfig":
        return cls.from_json(json.loads(text))
