"""The regions of a text that a person changes one at a time to make some hunks, and their order."""

import re
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from model.editing.change import Change
from training.trajectories.hands import Hands
from training.trajectories.lexical_hunks import apply_all
from training.trajectories.ordering import draw_walk

_NAME = re.compile(r"[^\W\d]\w{2,}")


class Task(NamedTuple):
    """A region that is changed in one go, and the numbers of the hunks that this makes."""

    change: Change  # offsets in the text before
    hunks: tuple[int, ...]


def plan_tasks(text: str, hunks: Sequence[Change], hands: Hands, random: Random) -> list[Task]:
    """Group hunks (top to bottom) into tasks: most stand alone, some are made by typing an expression or a line again."""
    result: list[Task] = []
    for run in _runs_on_a_line(text, hunks):
        if "\n" not in hunks[run[0]].text and random.random() < hands.retype_line:
            result.append(_line_task(text, hunks, run))
        elif len(run) > 1 and random.random() < hands.retype_expression:
            result.append(_task(text, hunks, run, hunks[run[0]].start, hunks[run[-1]].end))
        else:
            result += [Task(hunks[number], (number,)) for number in run]
    return result


def work_order(text: str, changes: Sequence[Change], hands: Hands, random: Random) -> list[int]:
    """Numbers of the changes (top to bottom, in this text) in an order in which a person may make them."""
    if not changes:
        return []
    line_of = [text.count("\n", 0, change.start) for change in changes]
    draw = random.random()
    numbers = list(range(len(changes)))
    if draw < hands.downwards:
        order = numbers
    elif draw < hands.downwards + hands.upwards:
        order = sorted(numbers, key=lambda number: (-line_of[number], number))
    elif draw < hands.downwards + hands.upwards + hands.passes:
        kinds = [(text[change.start : change.end], change.text) for change in changes]
        often = Counter(kinds)
        order = sorted(numbers, key=lambda number: (-often[kinds[number]], kinds[number], number))
    else:
        names = [changed_names(text, change) for change in changes]
        order = draw_walk([float(line) for line in line_of], names, random, hands.near_lines, hands.related)
        order = _left_to_right(order, line_of)
    return _sometimes_backwards(order, line_of, hands.backwards_on_line, random)


def changed_names(text: str, change: Change) -> frozenset[str]:
    """The names that a change takes away or brings in."""
    old = set(_NAME.findall(text[change.start : change.end]))
    new = set(_NAME.findall(change.text))
    return frozenset(old ^ new)


def _runs_on_a_line(text: str, hunks: Sequence[Change]) -> list[list[int]]:
    """The numbers of the hunks, together when all of them are on one line before and after."""
    runs: list[list[int]] = []
    for number, hunk in enumerate(hunks):
        if runs:
            last = hunks[runs[-1][-1]]
            if not _has_break(text[last.start : hunk.end] + last.text + hunk.text):
                runs[-1].append(number)
                continue
        runs.append([number])
    return runs


def _has_break(text: str) -> bool:
    return "\n" in text or "\r" in text


def _line_task(text: str, hunks: Sequence[Change], run: Sequence[int]) -> Task:
    """The whole line without its indentation, or only the hunks when others are on the line too."""
    first, last = hunks[run[0]], hunks[run[-1]]
    start = max(text.rfind("\n", 0, first.start), text.rfind("\r", 0, first.start)) + 1
    while start < first.start and text[start] in " \t":
        start += 1
    end = last.end
    while end < len(text) and text[end] not in "\r\n":
        end += 1
    # Two neighbours must not both take what lies between them.
    if run[0] > 0 and hunks[run[0] - 1].end >= start:
        start = first.start
    if run[-1] + 1 < len(hunks) and hunks[run[-1] + 1].start <= end:
        end = last.end
    return _task(text, hunks, run, start, end)


def _task(text: str, hunks: Sequence[Change], run: Sequence[int], start: int, end: int) -> Task:
    inside = [Change(hunk.start - start, hunk.end - start, hunk.text) for hunk in (hunks[n] for n in run)]
    return Task(Change(start, end, apply_all(text[start:end], inside)), tuple(run))


def _left_to_right(order: Sequence[int], line_of: Sequence[int]) -> list[int]:
    """Neighbours in the order that are on one line, from left to right."""
    result: list[int] = []
    for run in _same_line(order, line_of):
        result += sorted(run)
    return result


def _sometimes_backwards(
    order: Sequence[int], line_of: Sequence[int], share: float, random: Random
) -> list[int]:
    result: list[int] = []
    for run in _same_line(order, line_of):
        result += run[::-1] if len(run) > 1 and random.random() < share else run
    return result


def _same_line(order: Sequence[int], line_of: Sequence[int]) -> list[list[int]]:
    runs: list[list[int]] = []
    for number in order:
        if runs and line_of[runs[-1][-1]] == line_of[number]:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs
