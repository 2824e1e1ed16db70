"""A change: one replacement in a text. It is imported without the tokenizer."""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

Items = TypeVar("Items", bound=Sequence[Any])


class Change(NamedTuple):
    """One replacement in a text: the code points from start to end become `text`."""

    start: int
    end: int
    text: str

    @property
    def growth(self) -> int:
        """The number of code points by which the text gets longer."""
        return len(self.text) - (self.end - self.start)

    @property
    def new_end(self) -> int:
        """The end of the replacement in the text after the change."""
        return self.start + len(self.text)

    def apply_to(self, text: str) -> str:
        """Make the change."""
        return text[: self.start] + self.text + text[self.end :]

    def shifted(self, offset: int) -> "Change":
        """The same change in a text that has so many more code points before it."""
        return Change(self.start + offset, self.end + offset, self.text)


def common_length(one: Items, other: Items) -> int:
    """Count the items that two texts, or two tuples, have in common at their beginning. By halves: texts may be long."""
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


def trimmed(change: Change, old: str) -> Change:
    """The same replacement without the text that old and new have in common at both ends; `old` is the text it replaces."""
    new = change.text
    head = common_length(old, new)
    tail = common_length(old[head:][::-1], new[head:][::-1])
    return Change(change.start + head, change.end - tail, new[head : len(new) - tail])
