"""Changes of files that the judge learns from, drawn from the clones of a corpus."""

from collections import Counter
from collections.abc import Iterator
from random import Random

from training.judge.moments import FileChange
from training.sources.corpus import Repository
from training.sources.filters import check_text, has_secret, is_code, language_of
from training.sources.git import ExcludedCommits, list_modifications, read_versions

_LIMIT_CHARACTERS = 26_000  # of a file: about 8,000 tokens
_READ_SHARE = 4  # modifications that are read for each one that is used


def draw_changes(repository: Repository, count: int, seed: int) -> Iterator[FileChange]:
    """Some changes of code files of a repository, in a random order that depends on the seed alone."""
    random = Random(f"{seed}:{repository.name}")
    found = list_modifications(repository.path, repository.commit, ExcludedCommits(), Counter())
    found = [modification for modification in found if is_code(modification.path)]
    random.shuffle(found)
    drawn = 0
    for versions in read_versions(repository.path, [[each] for each in found[: _READ_SHARE * count]]):
        for version in versions:
            before, after = version.texts
            if drawn < count and before is not None and after is not None and _is_fit(before, after):
                drawn += 1
                language = language_of(version.modifications[0].path) or ""
                yield FileChange(repository.name, language, before, after)


def _is_fit(*texts: str) -> bool:
    return all(
        len(text) <= _LIMIT_CHARACTERS and not check_text(text) and not has_secret(text) for text in texts
    )
