"""Moments: questions that the judge learns from, made by playing changes of real files through the product's recorder.

Four ways to play a change. *Commits*: hunk by hunk, each at once, with or without times. *Typed*: key by key with drawn
hands, and questions at their natural rate, between keys too. *Repeats*: a refactoring of the file, one change at every
site. *Words*: up to the first letters of a word that the author types. A question after the last hunk has no right answer: silence is right.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from model.editing.change import Change
from model.editing.recorder import Recorder
from model.editing.tokenizer import Tokenizer
from training.refactorings.refactoring import refactor
from training.trajectories.half_typed import type_words
from training.trajectories.hands import HandsRange
from training.trajectories.lexical_hunks import lexical_hunks
from training.trajectories.trajectory import apply_changes
from training.trajectories.typist import record_step, type_hunks
from training.trajectories.work_order import work_order

LIMIT_EDITS = 120  # tokens of a recorder's stream, as in the language server
_LIMIT_HUNKS = 60
_LIMIT_STEPS = 3000
_MOMENTS_OF_FILE = 12
_ORDINARY_SHARE = 0.7  # of the files that repeat nothing: with fewer, the judge is too sure in ordinary work
_READING_SECONDS = 0.85  # the language server asks again after so much quiet
_WORDS_OF_FILE, _WORD_LETTERS = 4, (2, 4)
_KEY_PAUSE = 0.02  # seconds from a key to the question after it
_PAUSES = (0.9, 1.2, 2.0, 4.0, 8.0)
_WORD = re.compile(r"[^\W\d]")

Kind = tuple[str, str]
Play = Callable[["FileChange", Tokenizer, HandsRange, Random], Iterator["Moment"]]


class Moment(NamedTuple):
    """A question: the recorder holds the stream, the hunks are what the author still makes in the current text."""

    recorder: Recorder
    text: str
    remaining: list[Change]
    upcoming: list[Change]  # the hunks that the author makes next
    pause_seconds: float | None
    kind: str  # commit, repeat, after (a typed hunk), typing (a hunk), word, done
    is_reachable: bool  # the next hunk repeats an earlier one
    newest: Change  # the last change, and the text before it
    text_before: str


@dataclass(frozen=True)
class FileChange:
    """A change of one file."""

    repository: str
    language: str
    before: str
    after: str


def play_commit(
    change: FileChange,
    tokenizer: Tokenizer,
    hands: HandsRange,
    random: Random,
    *,
    ordinary_share: float = _ORDINARY_SHARE,
) -> Iterator[Moment]:
    """Ask between the hunks of a commit."""
    hunks = lexical_hunks(change.before, change.after)
    if hunks and _is_wanted(change.before, hunks, random, ordinary_share):
        count = len(hunks)
        asked = {*random.sample(range(1, count), min(count - 1, _MOMENTS_OF_FILE - 1)), count}
        yield from _play_hunks(change.before, hunks, asked, "commit", tokenizer, hands, random)


def play_repeats(
    change: FileChange, tokenizer: Tokenizer, hands: HandsRange, random: Random
) -> Iterator[Moment]:
    """Ask while one change is made at every site of a file."""
    made = refactor(change.before, random, in_one_block=0.0)
    if made is None:
        return
    hunks = lexical_hunks(change.before, apply_changes(change.before, made.changes)[-1])
    if hunks and len(hunks) <= _LIMIT_HUNKS:
        asked = {*range(1, min(len(hunks), 4)), len(hunks)}
        yield from _play_hunks(change.before, hunks, asked, "repeat", tokenizer, hands, random)


def _play_hunks(
    text: str,
    hunks: Sequence[Change],
    asked: set[int],
    kind: str,
    tokenizer: Tokenizer,
    hands: HandsRange,
    random: Random,
) -> Iterator[Moment]:
    order = work_order(text, hunks, hands.draw(random), random)
    kinds = [_kind_of(text, hunk) for hunk in hunks]
    recorder = Recorder(tokenizer, text, LIMIT_EDITS)
    remaining = dict(enumerate(hunks))
    is_timed, now = random.random() < 0.5, 0.0
    for made, number in enumerate(order, start=1):
        hunk, text_before = remaining.pop(number), text
        now += random.uniform(3, 13)
        recorder.record([hunk], now if is_timed else None)
        recorder.finish_name()
        text = hunk.apply_to(text)
        remaining = {n: _move(each, hunk) for n, each in remaining.items()}
        if made in asked:
            upcoming = order[made : made + 1]
            past = {kinds[n] for n in order[:made]}
            yield Moment(
                recorder,
                text,
                [remaining[n] for n in sorted(remaining)],
                [remaining[n] for n in upcoming],
                random.choice(_PAUSES) if is_timed else None,
                kind if upcoming else "done",
                any(_is_reachable(kinds[n], past) for n in upcoming),
                hunk,
                text_before,
            )


def play_typed(
    change: FileChange,
    tokenizer: Tokenizer,
    hands: HandsRange,
    random: Random,
    *,
    ordinary_share: float = _ORDINARY_SHARE,
) -> Iterator[Moment]:
    """Ask while a commit is typed key by key."""
    hunks = lexical_hunks(change.before, change.after)
    if not hunks or not _is_wanted(change.before, hunks, random, ordinary_share):
        return
    steps = type_hunks(change.before, hunks, random, hands.draw(random)).steps
    if len(steps) > _LIMIT_STEPS:
        return
    kinds = [_kind_of(change.before, hunk) for hunk in hunks]
    texts = [change.before]
    for step in steps:
        texts.append(apply_changes(texts[-1], step.changes)[-1])
    recorder = Recorder(tokenizer, change.before, LIMIT_EDITS)
    past: set[Kind] = set()
    asked, rate = 0, min(0.06, _MOMENTS_OF_FILE / len(steps))
    for index, step in enumerate(steps):
        record_step(recorder, step)
        past |= {kinds[number] for number in step.completed}
        share = (0.35 if step.completed else rate) * (0.2 if asked > 1.5 * _MOMENTS_OF_FILE else 1.0)
        if not step.changes or not past or random.random() > share:
            continue
        text = texts[index + 1]
        remaining = lexical_hunks(text, texts[-1])
        if remaining is None:
            return
        following = next((n for n in range(index + 1, len(steps)) if steps[n].completed), None)
        upcoming = lexical_hunks(text, texts[following + 1]) if following is not None else []
        gap = steps[index + 1].time - step.time if index + 1 < len(steps) else 5.0
        is_calm = gap > _READING_SECONDS and random.random() < 0.6
        coming = kinds[steps[following].completed[0]] if following is not None else None
        asked += 1
        yield Moment(
            recorder,
            text,
            remaining,
            upcoming or [],
            _READING_SECONDS if is_calm else _KEY_PAUSE,
            "done" if not remaining else "after" if step.completed else "typing",
            coming is not None and _is_reachable(coming, past),
            step.changes[-1],
            apply_changes(texts[index], step.changes)[-2],
        )


def play_words(
    change: FileChange, tokenizer: Tokenizer, hands: HandsRange, random: Random
) -> Iterator[Moment]:
    """Ask after the first letters of words that a commit inserts."""
    hunks = lexical_hunks(change.before, change.after)
    if not hunks or len(hunks) > _LIMIT_HUNKS:
        return
    for case in type_words(
        change.before,
        hunks,
        tokenizer,
        random,
        count=_WORDS_OF_FILE,
        letters=_WORD_LETTERS,
        limit_edits=LIMIT_EDITS,
    ):
        remaining = lexical_hunks(case.text, change.after)
        if remaining:
            upcoming = [hunk for hunk in remaining if hunk.start <= case.cursor <= hunk.end]
            yield Moment(
                case.recorder,
                case.text,
                remaining,
                upcoming,
                _KEY_PAUSE,
                "word",
                False,
                case.newest,
                case.text_before,
            )


def _is_wanted(text: str, hunks: Sequence[Change], random: Random, ordinary_share: float) -> bool:
    kinds = [_kind_of(text, hunk) for hunk in hunks]
    is_repetitive = len(set(kinds)) < len(kinds)
    return len(hunks) <= _LIMIT_HUNKS and (is_repetitive or random.random() < ordinary_share)


def _kind_of(text: str, hunk: Change) -> Kind:
    return text[hunk.start : hunk.end].strip(), hunk.text.strip()


def _is_reachable(kind: Kind, past: set[Kind]) -> bool:
    return kind in past and _WORD.search("".join(kind)) is not None


def _move(hunk: Change, made: Change) -> Change:
    """A hunk after another one was made."""
    if hunk.start < made.start:
        return hunk
    return Change(hunk.start + made.growth, hunk.end + made.growth, hunk.text)
