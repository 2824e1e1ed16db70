"""Candidates as a user meets them: a change is made, and made again elsewhere."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.editing.change import Change
from model.inference.bundle import Bundle
from tests.model.proposals.stream import Stream

CODE = """\
def area(width, height):
    logger.info('one')
    return width * height


def ring(width, count: Optional[int] = None, name: Optional[str] = None):
    logger.info('two')
    first = client.get(width)
    second = client.get(count)
    return [width, count]
"""


@pytest.fixture
def stream(bundle: Bundle) -> Stream:
    return Stream(bundle.require_tokenizer(), CODE)


def test_a_name_is_offered_at_every_other_use(stream: Stream) -> None:
    stream.replace("width", "size")
    results = stream.results()
    for number in range(stream.text.count("width")):
        assert Stream(stream.tables.tokenizer, stream.text).replace("width", "size", number).text in results


def test_two_parts_of_an_expression_are_offered_together(stream: Stream) -> None:
    stream.replace("Optional[int]", "int | None")
    assert stream.text.replace("Optional[str]", "str | None") in stream.results()


def test_two_parts_made_one_after_the_other_are_offered_together(stream: Stream) -> None:
    stream.replace("Optional[int", "int").replace("] = None, name", " | None = None, name")
    assert stream.text.replace("Optional[str]", "str | None") in stream.results()


def test_a_word_that_moves_is_the_word_of_each_site(bundle: Bundle) -> None:
    stream = Stream(
        bundle.require_tokenizer(), "send('USER %s' % user)\nsend('LIST %s' % which)\nsend('QUIT')\n"
    )
    stream.replace("'USER %s' % user", "f'USER {user}'")
    assert stream.text.replace("'LIST %s' % which", "f'LIST {which}'") in stream.results()


def test_words_of_several_parts_made_one_after_the_other_move(bundle: Bundle) -> None:
    stream = Stream(bundle.require_tokenizer(), "put(one, first)\nput(two, second)\n")
    stream.replace("one, ", "").replace("first", "first, one")
    assert "put(first, one)\nput(second, two)\n" in stream.results()


def test_parts_at_the_end_of_a_line_are_offered_together(bundle: Bundle) -> None:
    stream = Stream(bundle.require_tokenizer(), "a = one + two\nb = one + two\nc = 1\n")
    stream.replace("one + two", "f(one + two)")
    assert "a = f(one + two)\nb = f(one + two)\nc = 1\n" in stream.results()


def test_what_was_just_deleted_is_not_brought_back(bundle: Bundle) -> None:
    stream = Stream(bundle.require_tokenizer(), "put('a' % one)\nput('b' % one)\n")
    stream.replace("'a'", "f'a'")
    start = stream.text.index("'b' % one")
    stream.apply(Change(start, start + len("'b' % one"), "f'b'"))
    assert not any(text.endswith("put(f'b' % one)\n") for text in stream.results(is_open=True))


def test_quotes_are_offered_in_pairs(stream: Stream) -> None:
    stream.replace("'one'", '"one"')
    assert stream.text.replace("'two'", '"two"') in stream.results()


def test_a_word_in_front_of_a_call_is_offered_at_the_next_call(stream: Stream) -> None:
    stream.replace("client.get(width)", "await client.get(width)")
    assert stream.text.replace("= client.get(count)", "= await client.get(count)") in stream.results()


def test_a_retyped_expression_counts_as_its_change(stream: Stream) -> None:
    stream.replace("logger.info('one')", "logger.debug('one')")
    assert stream.text.replace("info", "debug") in stream.results()


def test_a_part_of_a_name_is_offered_in_other_names(bundle: Bundle) -> None:
    stream = Stream(bundle.require_tokenizer(), "user = 1\nuser_id = 2\nUserList = 3\n")
    stream.replace("user", "account")
    results = stream.results()
    assert "account = 1\naccount_id = 2\nUserList = 3\n" in results
    assert "account = 1\nuser_id = 2\nAccountList = 3\n" in results


def test_text_pasted_a_moment_ago_counts_like_text_that_was_there(bundle: Bundle) -> None:
    stream = Stream(bundle.require_tokenizer(), "")
    stream.apply(Change(0, 0, CODE))
    stream.replace("info", "debug")
    assert stream.text.replace("info", "debug") in stream.results()


def test_a_repeat_that_was_begun_is_completed(stream: Stream) -> None:
    stream.replace("info", "debug")
    offset = stream.text.index("info")
    stream.apply(Change(offset, offset + 4, ""))
    wanted = stream.text[:offset] + "debug" + stream.text[offset:]
    stream.type("de", offset)
    assert wanted in stream.results(is_open=True)


def test_the_word_being_typed_is_only_ever_completed(stream: Stream) -> None:
    stream.replace("width", "size")
    offset = stream.text.index("width")
    stream.apply(Change(offset, offset, "x"), seconds=0.1)
    cursor = offset + 1
    for change in stream.proposals(is_open=True).changes:
        assert change.start >= cursor or change.end <= offset


def test_nothing_is_proposed_before_the_first_change(stream: Stream) -> None:
    assert stream.results() == []


_PIECES = st.sampled_from(["a", "foo", "bar_baz", ".", "(", ")", " ", "\n    ", "'", "= ", "1"])


@settings(max_examples=60, deadline=None)
@given(st.lists(_PIECES, max_size=40), st.data())
def test_every_candidate_lies_within_the_text(bundle: Bundle, pieces: list[str], data: st.DataObject) -> None:
    stream = Stream(bundle.require_tokenizer(), "".join(pieces))
    for _ in range(data.draw(st.integers(1, 5))):
        start = data.draw(st.integers(0, len(stream.text)))
        end = data.draw(st.integers(start, min(len(stream.text), start + 6)))
        seconds = data.draw(st.sampled_from([0.1, 5.0]))
        stream.apply(Change(start, end, data.draw(_PIECES)), seconds=seconds)
        is_open = data.draw(st.booleans())
        proposals = stream.proposals(is_open=is_open)
        assert len(proposals.changes) == len(proposals.candidates) == len(proposals.rows)
        for change in proposals.changes:
            assert 0 <= change.start <= change.end <= len(stream.text)
            assert stream.after(change) != stream.text
