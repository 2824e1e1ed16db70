"""The typist: makes a change of a file again as somebody might have made it, key by key.

    trajectory = type_change(before, after, Random(seed), TRAINING_HANDS.draw(random))

`before` and `after` are the texts of one file of one commit. A TypedTrajectory has the text at first, the hunks that the author
made (runs of changed lexical tokens, with offsets in that text), and the steps: timed changes, with the cursor after each, the hunk
that is worked on, and the hunks that are complete with it. After the last step the text is exactly `after`.

Put a step into the product's recorder with `record_step`.
"""

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from model.editing.change import Change
from model.editing.recorder import Recorder
from training.trajectories.draft import Draft
from training.trajectories.hands import Hands
from training.trajectories.keyboard import Caret, Keyboard, Step
from training.trajectories.lexical_hunks import lexical_hunks
from training.trajectories.work_order import Task, plan_tasks, work_order

_SCREEN_LINES = 30  # a hunk farther away than this is off the screen
_LIMIT_CURSORS = 12
_BEFORE_LEAVING = 4  # tokens that are typed of a hunk, at most, before it is left for another


class TypedTrajectory(NamedTuple):
    """A text, the hunks to be made in it, and the steps that make them."""

    text: str
    hunks: tuple[Change, ...]  # top to bottom, with offsets in the text at first
    steps: tuple[Step, ...]  # oldest first


def type_change(before: str, after: str, random: Random, hands: Hands) -> TypedTrajectory | None:
    """Type a change of a file. None when the texts differ in too many lines to compare them."""
    hunks = lexical_hunks(before, after)
    return None if hunks is None else type_hunks(before, hunks, random, hands)


def type_hunks(text: str, hunks: Sequence[Change], random: Random, hands: Hands) -> TypedTrajectory:
    """Type hunks (top to bottom, with offsets in the text) in an order in which a person may make them."""
    tasks = plan_tasks(text, hunks, hands, random)
    order = work_order(text, [task.change for task in tasks], hands, random)
    typist = _Typist(text, tasks, random, hands)
    typist.make(order)
    return TypedTrajectory(text, tuple(hunks), tuple(typist.keyboard.steps))


def texts_after(trajectory: TypedTrajectory) -> Iterator[str]:
    """The text after each step."""
    text = trajectory.text
    for step in trajectory.steps:
        for change in step.changes:
            text = text[: change.start] + change.text + text[change.end :]
        yield text


def record_step(recorder: Recorder, step: Step) -> None:
    """Tell the recorder what the language server would have told it."""
    if step.changes:
        recorder.record(step.changes, step.time, accepted=step.accepted)
    else:
        recorder.move_cursor(step.cursor)


class _Typist:
    """Makes tasks one after another, and remembers what can be pasted."""

    def __init__(self, text: str, tasks: Sequence[Task], random: Random, hands: Hands) -> None:
        self._tasks, self._random, self._hands = tasks, random, hands
        self._draft = Draft(text, [task.change for task in tasks])
        self.keyboard = Keyboard(self._draft, hands, random)
        self._made: set[tuple[str, str]] = set()  # old and new content of finished tasks

    def make(self, order: Sequence[int]) -> None:
        left = list(order)
        while left:
            numbers = self._next_group(left)
            left = [number for number in left if number not in numbers]
            work = self._work(numbers)
            if left and self._random.random() < self._hands.interleave:
                for _ in range(self._random.randint(1, _BEFORE_LEAVING)):
                    next(work, None)
                self._finish(self._work([left.pop(0)]))
            self._finish(work)

    def _finish(self, work: Iterator[None]) -> None:
        for _ in work:
            pass

    def _next_group(self, left: Sequence[int]) -> list[int]:
        """The next task; with several cursors, all tasks that are equal to it."""
        first = left[0]
        kind = self._kind(first)
        equal = [number for number in left if self._kind(number) == kind][:_LIMIT_CURSORS]
        is_simple = "\n" not in kind[0] + kind[1] and "\r" not in kind[0] + kind[1]
        if len(equal) > 1 and is_simple and self._random.random() < self._hands.several_cursors:
            return equal
        return [first]

    def _kind(self, number: int) -> tuple[str, str]:
        return self._draft.contents[number], self._draft.regions[number].text

    def _work(self, numbers: Sequence[int]) -> Iterator[None]:
        """Make one task, or equal ones with several cursors. Yields where it could be interrupted."""
        task = self._tasks[numbers[0]]
        caret = Caret(self.keyboard, numbers, task.hunks[0])
        self._go_to(caret, task)
        old, new = kind = self._kind(numbers[0])
        if old and self._random.random() < self._hands.change_of_mind:
            caret.take_back(0, len(old))
        if kind in self._made and new and self._random.random() < self._hands.paste_repeat:
            caret.move(0, len(old))
            caret.insert(new, slowness=2.0)
        else:
            yield from self._make(caret, old, new)
        self._made.add(kind)
        assert all(map(self._draft.is_made, numbers))
        caret.mark_completed([hunk for number in numbers for hunk in self._tasks[number].hunks])

    def _go_to(self, caret: Caret, task: Task) -> None:
        """Think, look around, and put the cursor where the task begins."""
        hands, text, keyboard = self._hands, self._draft.text, self.keyboard
        lines = text.count("\n", *sorted((keyboard.cursor, caret.offset())))
        if keyboard.steps:
            near = hands.hunk_seconds if lines else hands.line_seconds
            keyboard.wait(hands.far_seconds if lines > _SCREEN_LINES else near)
        if self._random.random() < hands.wander:
            keyboard.press(task.hunks[0], (), self._random.randint(0, len(text)))
            keyboard.wait(hands.hunk_seconds)
        caret.move(0)

    def _make(self, caret: Caret, old: str, new: str) -> Iterator[None]:
        hands = self._hands
        if not new:
            yield from caret.delete(0, len(old))
            return
        if not old:
            yield from caret.write(new)
            return
        ways = {"select": hands.select, "delete first": hands.delete_first, "minimal": hands.minimal}
        way = self._random.choices(list(ways), list(ways.values()))[0]
        start, end = (0, 0)
        if way == "minimal":
            start, end = _common_ends(old, new)
        gone, come = old[start : len(old) - end], new[start : len(new) - end]
        if gone and (way == "delete first" or not come):
            yield from caret.delete(start, start + len(gone))
        elif gone:
            caret.move(start, len(gone))
        if come:
            if caret.point != start:
                caret.move(start)
            yield from caret.write(come)


def _common_ends(old: str, new: str) -> tuple[int, int]:
    """Count the characters that two texts share at their beginning, and at their end beside those."""
    shorter = min(len(old), len(new))
    start = 0
    while start < shorter and old[start] == new[start]:
        start += 1
    end = 0
    while end < shorter - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return start, end
