"""Changes that look unfinished, and changes that do not."""

import pytest

from model.editing.change import Change
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
        ("log.info", "log.d", True),
        ("Optional[str], size", "str | , size", True),
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
    assert looks_unfinished(whole.key, (), stream.tables) == is_unfinished


def test_the_beginning_of_an_earlier_change_looks_unfinished(bundle: Bundle) -> None:
    stream = Stream(bundle.require_tokenizer(), TEXT).replace("info", "debug").replace("info", "de")
    begun, whole = stream.proposals(is_open=True).situation.patterns
    assert looks_unfinished(begun.key, [whole.key], stream.tables)
    assert not looks_unfinished(whole.key, [begun.key], stream.tables)


def test_a_half_of_a_change_is_forgotten_when_its_author_goes_on(bundle: Bundle) -> None:
    stream = Stream(bundle.require_tokenizer(), TEXT).replace("Optional[str]", "str | ")
    stream.apply(
        Change(stream.text.index("str | ") + 6, stream.text.index("str | ") + 6, "None"), seconds=9.0
    )
    made = [stream.after(change) for change in stream.proposals().changes]
    assert stream.text.replace("Optional[str]", "str | None") in made
    assert stream.text.replace("Optional[str]", "str | ") not in made


def test_a_whole_change_is_kept_when_its_author_goes_on_beside_it(bundle: Bundle) -> None:
    stream = Stream(bundle.require_tokenizer(), TEXT).replace("log.info(path", "log.debug(path")
    at = stream.text.index("debug") + len("debug")
    stream.apply(Change(at, at, "_all"), seconds=9.0)
    stream.apply(Change(at, at + 4, ""), seconds=9.0)
    assert stream.text.replace("info", "debug") in [stream.after(each) for each in stream.proposals().changes]


def test_halves_of_an_insertion_are_no_parts_of_a_line(bundle: Bundle) -> None:
    stream = Stream(bundle.require_tokenizer(), "def one(a, b):\n    pass\n\n\ndef two(a, b):\n    pass\n")
    at = stream.text.index("a, b") + 1
    stream.apply(Change(at, at, ":"))
    stream.apply(Change(at + 1, at + 1, " int"), seconds=9.0)
    patterns = stream.proposals().situation.patterns
    assert all(len(pattern.key) == 1 for pattern in patterns)
    assert stream.text.replace("two(a", "two(a: int") in stream.results()
