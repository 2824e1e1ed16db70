"""The user's leaning to each change in this session: what was accepted needs less confidence, what was dismissed more."""

from model.editing.change import Change, trimmed

_ACCEPTED = 0.9  # of the threshold, for each acceptance
_DISMISSED = 1.2
_LEAST = 0.7
_MOST = 1.5
_SUREST = 0.98  # a change that is as sure as this is shown, whatever was dismissed before

Replacement = tuple[str, str]  # the text that goes and the text that comes, wherever they stand


class Leanings:
    """A share of the threshold for each change that the user has judged. Forgotten when the session ends."""

    def __init__(self) -> None:
        self._shares: dict[Replacement, float] = {}

    @property
    def least(self) -> float:
        """The least share of any change: it gives the threshold that the service is asked with."""
        return min(1.0, *self._shares.values()) if self._shares else 1.0

    def accept(self, replacement: Replacement) -> None:
        self._multiply(replacement, _ACCEPTED)

    def dismiss(self, replacement: Replacement) -> None:
        self._multiply(replacement, _DISMISSED)

    def forget_dismissed(self) -> None:
        self._shares = {key: share for key, share in self._shares.items() if share < 1}

    def threshold_for(self, replacement: Replacement, threshold: float) -> float:
        """The confidence that a change needs when others need `threshold`."""
        needed = threshold * self._shares.get(replacement, 1.0)
        return min(needed, max(threshold, _SUREST))

    def _multiply(self, replacement: Replacement, factor: float) -> None:
        share = self._shares.get(replacement, 1.0) * factor
        self._shares[replacement] = min(_MOST, max(_LEAST, share))


def replacement_of(change: Change, old: str) -> Replacement:
    """The replacement that a change makes, without the text that stays; `old` is the text it replaces."""
    start, end, text = trimmed(change, old)
    begin = start - change.start
    return old[begin : begin + end - start], text
