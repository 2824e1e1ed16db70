"""States, edits and instances: the problem formulation of the paper (section 2).

A *state* is a sequence of token ids that begins with START and ends with END. An *edit* is a pair (position, content):
insert content after position, or delete the token at position when content is DELETE.

Positions come in two kinds. *Explicit*: an index into the state as the edits before left it. *Implicit*: a slot. The
tokens of the initial state are slots 0..M, and the t-th edit makes slot M + t (t counts from one), for ever, whatever
happens around it. Edits are implicit unless a name says explicit.

An edit that inserts END after END changes nothing; it says that nothing more is to be edited. We call it *stop*.
"""

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher as _DifflibMatcher
from itertools import pairwise, takewhile
from operator import itemgetter
from typing import Any, NamedTuple

try:  # The same opcodes, many times faster; only mining feels the difference, so serving does without.
    from cydifflib import SequenceMatcher as _CythonMatcher
except ImportError:
    _CythonMatcher = _DifflibMatcher

PAD, START, END, DELETE = range(4)
SPECIALS = ("<P>", "<S>", "<E>", "DELETE")  # every vocabulary begins with these four

State = tuple[int, ...]


class Edit(NamedTuple):
    """Insert content after position; or delete the token at position, when content is DELETE."""

    position: int
    content: int


class Instance(NamedTuple):
    """An initial state and its edits, oldest first; the first `conditioning` of them are given, not predicted."""

    state: State
    edits: tuple[Edit, ...]
    conditioning: int = 0


def stop_edit(state_length: int) -> Edit:
    """The edit that says: nothing more is to be edited."""
    return Edit(position=state_length - 1, content=END)


def check_tokens(tokens: Iterable[int], vocabulary_size: int) -> None:
    """Fails when one of them is not in the vocabulary."""
    for token in tokens:
        if not 0 <= token < vocabulary_size:
            raise ValueError(f"token {token} is outside a vocabulary of {vocabulary_size}")


class Slots:
    """The live order of the slots of a state while edits are applied to it, one after another."""

    def __init__(self, state: Sequence[int]) -> None:
        if len(state) < 2 or state[0] != START or state[-1] != END:
            raise ValueError("a state begins with START and ends with END")
        self.state_length = len(state)
        self.order = list(range(len(state)))  # slot at each explicit position
        self.contents = list(state)  # content of each slot; DELETE for the slot of a deletion
        self.edits: list[Edit] = []
        self._explicit: list[int] = []  # explicit position of each edit, so that it can be undone

    def copy(self) -> "Slots":
        """An independent copy of the state and its edits."""
        result = Slots.__new__(Slots)
        result.state_length = self.state_length
        result.order, result.contents = list(self.order), list(self.contents)
        result.edits, result._explicit = list(self.edits), list(self._explicit)
        return result

    def tokens(self) -> list[int]:
        """The current state."""
        return list(picked(self.contents, self.order))

    def explicit_positions(self) -> list[int]:
        """For each edit so far: its explicit position, in the state that it met."""
        return list(self._explicit)

    def explicit_position(self, slot: int) -> int:
        """The position of a slot in the current state."""
        if not 0 <= slot < len(self.contents):
            raise ValueError(f"position {slot} is outside a state of {len(self.contents)} tokens")
        # Each edit since moved it by one at most: the rest of a long file need not be searched.
        made = slot - self.state_length  # by which edit; negative if by none
        begin = slot if made < 0 else self._explicit[made] + 1
        moves = len(self.edits) - max(0, made)
        try:
            return self.order.index(slot, max(0, begin - moves), begin + moves + 1)
        except ValueError:
            raise ValueError(f"position {slot} is not in the current state: it was deleted") from None

    def apply(self, edit: Edit) -> int:
        """Apply an implicit edit and return its explicit position."""
        explicit = self.explicit_position(edit.position)
        self._apply(edit, explicit)
        return explicit

    def apply_explicit(self, edit: Edit) -> Edit:
        """Apply an explicit edit and return it with its implicit position."""
        if not 0 <= edit.position < len(self.order):
            raise ValueError(f"position {edit.position} is outside a state of {len(self.order)} tokens")
        implicit = Edit(self.order[edit.position], edit.content)
        self._apply(implicit, edit.position)
        return implicit

    def keep(self, count: int) -> None:
        """Undo all edits but the first `count`."""
        if not 0 <= count <= len(self.edits):
            raise ValueError(f"cannot keep {count} of {len(self.edits)} edits")
        while len(self.edits) > count:
            edit, explicit = self.edits.pop(), self._explicit.pop()
            self.contents.pop()
            if edit.content == DELETE:
                self.order.insert(explicit, edit.position)
            elif edit.content != END:
                del self.order[explicit + 1]

    def _apply(self, edit: Edit, explicit: int) -> None:
        at_edge = explicit in (0, len(self.order) - 1)
        if edit.content == DELETE:
            if at_edge:
                raise ValueError(
                    f"position {edit.position} is the start or the end token: it cannot be deleted"
                )
            del self.order[explicit]
        elif edit.content == END:
            if explicit != len(self.order) - 1:
                raise ValueError(f"stop points at position {edit.position}, not at the end token")
        elif edit.content < END:  # padding, start, and numbers that are no token at all
            raise ValueError(f"content {edit.content} is not a token that can be inserted")
        elif explicit == len(self.order) - 1:
            raise ValueError(f"position {edit.position} is the end token: nothing can be inserted after it")
        else:
            self.order.insert(explicit + 1, len(self.contents))
        self.contents.append(edit.content)
        self.edits.append(edit)
        self._explicit.append(explicit)


