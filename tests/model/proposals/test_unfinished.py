"""Changes that look unfinished, and changes that do not."""

import pytest

from model.inference.bundle import Bundle
from model.proposals.unfinished import looks_unfinished
from tests.model.proposals.stream import Stream

TEXT = "def load(path: Optional[str], size: Optional[str]) -> None:\n    log.info(path, size)\n    log.info(size)\n"


@pytest.mark.parametrize(
    ("old", "new", "is_unfinished"),
    [
        ("Optional[str]", "str | ", True),
        ("Optional[str]", "str | None", False),
        ("log.info(path", "log.", True),
        ("log.info", "log.debug", False),
        ("None", "No", True),  # it is being typed again
        ("load", "read", False),
        ("size)", "size, )", True),
        ("path, size)", "path, size, 0)", False),
        ("log.info(size)", "self.log.info(size)", False),
        ("(size)", "(", True),
        ("log.info(size)", "", False),
    ],
)
def test_a_change_looks_finished_or_not(bundle: Bundle, old: str, new: str, is_unfinished: bool) -> None:
    stream = Stream(bundle.require_tokenizer(), TEXT).replace(old, new)
    patterns = stream.proposals(is_open=True).situation.patterns
    whole = max(patterns, key=lambda pattern: len(pattern.key))  # all parts of the line
    assert looks_unfinished(whole, patterns, stream.tables) == is_unfinished


def test_the_beginning_of_an_earlier_change_looks_unfinished(bundle: Bundle) -> None:
    stream = Stream(bundle.require_tokenizer(), TEXT).replace("info", "debug").replace("info", "de")
    begun, whole = stream.proposals(is_open=True).situation.patterns
    assert looks_unfinished(begun, [begun, whole], stream.tables)
    assert not looks_unfinished(whole, [begun, whole], stream.tables)
