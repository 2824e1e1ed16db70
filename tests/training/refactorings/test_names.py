"""Names such as a person might give."""

from random import Random

import pytest

from tests.training.tokenizers import SAMPLE
from training.refactorings.names import join_words, new_name
from training.refactorings.source import Source, is_name


@pytest.mark.parametrize(
    ("style", "name"),
    [("snake", "read_all"), ("camel", "readAll"), ("Pascal", "ReadAll"), ("UPPER", "READ_ALL")],
)
def test_words_are_joined_in_every_style(style: str, name: str) -> None:
    assert join_words(["Read", "all"], style) == name


def test_most_new_names_keep_the_style_of_the_old_one() -> None:
    source = Source(SAMPLE)
    for old in ("read_all", "READ_ALL", "_private_name"):
        names = [new_name(old, source, Random(seed)) for seed in range(100)]
        assert sum(is_name(name) and name != old for name in names) > 90
        assert sum(name.isupper() == old.isupper() for name in names) > 80
