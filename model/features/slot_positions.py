"""Where every slot is, while edits are applied, and the hunks that the edits make.

Training and serving compute an edit's features with `Places`, so they cannot disagree.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.editing.edits import DELETE, END, PAD, Edit, Slots
from model.features.precedents import LONGEST, Precedent, Tokens

Ints = NDArray[np.int64]

# Tokens beside an edit that its embedding sees, as offsets from the edited place: three on each side.
NEIGHBOURS = 6
STEPS = 16  # edits of a hunk that are told apart by their number
REACH = 8  # tokens on each side that are the surroundings of a place

# Below this each distance has its own bucket, above they grow by powers of the square root of two.
_EXACT_DISTANCES = 8
_FAR_DISTANCES = 20
_SIDE = _EXACT_DISTANCES + _FAR_DISTANCES
_PER_KIND = 2 * _SIDE + 1
NO_DISTANCE = 2 * _PER_KIND  # there is no edit before
STOP_DISTANCE = NO_DISTANCE + 1  # the end token: to point at it is to stop
DISTANCES = NO_DISTANCE + 2
_FURTHEST = _EXACT_DISTANCES << _FAR_DISTANCES // 2  # from here on all are in the last bucket


def _distance_table() -> Ints:
    """The bucket of each distance from -_FURTHEST to _FURTHEST: to look it up is faster than to compute it."""
    distances = np.arange(-_FURTHEST, _FURTHEST + 1)
    magnitude = np.abs(distances)
    far = np.log2(np.maximum(magnitude, _EXACT_DISTANCES) / _EXACT_DISTANCES) * 2
    bucket = np.where(magnitude < _EXACT_DISTANCES, magnitude, _EXACT_DISTANCES + far.astype(np.int64))
    signed: Ints = np.sign(distances) * np.minimum(bucket, _SIDE) + _SIDE
    return signed


_DISTANCE_TABLE = _distance_table()


def distance_buckets(distances: Ints | int, *, after_deletion: bool) -> Ints:
    """Buckets of signed distances between places; those after an insertion and after a deletion are apart."""
    buckets: Ints = _DISTANCE_TABLE.take(distances + _FURTHEST, mode="clip")
    return buckets + _PER_KIND if after_deletion else buckets


class Hunk(NamedTuple):
    """The run of touching edits that the newest edit belongs to."""

    first: int  # places that it covers in the current state
    last: int
    step: int  # how many of its edits came before the newest
    surroundings: tuple[int, ...]  # the tokens around its first edit, as that edit met them
    precedent: Precedent  # the change that it makes
    made: tuple[int, ...]  # its edits one by one: the token that came, or the negative of the one that went
    previous: "Hunk | None"

    @property
    def expected(self) -> "Hunk":
        """The hunk that is likely to be made again: what followed when this change was made before, or else this one."""
        follower = self
        for hunk in self.earlier():
            if hunk.is_twin(self):
                return follower
            follower = hunk
        return self

    @property
    def pattern(self) -> Precedent:
        """Its change, with what it has in common with the last time that it was made before."""
        twin = next((hunk for hunk in self.earlier() if hunk.is_twin(self)), None)
        return self.precedent.agreeing_with(twin.precedent) if twin else self.precedent

    @property
    def continuation(self) -> int | None:
        """How it would go on if it went on like the last hunk that began like it; None when it would not."""
        count = len(self.made)
        for hunk in self.earlier():
            if hunk.made[:count] == self.made:
                return hunk.made[count] if len(hunk.made) > count else None
        return None

    @property
    def repeats(self) -> int:
        """How many hunks before it made the same change."""
        return sum(hunk.is_twin(self) for hunk in self.earlier())

    def earlier(self) -> Iterator["Hunk"]:
        """The hunks before it, newest first."""
        hunk = self.previous
        while hunk is not None:
            yield hunk
            hunk = hunk.previous

    def is_twin(self, other: "Hunk") -> bool:
        """Do both make the same change?"""
        mine, its = self.precedent, other.precedent
        return mine.gone == its.gone and mine.come == its.come


class Places:
    """The place (explicit position) of every slot; -1 for a slot that is not in the current state."""

    def __init__(self, state: Sequence[int], capacity: int) -> None:
        self.slots = Slots(state)
        self._all = np.full(len(state) + capacity, -1, dtype=np.int64)
        self._all[: len(state)] = np.arange(len(state))
        self._contents = np.full(len(state) + capacity, PAD, dtype=np.int32)
        self._contents[: len(state)] = state
        self._hunks: list[Hunk] = []  # after each edit
        self._padded: Tokens | None = None  # tokens of the current state between padding, once asked for
        self.anchor = -1  # the place that the next edit is measured from; -1 when there is no edit

    @property
    def current(self) -> Ints:
        """The place of each slot so far: the state's, then the edits'."""
        return self._all[: len(self.slots.contents)]

    def by_column(self, state_columns: int) -> Ints:
        """The place of each column when the state is padded to so many: -1 for those that have none."""
        current, length = self.current, self.slots.state_length
        result = np.full(state_columns + len(current) - length, -1, dtype=np.int64)
        result[:length], result[state_columns:] = current[:length], current[length:]
        return result

    def apply(self, edit: Edit) -> int:
        """Apply an implicit edit; its explicit position is returned."""
        slots = self.slots
        if not 0 <= edit.position < len(slots.contents):
            raise ValueError(f"position {edit.position} is outside a state of {len(slots.contents)} tokens")
        place = int(self._all[edit.position])
        if place < 0:
            raise ValueError(f"position {edit.position} is not in the current state: it was deleted")
        if len(slots.contents) == len(self._all):
            self._all = np.concatenate([self._all, np.full_like(self._all, -1)])
            self._contents = np.concatenate([self._contents, np.zeros_like(self._contents)])
        surroundings = self._around(place)
        self._padded = None
        slots.apply_explicit(Edit(place, edit.content))
        self._hunks.append(self._hunk(edit, place, surroundings))
        self._contents[len(slots.contents) - 1] = edit.content
        self._move(edit, place, new_slot=len(slots.contents) - 1)
        self.anchor = _anchor(edit, place)
        return place

    def keep(self, count: int) -> None:
        """Undo all edits but the first `count`."""
        slots = self.slots
        if count == len(slots.edits):
            return
        if not 0 <= count <= len(slots.edits):
            raise ValueError(f"cannot keep {count} of {len(slots.edits)} edits")
        explicit = slots.explicit_positions()
        for index in range(len(slots.edits) - 1, count - 1, -1):
            edit, place = slots.edits[index], explicit[index]
            self._all[slots.state_length + index] = -1
            if edit.content == DELETE:
                self._all += self._all >= place
                self._all[edit.position] = place
            elif edit.content != END:
                self._all -= self._all > place
        slots.keep(count)
        self._padded = None
        del self._hunks[count:]
        self.anchor = _anchor(slots.edits[-1], explicit[count - 1]) if count else -1

    @property
    def hunk(self) -> Hunk | None:
        """The hunk of the newest edit."""
        return self._hunks[-1] if self._hunks else None

    def tokens(self, margin: int = 0) -> Tokens:
        """The current state, with some padding on both sides, up to LONGEST."""
        if self._padded is None:
            current, count = self.current, len(self.slots.order)
            # Slots that are not in the current state write to the end, one behind the padding that is read.
            self._padded = np.full(count + 2 * LONGEST + 1, PAD, dtype=np.int32)
            places = np.where(current >= 0, current + LONGEST, count + 2 * LONGEST)
            self._padded[places] = self._contents[: len(current)]
        return self._padded[LONGEST - margin : len(self._padded) - 1 - LONGEST + margin]

    def neighbours(self, edit: Edit, place: int) -> list[int]:
        """The tokens beside an edit that was just applied."""
        left = place if edit.content != DELETE else place - 1
        right = place + 2 if edit.content != DELETE else place
        return [*self._between(left - 2, left + 1), *self._between(right, right + 3)]

    def _around(self, place: int) -> tuple[int, ...]:
        return tuple(self._between(place - REACH, place + REACH + 1))

    def _between(self, first: int, last: int) -> list[int]:
        """The tokens of a range of places, with padding where it reaches over an end of the state."""
        order, contents = self.slots.order, self.slots.contents
        inside = [contents[slot] for slot in order[max(0, first) : max(0, last)]]
        if first >= 0 and last <= len(order):
            return inside
        before = [PAD] * (min(0, last) - min(0, first))
        return before + inside + [PAD] * (last - first - len(before) - len(inside))

    def _hunk(self, edit: Edit, place: int, surroundings: tuple[int, ...]) -> Hunk:
        begin = place if edit.content == DELETE else place + 1
        grown = -1 if edit.content == DELETE else 1
        hunk = self.hunk
        if hunk is None or begin > hunk.last or place + 1 < hunk.first:
            precedent = self._made(edit, begin, begin + max(grown, 0), None, is_before=False)
            return Hunk(begin, place + 1 + grown, 0, surroundings, precedent, (self._signed(edit),), hunk)
        first, last = min(begin, hunk.first), max(place + 1, hunk.last) + grown
        precedent = self._made(edit, first, last, hunk.precedent, is_before=begin < hunk.first)
        made = (*hunk.made, self._signed(edit))
        return hunk._replace(first=first, last=last, step=hunk.step + 1, precedent=precedent, made=made)

    def _signed(self, edit: Edit) -> int:
        return -self.slots.contents[edit.position] if edit.content == DELETE else edit.content

    def _made(
        self, edit: Edit, first: int, last: int, before: Precedent | None, *, is_before: bool
    ) -> Precedent:
        """The change that a hunk makes, with one more edit that was just applied."""
        gone, come = (before.gone, before.come) if before else ((), ())
        if edit.content == DELETE:
            token = (self.slots.contents[edit.position],)
            gone = token + gone if is_before else gone + token
        else:
            come = (edit.content, *come) if is_before else (*come, edit.content)
        order, contents = self.slots.order, self.slots.contents
        right = contents[order[last]] if last < len(order) else PAD
        return Precedent(gone, come, contents[order[first - 1]], right)

    def _move(self, edit: Edit, place: int, new_slot: int) -> None:
        if edit.content == DELETE:
            self._all[edit.position] = -1
            self._all -= self._all > place
        elif edit.content != END:
            self._all += self._all > place
            self._all[new_slot] = place + 1


def _anchor(edit: Edit, place: int) -> int:
    """An insertion is measured from the token it made, a deletion from the token before the gap."""
    return place - 1 if edit.content == DELETE else place + 1


class EditFeatures(NamedTuple):
    """What is known of one edit when it has been applied."""

    place: int  # explicit position of the token that the edit made, or deleted
    subject: int  # the token inserted or deleted
    is_deletion: bool
    neighbours: list[int]
    move: int  # bucket of the distance from the edit before
    step: int  # its number in its hunk


def apply_with_features(places: Places, edit: Edit) -> EditFeatures:
    """Apply an edit and describe it."""
    anchor, first = places.anchor, not places.slots.edits
    after_deletion = not first and places.slots.edits[-1].content == DELETE
    is_deletion = edit.content == DELETE
    place = places.apply(edit)
    if edit.content == END:
        move = STOP_DISTANCE
    elif first:
        move = NO_DISTANCE
    else:
        move = int(distance_buckets(place - anchor, after_deletion=after_deletion))
    return EditFeatures(
        place=place if is_deletion else place + 1,
        subject=places.slots.contents[edit.position] if is_deletion else edit.content,
        is_deletion=is_deletion,
        neighbours=places.neighbours(edit, place),
        move=move,
        step=min(places.hunk.step, STEPS - 1) if places.hunk else 0,
    )
