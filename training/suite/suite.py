"""The next-edit suite: whole commits, renames, moments and half-typed words of a split's repositories, put to one bundle.

Every part plays the engine at each eagerness, beside floors: replaying the last edit, the nearest word, and the judge without the
network. Cases and results are kept in a cache folder.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from model.inference.bundle import Bundle
from model.inference.predictor import Predictor
from training.sources.corpus import Repository
from training.suite import half_typed, renames
from training.suite.asked_moments import Asker, ask_moments
from training.suite.commit_figures import (
    REPLAY,
    AskedOnce,
    can_be_typed,
    play_all,
    read_commit_files,
    replay_newest,
    table,
    title_of,
)
from training.suite.commits import CommitFile
from training.suite.engine import EngineSuggest
from training.suite.kept_results import KeptResults, folder_of, keep_list
from training.suite.moment_figures import describe_moments

WITHOUT_NETWORK = "the judge without the network"
_TYPED_SHARE = 2  # one file in so many is also typed: that takes ten times as long
_MOMENT_CHANGES = 120  # of each repository
_WORD_CHANGES = 150  # of each repository


_WORDS = """\
Written by `python -m training.evaluate BUNDLE --suite next-edit --mirrors DIR --report FOLDER`; not edited by hand. The bundle {name} was put to
{repositories} repositories of the split {split}, from which nothing was learned. Balanced, the default, is a threshold of {default:.2f}.

A file of a commit is played from the text before to the text after, by hands that no example was made with. Before each edit the engine is asked;
a right offer is accepted with Tab, a wrong one is counted once for its line, and a correct part of a larger edit is a *piece*. An edit is
*reachable* when the tokens that it removes and inserts equal those of an earlier edit of the same file and contain a word. A file is *repetitive*
when at least 40 % of its edits, and at least three, are reachable. An offer is right when it makes a hunk that the author still makes, or a run of
such hunks on one line. As in the editor, a change that was accepted needs less confidence the next time."""


class Suite:
    """The parts of the suite for one bundle. Each returns a piece of Markdown."""

    def __init__(
        self,
        bundle: Bundle,
        repositories: Sequence[Repository],
        cache: Path,
        *,
        count: int = 40,
        seed: int = 0,
    ) -> None:
        """`count` is the number of repetitive files, and of ordinary ones, that are played."""
        self._repositories, self._cache, self._count, self._seed = repositories, cache, count, seed
        predictor = Predictor(bundle, device="cpu")
        self._name, self._tokenizer = bundle.name, bundle.require_tokenizer()
        self._engine, self._plain = EngineSuggest(predictor), EngineSuggest(predictor, with_network=False)
        self._thresholds = dict(bundle.calibration.eagerness) or {
            "default": bundle.calibration.threshold("hunk")
        }
        self._default = bundle.calibration.threshold("hunk")
        self._results = folder_of(cache, bundle)
        self._split = "+".join(sorted({repository.split for repository in repositories}))

    def describe(self) -> str:
        """The words of the tables, for a report."""
        return _WORDS.format(
            name=self._name, repositories=len(self._repositories), split=self._split, default=self._default
        )

    def play_commits(self) -> str:
        """Whole commits, edit by edit."""
        files = self._files()
        parts = [
            self._play("repetitive", [file for file in files if file.is_repetitive]),
            self._play("ordinary", [file for file in files if not file.is_repetitive]),
        ]
        return "\n\n".join(["## Whole commits", *parts])

    def play_keys(self) -> str:
        """Whole commits, key by key."""
        files = [file for file in self._files() if can_be_typed(file)][::_TYPED_SHARE]
        parts = [
            self._play("repetitive", [file for file in files if file.is_repetitive], by_keys=True),
            self._play("ordinary", [file for file in files if not file.is_repetitive], by_keys=True),
        ]
        return "\n\n".join(["## Whole commits, key by key", *parts])

    def play_renames(self, count: int = 100) -> str:
        """Renames in whole files."""
        path = self._cache / f"renames-{self._split}-{len(self._repositories)}-{count}-{self._seed}.jsonl"
        found = keep_list(path, lambda: renames.choose_renames(self._repositories, count, self._seed))
        chosen = [renames.Rename(*values) for values in found]
        asked = AskedOnce(self._engine, list(self._thresholds.values()))
        suggesters: dict[str, tuple[str, renames.Ask]] = {
            REPLAY: ("replay", replay_newest),
            WITHOUT_NETWORK: (
                f"plain {self._default:.4f}",
                AskedOnce(self._plain, [self._default]).at(self._default),
            ),
        }
        for name, threshold in self._thresholds.items():
            suggesters[f"{name} ({threshold:.2f})"] = (f"{threshold:.4f}", asked.at(threshold))
        rows = renames.play_renames(chosen, suggesters, KeptResults(self._results / "renames.jsonl"))
        return f"## Renames\n\n{len(chosen)} files\n\n{renames.table(rows)}"

    def ask_moments(self, changes: int = _MOMENT_CHANGES) -> str:
        """Single moments, between edits and between keys."""
        asker = Asker(self._engine, self._plain, self._thresholds, self._default)
        rows = ask_moments(
            self._repositories,
            self._tokenizer,
            asker,
            KeptResults(self._results / "moments.jsonl"),
            changes=changes,
            seed=self._seed,
            mark=asker.mark,
        )
        return f"## Moments\n\n{describe_moments(rows, self._thresholds)}"

    def ask_words(self, changes: int = _WORD_CHANGES) -> str:
        """Half-typed words."""
        guesses = {
            "nearest word of the file": half_typed.guess_nearest,
            WITHOUT_NETWORK: half_typed.guess_with(self._plain),
            "the judge": half_typed.guess_with(self._engine),
        }
        results = KeptResults(self._results / "words.jsonl")
        rows = half_typed.ask_words(
            self._repositories, self._tokenizer, guesses, results, changes=changes, seed=self._seed
        )
        return f"## Half-typed words\n\n{half_typed.table(rows)}"

    def _files(self) -> list[CommitFile]:
        return read_commit_files(self._repositories, self._count, self._seed, self._cache)

    def _play(self, kind: str, files: Sequence[CommitFile], *, by_keys: bool = False) -> str:
        results = KeptResults(self._results / "commits.jsonl")
        rows = play_all(files, self._engine, self._thresholds, results, by_keys=by_keys, title=kind)
        default = {WITHOUT_NETWORK: self._default}
        plain = KeptResults(self._results / "commits-plain.jsonl")
        plain_rows = play_all(
            files, self._plain, default, plain, by_keys=by_keys, title=f"{kind}, no network"
        )
        named = {
            f"{name} ({self._thresholds[name]:.2f})" if name in self._thresholds else name: row
            for name, row in rows.items()
        }
        ordered = {REPLAY: named.pop(REPLAY), WITHOUT_NETWORK: plain_rows[WITHOUT_NETWORK], **named}
        return f"{title_of(kind, rows)}\n\n{table(ordered)}"


PARTS: dict[str, Callable[[Suite], str]] = {
    "commits": Suite.play_commits,
    "keys": Suite.play_keys,
    "renames": Suite.play_renames,
    "moments": Suite.ask_moments,
    "words": Suite.ask_words,
}
