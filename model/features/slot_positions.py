"""SlotPositions: the explicit position of every slot while edits are applied, and the runs that the edits make.

Training and serving describe an edit with `apply_with_features`, so they cannot disagree.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from model.editing.edits import DELETE, END, PAD, Edit, Slots
from model.features.precedents import LONGEST, Precedent, Tokens

Ints = NDArray[np.int64]
Value = TypeVar("Value")

# Tokens beside an edit that its embedding sees: three on each side.
NEIGHBOURS = 6
STEPS = 16  # edits of a run that are told apart by their number
REACH = 8  # tokens on each side that are the surroundings of a position

# Below this each distance has its own bucket; above, buckets grow by powers of the square root of two.
_EXACT_DISTANCES = 8
_FAR_DISTANCES = 20
_SIDE = _EXACT_DISTANCES + _FAR_DISTANCES
_PER_KIND = 2 * _SIDE + 1
NO_DISTANCE = 2 * _PER_KIND  # there is no edit before
STOP_DISTANCE = NO_DISTANCE + 1  # the end token: an edit that points at it says stop
DISTANCES = NO_DISTANCE + 2
_FURTHEST = _EXACT_DISTANCES << _FAR_DISTANCES // 2  # from here on all are in the last bucket


def _distance_table() -> Ints:
    """Compute the bucket of each distance from -_FURTHEST to _FURTHEST once: a lookup is faster than the logarithm."""
    distances = np.arange(-_FURTHEST, _FURTHEST + 1)
    magnitude = np.abs(distances)
    far = np.log2(np.maximum(magnitude, _EXACT_DISTANCES) / _EXACT_DISTANCES) * 2
    bucket = np.where(magnitude < _EXACT_DISTANCES, magnitude, _EXACT_DISTANCES + far.astype(np.int64))
    signed: Ints = np.sign(distances) * np.minimum(bucket, _SIDE) + _SIDE
    return signed


_DISTANCE_TABLE = _distance_table()


def distance_buckets(distances: Ints | int, *, after_deletion: bool) -> Ints:
    """Find the buckets of signed distances; distances after a deletion have buckets of their own."""
    buckets: Ints = _DISTANCE_TABLE.take(distances + _FURTHEST, mode="clip")
    return buckets + _PER_KIND if after_deletion else buckets


class EditRun(NamedTuple):
    """The run of touching edits that the newest edit belongs to."""

    first: int  # explicit positions that it covers in the current state
    last: int
    step: int  # how many of its edits came before the newest
    surroundings: tuple[int, ...]  # the tokens around its first edit, as that edit met them
    precedent: Precedent  # the change that it makes
    signed: tuple[int, ...]  # its edits one by one: the token that came, or minus the token that went
    previous: "EditRun | None"

    @property
    def expected(self) -> "EditRun":
        """The run that is likely to be made again: the one that followed this change before, or else this one."""
        follower = self
        for run in self.earlier():
            if run.is_twin(self):
                return follower
            follower = run
        return self

    @property
    def pattern(self) -> Precedent:
        """Its change, reduced to what it shares with the last run that made the same change."""
        twin = next((run for run in self.earlier() if run.is_twin(self)), None)
        return self.precedent.reduced_by(twin.precedent) if twin else self.precedent

    @property
    def continuation(self) -> int | None:
        """The signed token with which the last run that began like this one went on; None when it did not go on."""
        count = len(self.signed)
        for run in self.earlier():
            if run.signed[:count] == self.signed:
                return run.signed[count] if len(run.signed) > count else None
        return None

    @property
    def repeats(self) -> int:
        """The number of earlier runs that made the same change."""
        return sum(run.is_twin(self) for run in self.earlier())

    def earlier(self) -> Iterator["EditRun"]:
        """Iterate over the runs before it, newest first."""
        run = self.previous
        while run is not None:
            yield run
            run = run.previous

    def is_twin(self, other: "EditRun") -> bool:
        """Tell whether both make the same change."""
        mine, its = self.precedent, other.precedent
        return mine.gone == its.gone and mine.come == its.come


class SlotPositions:
    """The explicit position of every slot; -1 for a slot that is not in the current state."""

    def __init__(self, state: Sequence[int], capacity: int) -> None:
        self.slots = Slots(state)
        self._all = np.full(len(state) + capacity, -1, dtype=np.int64)
        self._all[: len(state)] = np.arange(len(state))
        self._contents = np.full(len(state) + capacity, PAD, dtype=np.int32)
        self._contents[: len(state)] = state
        self._runs: list[EditRun] = []  # after each edit
        self._padded: Tokens | None = None  # tokens of the current state between padding, once asked for
        self.anchor = -1  # the position that the next edit is measured from; -1 when there is no edit

    @property
    def current(self) -> Ints:
        """The explicit position of each slot: the state's slots, then the edits'."""
        return self._all[: len(self.slots.contents)]

    @property
    def run(self) -> EditRun | None:
        """The run of the newest edit."""
        return self._runs[-1] if self._runs else None

    def by_column(self, state_columns: int) -> Ints:
        """Give the explicit position of each column when the state is padded to so many; -1 for columns without one."""
        current, length = self.current, self.slots.state_length
        result = np.full(state_columns + len(current) - length, -1, dtype=np.int64)
        result[:length], result[state_columns:] = current[:length], current[length:]
        return result

    def column(self, slot: int, state_columns: int) -> int:
        """Give the column of a slot when the state is padded to so many columns."""
        length = self.slots.state_length
        return slot if slot < length else slot - length + state_columns

    def apply(self, edit: Edit) -> int:
        """Apply an implicit edit and return its explicit position."""
        slots = self.slots
        if not 0 <= edit.position < len(slots.contents):
            raise ValueError(f"position {edit.position} is outside a state of {len(slots.contents)} tokens")
        explicit = int(self._all[edit.position])
        if explicit < 0:
            raise ValueError(f"position {edit.position} is not in the current state: it was deleted")
        if len(slots.contents) == len(self._all):
            self._all = np.concatenate([self._all, np.full_like(self._all, -1)])
            self._contents = np.concatenate([self._contents, np.zeros_like(self._contents)])
        surroundings = tuple(self._tokens_between(explicit - REACH, explicit + REACH + 1))
        self._padded = None
        slots.apply_explicit(Edit(explicit, edit.content))
        self._runs.append(self._extend_run(edit, explicit, surroundings))
        self._contents[len(slots.contents) - 1] = edit.content
        self._move(edit, explicit, new_slot=len(slots.contents) - 1)
        self.anchor = _find_anchor(edit, explicit)
        return explicit

    def keep(self, count: int) -> None:
        """Undo all edits but the first `count`."""
        slots = self.slots
        if count == len(slots.edits):
            return
        if not 0 <= count <= len(slots.edits):
            raise ValueError(f"cannot keep {count} of {len(slots.edits)} edits")
        explicit_positions = slots.explicit_positions()
        for index in range(len(slots.edits) - 1, count - 1, -1):
            edit, explicit = slots.edits[index], explicit_positions[index]
            self._all[slots.state_length + index] = -1
            if edit.content == DELETE:
                self._all += self._all >= explicit
                self._all[edit.position] = explicit
            elif edit.content != END:
                self._all -= self._all > explicit
        slots.keep(count)
        self._padded = None
        del self._runs[count:]
        self.anchor = _find_anchor(slots.edits[-1], explicit_positions[count - 1]) if count else -1

    def tokens(self, margin: int = 0) -> Tokens:
        """Give the current state with up to LONGEST tokens of padding on both sides."""
        if self._padded is None:
            current, count = self.current, len(self.slots.order)
            # Slots that are not in the current state write to the end, one behind the padding that is read.
            self._padded = np.full(count + 2 * LONGEST + 1, PAD, dtype=np.int32)
            targets = np.where(current >= 0, current + LONGEST, count + 2 * LONGEST)
            self._padded[targets] = self._contents[: len(current)]
        return self._padded[LONGEST - margin : len(self._padded) - 1 - LONGEST + margin]

    def neighbours(self, edit: Edit, explicit: int) -> list[int]:
        """Give the tokens beside an edit that was just applied."""
        left = explicit if edit.content != DELETE else explicit - 1
        right = explicit + 2 if edit.content != DELETE else explicit
        return [*self._tokens_between(left - 2, left + 1), *self._tokens_between(right, right + 3)]

    def _tokens_between(self, first: int, last: int) -> list[int]:
        """Give the tokens of a range of explicit positions, with padding beyond the ends of the state."""
        order, contents = self.slots.order, self.slots.contents
        inside = [contents[slot] for slot in order[max(0, first) : max(0, last)]]
        if first >= 0 and last <= len(order):
            return inside
        before = [PAD] * (min(0, last) - min(0, first))
        return before + inside + [PAD] * (last - first - len(before) - len(inside))

    def _extend_run(self, edit: Edit, explicit: int, surroundings: tuple[int, ...]) -> EditRun:
        """Give the run of an edit that was just applied: the newest run with it, or a new run."""
        begin = explicit if edit.content == DELETE else explicit + 1
        growth = -1 if edit.content == DELETE else 1
        run = self.run
        if run is None or begin > run.last or explicit + 1 < run.first:
            precedent = self._extend_precedent(edit, begin, begin + max(growth, 0), None, is_before=False)
            return EditRun(begin, explicit + 1 + growth, 0, surroundings, precedent, (self._sign(edit),), run)
        first, last = min(begin, run.first), max(explicit + 1, run.last) + growth
        precedent = self._extend_precedent(edit, first, last, run.precedent, is_before=begin < run.first)
        signed = (*run.signed, self._sign(edit))
        return run._replace(first=first, last=last, step=run.step + 1, precedent=precedent, signed=signed)

    def _sign(self, edit: Edit) -> int:
        return -self.slots.contents[edit.position] if edit.content == DELETE else edit.content

    def _extend_precedent(
        self, edit: Edit, first: int, last: int, before: Precedent | None, *, is_before: bool
    ) -> Precedent:
        """Give the change that a run makes, with one more edit that was just applied."""
        gone, come = (before.gone, before.come) if before else ((), ())
        if edit.content == DELETE:
            token = (self.slots.contents[edit.position],)
            gone = token + gone if is_before else gone + token
        else:
            come = (edit.content, *come) if is_before else (*come, edit.content)
        order, contents = self.slots.order, self.slots.contents
        right = contents[order[last]] if last < len(order) else PAD
        return Precedent(gone, come, contents[order[first - 1]], right)

    def _move(self, edit: Edit, explicit: int, new_slot: int) -> None:
        if edit.content == DELETE:
            self._all[edit.position] = -1
            self._all -= self._all > explicit
        elif edit.content != END:
            self._all += self._all > explicit
            self._all[new_slot] = explicit + 1


def _find_anchor(edit: Edit, explicit: int) -> int:
    """Measure from the token that an insertion made, or from the token before the gap of a deletion."""
    return explicit - 1 if edit.content == DELETE else explicit + 1


@dataclass
class EditFeatures(Generic[Value]):
    """The features of edits that the networks read: integers for one edit, arrays for a batch, tensors in a network.

    This is the only declaration of an edit's features. Batches, the networks' inputs and the inputs of the step graph
    are derived from its fields.
    """

    positions: Value  # the column that the edit points at
    contents: Value
    explicit_positions: Value  # of the token that the edit made, or deleted
    subjects: Value  # the token inserted or deleted
    deletions: Value  # one for a deletion, zero for an insertion
    neighbours: Value  # the NEIGHBOURS tokens beside it
    moves: Value  # bucket of the distance from the edit before
    steps: Value  # its number in its run


EDIT_FEATURES = tuple(field.name for field in fields(EditFeatures))


def apply_with_features(positions: SlotPositions, edit: Edit, state_columns: int) -> EditFeatures[Any]:
    """Apply an edit and describe it; the state is padded to so many columns."""
    anchor, is_first = positions.anchor, not positions.slots.edits
    after_deletion = not is_first and positions.slots.edits[-1].content == DELETE
    is_deletion = edit.content == DELETE
    explicit = positions.apply(edit)
    if edit.content == END:
        move = STOP_DISTANCE
    elif is_first:
        move = NO_DISTANCE
    else:
        move = int(distance_buckets(explicit - anchor, after_deletion=after_deletion))
    return EditFeatures(
        positions=positions.column(edit.position, state_columns),
        contents=edit.content,
        explicit_positions=explicit if is_deletion else explicit + 1,
        subjects=positions.slots.contents[edit.position] if is_deletion else edit.content,
        deletions=int(is_deletion),
        neighbours=positions.neighbours(edit, explicit),
        moves=move,
        steps=min(positions.run.step, STEPS - 1) if positions.run else 0,
    )
