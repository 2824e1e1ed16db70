"""A change: one replacement in a text. Apart from `model.bursts` so that it is imported without the tokenizer."""

from typing import NamedTuple


class Change(NamedTuple):
    """One replacement in a text: the code points from start to end become `text`."""

    start: int
    end: int
    text: str
