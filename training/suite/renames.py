"""Renames in whole files: is the rest offered after the first use, after the second, and does Tab visit all others in order?

A use is a lexical token that equals the name, wherever it stands. The author renames from top to bottom, each use at once, and is
asked after a short pause. In order means: on from the newest use, the next one first.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from random import Random
from typing import Any, NamedTuple

from tqdm import tqdm

from model.editing.change import Change
from model.editing.tokenizer import lex
from training.refactorings.names import new_name
from training.refactorings.source import Source
from training.sources.corpus import Repository
from training.sources.filters import check_path, check_text, has_secret, is_code, language_of
from training.sources.git import files_at, read_texts
from training.suite.kept_results import KeptResults
from training.suite.rightness import find_run
from training.suite.whole_commits import QUIET_SECONDS, Offer
from training.trajectories.draft import Draft
from training.trajectories.keyboard import Step

_LEAST_LINES, _LIMIT_CHARACTERS = 200, 60_000
_LEAST_USES, _LIMIT_USES = 5, 40
_READ = 40  # files of a repository that are read at most
_NAME = re.compile(r"[^\W\d]\w{2,}")
_KEYWORDS = frozenset(
    [
        "and",
        "any",
        "as",
        "assert",
        "async",
        "await",
        "auto",
        "bool",
        "boolean",
        "break",
        "byte",
        "case",
        "catch",
        "char",
        "class",
        "const",
        "constexpr",
        "continue",
        "def",
        "default",
        "defer",
        "del",
        "delete",
        "dict",
        "do",
        "double",
        "elif",
        "else",
        "end",
        "enum",
        "err",
        "except",
        "export",
        "extends",
        "False",
        "final",
        "finally",
        "float",
        "fmt",
        "fn",
        "for",
        "from",
        "func",
        "function",
        "global",
        "go",
        "goto",
        "if",
        "impl",
        "implements",
        "import",
        "in",
        "include",
        "inline",
        "int",
        "interface",
        "is",
        "lambda",
        "let",
        "list",
        "long",
        "loop",
        "map",
        "match",
        "mod",
        "mut",
        "namespace",
        "new",
        "nil",
        "None",
        "not",
        "null",
        "object",
        "operator",
        "or",
        "override",
        "package",
        "pass",
        "private",
        "protected",
        "pub",
        "public",
        "raise",
        "range",
        "return",
        "self",
        "Self",
        "set",
        "short",
        "signed",
        "size_t",
        "sizeof",
        "some",
        "std",
        "static",
        "str",
        "String",
        "string",
        "struct",
        "super",
        "switch",
        "template",
        "test",
        "the",
        "this",
        "throw",
        "throws",
        "True",
        "true",
        "false",
        "try",
        "tuple",
        "type",
        "typedef",
        "typename",
        "typeof",
        "undefined",
        "union",
        "unsigned",
        "use",
        "using",
        "var",
        "virtual",
        "void",
        "where",
        "while",
        "with",
        "yield",
    ]
)

Ask = Callable[[str, Sequence[Step], int, float], Sequence[Offer]]


class Rename(NamedTuple):
    """A file, a name with several uses in it, and another name."""

    repository: str
    path: str
    text: str
    old: str
    new: str

    def uses(self) -> list[Change]:
        """The changes that rename each use, top to bottom, with offsets in the text."""
        found, offset = [], 0
        for token in lex(self.text):
            if token == self.old:
                found.append(Change(offset, offset + len(token), self.new))
            offset += len(token)
        return found

    @property
    def language(self) -> str:
        return language_of(self.path) or ""


def choose_renames(repositories: Sequence[Repository], count: int, seed: int) -> list[Rename]:
    """Draw `count` files, about as many from each repository, and a name in each."""
    by_repository = [
        list(_find_renames(each, 3 * count // len(repositories) + 1, seed)) for each in repositories
    ]
    longest = max(map(len, by_repository))
    in_turns = [found[turn] for turn in range(longest) for found in by_repository if turn < len(found)]
    return in_turns[:count]


def _find_renames(repository: Repository, count: int, seed: int) -> Iterable[Rename]:
    random = Random(f"{seed}:{repository.name}:renames")
    files = [each for each in files_at(repository.path, repository.commit) if is_code(each[0])]
    files = sorted(each for each in files if check_path(each[0]) is None)
    random.shuffle(files)
    drawn = 0
    files = files[: _READ * count]
    for (path, _), text in zip(files, read_texts(repository.path, [blob for _, blob in files]), strict=True):
        if text is None or text.count("\n") < _LEAST_LINES or len(text) > _LIMIT_CHARACTERS:
            continue
        if check_text(text) or has_secret(text):
            continue
        rename = draw_rename(repository.name, path, text, random)
        if rename is not None:
            yield rename
            drawn += 1
        if drawn == count:
            return


def draw_rename(repository: str, path: str, text: str, random: Random) -> Rename | None:
    """Draw a name of the text with enough uses, and another name for it. None when there is no such name."""
    counts = Counter(lex(text))
    names = [
        name
        for name, uses in counts.items()
        if _LEAST_USES <= uses <= _LIMIT_USES and _NAME.fullmatch(name) and name not in _KEYWORDS
    ]
    if not names:
        return None
    old = random.choice(names)
    source = Source(text)
    new = next(
        (name for name in (new_name(old, source, random) for _ in range(9)) if name not in counts), None
    )
    return None if new is None else Rename(repository, path, text, old, new)


def play_rename(rename: Rename, ask: Ask) -> dict[str, Any]:
    """Rename two uses by hand, asking after each, then accept with Tab as long as the offers come in order."""
    uses = rename.uses()
    draft, steps = Draft(rename.text, uses), list[Step]()
    after: list[bool] = []
    for number in range(2):
        _make(draft, steps, [number])
        after.append(bool(_find_offered(draft, _first(ask, rename.text, draft, steps))))
    made = 2
    while made < len(uses):
        offered = _find_offered(draft, _first(ask, rename.text, draft, steps))
        if not offered or offered[0] != made:
            break
        _make(draft, steps, offered, accepted=True)
        made += len(offered)
    return {
        "first": after[0],
        "second": after[1],
        "in_order": made == len(uses),
        "uses": len(uses),
        "visited": made - 2,
    }


def _make(draft: Draft, steps: list[Step], numbers: Sequence[int], *, accepted: bool = False) -> None:
    """Rename adjacent uses as one change."""
    time = steps[-1].time + 2 * QUIET_SECONDS if steps else 0.0
    start = draft.start_of(numbers[0])
    end = draft.start_of(numbers[-1]) + len(draft.contents[numbers[-1]])
    grown = len(draft.text)
    for number in numbers:
        draft.replace([number], 0, len(draft.contents[number]), draft.regions[number].text)
    new_end = end + len(draft.text) - grown
    change = Change(start, end, draft.text[start:new_end])
    steps.append(Step(time, (change,), new_end, numbers[0], tuple(numbers), accepted))


def _first(ask: Ask, text: str, draft: Draft, steps: Sequence[Step]) -> Change | None:
    """The first offer that changes the text."""
    for offer in ask(text, steps, steps[-1].cursor, steps[-1].time + QUIET_SECONDS):
        if draft.text[offer.change.start : offer.change.end] != offer.change.text:
            return offer.change
    return None


def _find_offered(draft: Draft, change: Change | None) -> list[int]:
    """The numbers of the uses that a change renames; none when it does anything else."""
    left = [number for number in range(len(draft.regions)) if not draft.is_made(number)]
    run = (
        None if change is None else find_run(draft.text, [draft.remaining(number) for number in left], change)
    )
    return [] if run is None else [left[index] for index in run]


def play_renames(
    renames: Sequence[Rename], suggesters: Mapping[str, tuple[str, Ask]], results: KeptResults
) -> dict[str, list[dict[str, Any]]]:
    """The outcome of each rename with each suggester: its name in the table, and its mark among the kept results."""
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in suggesters}
    for rename in tqdm(renames, unit=" files", desc="renames"):
        for name, (mark, ask) in suggesters.items():
            key = f"{rename.repository}:{rename.path}:{rename.old}:{rename.new}:{mark}"
            rows[name].append(results.get(key, partial(play_rename, rename, ask)))
    return rows


def table(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Shares of the files as a Markdown table."""
    lines = [
        "| | right after the first rename | after the second | Tab visits all others in order | other uses by Tab |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for name, outcomes in rows.items():
        shares = [
            100 * sum(each[key] for each in outcomes) / max(1, len(outcomes))
            for key in ("first", "second", "in_order")
        ]
        visited = (
            100
            * sum(each["visited"] for each in outcomes)
            / max(1, sum(each["uses"] - 2 for each in outcomes))
        )
        lines.append(f"| {name} | " + " | ".join(f"{share:.0f} %" for share in (*shares, visited)) + " |")
    return "\n".join(lines)
