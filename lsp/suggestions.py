"""The suggestion in view: carried over what the user types, and changed only for a reason.

A suggestion is a change of the document's text at one version. When the user types along with it the rest remains; when they
type something else it is dropped. A new answer replaces it only if it no longer stands, so that nothing flickers.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from lsp.document import trimmed
from model.editing.change import Change, common_length
from model.editing.edits import Edit

if TYPE_CHECKING:
    from lsp.hunks import Place

# One in view stays while its confidence is at least this share of the threshold; a new one needs all of it.
STAYING_SHARE = 0.85
# One in view gives way to another only for this much more confidence, as long as it stands itself.
_BETTER_BY = 0.1


@dataclass(frozen=True)
class Reason:
    """What the user did before, and a suggestion follows from: old became new, at these places in the text of now.

    The newest place is the first; of a deletion all that is left is its place.
    """

    old: str
    new: str
    places: tuple["Place", ...]


@dataclass(frozen=True)
class Suggestion:
    """Replace `old`, which stands from start to end, by the change's text."""

    change: Change
    old: str
    confidence: float
    edits: tuple[Edit, ...] = ()
    because: tuple[Reason, ...] = ()
    id: str = field(default_factory=lambda: uuid.uuid4().hex)

    def is_same(self, other: "Suggestion") -> bool:
        """The same replacement, however much of the unchanged text around it belongs to it."""
        return self.trimmed == other.trimmed

    @property
    def trimmed(self) -> Change:
        return trimmed(self.change, self.old)


@dataclass(frozen=True)
class Answer:
    """What there is to say about one version of a document: suggestions, best first, or why there are none."""

    suggestions: tuple[Suggestion, ...] = ()
    silence: str | None = None

    @property
    def best(self) -> Suggestion | None:
        return self.suggestions[0] if self.suggestions else None


def follow(suggestion: Suggestion, change: Change) -> Suggestion | None:
    """The suggestion after the user's change; none when they went another way, or have done all of it themselves."""
    left = _left(suggestion, change)
    if left is None or not left.because:
        return left
    return replace(left, because=tuple(_carried(reason, change) for reason in left.because))


def is_along(suggestion: Suggestion, change: Change) -> bool:
    """Does the change do a part of the suggestion?"""
    start, end, _ = suggestion.change
    inside = start <= change.start and change.end <= end
    return inside and _rest(suggestion, change) is not None


def is_whole(suggestion: Suggestion, changes: Sequence[Change], removed: str) -> bool:
    """Is this change the suggestion, all of it at once? `removed` is what the change replaced."""
    return len(changes) == 1 and trimmed(changes[0], removed) == suggestion.trimmed


def _left(suggestion: Suggestion, change: Change) -> Suggestion | None:
    start, end, text = suggestion.change
    if change.end < start:
        grown = len(change.text) - (change.end - change.start)
        return replace(suggestion, change=Change(start + grown, end + grown, text))
    if change.start > end:
        return suggestion
    if change.start < start or change.end > end:
        return None
    return _rest(suggestion, change)


def _carried(reason: Reason, change: Change) -> Reason:
    def shifted(offset: int) -> int:
        if offset >= change.end:
            return offset + len(change.text) - (change.end - change.start)
        return min(offset, change.start)

    places = tuple(
        place._replace(start=shifted(place.start), end=shifted(place.end)) for place in reason.places
    )
    return replace(reason, places=places)


def _rest(suggestion: Suggestion, change: Change) -> Suggestion | None:
    """What is left to do after a change inside of the replaced text."""
    start, _, goal = suggestion.change
    old = suggestion.old
    now = old[: change.start - start] + change.text + old[change.end - start :]
    done = common_length(now, goal)
    left = now[done:]  # must be what is still to be replaced: an end of the old text, or its beginning
    if now == goal or not (old.endswith(left) or (done == 0 and old.startswith(left))):
        return None
    begin = start + done
    return replace(suggestion, change=Change(begin, begin + len(left), goal[done:]), old=left)


def settled(
    shown: Suggestion | None, fresh: Sequence[Suggestion], threshold: float | None
) -> list[Suggestion]:
    """The fresh suggestions that may be shown, the one in view first if it still stands. It keeps its id."""
    if threshold is None:
        threshold = 0.0
    found = [replace(each, id=shown.id) if shown and each.is_same(shown) else each for each in fresh]
    known = next((each for each in found if shown and each.id == shown.id), None)
    result = [each for each in found if each.confidence >= threshold or each is known]
    if known is not None and result[0].confidence < known.confidence + _BETTER_BY:
        result = [known, *(each for each in result if each is not known)]
    return result
