"""The synthetic datasets of the paper: instances of the tasks, drawn at random.

An instance is a random string in which the matches of the pattern are replaced from left to right, one a snapshot; the
edits are the differences of successive snapshots.
"""

import itertools
import re
import zlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.editing.edits import SPECIALS, Edit, Instance, Slots, edits_between
from training.paper.tasks import (
    ALPHABET,
    MULTI_TASK,
    NGRAM_NAMES,
    TABLE_TASKS,
    Task,
    find_task,
    state_from_text,
)

STRING_LENGTH = 30  # L
LEAST_MATCHES = 3  # "at least four snapshots": the initial state and three replacements
SPLIT_SIZES = {"train": 10_000, "dev": 1_000, "test": 1_000}
NGRAM_ORDER = 3

_DRAWS = 50_000  # strings drawn at once; large, because Delete2 accepts one in four hundred

Characters = NDArray[np.uint8]


class Draw(NamedTuple):
    """An accepted string, and the characters that x and y stand for in it."""

    text: str
    x: str
    y: str


def draw_instances(name: str, split: str, *, count: int | None = None, seed: int = 0) -> list[Instance]:
    """The instances of one split of a task, the same ones for the same seed; a smaller count gives the first of them."""
    count = SPLIT_SIZES[split] if count is None else count
    if name == MULTI_TASK:
        return _draw_multi_task_instances(split, count, seed)
    if name in NGRAM_NAMES:
        return _draw_ngram_instances(
            _make_generator(name, split, seed), count, int(name.removeprefix("NGram")), seed
        )
    task = find_task(name)
    return [_make_instance(task, draw) for draw in draw_strings(task, split, count, seed)]


def make_snapshots(pattern: str, replacement: str, text: str) -> list[str]:
    """The text, and the text after each further replacement of a match, from left to right."""
    result = [text]
    done = ""
    end = 0
    for match in re.finditer(pattern, text):
        done += text[end : match.start()] + match.expand(replacement)
        end = match.end()
        result.append(done + text[end:])
    return result


def _make_generator(subject: str, split: str, seed: int) -> np.random.Generator:
    """An independent stream for each subject and split."""
    return np.random.default_rng([seed, zlib.crc32(f"{subject} {split}".encode())])


def _make_instance(task: Task, draw: Draw) -> Instance:
    pattern, replacement = task.with_characters(draw.x, draw.y)
    return _instance_from_snapshots(make_snapshots(pattern, replacement, draw.text), task.conditioning)


def _instance_from_snapshots(texts: Sequence[str], conditioning: int) -> Instance:
    all_states = [state_from_text(text) for text in texts]
    slots = Slots(all_states[0])
    for old, new in itertools.pairwise(all_states):
        for edit in edits_between(old, new):
            slots.apply_explicit(edit)
    return Instance(all_states[0], tuple(slots.edits), conditioning)


def draw_strings(task: Task, split: str, count: int, seed: int) -> list[Draw]:
    """Draw strings and meta characters until `count` are accepted.

    They are drawn many at a time and tested at once by counting matches; the accepted strings and their order are the
    same as if each were drawn and tested alone. Tasks that match the same texts share their strings. So did the
    paper's, it seems: such tasks have the same POMP to the last digit.
    """
    random = _make_generator(task.template(), split, seed)
    accepted: list[Draw] = []
    while len(accepted) < count:
        strings = random.integers(len(ALPHABET), size=(_DRAWS, STRING_LENGTH), dtype=np.uint8)
        x, y = _draw_meta_characters(task, random, _DRAWS)
        good = np.flatnonzero(_count_matches(task.template(), strings, x) >= LEAST_MATCHES)
        for row in good[: count - len(accepted)]:
            text = "".join(ALPHABET[character] for character in strings[row])
            accepted.append(Draw(text, ALPHABET[x[row]], ALPHABET[y[row]]))
    return accepted


def _draw_meta_characters(
    task: Task, random: np.random.Generator, count: int
) -> tuple[Characters, Characters]:
    """Draw the characters that x and y stand for: two different ones (A and B for a task without meta characters)."""
    if not task.is_meta:
        return np.zeros(count, np.uint8), np.ones(count, np.uint8)
    x = random.integers(len(ALPHABET), size=count, dtype=np.uint8)
    other = random.integers(1, len(ALPHABET), size=count, dtype=np.uint8)
    return x, (x + other) % len(ALPHABET)


def _count_matches(template: str, strings: Characters, x: Characters) -> NDArray[np.int64]:
    """The number of matches that `re` would find in each string, from left to right and without overlap."""
    wanted = {offset: x if c == "x" else ALPHABET.index(c) for offset, c in enumerate(template) if c != "."}
    counts = np.zeros(len(strings), np.int64)
    free = np.zeros(len(strings), np.int64)  # where the last match ended
    for start in range(strings.shape[1] - len(template) + 1):
        matches = free <= start
        for offset, character in wanted.items():
            matches &= strings[:, start + offset] == character
        counts += matches
        free[matches] = start + len(template)
    return counts


def _draw_multi_task_instances(split: str, count: int, seed: int) -> list[Instance]:
    """Instances of all tasks of the table, mixed evenly.

    Here the task itself must be recognised, so one whole replacement is given in all of them.
    """
    chosen = _make_generator(MULTI_TASK, split, seed).integers(len(TABLE_TASKS), size=count)
    streams: dict[int, Iterator[Instance]] = {}
    for index, task in enumerate(TABLE_TASKS):
        share = int((chosen == index).sum())
        draws = draw_strings(task, split, share, seed)
        streams[index] = iter([_make_instance(task, draw) for draw in draws])
    conditioning = [task.edits_per_replacement() for task in TABLE_TASKS]
    return [next(streams[index])._replace(conditioning=conditioning[index]) for index in chosen]


def _draw_ngram_instances(
    random: np.random.Generator, count: int, insertions: int, seed: int
) -> list[Instance]:
    """Strings in which a sample of an n-gram language model is inserted after the matches of a single character.

    The paper fixes the total of insertions and leaves open how they are shared out; we give every match an equal part.
    """
    model = np.random.default_rng([seed, NGRAM_ORDER])
    shape = (len(ALPHABET),) * NGRAM_ORDER
    cumulative = model.dirichlet(np.full(len(ALPHABET), 0.1), size=shape[:-1]).cumsum(axis=-1)
    return [_draw_ngram_instance(random, insertions, cumulative) for _ in range(count)]


def _draw_ngram_instance(
    random: np.random.Generator, insertions: int, cumulative: NDArray[np.float64]
) -> Instance:
    matches: list[int] = []
    while not matches:
        string = random.integers(len(ALPHABET), size=STRING_LENGTH)
        matches = [index for index, character in enumerate(string) if character == 0]
    parts = [len(part) for part in np.array_split(np.arange(insertions), len(matches))]
    context = [0] * (NGRAM_ORDER - 1)
    state = state_from_text("".join(ALPHABET[character] for character in string))
    slots = Slots(state)
    shift = 1  # START
    for match, part in zip(matches, parts, strict=True):
        for _ in range(part):
            probability = random.random()
            character = int(
                np.searchsorted(cumulative[tuple(context)], probability).clip(max=len(ALPHABET) - 1)
            )
            context = [*context[1:], character]
            slots.apply_explicit(Edit(match + shift, len(SPECIALS) + character))
            shift += 1
    return Instance(state, tuple(slots.edits))
