"""The synthetic datasets of the paper (section 4 and appendix A): regular-expression replacements in random strings.

A task is a pattern and a replacement. An instance is a random string in which the matches of the pattern are replaced
from left to right, one a snapshot; the edits are the differences of successive snapshots. In a Meta task the characters
x and y of pattern and replacement stand for other characters in every instance.

    python -m training.synthetic --table          the paper's table of the tasks, its computed columns beside ours
    python -m training.synthetic --task Flip11    a few instances of one task
"""

import argparse
import itertools
import json
import re
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.editing.edits import (
    DELETE,
    END,
    SPECIALS,
    START,
    Edit,
    Instance,
    Slots,
    State,
    edits_between,
    states,
)

ALPHABET = "ABCDEFGHIJ"  # V = 10
VOCABULARY_SIZE = len(SPECIALS) + len(ALPHABET)
STRING_LENGTH = 30  # L
LEAST_MATCHES = 3  # "at least four snapshots": the initial state and three replacements
SPLIT_SIZES = {"train": 10_000, "dev": 1_000, "test": 1_000}
NGRAM_ORDER = 3
NGRAM_INSERTIONS = (10, 50, 100)

_DRAWS = 50_000  # strings drawn at once; large, because Delete2 accepts one in four hundred

Characters = NDArray[np.uint8]


@dataclass(frozen=True)
class Task:
    """A pattern and a replacement, in the syntax of Python's `re`; x and y are meta characters."""

    name: str
    pattern: str
    replacement: str

    @property
    def is_meta(self) -> bool:
        return "x" in self.pattern

    @property
    def conditioning(self) -> int:
        """How many edits it takes until the pattern is unambiguous.

        The characters of a plain task are the same in all instances, so nothing has to be seen. The meta characters
        are known after one whole replacement.
        """
        return self.edits_per_replacement() if self.is_meta else 0

    def with_characters(self, x: str, y: str) -> tuple[str, str]:
        """Pattern and replacement with the meta characters filled in."""
        table = str.maketrans({"x": x, "y": y})
        return self.pattern.translate(table), self.replacement.translate(table)

    def template(self) -> str:
        """The pattern without parentheses: one character for each character that it matches."""
        return self.pattern.replace("(", "").replace(")", "")

    def edits_per_replacement(self) -> int:
        """EPR: the edits that a replacement takes when all characters of the match differ."""
        return len(edits_between(*(_state(text) for text in self._typical())))

    def average_context_displacement(self) -> float:
        """ACD: how far a captured character that is inserted stands from the one that was there before, on average."""
        before, after = self._typical()
        literals = {"A", "B"}
        inserted = [False] * len(after)
        for edit in edits_between(_state(before), _state(after)):
            if edit.content != DELETE:
                inserted[edit.position] = (
                    True  # after that position of the state is at that index of the text
                )
        kept = {token: index for index, token in enumerate(after) if not inserted[index]}
        displacements = [
            abs(index - kept[token])
            for index, token in enumerate(after)
            if inserted[index] and token not in literals and token in kept
        ]
        return float(np.mean(displacements)) if displacements else 0.0

    def _typical(self) -> tuple[str, str]:
        """A match in which all captured characters differ, and what replaces it."""
        pattern, replacement = self.with_characters("A", "B")
        wildcards = iter("CDEFGHIJ")
        template = self.template().replace("x", "A")
        text = "".join(next(wildcards) if character == "." else character for character in template)
        return text, re.sub(pattern, replacement, text)


_PLAIN = (
    Task("Append1", "A", "AB"),
    Task("ContextAppend11", "(.)A", r"\1A\1"),
    Task("ContextAppend13", "(.)A", r"\1A\1\1\1"),
    Task("ContextAppend31", "(...)A", r"\1A\1"),
    Task("ContextAppend33", "(...)A", r"\1A\1\1\1"),
    Task("ContextAppend52", "(.....)A", r"\1A\1\1"),
    Task("ContextReverse31", "(.)(.)(.)A", r"\1\2\3A\3\2\1"),
    Task("ContextReverse51", "(.)(.)(.)(.)(.)A", r"\1\2\3\4\5A\5\4\3\2\1"),
    Task("Delete2", "AA", ""),
    Task("Flip11", "(.)A(.)", r"\2\1A\2\1"),
    Task("Flip33", "(...)A(...)", r"\2\2\2\1A\2\1\1\1"),
    Task("Replace2", "AA", "BB"),
    Task("Surround11", "(.)A(.)", r"\1\1A\2\2"),
    Task("Surround33", "(...)A(...)", r"\1\1\1\1A\2\2\2\2"),
)


