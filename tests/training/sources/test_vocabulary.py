"""Texts for a vocabulary: so many bytes of each repository, and only the wanted languages."""

from pathlib import Path

from tests.training.test_mine import mirrors  # noqa: F401  (a fixture)
from training.sources.corpus import repository_at
from training.sources.vocabulary import sample_texts


def test_texts_end_at_the_limit_and_are_of_the_languages(mirrors: Path) -> None:  # noqa: F811
    repository = repository_at(mirrors / "owner" / "one", "train")
    every = list(sample_texts(repository, limit_bytes=1_000_000))
    assert len(every) == 2
    (go,) = sample_texts(repository, limit_bytes=1_000_000, languages={"go"})
    assert go.startswith("package one")
    assert sum(map(len, sample_texts(repository, limit_bytes=50))) <= 50
    assert every == list(sample_texts(repository, limit_bytes=1_000_000))
