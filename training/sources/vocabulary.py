"""The vocabulary: trained on files of the newest commit, the same number of bytes from each repository."""

from collections.abc import Collection, Iterator
from random import Random

from training.sources.corpus import Repository
from training.sources.filters import check_text, language_of, sampling_share
from training.sources.git import files_at, read_texts


def sample_texts(
    repository: Repository, *, limit_bytes: int, languages: Collection[str] = (), seed: int = 0
) -> Iterator[str]:
    """Texts of files of a repository, in random order, until so many bytes are reached."""
    files = files_at(repository.path, repository.commit)
    random = Random(f"{seed}:{repository.name}")
    random.shuffle(files)
    files = [
        (path, blob)
        for path, blob in files
        if random.random() < sampling_share(path) and (not languages or language_of(path) in languages)
    ]
    left = limit_bytes
    for text in read_texts(repository.path, [blob for _, blob in files]):
        if left <= 0:
            return
        if text is not None and check_text(text) is None:
            left -= len(text)
            yield text[:left] if left < 0 else text
