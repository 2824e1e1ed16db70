"""A tokenizer with a cache of lines: mining meets the lines of a file again and again, in every version."""

from model.editing.tokenizer import Tokenizer

_LIMIT_LINES = 100_000


class CachingTokenizer(Tokenizer):
    """A tokenizer that remembers the tokens of lines."""

    def __init__(self, json: str) -> None:
        super().__init__(json)
        self._lines: dict[str, list[int]] = {}

    def encode_segment(self, segment: str) -> list[int]:
        known = self._lines.get(segment)
        if known is None:
            if len(self._lines) >= _LIMIT_LINES:
                self._lines.clear()
            known = self._lines[segment] = super().encode_segment(segment)
        return known
