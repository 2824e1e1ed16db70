"""The synthetic tasks of the paper (section 4 and appendix A): regular-expression replacements in random strings.

A task is a pattern and a replacement. In a Meta task the characters x and y of pattern and replacement stand for other
characters in every instance. `training.paper.instances` draws the instances.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model.editing.edits import DELETE, END, SPECIALS, START, State, edits_between

ALPHABET = "ABCDEFGHIJ"  # V = 10
VOCABULARY_SIZE = len(SPECIALS) + len(ALPHABET)
NGRAM_INSERTIONS = (10, 50, 100)


def state_from_text(text: str) -> State:
    """The state of a string: one token for each character, between start and end."""
    return (START, *(len(SPECIALS) + ALPHABET.index(character) for character in text), END)


def text_from_state(state: Sequence[int]) -> str:
    """The characters of a state, without its start and its end."""
    return "".join(ALPHABET[token - len(SPECIALS)] for token in state[1:-1])


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
        """The number of edits until the pattern is unambiguous.

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
        return len(edits_between(*(state_from_text(text) for text in self._typical())))

    def average_context_displacement(self) -> float:
        """ACD: the mean distance of an inserted captured character from the one that was there before."""
        before, after = self._typical()
        literals = {"A", "B"}
        inserted = [False] * len(after)
        for edit in edits_between(state_from_text(before), state_from_text(after)):
            if edit.content != DELETE:
                # The start token shifts by one: after a position of the state is at that index of the text.
                inserted[edit.position] = True
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


def find_task(name: str) -> Task:
    """The task of that name; a ValueError that lists the known names if there is none."""
    if name not in TASKS:
        raise ValueError(f"unknown task {name!r}; the known ones are {', '.join(NAMES)}")
    return TASKS[name]