def _meta(task: Task) -> Task:
    table = str.maketrans({"A": "x", "B": "y"})
    return Task("Meta" + task.name, task.pattern.translate(table), task.replacement.translate(table))


TABLE_TASKS = (*_PLAIN, *map(_meta, _PLAIN))  # the 28 rows of the paper's tables

# The paper has Append3 in the table of IA's variants only and does not define it; this is Append1 three times over.
TASKS = {task.name: task for task in (*TABLE_TASKS, Task("Append3", "A", "ABBB"))}
MULTI_TASK = "MultiTask"
NGRAM_NAMES = tuple(f"NGram{insertions}" for insertions in NGRAM_INSERTIONS)
NAMES = (*TASKS, MULTI_TASK, *NGRAM_NAMES)


class PaperRow(NamedTuple):
    """The computed columns of the paper's table 2."""

    edits_per_replacement: float
    average_context_displacement: float
    pomp: float


PAPER_ROWS = {
    "Append1": PaperRow(1, 0, 100.0),
    "ContextAppend11": PaperRow(1, 2, 100.0),
    "ContextAppend13": PaperRow(3, 3, 100.0),
    "ContextAppend31": PaperRow(3, 4, 100.0),
    "ContextAppend33": PaperRow(9, 7, 99.7),
    "ContextAppend52": PaperRow(10, 8.5, 37.6),
    "ContextReverse31": PaperRow(3, 4, 100.0),
    "ContextReverse51": PaperRow(5, 6, 37.6),
    "Delete2": PaperRow(2, 0, 100.0),
    "Flip11": PaperRow(2, 3, 100.0),
    "Flip33": PaperRow(18, 10, 11.8),
    "Replace2": PaperRow(4, 0, 100.0),
    "Surround11": PaperRow(2, 1, 100.0),
    "Surround33": PaperRow(18, 6, 11.8),
    "MetaAppend1": PaperRow(1, 0, 100.0),
    "MetaContextAppend11": PaperRow(1, 2, 100.0),
    "MetaContextAppend13": PaperRow(3, 3, 100.0),
    "MetaContextAppend31": PaperRow(3, 4, 95.9),
    "MetaContextAppend33": PaperRow(9, 7, 95.9),
    "MetaContextAppend52": PaperRow(10, 8.5, 11.9),
    "MetaContextReverse31": PaperRow(3, 4, 95.9),
    "MetaContextReverse51": PaperRow(5, 6, 11.9),
    "MetaDelete2": PaperRow(2, 0, 100.0),
    "MetaFlip11": PaperRow(2, 3, 100.0),
    "MetaFlip33": PaperRow(18, 10, 9.2),
    "MetaReplace2": PaperRow(4, 0, 100.0),
    "MetaSurround11": PaperRow(2, 1, 100.0),
    "MetaSurround33": PaperRow(18, 6, 9.2),
}


class Draw(NamedTuple):
    """A string that was accepted, and the characters that x and y stand for in it."""

    text: str
    x: str
    y: str


def instances(name: str, split: str, *, count: int | None = None, seed: int = 0) -> list[Instance]:
    """The instances of one split of a task, the same ones for the same seed; a smaller count gives the first of them."""
    count = SPLIT_SIZES[split] if count is None else count
    if name == MULTI_TASK:
        return _multi_task_instances(split, count, seed)
    if name in NGRAM_NAMES:
        return _ngram_instances(_random(name, split, seed), count, int(name.removeprefix("NGram")), seed)
    task = TASKS[checked_name(name)]
    return [_instance(task, draw) for draw in _draws(task, split, count, seed)]


