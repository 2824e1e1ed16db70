"""Program: the public next-edit suite, made from the test repositories of a corpus.

    python -m training.cases --mirrors DIR --out cases.jsonl [--corpus FILE.toml] [--count 300]

A case is a whole file, the changes made to it so far, and what came next. There are three kinds. *repeat*: the next
hunk does what an earlier one did (some from histories, some refactorings). *ordinary*: any other next hunk. *done*:
nothing came next, and silence is right. Cases hold text of others: they are made where they are needed, never committed.

Also here: the floor that needs no network, `replay`.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any

from tqdm import tqdm

from model.editing.change import Change
from model.editing.edits import opcodes
from model.editing.tokenizer import lex, segments
from training.data.dataset import Kind
from training.refactorings.refactoring import refactor
from training.sources.corpus import Repository, read_corpus
from training.sources.git import (
    Exclusions,
    Modification,
    grouped,
    has_secret,
    language_of,
    modifications,
    read_versions,
    rejected_change,
    rejected_text,
)
from training.trajectories.hunks import Signature, changes_in_order, hunks_between, signature
from training.trajectories.ordering import realistic_order
from training.trajectories.trajectory import Session, texts_of

KINDS = ("repeat", "ordinary", "done")
_LIMIT_CHARACTERS = 24_000  # of a file: about 8,000 tokens
_LIMIT_HUNKS = 12
_LIMIT_TOKENS = 30  # lexical tokens that the next hunk takes away or brings in: more is not one suggestion
_LIMIT_HISTORY = 80  # the same of all that was made before
_SHARE_OF_REPOSITORY = 0.25  # of a kind, so that no repository decides the figures
_MODIFICATIONS_OF_REPOSITORY = 4000
_PROSE = {"prose", "configuration", "html", "css"}


@dataclass(frozen=True)
class Case:
    """One question to a model: the text and the changes so far in; a change, or silence, out."""

    kind: str
    source: str  # "history", or the kind of the refactoring
    language: str
    repository: str
    commit: str
    path: str
    text: str
    edits: tuple[Change, ...]  # made so far, each in the text as those before left it
    cursor: int  # offset in the text of now: the end of the newest change
    expected_text: str | None  # the text after the next hunk; None: silence is right
    also: tuple[
        Change, ...
    ] = ()  # other hunks of the same change that were still to come, in the text of now

    def text_now(self) -> str:
        return texts_of(_session(self.text, self.edits))[-1]

    def is_right(self, change: Change | None) -> bool:
        """Is this the next hunk, or another one that was still to come?"""
        if change is None or self.expected_text is None:
            return change is None and self.expected_text is None
        now = self.text_now()
        made = _applied(now, change)
        return made == self.expected_text or any(made == _applied(now, other) for other in self.also)

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str) -> "Case":
        values: dict[str, Any] = json.loads(line)
        for name in ("edits", "also"):
            values[name] = tuple(Change(*change) for change in values[name])
        return cls(**values)


def read_cases(path: Path) -> list[Case]:
    with path.open(encoding="utf-8") as lines:
        return [Case.from_json(line) for line in lines]


# The floor


def replay(case: Case) -> Change | None:
    """Replay the newest edit at its next same place: what needs no network."""
    texts = texts_of(_session(case.text, case.edits))
    if len(texts) < 2:
        return None
    return next(iter(replays(texts[-2], texts[-1], case.edits[-1])), None)


def replays(before: str, now: str, newest: Change) -> Iterator[Change]:
    """The places where the newest edit could be made once more: below the cursor first, then from the top."""
    step = _newest_step(before, now, newest)
    if step is None:
        return
    old, new, left, right = step
    tokens = lex(now)
    offsets = [0]
    for token in tokens:
        offsets.append(offsets[-1] + len(token))
    pattern = old if old else [*left, *right]
    cursor = newest.start + len(newest.text)
    found: list[Change] = []
    for number in range(len(tokens) - len(pattern) + 1):
        if tokens[number : number + len(pattern)] != pattern:
            continue
        if old:
            found.append(Change(offsets[number], offsets[number + len(old)], "".join(new)))
        else:
            at = offsets[number + len(left)]
            found.append(Change(at, at, "".join(new)))
    yield from [change for change in found if change.start >= cursor]
    yield from [change for change in found if change.start < cursor]


def _newest_step(
    before: str, now: str, newest: Change
) -> tuple[list[str], list[str], list[str], list[str]] | None:
    """The last replaced run of tokens on the changed lines: what went, what came, and its neighbours."""
    begin = before.rfind("\n", 0, newest.start) + 1
    end = before.find("\n", newest.end)
    end = len(before) if end < 0 else end
    old = lex(before[begin:end])
    new = lex(now[begin : end + len(now) - len(before)])
    steps = [code for code in opcodes(old, new) if code[0] != "equal"]
    if not steps:
        return None
    _, a, b, c, d = steps[-1]
    return old[a:b], new[c:d], new[max(0, c - 2) : c], new[d : d + 1]


# Making cases


def size(of: Signature) -> int:
    return sum(len(gone) + len(come) for gone, come in of)


def history_cases(
    repository: Repository, modification: Modification, old: str, new: str, random: Random
) -> Iterator[Case]:
    """At most one case of each kind from one change of a file."""
    lines = segments(old)
    hunks = hunks_between(lines, segments(new))
    if not hunks or not 1 <= len(hunks) <= _LIMIT_HUNKS or rejected_change(lines, hunks) is not None:
        return
    signatures = [signature(lines, hunk) for hunk in hunks]
    if not all(signatures) or sum(map(size, signatures)) > _LIMIT_HISTORY:
        return
    order = realistic_order(lines, hunks, random)
    changes = changes_in_order(lines, hunks, order)

    def case(kind: str, made: int) -> Case:
        later = [changes_in_order(lines, hunks, [*order[:made], number])[-1] for number in order[made:]]
        return _case(kind, "history", repository, modification, old, changes[:made], later)

    yield case("done", len(hunks))
    places = list(range(1, len(hunks)))
    random.shuffle(places)
    is_repeat = {made: signatures[order[made]] in [signatures[n] for n in order[:made]] for made in places}
    for kind, wanted in (("repeat", True), ("ordinary", False)):
        for made in places:
            if is_repeat[made] == wanted and size(signatures[order[made]]) <= _LIMIT_TOKENS:
                yield case(kind, made)
                break


def refactoring_cases(
    repository: Repository, modification: Modification, text: str, random: Random
) -> Iterator[Case]:
    """A refactoring of a file as two cases: on the way, and done."""
    session = refactor(text, random, in_one_block=0.0)  # done means done: no place is left
    if session is None or sum(len(c.text) + c.end - c.start for c in session.changes) > 8 * _LIMIT_HISTORY:
        return
    source = session.kind.name.lower()
    made = random.randrange(session.conditioning, len(session.changes))
    later = _in_text_of(session, made)
    yield _case("repeat", source, repository, modification, text, session.changes[:made], later)
    yield _case("done", source, repository, modification, text, session.changes, [])


def _in_text_of(session: Session, made: int) -> list[Change]:
    """The changes from number `made` on, each as it would be if it were the next."""
    later = list(session.changes[made:])
    result: list[Change] = []
    for number, change in enumerate(later):
        start, end = change.start, change.end
        for earlier in reversed(later[:number]):  # take the changes between back
            if earlier.start < start:
                grown = len(earlier.text) - (earlier.end - earlier.start)
                start, end = start - grown, end - grown
        result.append(Change(start, end, change.text))
    return result


def _case(
    kind: str,
    source: str,
    repository: Repository,
    modification: Modification,
    text: str,
    made: Sequence[Change],
    later: Sequence[Change],
) -> Case:
    now = texts_of(_session(text, made))[-1]
    return Case(
        kind=kind,
        source=source,
        language=language_of(modification.path) or "",
        repository=repository.name,
        commit=modification.commit,
        path=modification.path,
        text=text,
        edits=tuple(made),
        cursor=made[-1].start + len(made[-1].text),
        expected_text=_applied(now, later[0]) if later else None,
        also=tuple(later[1:]),
    )


def cases_of(repository: Repository, exclusions: Exclusions, seed: int) -> Iterator[Case]:
    """All cases that a repository's history offers, in a random order of its files."""
    random = Random(f"{seed}:{repository.name}")
    found = modifications(repository.path, repository.commit, exclusions, Counter())
    found = [m for m in found if language_of(m.path) not in _PROSE]
    groups = grouped(found)
    random.shuffle(groups)
    taken, count = [], 0
    for group in groups:
        taken.append(group)
        count += len(group)
        if count > _MODIFICATIONS_OF_REPOSITORY:
            break
    for runs in read_versions(repository.path, taken):
        for run in runs:
            for modification, old, new in zip(run.modifications, run.texts[:-1], run.texts[1:], strict=True):
                if old is None or new is None or max(len(old), len(new)) > _LIMIT_CHARACTERS:
                    continue
                if rejected_text(old) or rejected_text(new) or has_secret(old) or has_secret(new):
                    continue
                yield from history_cases(repository, modification, old, new, random)
                if random.random() < 0.05:
                    yield from refactoring_cases(repository, modification, new, random)


