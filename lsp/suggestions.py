"""Suggestions in the editor's text: carried over the user's typing, and replaced only for a reason.

A suggestion is a change of the document's text at one version. When the user types along with it the rest
remains; when they type something else it is dropped. A new answer replaces it only if it no longer stands, so
that nothing flickers.
"""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from model.editing.change import Change, common_length, trimmed
from model.editing.edits import Edit
from model.leanings import Replacement, replacement_of
from model.silence import Silence

if TYPE_CHECKING:
    from lsp.recorded_hunks import TextRange

# The suggestion in view stays with this share of the threshold; a new one needs all of it.
STAYING_SHARE = 0.85
# The suggestion in view gives way to another only for this much more confidence, as long as it stands itself.
_BETTER_BY = 0.1


@dataclass(frozen=True)
class Reason:
    """An earlier replacement of the user's that a suggestion follows from: old became new.

    `ranges` are its ranges in the current text, the newest first. That of a deletion is empty.
    """

    old: str
    new: str
    ranges: tuple["TextRange", ...]


@dataclass(frozen=True)
class Suggestion:
    """A change to suggest; `old` is the text that it replaces."""

    change: Change
    old: str
    confidence: float
    edits: tuple[Edit, ...] = ()
    because: tuple[Reason, ...] = ()
    places_left: int = 1  # where the same change is likely enough, this one included
    id: str = field(default_factory=lambda: uuid.uuid4().hex)

    def is_same(self, other: "Suggestion") -> bool:
        """Do both lead to the same text, however much unchanged text each includes?"""
        return self.core == other.core

    @property
    def core(self) -> Change:
        """The change without the text that old and new have in common at both ends."""
        return trimmed(self.change, self.old)

    @property
    def replacement(self) -> Replacement:
        """The text that goes and the text that comes, wherever they stand."""
        return replacement_of(self.change, self.old)


@dataclass(frozen=True)
class Answer:
    """The suggestions for one version of a document, best first, or the reason for having none."""

    suggestions: tuple[Suggestion, ...] = ()
    silence: Silence | None = None

    @property
    def best(self) -> Suggestion | None:
        return self.suggestions[0] if self.suggestions else None


def follow(suggestion: Suggestion, change: Change) -> Suggestion | None:
    """Carry a suggestion over the user's change. None if they did something else, or all of it."""
    rest = _follow_change(suggestion, change)
    if rest is None or not rest.because:
        return rest
    return replace(rest, because=tuple(_follow_reason(reason, change) for reason in rest.because))


def is_along(suggestion: Suggestion, change: Change) -> bool:
    """Does the change do a part of the suggestion?"""
    start, end, _ = suggestion.change
    inside = start <= change.start and change.end <= end
    return inside and _find_rest(suggestion, change) is not None


def is_whole(suggestion: Suggestion, change: Change, removed: str) -> bool:
    """Is this change, which replaced `removed`, the whole suggestion at once?"""
    return trimmed(change, removed) == suggestion.core


def select_suggestions(
    shown: Suggestion | None, fresh: Sequence[Suggestion], threshold_for: Callable[[Suggestion], float]
) -> list[Suggestion]:
    """Choose the fresh suggestions to show. The one in view stays first, with its id, if it still stands."""
    found = [replace(each, id=shown.id) if shown and each.is_same(shown) else each for each in fresh]
    known = next((each for each in found if shown and each.id == shown.id), None)
    result = [each for each in found if each.confidence >= threshold_for(each) or each is known]
    if known is not None and result[0].confidence < known.confidence + _BETTER_BY:
        result = [known, *(each for each in result if each is not known)]
    return result


def _follow_change(suggestion: Suggestion, change: Change) -> Suggestion | None:
    start, end, text = suggestion.change
    if change.end < start:
        growth = len(change.text) - (change.end - change.start)
        return replace(suggestion, change=Change(start + growth, end + growth, text))
    if change.start > end:
        return suggestion
    if change.start < start or change.end > end:
        return None
    return _find_rest(suggestion, change)


def _follow_reason(reason: Reason, change: Change) -> Reason:
    def move(offset: int) -> int:
        if offset >= change.end:
            return offset + len(change.text) - (change.end - change.start)
        return min(offset, change.start)

    ranges = tuple(each._replace(start=move(each.start), end=move(each.end)) for each in reason.ranges)
    return replace(reason, ranges=ranges)


def _find_rest(suggestion: Suggestion, change: Change) -> Suggestion | None:
    """Find the part of a suggestion that is left after a change inside of the text that it replaces."""
    start, _, goal = suggestion.change
    old = suggestion.old
    current = old[: change.start - start] + change.text + old[change.end - start :]
    done = common_length(current, goal)
    left = current[
        done:
    ]  # must be text that is still to be replaced: an end of the old text, or its beginning
    if current == goal or not (old.endswith(left) or (done == 0 and old.startswith(left))):
        return None
    begin = start + done
    return replace(suggestion, change=Change(begin, begin + len(left), goal[done:]), old=left)
