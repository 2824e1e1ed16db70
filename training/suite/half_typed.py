"""Half-typed words: is the word that the author types found after its first two letters?

The words are those that real commits insert and that stand elsewhere in the file, or not: nothing is left out because no
suggester can know it. The hunks before are made at once, and the hunk with the word is typed key by key up to its second
letter. An answer is the first offer that continues the word; the floor is the nearest word that begins the same way.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from random import Random

from tqdm import tqdm

from model.editing.tokenizer import Tokenizer
from training.judge.moments import LIMIT_EDITS, FileChange
from training.judge.sources import draw_changes
from training.sources.corpus import Repository
from training.suite.engine import EngineSuggest
from training.suite.kept_results import KeptResults
from training.trajectories.half_typed import WORD, HalfTyped, type_words
from training.trajectories.lexical_hunks import lexical_hunks

_TYPED = 2  # letters
_LIMIT_HUNKS = 30
_WORDS_OF_CHANGE = 2
_PAUSE_SECONDS = 0.05  # from the key to the question

Guess = Callable[[HalfTyped], str | None]  # the whole word


def find_half_typed(change: FileChange, tokenizer: Tokenizer, random: Random) -> Iterator[HalfTyped]:
    """Some words that a change inserts, each typed up to its second letter."""
    hunks = lexical_hunks(change.before, change.after)
    if hunks and len(hunks) <= _LIMIT_HUNKS:
        yield from type_words(
            change.before,
            hunks,
            tokenizer,
            random,
            count=_WORDS_OF_CHANGE,
            letters=(_TYPED, _TYPED),
            limit_edits=LIMIT_EDITS,
        )


def guess_nearest(case: HalfTyped) -> str | None:
    """The floor: the nearest longer word that begins with the typed letters."""
    begin = case.cursor - _TYPED
    typed = case.text[begin : case.cursor]
    found = [
        (abs(match.start() - begin), match[0])
        for match in WORD.finditer(case.text)
        if match[0].startswith(typed) and len(match[0]) > _TYPED and match.start() != begin
    ]
    return min(found)[1] if found else None


def guess_with(engine: EngineSuggest) -> Guess:
    """The first offer of an engine that continues the word, whatever its confidence."""

    def guess(case: HalfTyped) -> str | None:
        for offer in engine.ask_recorder(case.recorder, _PAUSE_SECONDS, [0.0])[0]:
            change = offer.change
            if change.start == case.cursor == change.end:
                match = WORD.match(case.text[case.cursor - _TYPED : case.cursor] + change.text)
                return match[0] if match else None
        return None

    return guess


def ask_words(
    repositories: Sequence[Repository],
    tokenizer: Tokenizer,
    guesses: dict[str, Guess],
    results: KeptResults,
    *,
    changes: int,
    seed: int,
) -> dict[str, list[bool]]:
    """For each guesser: is each word right?"""
    rows: dict[str, list[bool]] = {name: [] for name in guesses}
    for repository in tqdm(repositories, unit=" repositories", desc="words"):
        ask = partial(_ask_repository, repository, tokenizer, guesses, changes, seed)
        for name, outcomes in results.get(f"{repository.name}:words:{changes}:{seed}", ask).items():
            rows[name] += outcomes
    return rows


def _ask_repository(
    repository: Repository, tokenizer: Tokenizer, guesses: dict[str, Guess], changes: int, seed: int
) -> dict[str, list[bool]]:
    random = Random(f"{seed}:{repository.name}:words")
    rows: dict[str, list[bool]] = {name: [] for name in guesses}
    for change in draw_changes(repository, changes, seed):
        for case in find_half_typed(change, tokenizer, random):
            for name, guess in guesses.items():
                rows[name].append(guess(case) == case.word)
    return rows


def table(rows: dict[str, list[bool]]) -> str:
    """The share of right words as a Markdown table."""
    lines = ["| after two letters | words | right |", "| --- | ---: | ---: |"]
    for name, outcomes in rows.items():
        lines.append(f"| {name} | {len(outcomes)} | {100 * sum(outcomes) / max(1, len(outcomes)):.1f} % |")
    return "\n".join(lines)
