"""Whole commits played from the text before to the text after, with any suggester beside the author.

Before each edit the suggester is asked. A right offer is accepted with Tab, and it is asked again. A wrong offer is counted once, by its line
and by the line that it would make, and is not shown again. A correct piece is counted apart. Otherwise the author makes the next
edit by hand: at once, or key by key with questions between the keys.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from random import Random
from typing import NamedTuple

from model.editing.change import Change
from training.suite.commits import CommitFile, Kind, has_word, kind_of
from training.suite.rightness import find_run, is_piece
from training.trajectories.draft import Draft
from training.trajectories.hands import Hands
from training.trajectories.keyboard import Step
from training.trajectories.typist import type_hunks
from training.trajectories.work_order import work_order

QUIET_SECONDS = 1.5  # between an edit made at once and the question after it
_READING_SECONDS = 0.8  # a longer pause between two keys is a moment for another question


class Offer(NamedTuple):
    """A change that a suggester proposes in the current text."""

    change: Change
    confidence: float


# The text when the session began, the steps since, the cursor, and the time of the question. Offers to show, best first.
Suggest = Callable[[str, Sequence[Step], int, float], Sequence[Offer]]


@dataclass(frozen=True)
class Played:
    """Counts of what happened while files were played."""

    files: int = 0
    edits: int = 0
    reachable: int = 0  # edits
    by_tab: int = 0  # edits
    reachable_by_tab: int = 0  # edits
    finished_by_tab: int = 0  # edits that were begun by hand
    wrong: int = 0  # offers
    pieces: int = 0  # offers
    moments: int = 0  # questions

    def __add__(self, other: "Played") -> "Played":
        return Played(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(Played)))


def play(
    file: CommitFile,
    suggest: Suggest,
    hands: Hands,
    random: Random,
    *,
    by_keys: bool = False,
) -> Played:
    """Play one file of a commit and count."""
    game = _Game(file, suggest, hands, random)
    for number in work_order(file.before, file.hunks, hands, random):
        if game.draft.is_made(number):
            continue
        game.accept_all()
        if not game.draft.is_made(number):
            if by_keys:
                game.type_hunk(number)
            else:
                game.make_hunk(number)
    assert game.draft.text == file.after
    return game.played()


class _Game:
    """One file while it is played."""

    def __init__(self, file: CommitFile, suggest: Suggest, hands: Hands, random: Random) -> None:
        self.draft = Draft(file.before, file.hunks)
        self._file, self._suggest = file, suggest
        self._hands, self._random = hands, random
        self._steps: list[Step] = []
        self._time = 0.0
        self._kinds = [kind_of(file.before, hunk) for hunk in file.hunks]
        self._known: set[Kind] = set()  # what the author has shown
        self._wrong: set[tuple[int, str]] = set()
        self._pieces: set[tuple[int, str]] = set()
        self._counts = dict.fromkeys(
            ("reachable", "by_tab", "reachable_by_tab", "finished_by_tab", "moments"), 0
        )

    def played(self) -> Played:
        return Played(
            files=1,
            edits=len(self._file.hunks),
            wrong=len(self._wrong),
            pieces=len(self._pieces),
            **self._counts,
        )

    # --- what the author does ---

    def make_hunk(self, number: int) -> None:
        """Make a hunk by hand, at once."""
        change = self.draft.remaining(number)
        self._time += self._random.uniform(2, 4) * QUIET_SECONDS
        self._apply([number], change, accepted=False)
        self._note([number], by_tab=False)
        self._time += QUIET_SECONDS

    def type_hunk(self, number: int) -> None:
        """Type a hunk, with questions between the keys, until it is made by hand or by Tab."""
        calm = replace(self._hands, retype_line=0.0)  # the rest of the line belongs to other hunks
        typed = type_hunks(self.draft.text, [self.draft.remaining(number)], self._random, calm)
        start, begin = self.draft.start_of(number), self._time
        for step, following in zip(typed.steps, (*typed.steps[1:], None), strict=True):
            for change in step.changes:
                self.draft.replace([number], change.start - start, change.end - start, change.text)
            self._time = begin + step.time
            completed = (number,) if step.completed else ()
            self._steps.append(step._replace(time=self._time, hunk=number, completed=completed))
            if following is None or self.draft.is_made(number):
                continue
            if self._is_finished_by_tab(number):
                return
            if following.time - step.time > _READING_SECONDS:
                self._time += _READING_SECONDS
                if self._is_finished_by_tab(number):
                    return
        self._note([number], by_tab=False)
        self._time += self._random.uniform(0.5, 1.5) * self._hands.hunk_seconds

    def accept_all(self) -> None:
        """Accept offers with Tab until one is not right."""
        while (found := self._ask()) is not None:
            numbers, offer = found
            self._time += self._random.uniform(0.5, 1.5)
            self._apply(numbers, offer.change, accepted=True)
            self._note(numbers, by_tab=True)
            self._time += self._random.uniform(0.3, 1.0)

    def _is_finished_by_tab(self, number: int) -> bool:
        """Ask while a hunk is half typed; accept what finishes it. What is right elsewhere waits."""
        found = self._ask()
        if found is None or number not in found[0]:
            return False
        numbers, offer = found
        self._apply(numbers, offer.change, accepted=True)
        self._counts["finished_by_tab"] += 1
        self._note([number], by_tab=False)
        self._note([each for each in numbers if each != number], by_tab=True)
        return True

    # --- how ---

    def _apply(self, numbers: Sequence[int], change: Change, *, accepted: bool) -> None:
        for number in numbers:
            self.draft.replace([number], 0, len(self.draft.contents[number]), self.draft.regions[number].text)
        cursor = change.start + len(change.text)
        self._steps.append(Step(self._time, (change,), cursor, numbers[0], tuple(numbers), accepted))

    def _note(self, numbers: Sequence[int], *, by_tab: bool) -> None:
        """Count edits that are made."""
        for number in numbers:
            kind = self._kinds[number]
            is_reachable = kind in self._known and has_word(kind)
            self._known.add(kind)
            self._counts["reachable"] += is_reachable
            self._counts["by_tab"] += by_tab
            self._counts["reachable_by_tab"] += is_reachable and by_tab

    def _ask(self) -> tuple[list[int], Offer] | None:
        """Ask, and count what is shown; the hunks that a right offer makes."""
        if not self._steps:
            return None  # nothing was edited: there is nothing to go by
        self._counts["moments"] += 1
        offer = self._shown()
        if offer is None:
            return None
        left = [number for number in range(len(self._kinds)) if not self.draft.is_made(number)]
        remaining = [self.draft.remaining(number) for number in left]
        run = find_run(self.draft.text, remaining, offer.change)
        if run is not None:
            return [left[index] for index in run], offer
        shown = self._pieces if is_piece(self.draft.text, remaining, offer.change) else self._wrong
        shown.add(self._line_of(offer.change))
        return None

    def _shown(self) -> Offer | None:
        """The first offer that changes something, except those that were shown before and wrong."""
        text = self.draft.text
        for offer in self._suggest(self._file.before, self._steps, self._steps[-1].cursor, self._time):
            change = offer.change
            if text[change.start : change.end] == change.text:
                continue
            if self._line_of(change) not in self._wrong:
                return offer
        return None

    def _line_of(self, change: Change) -> tuple[int, str]:
        """The number of a change's line in the text before, and the lines that it makes."""
        text = self.draft.text
        start = text.rfind("\n", 0, change.start) + 1
        end = text.find("\n", change.end)
        made = text[start : change.start] + change.text + text[change.end : end if end >= 0 else len(text)]
        return self._file.before.count("\n", 0, self.draft.offset_before(change.start)), made
