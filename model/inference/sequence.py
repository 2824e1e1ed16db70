"""EditSequence: greedy decoding of one sequence of edits, to the end of a lexical token or of a whole hunk.

A sequence only gets less likely as it grows, so one that falls below the threshold is given up at once.

Differs from the paper for whole hunks: a hunk goes on to the end of its line.
"""

from collections.abc import Callable, Sequence

import numpy as np

from model.editing.edits import DELETE, END, START, Edit, Slots
from model.editing.tokenizer import Tokenizer
from model.inference.graph_runner import Floats
from model.inference.history import AnyHistory, NextPosition
from model.inference.refusals import Refused
from model.silence import Silence

IMPOSSIBLE = np.float32(-1e8)  # below this log-probability a slot is not there
_LONGEST = 48  # edits of one sequence; a longer one is not the next edit but a new piece of code


class EditSequence:
    """Edits decoded so far, appended to the history one by one."""

    def __init__(
        self,
        history: AnyHistory,
        predicted: NextPosition,
        tokenizer: Tokenizer,
        is_hopeful: Callable[[float], bool],
        score: float = 0.0,
    ) -> None:
        """`is_hopeful` tells whether a sequence of this log-probability can still be shown."""
        self._history, self._tokenizer, self._is_hopeful = history, tokenizer, is_hopeful
        self._predicted: NextPosition | None = predicted
        self.score = score  # log-probability
        self.repeats = 0  # how often the same change was made before
        self.edits: list[Edit] = []
        self._gone: list[int] = []  # tokens deleted
        self._deleted = DELETE  # the token that the newest edit deleted
        self._newest_position = 0  # explicit
        self._first, self._last = 0, 0  # explicit positions that the edits cover in the state that they made
        self._growth = 0  # tokens inserted minus tokens deleted

    @property
    def predicted(self) -> NextPosition:
        """The distribution after the edits so far; computed when it is asked for, so not after the last edit."""
        if self._predicted is None:
            self._predicted = self._history.predict()
        return self._predicted

    @property
    def change(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The tokens that go and those that come, wherever that is."""
        return tuple(self._gone), tuple(edit.content for edit in self.edits if edit.content != DELETE)

    @property
    def region(self) -> tuple[int, int]:
        """The explicit positions, in the state before the sequence, that the edits replace."""
        return self._first, self._last - self._growth

    def touches(self, other: "EditSequence") -> bool:
        """Tell whether the regions of two sequences touch."""
        (first, last), (other_first, other_last) = self.region, other.region
        return first <= other_last and other_first <= last

    def check(self) -> None:
        """Refuse a sequence that cannot reach the threshold any more.

        However low the threshold: in a long file a hunk may reach the border of the model's window, and slots behind
        the border are impossible."""
        if self.score < IMPOSSIBLE or not self._is_hopeful(self.score):
            raise Refused(Silence.BELOW_THRESHOLD)

    def add(self, edit: Edit) -> None:
        """Append an edit, whose probability is in the score already."""
        if len(self.edits) >= _LONGEST:
            raise Refused(Silence.TOO_LONG)
        slots = self._history.slots
        explicit = self._newest_position = slots.explicit_position(edit.position)
        self._deleted = slots.contents[edit.position]
        if edit.content == DELETE:
            self._gone.append(self._deleted)
        growth = -1 if edit.content == DELETE else 1
        begin = explicit if edit.content == DELETE else explicit + 1
        if not self.edits:
            self._first, self._last = begin, explicit + 1
        self._first = min(self._first, begin)
        self._last = max(self._last, explicit + 1) + growth
        self._growth += growth
        self._history.append([edit])
        self.edits.append(edit)
        self._predicted = None

    def add_best(self, position: int) -> None:
        """Append an edit at a position, with the most likely content there."""
        self.score += float(self.predicted.positions[position])
        self.check()
        scores = self._history.content(self.predicted, position)
        content = int(_exclude_impossible(scores, self._history.slots, position).argmax())
        self.score += float(scores[content])
        self.check()
        self.add(Edit(position, content))

    def finish_token(self) -> None:
        """Go on to the end of the lexical token that was begun."""
        ends = self._tokenizer.ends
        while True:
            newest = self.edits[-1]
            if newest.content == DELETE:
                if ends[self._deleted]:
                    return
                self._delete_next()
            else:
                if ends[newest.content]:
                    return
                self.add_best(len(self._history.slots.contents) - 1)
                if self.edits[-1].content == DELETE:
                    raise Refused(
                        Silence.BELOW_THRESHOLD
                    )  # it took back half a token: there is no text to show

    def finish_hunk(self) -> None:
        """Go on while the next edit is on the lines of the hunk. The probability that it ends there counts too.

        Half of a line is no suggestion: `Optional[str]` becomes `str | None` by two runs of edits with a name between."""
        repeats = []
        while True:
            line = self._slots_on_lines()
            if self._begins_next_line(line):
                line.pop()
            scores = self.predicted.positions[line]
            best = line[int(scores.argmax())]
            goes_on = float(np.exp(scores.astype(np.float64)).sum())
            if goes_on < 0.5:
                self.score += float(np.log1p(-min(goes_on, 1 - 1e-9)))
                break
            if not self._is_beside_newest(best):
                repeats.append(self._history.repeats)  # another run of edits begins
            self.add_best(best)
            self.finish_token()
        self.repeats = min([*repeats, self._history.repeats])

    def refuse_half_tokens(self) -> None:
        """Refuse edits that begin inside a token of the state. A token of an earlier edit may be unfinished."""
        slots = self._history.slots
        before = slots.order[self._first - 1]
        if before < slots.state_length and not self._tokenizer.ends[slots.contents[before]]:
            raise Refused(Silence.BELOW_THRESHOLD)
        self.refuse_half_end()

    def refuse_half_end(self) -> None:
        """Refuse edits that leave an unfinished token before what follows them."""
        slots = self._history.slots
        if not self._tokenizer.ends[slots.contents[slots.order[self._last - 1]]]:
            raise Refused(Silence.BELOW_THRESHOLD)

    def _delete_next(self) -> None:
        slots = self._history.slots
        position = slots.order[
            self._newest_position
        ]  # the token that moved up to where the deleted one stood
        if slots.contents[position] == END:
            raise Refused(Silence.BELOW_THRESHOLD)
        self.score += float(self.predicted.positions[position])
        self.check()
        self.score += float(self._history.content(self.predicted, position)[DELETE])
        self.check()
        self.add(Edit(position, DELETE))

    def _slots_on_lines(self) -> list[int]:
        """Find the slots whose edit would touch the hunk, or be on the line where it begins or where it ends."""
        order = self._history.slots.order
        first, last = max(0, self._first - 1), min(self._last, len(order) - 2)
        begins_line = self._first <= last and self._has_line_break(order[self._first])
        if not begins_line:
            while first > 0 and not self._has_line_break(order[first]):
                first -= 1
        if not self._has_line_break(order[last]):
            while last < len(order) - 2 and not self._has_line_break(order[last + 1]):
                last += 1
        return order[first : last + 1]

    def _begins_next_line(self, line: Sequence[int]) -> bool:
        """Tell whether the next edit would change the beginning of the next line, and not join the two lines."""
        is_after = line[-1] == self._history.slots.order[self._last] and self._has_line_break(line[-1])
        if not is_after or int(self.predicted.positions[line].argmax()) < len(line) - 1:
            return False
        scores = self._history.content(self.predicted, line[-1])
        return int(_exclude_impossible(scores, self._history.slots, line[-1]).argmax()) != DELETE

    def _has_line_break(self, slot: int) -> bool:
        """Tell whether a line begins with this token."""
        return b"\n" in self._tokenizer.bytes_of[self._history.slots.contents[slot]]

    def _is_beside_newest(self, slot: int) -> bool:
        """Tell whether an edit there would touch the newest one."""
        distance = self._history.slots.explicit_position(slot) - self._newest_position
        return -1 <= distance <= 0 if self.edits[-1].content == DELETE else 0 <= distance <= 2


def _exclude_impossible(scores: Floats, slots: Slots, position: int) -> Floats:
    """Copy scores without the contents that are impossible at a position."""
    scores = scores.copy()
    scores[:DELETE] = IMPOSSIBLE
    if slots.contents[position] in (START, END):
        scores[DELETE] = IMPOSSIBLE
    return scores
