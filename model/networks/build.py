"""Builds the network that a configuration names."""

from collections.abc import Callable

from torch import nn

from model.config import ModelConfig
from model.networks.explicit_rnn import ExplicitRnn
from model.networks.implicit_attention import ImplicitAttention
from model.networks.implicit_rnn import ImplicitRnn
from model.networks.next_edit import NextEdit

_NETWORKS: dict[str, Callable[[ModelConfig], nn.Module]] = {
    "E": ExplicitRnn,
    "IR": ImplicitRnn,
    "IA-v": ImplicitAttention,
    "IA-vg": ImplicitAttention,
    "IA-a": ImplicitAttention,
    "IA-ag": ImplicitAttention,
    "IA-next": NextEdit,
}


def build(config: ModelConfig) -> nn.Module:
    return _NETWORKS[config.model](config)
