"""The one place that maps a model's name to its network."""

from torch import nn

from model.config import ModelConfig
from model.networks.implicit_attention import ImplicitAttention


def build(config: ModelConfig) -> nn.Module:
    if config.model == "E":
        from model.networks.explicit_rnn import ExplicitRnn

        return ExplicitRnn(config)
    if config.model == "IR":
        from model.networks.implicit_rnn import ImplicitRnn

        return ImplicitRnn(config)
    if config.model == "IA-next":
        from model.networks.next_edit import NextEdit

        return NextEdit(config)
    return ImplicitAttention(config)
