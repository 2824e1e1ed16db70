"""Words of a real change, typed key by key up to their first letters."""

import re
from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from model.editing.change import Change
from model.editing.recorder import Recorder
from model.editing.tokenizer import Tokenizer

LEAST_WORD = 4  # letters; the rest of a shorter one is not worth a key
WORD = re.compile(r"[^\W\d]\w*")
_KEY_SECONDS = 0.15


class HalfTyped(NamedTuple):
    """A recorder in the middle of a word, its text, the offset of the cursor, the whole word, and the last key."""

    recorder: Recorder
    text: str
    cursor: int
    word: str
    newest: Change
    text_before: str


def type_words(
    text: str,
    hunks: Sequence[Change],
    tokenizer: Tokenizer,
    random: Random,
    *,
    count: int,
    letters: tuple[int, int],
    limit_edits: int,
) -> Iterator[HalfTyped]:
    """Draw `count` words that the hunks insert; type each up to as many letters as the range says, the hunks before at once."""
    words = [
        (number, match)
        for number, hunk in enumerate(hunks)
        if number and not _is_letter(text[hunk.end : hunk.end + 1])  # a session has an edit before
        for match in WORD.finditer(hunk.text)
        if len(match[0]) >= LEAST_WORD
    ]
    for number, match in random.sample(words, min(count, len(words))):
        typed = hunks[number].text[: match.start() + min(random.randint(*letters), len(match[0]) - 2)]
        recorder = Recorder(tokenizer, text, limit_edits)
        yield _type(recorder, text, hunks[: number + 1], typed, match[0])


def _is_letter(text: str) -> bool:
    """Would a word that ends here go on? Nobody types a word into another one."""
    return text.isalnum() or text == "_"


def _type(recorder: Recorder, text: str, hunks: Sequence[Change], typed: str, word: str) -> HalfTyped:
    """Make all hunks but the last one at once, and type the beginning of the last one."""
    time, growth = 0.0, 0
    for hunk in hunks[:-1]:
        change = Change(hunk.start + growth, hunk.end + growth, hunk.text)
        recorder.record([change], time)
        recorder.finish_name()
        text, growth, time = change.apply_to(text), growth + change.growth, time + 5.0
    last = hunks[-1]
    at = last.start + growth
    keys = [Change(at, last.end + growth, "")] if last.end > last.start else []
    keys += [Change(at + index, at + index, letter) for index, letter in enumerate(typed)]
    before = text
    for key in keys:
        recorder.record([key], time)
        before, text, time = text, key.apply_to(text), time + _KEY_SECONDS
    return HalfTyped(recorder, text, at + len(typed), word, keys[-1], before)
