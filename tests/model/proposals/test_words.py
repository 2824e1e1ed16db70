"""Words of the text that continue the word being typed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.editing.change import Change
from model.inference.bundle import Bundle
from model.proposals.candidates import Origin
from model.proposals.evidence import COLUMNS
from tests.model.proposals.stream import Stream

CODE = """\
connection = open_it()
consumer = make(connection)
consumer.start(connection)

"""


@pytest.fixture
def stream(bundle: Bundle) -> Stream:
    return Stream(bundle.require_tokenizer(), CODE)


def words_of(stream: Stream) -> dict[str, dict[str, float]]:
    """The evidence for each word, by the letters that it would add."""
    proposals = stream.proposals(is_open=True)
    return {
        proposals.change_at(number).text: {name: row[column] for name, column in COLUMNS.items()}
        for number, (candidate, row) in enumerate(zip(proposals.candidates, proposals.rows, strict=True))
        if candidate.origin == Origin.WORD
    }


def test_words_that_begin_with_the_typed_letters_are_candidates(stream: Stream) -> None:
    stream.type("con", len(CODE))
    assert set(words_of(stream)) == {"nection", "sumer"}
    stream.type("n", len(stream.text))
    assert set(words_of(stream)) == {"ection"}


def test_one_letter_and_a_whole_word_offer_nothing(stream: Stream) -> None:
    stream.type("c", len(CODE))
    assert words_of(stream) == {}
    stream.type("onnection", len(CODE) + 1)
    assert words_of(stream) == {}


def test_the_evidence_tells_typed_and_missing_letters_and_uses(stream: Stream) -> None:
    stream.type("con", len(CODE))
    words = words_of(stream)
    assert words["nection"]["typed_letters"] == 3
    assert words["nection"]["rest_letters"] == len("nection")
    assert words["nection"]["count"] == 3
    assert words["sumer"]["count"] == 2


def test_a_word_between_the_same_neighbours_has_the_better_context(stream: Stream) -> None:
    offset = len(CODE)
    stream.apply(Change(offset, offset, "consumer.stop("))
    stream.type("co", len(stream.text))
    words = words_of(stream)
    assert words["nnection"]["left_likeness"] > words["nsumer"]["left_likeness"]


def test_a_word_written_in_this_session_is_known_as_new(bundle: Bundle) -> None:
    stream = Stream(bundle.require_tokenizer(), "first = 1\nfinal = 2\n\n").replace("first", "fiscal")
    stream.type("fi", len(stream.text))
    words = words_of(stream)
    assert words["scal"]["is_new_text"] == 1
    assert words["nal"]["is_new_text"] == 0
    assert words["scal"]["recency"] < words["nal"]["recency"]


_WORDS = st.sampled_from(["alpha", "alphabet", "alter", "beta", "été", "étend", "x1", "x1y2z3"])


@settings(max_examples=60, deadline=None)
@given(st.lists(_WORDS, min_size=1, max_size=30), _WORDS, st.integers(2, 6), st.data())
def test_each_candidate_makes_a_word_of_the_text(
    bundle: Bundle, words: list[str], word: str, letters: int, data: st.DataObject
) -> None:
    stream = Stream(bundle.require_tokenizer(), "\n".join([*words, "", ""]))
    line = data.draw(st.integers(0, len(words)))
    offset = sum(len(each) + 1 for each in words[:line])
    stream.apply(Change(offset, offset, "\n"))
    stream.type(word[:letters], offset)
    typed = word[:letters]
    for rest in words_of(stream):
        assert typed + rest in words


def test_a_word_that_is_being_deleted_is_not_offered_back(stream: Stream) -> None:
    end = CODE.index("connection") + len("connection")
    for number in range(4):  # backspace
        stream.apply(Change(end - number - 1, end - number, ""), seconds=0.1)
    assert stream.recorder.prefix == "connec"
    assert words_of(stream) == {}


def test_another_word_of_the_replaced_text_may_be_offered(stream: Stream) -> None:
    start = CODE.index("make(connection)")
    stream.apply(Change(start, start + len("make(connection)"), ""), seconds=0.1)
    stream.type("conn", start)
    assert set(words_of(stream)) == {"ection"}  # it stood behind, not where the user types