def choose(cases: Iterable[Case], count: int, random: Random) -> list[Case]:
    """`count` cases of each kind, from all repositories; a third of the repeats and the done ones are refactorings."""
    by_kind: dict[tuple[str, bool], list[Case]] = {}
    for case in cases:
        by_kind.setdefault((case.kind, case.source == "history"), []).append(case)
    result: list[Case] = []
    for kind in KINDS:
        synthetic = _spread(by_kind.get((kind, False), []), count // 3, random)
        result += _spread(by_kind.get((kind, True), []), count - len(synthetic), random) + synthetic
    return result


def _spread(cases: list[Case], count: int, random: Random) -> list[Case]:
    random.shuffle(cases)
    of_repository: Counter[str] = Counter()
    of_file: Counter[tuple[str, str]] = Counter()
    result: list[Case] = []
    for case in cases:
        file = (case.repository, case.path)
        if of_repository[case.repository] < max(1, _SHARE_OF_REPOSITORY * count) and of_file[file] < 2:
            result.append(case)
            of_repository[case.repository] += 1
            of_file[file] += 1
        if len(result) == count:
            break
    return result


def _session(text: str, changes: Sequence[Change]) -> Session:
    return Session(text, tuple(changes), Kind.HISTORY)


def _applied(text: str, change: Change) -> str:
    return text[: change.start] + change.text + text[change.end :]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m training.cases", description="Make the next-edit suite.")
    parser.add_argument("--corpus", type=Path, default=Path(__file__).parent / "corpora" / "default.toml")
    parser.add_argument("--mirrors", type=Path, required=True, help="folder with the clones of the corpus")
    parser.add_argument("--split", default="test")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=300, help="cases of each kind")
    parser.add_argument("--exclude-commits", type=Path, metavar="FILE")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    exclusions = Exclusions(options.exclude_commits.read_text().split() if options.exclude_commits else ())
    try:
        repositories = read_corpus(options.corpus, options.mirrors, split=options.split)
    except ValueError as error:
        print(f"cases: {error}", file=sys.stderr)
        return 2
    found: list[Case] = []
    for repository in tqdm(repositories, unit=" repositories"):
        found.extend(cases_of(repository, exclusions, options.seed))
    chosen = choose(found, options.count, Random(options.seed))
    partial = options.out.with_name(options.out.name + ".partial")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    partial.write_text("".join(case.to_json() + "\n" for case in chosen), encoding="utf-8")
    partial.rename(options.out)
    for (kind, source), number in sorted(Counter((c.kind, c.source) for c in chosen).items()):
        print(f"{kind:10} {source:18} {number}")
    shown = [(case, replay(case)) for case in chosen]
    for kind in KINDS:
        of_kind = [(case, change) for case, change in shown if case.kind == kind]
        spoke = [(case, change) for case, change in of_kind if change is not None]
        right = sum(case.is_right(change) for case, change in spoke)
        print(f"replay on {kind}: {len(spoke)} shown of {len(of_kind)}, {right} right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
