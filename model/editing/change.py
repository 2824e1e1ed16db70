"""A change: one replacement in a text. Apart from `model.editing.burst` so that it is imported without the tokenizer."""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

Items = TypeVar("Items", bound=Sequence[Any])


class Change(NamedTuple):
    """One replacement in a text: the code points from start to end become `text`."""

    start: int
    end: int
    text: str


def common_length(one: Items, other: Items) -> int:
    """How many items two texts, or two tuples, have in common at their beginning. By halves: texts may be long."""
    low, high = 0, min(len(one), len(other)) + 1  # equal up to low, not up to high
    if one[: high - 1] == other[: high - 1]:
        return high - 1
    while high - low > 1:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low
