"""Instances as padded arrays: what the networks read.

`Places` follows the current place of every slot while edits are applied; training and serving compute an edit's features
with it, so they cannot disagree. Arrays of a batch are padded to its longest state (M) and its longest history (T);
slot numbers are moved accordingly: columns 0..M-1 are the state's, column M + t is that of the edit with index t.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.edits import DELETE, END, PAD, Edit, Instance, Slots
from model.replays import (
    BY_EARLIER_REPLAY,
    BY_GOING_ON,
    BY_REPLAY,
    GOES_ON,
    NO_PRECEDENT,
    NO_REPLAY,
    Precedent,
    fitting,
    replay_buckets,
)

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

# Tokens beside an edit that its embedding sees, as offsets from the edited place: three on each side.
NEIGHBOURS = 6

# Below this each distance has its own bucket, above they grow by powers of the square root of two.
_EXACT_DISTANCES = 8
_FAR_DISTANCES = 20
_SIDE = _EXACT_DISTANCES + _FAR_DISTANCES
_PER_KIND = 2 * _SIDE + 1
NO_DISTANCE = 2 * _PER_KIND  # there is no edit before
STOP_DISTANCE = NO_DISTANCE + 1  # the end token: to point at it is to stop
DISTANCES = NO_DISTANCE + 2

# How far around a place it is compared with the place where the newest hunk began.
_REACH = 3
_FAR_REACH = 8  # and for the comparison that forgives
NO_MATCH = 2 * (_REACH + 1) ** 2  # there is no hunk, or the slot is not in the current state
MATCHES = NO_MATCH + 1
_SHARES = 9
NO_SIMILARITY = 2 * _SHARES
SIMILARITIES = NO_SIMILARITY + 1
_LEAST_AGREEMENT = 3  # offsets at which two hunks must agree before that counts as a pattern
STEPS = 16  # edits of a hunk that are told apart by their number


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


def distance_buckets(distances: Ints, *, after_deletion: bool) -> Ints:
    """Buckets of signed distances between places; those after an insertion and after a deletion are apart."""
    near = np.minimum(np.maximum(distances, -_FURTHEST), _FURTHEST)
    buckets: Ints = _DISTANCE_TABLE[near + _FURTHEST] + (_PER_KIND if after_deletion else 0)
    return buckets


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
    def template(self) -> tuple[int, ...]:
        """The nearest of the surroundings."""
        return self.surroundings[_FAR_REACH - _REACH : _FAR_REACH + _REACH + 1]

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
        return self.precedent[:2] == other.precedent[:2]


class Places:
    """The place (explicit position) of every slot; -1 for a slot that is not in the current state."""

    def __init__(self, state: Sequence[int], capacity: int) -> None:
        self.slots = Slots(state)
        self._all = np.full(len(state) + capacity, -1, dtype=np.int64)
        self._all[: len(state)] = np.arange(len(state))
        self._contents = np.full(len(state) + capacity, PAD, dtype=np.int64)
        self._contents[: len(state)] = state
        self._hunks: list[Hunk] = []  # after each edit
        self._padded: Ints | None = None  # tokens of the current state between padding, once asked for
        self._found: dict[str, Ints] = {}  # replays of the current state
        self.anchor = -1  # the place that the next edit is measured from; -1 when there is no edit

    @property
    def current(self) -> Ints:
        """The place of each slot so far: the state's, then the edits'."""
        return self._all[: len(self.slots.contents)]

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
        self._found = {}
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
        if not 0 <= count <= len(slots.edits):
            raise ValueError(f"cannot keep {count} of {len(slots.edits)} edits")
        self._found = {}
        explicit = slots.explicit_positions()
        for index in range(len(slots.edits) - 1, count - 1, -1):
            edit, place = slots.edits[index], explicit[index]
            self._all[slots.state_length + index] = -1
            if edit.content == DELETE:
                self._all[self._all >= place] += 1
                self._all[edit.position] = place
            elif edit.content != END:
                self._all[self._all > place] -= 1
        slots.keep(count)
        self._padded = None
        del self._hunks[count:]
        self.anchor = _anchor(slots.edits[-1], explicit[count - 1]) if count else -1

    def distances(self) -> Ints:
        """For each slot, the bucket of its distance to the last edit."""
        if self.anchor < 0:
            buckets = np.full(len(self.current), NO_DISTANCE, dtype=np.int64)
        else:
            after_deletion = self.slots.edits[-1].content == DELETE
            buckets = distance_buckets(self.current - self.anchor, after_deletion=after_deletion)
        buckets[self.slots.state_length - 1] = STOP_DISTANCE
        return buckets

    @property
    def hunk(self) -> Hunk | None:
        """The hunk of the newest edit."""
        return self._hunks[-1] if self._hunks else None

    def matches(self) -> Ints:
        """For each slot, how much its surroundings look like those where the newest hunk began."""
        return self._matches(self.hunk)

    def earlier_matches(self) -> Ints:
        """The same for the hunk before: some intents alternate between two kinds of places."""
        return self._matches(self.hunk.previous if self.hunk else None)

    def _matches(self, hunk: Hunk | None) -> Ints:
        if hunk is None:
            return np.full(len(self.current), NO_MATCH, dtype=np.int64)
        equal = self._comparisons(hunk.template)
        buckets = equal[_REACH] * np.uint8((_REACH + 1) ** 2)
        buckets += _run(equal[_REACH - 1 :: -1]) * np.uint8(_REACH + 1) + _run(equal[_REACH + 1 :])
        return self._by_slot(buckets, NO_MATCH)

    def similarities(self) -> Ints:
        """For each slot, the share of the tokens around it that are those around the start of the newest hunk.

        Where the newest two hunks began at places that agree in some tokens, only these count: they are the pattern.
        """
        if not self._hunks:
            return np.full(len(self.current), NO_SIMILARITY, dtype=np.int64)
        surroundings, previous = self._hunks[-1].surroundings, self._hunks[-1].previous
        earlier = previous.surroundings if previous else None
        offsets = list(range(len(surroundings)))
        agreed = [i for i in offsets if earlier is not None and earlier[i] == surroundings[i]]
        is_pattern = len(agreed) >= _LEAST_AGREEMENT
        equal = self._comparisons(surroundings)
        counted = agreed if is_pattern else offsets
        counts = (equal[agreed] if is_pattern else equal).view(np.uint8).sum(axis=0, dtype=np.uint8)
        shares = np.arange(len(counted) + 1, dtype=np.int64) * (_SHARES - 1) // len(counted)
        return self._by_slot((shares + (_SHARES if is_pattern else 0))[counts], NO_SIMILARITY)

    def replays(self) -> Ints:
        """For each slot, whether the change that is likely to be made again fits there."""
        if "replays" not in self._found:
            self._found["replays"] = self._replays(self.hunk.expected if self.hunk else None)
            slot, _ = self._going_on()
            if slot is not None:
                self._found["replays"][slot] = GOES_ON
        return self._found["replays"]

    def earlier_replays(self) -> Ints:
        """The same for the hunk before the newest."""
        if "earlier_replays" not in self._found:
            self._found["earlier_replays"] = self._replays(self.hunk.previous if self.hunk else None)
        return self._found["earlier_replays"]

    def replayed(self) -> tuple[Ints, Ints]:
        """For each slot: the content that a precedent would have there, and the kind of that precedent."""
        contents = np.full(len(self.current), PAD, dtype=np.int64)
        kinds = np.full(len(self.current), NO_PRECEDENT, dtype=np.int64)
        if self.hunk is None:
            return contents, kinds
        for hunk, buckets, kind in (
            (self.hunk.previous, self.earlier_replays(), BY_EARLIER_REPLAY),
            (self.hunk.expected, self.replays(), BY_REPLAY),
        ):
            fits = fitting(buckets)
            if hunk is not None:
                contents[fits >= 0] = DELETE if hunk.precedent.gone else hunk.precedent.come[0]
                kinds = np.where(fits >= 0, kind + fits, kinds)
        slot, content = self._going_on()
        if slot is not None:
            contents[slot], kinds[slot] = content, BY_GOING_ON
        return contents, kinds

    def _going_on(self) -> tuple[int | None, int]:
        """The slot at which the newest hunk would go on like an earlier one, and the content."""
        hunk, order = self.hunk, self.slots.order
        token = hunk.continuation if hunk else None
        if hunk is None or token is None:
            return None, PAD
        if token > 0:
            return order[hunk.last - 1], token
        slot = order[hunk.last]
        return (slot, DELETE) if self.slots.contents[slot] == -token else (None, PAD)

    def _replays(self, hunk: Hunk | None) -> Ints:
        if hunk is None or self.hunk is None:
            return np.full(len(self.current), NO_REPLAY, dtype=np.int64)
        buckets = replay_buckets(self._tokens(), hunk.pattern, self.hunk.first, self.hunk.last)
        return self._by_slot(buckets, NO_REPLAY)

    def _by_slot(self, by_place: NDArray[Any], otherwise: int) -> Ints:
        """For each slot what is known of its place; for a slot that has none, its place is -1: the last of them."""
        extended = np.empty(len(by_place) + 1, dtype=np.int64)
        extended[:-1], extended[-1] = by_place, otherwise
        return extended[self.current]

    def _tokens(self, margin: int = 0) -> Ints:
        """The current state, with padding on both sides."""
        if self._padded is None:
            current, count = self.current, len(self.slots.order)
            # Slots that are not in the current state write to the end, one behind the padding that is read.
            self._padded = np.full(count + 2 * _FAR_REACH + 1, PAD, dtype=np.int64)
            places = np.where(current >= 0, current + _FAR_REACH, count + 2 * _FAR_REACH)
            self._padded[places] = self._contents[: len(current)]
        return self._padded[_FAR_REACH - margin : len(self._padded) - 1 - _FAR_REACH + margin]

    def _comparisons(self, around: Sequence[int]) -> Bools:
        """For each offset of a place's surroundings: which places have the same token there. (offsets, places)"""
        tokens, count = self._tokens(len(around) // 2), len(self.slots.order)
        # One row for each offset, all of them views of the same tokens.
        rows: Ints = np.ndarray((len(around), count), np.int64, tokens, strides=tokens.strides * 2)
        equal: Bools = rows == np.array(around)[:, None]
        return equal

    def neighbours(self, edit: Edit, place: int) -> list[int]:
        """The tokens beside an edit that was just applied."""
        order, contents = self.slots.order, self.slots.contents
        left = place if edit.content != DELETE else place - 1
        right = place + 2 if edit.content != DELETE else place
        around = [*range(left - 2, left + 1), *range(right, right + 3)]
        return [contents[order[p]] if 0 <= p < len(order) else PAD for p in around]

    def _around(self, place: int) -> tuple[int, ...]:
        order, contents = self.slots.order, self.slots.contents
        around = range(place - _FAR_REACH, place + _FAR_REACH + 1)
        return tuple(contents[order[p]] if 0 <= p < len(order) else PAD for p in around)

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
            self._all[self._all > place] -= 1
        elif edit.content != END:
            self._all[self._all > place] += 1
            self._all[new_slot] = place + 1


def _run(equal: Bools) -> NDArray[np.uint8]:
    """How many of the comparisons hold one after another, from the first on."""
    so_far = equal[0].copy()
    total: NDArray[np.uint8] = so_far.astype(np.uint8)
    for holds in equal[1:]:
        so_far &= holds
        total += so_far
    return total


def _anchor(edit: Edit, place: int) -> int:
    """An insertion is measured from the token it made, a deletion from the token before the gap."""
    return place - 1 if edit.content == DELETE else place + 1


@dataclass(frozen=True)
class EditFeatures:
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
        move = int(distance_buckets(np.array(place - anchor), after_deletion=after_deletion))
    return EditFeatures(
        place=place if is_deletion else place + 1,
        subject=places.slots.contents[edit.position] if is_deletion else edit.content,
        is_deletion=is_deletion,
        neighbours=places.neighbours(edit, place),
        move=move,
        step=min(places.hunk.step, STEPS - 1) if places.hunk else 0,
    )


@dataclass(frozen=True)
class Batch:
    """Several instances as padded arrays, in the implicit representation."""

    state: Ints  # (B, M)
    state_mask: Bools  # (B, M)
    positions: Ints  # (B, T) columns
    contents: Ints  # (B, T)
    edit_mask: Bools  # (B, T)
    loss_mask: Bools  # (B, T) edits that are to be predicted
    places: Ints  # (B, T)
    subjects: Ints  # (B, T)
    deletions: Ints  # (B, T) zero or one
    neighbours: Ints  # (B, T, NEIGHBOURS)
    moves: Ints  # (B, T)
    steps: Ints  # (B, T)
    replayed: Ints  # (B, T) what a precedent would have at the edit's position
    replayed_kinds: Ints  # (B, T)
    alive: Bools  # (B, T, M + T) slots that the edit can point at
    distances: Ints  # (B, T, M + T)
    matches: Ints  # (B, T, M + T)
    earlier_matches: Ints  # (B, T, M + T)
    similarities: Ints  # (B, T, M + T)
    replays: Ints  # (B, T, M + T)
    earlier_replays: Ints  # (B, T, M + T)


def implicit_batch(instances: Sequence[Instance], multiple: int = 1, *, compare: bool = True) -> Batch:
    """`multiple` is what the padded length of states must be a multiple of.

    The paper's networks do not compare places: without `compare` the arrays that do have no columns, and cost nothing."""
    size = len(instances)
    longest = max(len(instance.state) for instance in instances)
    longest = -(-longest // multiple) * multiple
    most = max(len(instance.edits) for instance in instances)

    columns = longest + most if compare else 0

    def ints(*shape: int, fill: int = 0) -> Ints:
        return np.full((size, *shape), fill, dtype=np.int64)

    batch = Batch(
        state=ints(longest),
        state_mask=np.zeros((size, longest), dtype=np.bool_),
        positions=ints(most),
        contents=ints(most),
        edit_mask=np.zeros((size, most), dtype=np.bool_),
        loss_mask=np.zeros((size, most), dtype=np.bool_),
        places=ints(most),
        subjects=ints(most),
        deletions=ints(most),
        neighbours=ints(most, NEIGHBOURS),
        moves=ints(most),
        steps=ints(most),
        replayed=ints(most),
        replayed_kinds=ints(most),
        alive=np.zeros((size, most, longest + most), dtype=np.bool_),
        distances=ints(most, columns, fill=NO_DISTANCE),
        matches=ints(most, columns, fill=NO_MATCH),
        earlier_matches=ints(most, columns, fill=NO_MATCH),
        similarities=ints(most, columns, fill=NO_SIMILARITY),
        replays=ints(most, columns, fill=NO_REPLAY),
        earlier_replays=ints(most, columns, fill=NO_REPLAY),
    )
    for row, instance in enumerate(instances):
        _fill(batch, row, instance, compare=compare)
    return batch


def _fill(batch: Batch, row: int, instance: Instance, *, compare: bool) -> None:
    length, count, longest = len(instance.state), len(instance.edits), batch.state.shape[1]
    batch.state[row, :length] = instance.state
    batch.state_mask[row, :length] = True
    batch.edit_mask[row, :count] = True
    batch.loss_mask[row, instance.conditioning : count] = True
    # Padding must still be able to point somewhere, or its softmax would have no mass at all.
    batch.alive[row, :, 0] = True
    places = Places(instance.state, count)
    for index, edit in enumerate(instance.edits):
        _fill_relation(batch.alive[row, index], places.current >= 0, length, longest)
        if compare:
            _fill_comparisons(batch, row, index, places, edit.position)
        features = apply_with_features(places, edit)
        is_late = edit.position >= length
        batch.positions[row, index] = edit.position + (longest - length if is_late else 0)
        batch.contents[row, index] = edit.content
        batch.places[row, index] = features.place
        batch.subjects[row, index] = features.subject
        batch.deletions[row, index] = features.is_deletion
        batch.neighbours[row, index] = features.neighbours
        batch.moves[row, index] = features.move
        batch.steps[row, index] = features.step


def _fill_comparisons(batch: Batch, row: int, index: int, places: Places, position: int) -> None:
    length, longest = places.slots.state_length, batch.state.shape[1]
    for target, values in (
        (batch.distances, places.distances()),
        (batch.matches, places.matches()),
        (batch.earlier_matches, places.earlier_matches()),
        (batch.similarities, places.similarities()),
        (batch.replays, places.replays()),
        (batch.earlier_replays, places.earlier_replays()),
    ):
        _fill_relation(target[row, index], values, length, longest)
    replayed, kinds = places.replayed()
    batch.replayed[row, index] = replayed[position]
    batch.replayed_kinds[row, index] = kinds[position]


def _fill_relation(target: NDArray[Any], by_slot: NDArray[Any], length: int, longest: int) -> None:
    target[:length] = by_slot[:length]
    target[longest : longest + len(by_slot) - length] = by_slot[length:]


@dataclass(frozen=True)
class ExplicitBatch:
    """Several instances with every state spelled out, for the baseline E."""

    states: Ints  # (B, T, L) the state that edit t meets
    previous: Ints  # (B, T, L) the state before that, PAD at first
    alive: Bools  # (B, T, L)
    positions: Ints  # (B, T) explicit
    contents: Ints  # (B, T)
    edit_mask: Bools  # (B, T)
    loss_mask: Bools  # (B, T)


def explicit_batch(instances: Sequence[Instance]) -> ExplicitBatch:
    size, most = len(instances), max(len(instance.edits) for instance in instances)
    rows: list[list[list[int]]] = []
    positions = np.zeros((size, most), dtype=np.int64)
    contents = np.zeros((size, most), dtype=np.int64)
    edit_mask = np.zeros((size, most), dtype=np.bool_)
    loss_mask = np.zeros((size, most), dtype=np.bool_)
    for row, instance in enumerate(instances):
        slots = Slots(instance.state)
        states = []
        for index, edit in enumerate(instance.edits):
            states.append(slots.tokens())
            positions[row, index] = slots.apply(edit)
            contents[row, index] = edit.content
        rows.append(states)
        edit_mask[row, : len(states)] = True
        loss_mask[row, instance.conditioning : len(states)] = True
    longest = max(len(state) for states in rows for state in states)
    spelled = np.full((size, most, longest), PAD, dtype=np.int64)
    for row, states in enumerate(rows):
        for index, state in enumerate(states):
            spelled[row, index, : len(state)] = state
    previous = np.full_like(spelled, PAD)
    previous[:, 1:] = spelled[:, :-1]
    alive = spelled != PAD
    alive[:, :, 0] = True  # padding must still be able to point somewhere
    return ExplicitBatch(spelled, previous, alive, positions, contents, edit_mask, loss_mask)
