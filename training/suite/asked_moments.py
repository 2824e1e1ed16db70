"""Single moments of real commits, put to an engine and to floors: is the first choice right, and is it shown?

The commits of a split's repositories are played as they occur, hunk by hunk and key by key with the test hands, by the code
that makes the judge's examples. An answer is right (*any*) when it makes a hunk, or a run of hunks on one line, that the
author still makes, or when it completes the word that the author is typing. It is *next* when that hunk is the author's next.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from random import Random
from typing import Any

from tqdm import tqdm

from model.editing.change import Change
from model.editing.tokenizer import Tokenizer
from training.judge.moments import Moment, play_commit, play_typed
from training.judge.sources import draw_changes
from training.sources.corpus import Repository
from training.suite.engine import EngineSuggest
from training.suite.floors import find_replays
from training.suite.kept_results import KeptResults
from training.suite.rightness import find_run, find_word
from training.suite.whole_commits import Offer
from training.trajectories.hands import TEST_HANDS

Answer = tuple[float, bool, bool] | None  # confidence, right, and right about the next hunk; None is silence
Answers = Callable[[Moment], Mapping[str, Answer]]
_TYPED_SHARE = 0.5  # of the changes that are also typed: they have more moments


class AskedMoment(dict[str, Any]):
    """One moment: `kind`, `language`, `is_reachable`, and the answer of each suggester by its name."""


def ask_moments(
    repositories: Sequence[Repository],
    tokenizer: Tokenizer,
    answers: Answers,
    results: KeptResults,
    *,
    changes: int,
    seed: int,
    mark: str,
) -> list[AskedMoment]:
    """Play `changes` changes of each repository and ask. `mark` names the suggesters among the kept results."""
    rows: list[AskedMoment] = []
    for repository in tqdm(repositories, unit=" repositories", desc="moments"):
        ask = partial(_ask_repository, repository, tokenizer, answers, changes, seed)
        rows += map(AskedMoment, results.get(f"{repository.name}:{changes}:{seed}:{mark}", ask))
    return rows


def _ask_repository(
    repository: Repository, tokenizer: Tokenizer, answers: Answers, changes: int, seed: int
) -> list[dict[str, Any]]:
    return [
        {
            "kind": moment.kind,
            "language": language,
            "is_reachable": moment.is_reachable,
            "answers": dict(answers(moment)),
        }
        for language, moment in _play(repository, tokenizer, changes, seed)
    ]


def _play(
    repository: Repository, tokenizer: Tokenizer, changes: int, seed: int
) -> Iterator[tuple[str, Moment]]:
    """The moments of a repository's changes as they occur: ordinary changes are not thinned out."""
    random = Random(f"{seed}:{repository.name}:moments")
    for change in draw_changes(repository, changes, seed):
        for moment in play_commit(change, tokenizer, TEST_HANDS, random, ordinary_share=1.0):
            yield change.language, moment
        if random.random() < _TYPED_SHARE:
            for moment in play_typed(change, tokenizer, TEST_HANDS, random, ordinary_share=1.0):
                yield change.language, moment


class Asker:
    """Puts a moment to the engine at several thresholds, to the judge without the network, and to the replay floor."""

    def __init__(
        self, engine: EngineSuggest, plain: EngineSuggest, thresholds: Mapping[str, float], default: float
    ) -> None:
        self._engine, self._plain = engine, plain
        self._named = {"best": 0.0, **thresholds}
        self._named_plain = {"plain best": 0.0, "plain": default}

    @property
    def mark(self) -> str:
        named = {**self._named, **self._named_plain}
        return " ".join(f"{name}={threshold:.4f}" for name, threshold in named.items())

    def __call__(self, moment: Moment) -> dict[str, Answer]:
        result = {"replay": judge_answer(moment, _replay(moment))}
        for engine, named in ((self._engine, self._named), (self._plain, self._named_plain)):
            offers = engine.ask_recorder(moment.recorder, moment.pause_seconds, list(named.values()))
            for name, found in zip(named, offers, strict=True):
                result[name] = judge_answer(moment, found[0] if found else None)
        return result


def judge_answer(moment: Moment, offer: Offer | None) -> Answer:
    """Compare an offer with the hunks that the author still makes."""
    if offer is None:
        return None
    run = find_run(moment.text, moment.remaining, offer.change)
    if run is None and moment.recorder.prefix and offer.change.start == offer.change.end:
        run = find_word(moment.text, moment.remaining, offer.change)
    made = [moment.remaining[index] for index in run or ()]
    is_next = any(_touch(hunk, other) for hunk in made for other in moment.upcoming)
    return offer.confidence, run is not None, is_next


def _replay(moment: Moment) -> Offer | None:
    """The floor: the newest change once more, always sure."""
    found = next(iter(find_replays(moment.text_before, moment.text, moment.newest)), None)
    return None if found is None else Offer(found, 1.0)


def _touch(one: Change, other: Change) -> bool:
    return one.start <= other.end and one.end >= other.start