def checked_name(name: str) -> str:
    """The name, if it is one that we know."""
    if name not in NAMES:
        raise ValueError(f"unknown task {name!r}; the known ones are {', '.join(NAMES)}")
    return name


def snapshots(pattern: str, replacement: str, text: str) -> list[str]:
    """The text, and the text after each further replacement of a match, from left to right."""
    result = [text]
    done = ""
    end = 0
    for match in re.finditer(pattern, text):
        done += text[end : match.start()] + match.expand(replacement)
        end = match.end()
        result.append(done + text[end:])
    return result


def text_from_state(state: Sequence[int]) -> str:
    """The characters of a state, without its start and its end."""
    return "".join(ALPHABET[token - len(SPECIALS)] for token in state[1:-1])


def _state(text: str) -> State:
    return (START, *(len(SPECIALS) + ALPHABET.index(character) for character in text), END)


def _random(subject: str, split: str, seed: int) -> np.random.Generator:
    """An independent stream for each subject and split."""
    return np.random.default_rng([seed, zlib.crc32(f"{subject} {split}".encode())])


def _instance(task: Task, draw: Draw) -> Instance:
    pattern, replacement = task.with_characters(draw.x, draw.y)
    return _instance_from_snapshots(snapshots(pattern, replacement, draw.text), task.conditioning)


def _instance_from_snapshots(texts: Sequence[str], conditioning: int) -> Instance:
    all_states = [_state(text) for text in texts]
    slots = Slots(all_states[0])
    for old, new in itertools.pairwise(all_states):
        for edit in edits_between(old, new):
            slots.apply_explicit(edit)
    return Instance(all_states[0], tuple(slots.edits), conditioning)


def _draws(task: Task, split: str, count: int, seed: int) -> list[Draw]:
    """Draw strings and meta characters until `count` are accepted.

    Many at a time, and tested all at once by counting matches: what is accepted, and in which order, is exactly what
    drawing and testing one by one would give. Tasks that match the same texts share their strings; the paper's must
    have done so too, for such tasks have the same POMP to the last digit.
    """
    random = _random(task.template(), split, seed)
    accepted: list[Draw] = []
    while len(accepted) < count:
        strings = random.integers(len(ALPHABET), size=(_DRAWS, STRING_LENGTH), dtype=np.uint8)
        x, y = _meta_characters(task, random, _DRAWS)
        good = np.flatnonzero(_count_matches(task.template(), strings, x) >= LEAST_MATCHES)
        for row in good[: count - len(accepted)]:
            text = "".join(ALPHABET[character] for character in strings[row])
            accepted.append(Draw(text, ALPHABET[x[row]], ALPHABET[y[row]]))
    return accepted


def _meta_characters(task: Task, random: np.random.Generator, count: int) -> tuple[Characters, Characters]:
    """What x and y stand for: two different characters (A and B where the task has no meta characters)."""
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


def _multi_task_instances(split: str, count: int, seed: int) -> list[Instance]:
    """Instances of all tasks of the table, mixed evenly.

    Here the task itself must be recognised, so one whole replacement is given in all of them.
    """
    chosen = _random(MULTI_TASK, split, seed).integers(len(TABLE_TASKS), size=count)
    streams: dict[int, Iterator[Instance]] = {}
    for index, task in enumerate(TABLE_TASKS):
        share = int((chosen == index).sum())
        draws = _draws(task, split, share, seed)
        streams[index] = iter([_instance(task, draw) for draw in draws])
    conditioning = [task.edits_per_replacement() for task in TABLE_TASKS]
    return [next(streams[index])._replace(conditioning=conditioning[index]) for index in chosen]


def _ngram_instances(random: np.random.Generator, count: int, insertions: int, seed: int) -> list[Instance]:
    """Strings in which a sample of an n-gram language model is inserted after the matches of a single character.

    The paper fixes the total of insertions and leaves open how they are shared out; we give every match an equal part.
    """
    model = np.random.default_rng([seed, NGRAM_ORDER])
    shape = (len(ALPHABET),) * NGRAM_ORDER
    cumulative = model.dirichlet(np.full(len(ALPHABET), 0.1), size=shape[:-1]).cumsum(axis=-1)
    return [_ngram_instance(random, insertions, cumulative) for _ in range(count)]


