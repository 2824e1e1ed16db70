"""The user's leaning to each change in this session: what was accepted needs less confidence, what was dismissed more."""

from lsp.suggestions import Suggestion

_ACCEPTED = 0.9  # of the threshold, for each acceptance
_DISMISSED = 1.2
_LEAST = 0.7
_MOST = 1.5
_SUREST = 0.98  # a change that is as sure as this is shown, whatever was dismissed before

_Key = tuple[str, str]


class Leanings:
    """A share of the threshold for each change that the user has judged. Forgotten when the session ends."""

    def __init__(self) -> None:
        self._shares: dict[_Key, float] = {}

    @property
    def least(self) -> float:
        """The least share of any change: the service must be asked for so much."""
        return min(1.0, *self._shares.values()) if self._shares else 1.0

    def accept(self, suggestion: Suggestion) -> None:
        self._multiply(suggestion, _ACCEPTED)

    def dismiss(self, suggestion: Suggestion) -> None:
        self._multiply(suggestion, _DISMISSED)

    def forget_dismissed(self) -> None:
        self._shares = {key: share for key, share in self._shares.items() if share < 1}

    def threshold_for(self, suggestion: Suggestion, threshold: float) -> float:
        """The confidence that a suggestion needs when others need `threshold`."""
        needed = threshold * self._shares.get(_key_of(suggestion), 1.0)
        return min(needed, max(threshold, _SUREST))

    def _multiply(self, suggestion: Suggestion, factor: float) -> None:
        key = _key_of(suggestion)
        self._shares[key] = min(_MOST, max(_LEAST, self._shares.get(key, 1.0) * factor))


def _key_of(suggestion: Suggestion) -> _Key:
    """The text that goes and the text that comes, wherever they stand."""
    start, end, text = suggestion.core
    begin = start - suggestion.change.start
    return suggestion.old[begin : begin + end - start], text
