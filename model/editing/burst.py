"""A burst: a run of changes that touch one region of a text.

The rule of what belongs together stands here and nowhere else. A burst has a text range for each cursor. A change continues
the burst if it touches one of these ranges; a range reaches to the end of the name, number or blank run in which it ends.
So typing along a line, between brackets that the editor closed, and anywhere in one name is one burst. All changes of one
step (one key at several cursors) are one burst, and they continue the open one if any of them touches it. A change
elsewhere begins a new burst even if it comes at once. The recorder also ends a burst after a pause.

While a burst is open, its edits are the token difference of its lines since it began, from left to right. What was typed and
deleted again leaves nothing.
"""

from collections.abc import Sequence

from model.editing.change import Change
from model.editing.edits import Edit, lexical_edits_between
from model.editing.name_borders import widen_to_tokens
from model.editing.token_text import HalfTyped, Replaced, Tokens, TokenText

TextRange = tuple[int, int]

_LIMIT_REGION_TOKENS = 2_000
_LIMIT_LINES = 400  # several cursors make long regions; a longer one takes too long to compare at each key


class Burst:
    """A run of changes to one region of a text, and its edits so far."""

    def __init__(self, text: TokenText, replaced: Replaced) -> None:
        self._text = text
        self.first = replaced.first
        self.count = replaced.new_count
        self.before: list[Tokens] = list(replaced.old)  # the region's tokens when the burst began
        self.ranges: list[TextRange] = [(replaced.change.start, replaced.change.new_end)]
        self._reach = self.ranges

    @classmethod
    def of_name(cls, text: TokenText, name: HalfTyped) -> "Burst":
        """A burst that has done nothing but type a name that is half typed."""
        typed = Change(name.start, name.start, name.text)
        return cls(text, Replaced(name.segment, ((*name.left, *name.right),), 1, typed))

    @property
    def is_large(self) -> bool:
        """Is the region too large to be compared with what it was? The time grows with its square."""
        after = self._text.tokens[self.first : self.first + self.count]
        return max(sum(map(len, self.before)), sum(map(len, after))) > _LIMIT_REGION_TOKENS

    def extend(self, replaced: Replaced) -> None:
        """Take in one more change, already made to the text. The lines between it and the region join the region."""
        end = self.first + self.count
        old_end = replaced.first + len(replaced.old)  # both in segments as they were before this change
        grown = replaced.new_count - len(replaced.old)
        head, tail = self._outside(replaced, end, old_end, grown)
        self.before = [*head, *self.before, *tail]
        self.first = min(self.first, replaced.first)
        self.count = max(end, old_end) + grown - self.first
        self.ranges = _joined(self.ranges, replaced.change)

    def settle(self) -> None:
        """Note how far the ranges reach in the text of this moment. The next change may be made before it is taken in."""
        self._reach = [widen_to_tokens(self._text.lines, *each) for each in self.ranges]

    def is_continued_by(self, changes: Sequence[Change]) -> bool:
        """Does one of the changes of a step touch the region? Each is in the text that the one before left."""
        reach = self._reach
        for number, change in enumerate(changes, start=1):
            if any(first <= change.end and change.start <= last for first, last in reach):
                return True
            if number < len(changes):
                reach = _joined(reach, change)[:-1]
        return False

    def has_room_for(self, first: int, last: int) -> bool:
        """Is the region still short enough if it takes in these segments?"""
        return max(self.first + self.count, last) - min(self.first, first) <= _LIMIT_LINES

    def is_within(self, lines: int, first: int, last: int) -> bool:
        """Are the segments from first up to last at most so many lines away?"""
        return first < self.first + self.count + lines and last > self.first - lines

    def has_typed_in(self, start: int, end: int) -> bool:
        """Is some of a text range new by this burst?"""
        return any(max(first, start) < min(last, end) for first, last in self.ranges)

    def edits(self, name: HalfTyped | None = None) -> list[Edit]:
        """Explicit edits since the burst began, without a half-typed name."""
        after = list(self._text.tokens[self.first : self.first + self.count])
        if name is not None:
            after[name.segment - self.first] = name.left + name.right
        offset = 1 + self._text.tokens_before(self.first)  # one for START
        return lexical_edits_between(self.before, after, self._text.tokenizer.ends, offset)

    def _outside(
        self, replaced: Replaced, end: int, old_end: int, grown: int
    ) -> tuple[Sequence[Tokens], Sequence[Tokens]]:
        """The tokens, as before the change, of what the region grows by above and below."""
        old, tokens = replaced.old, self._text.tokens
        head: list[Tokens] = []
        tail: list[Tokens] = []
        if replaced.first < self.first:
            head = list(old[: self.first - replaced.first])
            # The lines between, where they are now; none, and no negative index, when the change reaches into the region.
            head += tokens[replaced.first + replaced.new_count : max(0, self.first + grown)]
        if old_end > end:
            tail = list(tokens[end : max(end, replaced.first)])
            tail += old[max(0, end - replaced.first) :]
        return head, tail


def _joined(ranges: Sequence[TextRange], change: Change) -> list[TextRange]:
    """The ranges after a change. Last comes the change's own, with those that it touches."""
    result: list[TextRange] = []
    start, end = change.start, change.new_end
    for first, last in ranges:
        if last < change.start:
            result.append((first, last))
        elif first > change.end:
            result.append((first + change.growth, last + change.growth))
        else:
            start, end = min(start, first), max(end, last + change.growth)
    return [*result, (start, end)]