def _ngram_instance(
    random: np.random.Generator, insertions: int, cumulative: NDArray[np.float64]
) -> Instance:
    matches: list[int] = []
    while not matches:
        string = random.integers(len(ALPHABET), size=STRING_LENGTH)
        matches = [index for index, character in enumerate(string) if character == 0]
    parts = [len(part) for part in np.array_split(np.arange(insertions), len(matches))]
    context = [0] * (NGRAM_ORDER - 1)
    state = _state("".join(ALPHABET[character] for character in string))
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


def matched_texts(task: Task, split: str, seed: int = 0) -> list[list[str]]:
    """The texts that the pattern matches, for each instance of a split."""
    result = []
    for draw in _draws(task, split, SPLIT_SIZES[split], seed):
        pattern, _ = task.with_characters(draw.x, draw.y)
        result.append([match.group() for match in re.finditer(pattern, draw.text)])
    return result


def pomp(task: Task, seed: int = 0) -> float:
    """Accuracy (per cent) of the Position-Oracle Match-Pattern baseline.

    An oracle marks the text that the pattern matches. If that text was matched anywhere in the training data, all edits
    of the replacement are right; if not, the content of each is a uniform guess among the characters and DELETE.
    """
    seen = {text for texts in matched_texts(task, "train", seed) for text in texts}
    first = 1 if task.is_meta else 0  # the first replacement of a meta task is given, not predicted
    asked = [text for texts in matched_texts(task, "test", seed) for text in texts[first:]]
    known = sum(text in seen for text in asked) / len(asked)
    return 100 * (known + (1 - known) / (len(ALPHABET) + 1))


def table(seed: int = 0) -> list[dict[str, str | float]]:
    """The computed columns of the paper's table of tasks, beside the paper's own."""
    return [
        {
            "name": task.name,
            "pattern": task.pattern,
            "replacement": task.replacement,
            "epr": task.edits_per_replacement(),
            "acd": task.average_context_displacement(),
            "pomp": round(pomp(task, seed), 1),
            "paper_epr": PAPER_ROWS[task.name].edits_per_replacement,
            "paper_acd": PAPER_ROWS[task.name].average_context_displacement,
            "paper_pomp": PAPER_ROWS[task.name].pomp,
        }
        for task in TABLE_TASKS
    ]


def _print_table(rows: Sequence[dict[str, str | float]]) -> None:
    print(
        f"{'task':21}{'pattern':18}{'replacement':27}{'EPR (paper)':>13}{'ACD (paper)':>13}{'POMP (paper)':>15}"
    )
    for row in rows:
        columns = "".join(f"{row[c]:g} ({row['paper_' + c]:g})".rjust(width) for c, width in _COLUMNS)
        print(f"{row['name']:21}{row['pattern']:18}{row['replacement']:27}{columns}")


_COLUMNS = (("epr", 13), ("acd", 13), ("pomp", 15))


def _print_instances(name: str, count: int, seed: int) -> None:
    for instance in instances(name, "train", count=count, seed=seed):
        print(*(text_from_state(state) for state in states(instance)), sep="\n", end="\n\n")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m training.synthetic", description="the paper's synthetic tasks"
    )
    parser.add_argument("--table", action="store_true", help="the properties of all tasks beside the paper's")
    parser.add_argument("--json", action="store_true", help="the table as JSON")
    parser.add_argument("--task", help="print instances of this task, one state a line")
    parser.add_argument("--count", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    if options.task:
        try:
            _print_instances(options.task, options.count, options.seed)
        except ValueError as error:
            parser.error(str(error))
    elif options.table or options.json:
        rows = table(options.seed)
        print(json.dumps(rows, indent=2)) if options.json else _print_table(rows)
    else:
        parser.print_help()
    return 0


if __name__ == "__main__":
    sys.exit(main())
