"""Cases mined from the histories of repositories, and from refactorings of their files."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from random import Random

from model.editing.change import Change
from model.editing.lines import segments
from training.refactorings.refactoring import refactor
from training.sources.corpus import Repository
from training.sources.filters import check_change, check_text, has_secret, language_of
from training.sources.git import (
    ExcludedCommits,
    Modification,
    group_by_file,
    list_modifications,
    read_versions,
)
from training.suite.cases import KINDS, Case
from training.trajectories.hunks import Signature, changes_in_order, hunk_signature, hunks_between
from training.trajectories.ordering import draw_order
from training.trajectories.trajectory import Trajectory, apply_changes

_LIMIT_CHARACTERS = 24_000  # of a file: about 8,000 tokens
_LIMIT_HUNKS = 12
_LIMIT_TOKENS = 30  # lexical tokens that the next hunk takes away or brings in: more is not one suggestion
_LIMIT_HISTORY = 80  # the same of all that was made before
_SHARE_OF_REPOSITORY = 0.25  # of a kind, so that no repository decides the figures
_MODIFICATIONS_OF_REPOSITORY = 4000
_PROSE = {"prose", "configuration", "html", "css"}


def _count_tokens(signature: Signature) -> int:
    """The lexical tokens that a hunk takes away or brings in."""
    return sum(len(gone) + len(come) for gone, come in signature)


def mine_history_cases(
    repository: Repository, modification: Modification, old: str, new: str, random: Random
) -> Iterator[Case]:
    """At most one case of each kind from one change of a file."""
    lines = segments(old)
    hunks = hunks_between(lines, segments(new))
    if not hunks or not 1 <= len(hunks) <= _LIMIT_HUNKS or check_change(lines, hunks) is not None:
        return
    signatures = [hunk_signature(lines, hunk) for hunk in hunks]
    if not all(signatures) or sum(map(_count_tokens, signatures)) > _LIMIT_HISTORY:
        return
    order = draw_order(lines, hunks, random)
    changes = changes_in_order(lines, hunks, order)

    def make_case(kind: str, made: int) -> Case:
        later = [changes_in_order(lines, hunks, [*order[:made], number])[-1] for number in order[made:]]
        return _make_case(kind, "history", repository, modification, old, changes[:made], later)

    yield make_case("done", len(hunks))
    counts = list(range(1, len(hunks)))  # of hunks made before the question
    random.shuffle(counts)
    is_repeat = {made: signatures[order[made]] in [signatures[n] for n in order[:made]] for made in counts}
    for kind, wanted in (("repeat", True), ("ordinary", False)):
        for made in counts:
            if is_repeat[made] == wanted and _count_tokens(signatures[order[made]]) <= _LIMIT_TOKENS:
                yield make_case(kind, made)
                break


def make_refactoring_cases(
    repository: Repository, modification: Modification, text: str, random: Random
) -> Iterator[Case]:
    """A refactoring of a file as two cases: on the way, and done."""
    trajectory = refactor(text, random, in_one_block=0.0)  # done means done: the whole file is changed
    if (
        trajectory is None
        or sum(len(c.text) + c.end - c.start for c in trajectory.changes) > 8 * _LIMIT_HISTORY
    ):
        return
    source = trajectory.kind.name.lower()
    made = random.randrange(trajectory.conditioning, len(trajectory.changes))
    later = _make_changes_next(trajectory, made)
    yield _make_case("repeat", source, repository, modification, text, trajectory.changes[:made], later)
    yield _make_case("done", source, repository, modification, text, trajectory.changes, [])


def _make_changes_next(trajectory: Trajectory, made: int) -> list[Change]:
    """The changes from number `made` on, each as it would be if it were the next."""
    later = list(trajectory.changes[made:])
    result: list[Change] = []
    for number, change in enumerate(later):
        start, end = change.start, change.end
        for earlier in reversed(later[:number]):  # take the changes between back
            if earlier.start < start:
                start, end = start - earlier.growth, end - earlier.growth
        result.append(Change(start, end, change.text))
    return result


def _make_case(
    kind: str,
    source: str,
    repository: Repository,
    modification: Modification,
    text: str,
    made: Sequence[Change],
    later: Sequence[Change],
) -> Case:
    current = apply_changes(text, made)[-1]
    return Case(
        kind=kind,
        source=source,
        language=language_of(modification.path) or "",
        repository=repository.name,
        commit=modification.commit,
        path=modification.path,
        text=text,
        edits=tuple(made),
        cursor=made[-1].new_end,
        expected_text=later[0].apply_to(current) if later else None,
        also=tuple(later[1:]),
    )


def mine_cases(repository: Repository, exclusions: ExcludedCommits, seed: int) -> Iterator[Case]:
    """All cases that a repository's history offers, in a random order of its files."""
    random = Random(f"{seed}:{repository.name}")
    found = list_modifications(repository.path, repository.commit, exclusions, Counter())
    found = [m for m in found if language_of(m.path) not in _PROSE]
    groups = group_by_file(found)
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
                if check_text(old) or check_text(new) or has_secret(old) or has_secret(new):
                    continue
                yield from mine_history_cases(repository, modification, old, new, random)
                if random.random() < 0.05:
                    yield from make_refactoring_cases(repository, modification, new, random)


def choose_cases(cases: Iterable[Case], count: int, random: Random) -> list[Case]:
    """`count` cases of each kind, from all repositories; a third of the repeats and the done ones are refactorings."""
    by_kind: dict[tuple[str, bool], list[Case]] = {}
    for case in cases:
        by_kind.setdefault((case.kind, case.source == "history"), []).append(case)
    result: list[Case] = []
    for kind in KINDS:
        refactored = _draw_evenly(by_kind.get((kind, False), []), count // 3, random)
        result += _draw_evenly(by_kind.get((kind, True), []), count - len(refactored), random) + refactored
    return result


def _draw_evenly(cases: list[Case], count: int, random: Random) -> list[Case]:
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