def picked(values: Sequence[int], indices: Sequence[int]) -> tuple[int, ...]:
    """The values at some indices; of all ways to say it the one that takes the least time for a thousand."""
    return itemgetter(*indices)(values) if len(indices) > 1 else tuple(values[index] for index in indices)


def apply(state: Sequence[int], edits: Iterable[Edit]) -> State:
    """The state after all of the (implicit) edits."""
    slots = Slots(state)
    for edit in edits:
        slots.apply(edit)
    return tuple(slots.tokens())


def states(instance: Instance) -> list[State]:
    """The explicit representation: the initial state and the state after each edit."""
    slots = Slots(instance.state)
    result = [instance.state]
    for edit in instance.edits:
        slots.apply(edit)
        result.append(tuple(slots.tokens()))
    return result


def explicit_from_implicit(state: Sequence[int], edits: Iterable[Edit]) -> list[Edit]:
    slots = Slots(state)
    return [Edit(slots.apply(edit), edit.content) for edit in edits]


def implicit_from_explicit(state: Sequence[int], edits: Iterable[Edit]) -> list[Edit]:
    slots = Slots(state)
    return [slots.apply_explicit(edit) for edit in edits]


def edits_between(old: Sequence[int], new: Sequence[int]) -> list[Edit]:
    """Explicit edits that turn one state into the other: difflib's, one token at a time, from left to right."""
    return list(_edits_from_opcodes(opcodes(old, new), new))


def lexical_edits_between(
    old: Sequence[Sequence[int]], new: Sequence[Sequence[int]], ends: Sequence[bool], offset: int
) -> list[Edit]:
    """Explicit edits between two runs of segments (lines as token ids), the first of which begins at `offset`.

    Lines are compared first and then, inside of changed runs, whole lexical tokens: a name that changed is deleted and
    inserted as a whole, as a reader sees it, and a keystroke costs a few lines' work however long the file is.
    """
    result: list[Edit] = []
    shift = offset
    old_lines, new_lines = [tuple(line) for line in old], [tuple(line) for line in new]
    for tag, old_first, old_last, new_first, new_last in opcodes(old_lines, new_lines):
        old_run = _joined(old_lines[old_first:old_last])
        if tag != "equal":
            new_run = _joined(new_lines[new_first:new_last])
            block = _lexical_opcodes(old_run, new_run, ends)
            result.extend(Edit(p + shift, c) for p, c in _edits_from_opcodes(block, new_run))
            shift += len(new_run)
        else:
            shift += len(old_run)
    return result


def opcodes(old: Sequence[Any], new: Sequence[Any]) -> list[tuple[str, int, int, int, int]]:
    # autojunk would drop frequent tokens from the comparison of long files, and with them the alignment.
    matcher = _CythonMatcher(None, old, new, autojunk=False)
    return [tuple(opcode) for opcode in matcher.get_opcodes()]


def _joined(lines: Sequence[tuple[int, ...]]) -> list[int]:
    return [token for line in lines for token in line]


def _lexical_opcodes(
    old: Sequence[int], new: Sequence[int], ends: Sequence[bool]
) -> list[tuple[str, int, int, int, int]]:
    """Opcodes in subtokens of a comparison of whole lexical tokens. What is the same at both ends is not compared: in a long
    line that is nearly all of it, and the time grows with the square."""
    old_units, old_starts = _units(old, ends)
    new_units, new_starts = _units(new, ends)
    head = _alike(old_units, new_units)
    old_rest, new_rest = old_units[head:], new_units[head:]
    tail = _alike(reversed(old_rest), reversed(new_rest))
    middle = opcodes(old_rest[: len(old_rest) - tail], new_rest[: len(new_rest) - tail])
    return [
        (tag, old_starts[a + head], old_starts[b + head], new_starts[c + head], new_starts[d + head])
        for tag, a, b, c, d in middle
    ]


def _alike(one: Iterable[Any], other: Iterable[Any]) -> int:
    """Count the items that both have in common at their beginnings."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _units(tokens: Sequence[int], ends: Sequence[bool]) -> tuple[list[tuple[int, ...]], list[int]]:
    """The lexical tokens of a run of subtokens, and where each begins (with the end of the last)."""
    starts = [0] + [index + 1 for index, token in enumerate(tokens) if ends[token]]
    if starts[-1] != len(tokens):
        starts.append(len(tokens))
    return [tuple(tokens[a:b]) for a, b in pairwise(starts)], starts


def _edits_from_opcodes(
    codes: Iterable[tuple[str, int, int, int, int]], new: Sequence[int]
) -> Iterable[Edit]:
    """Deletions of a changed run first, then its insertions. `new` is what has been built so far on the left."""
    for tag, old_first, old_last, new_first, new_last in codes:
        if tag == "equal":
            continue
        for _ in range(old_first, old_last):
            yield Edit(new_first, DELETE)
        for index in range(new_first, new_last):
            yield Edit(index - 1, new[index])
