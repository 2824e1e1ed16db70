"""Text to tokens and back."""

import json
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.editing.edits import SPECIALS
from model.editing.lines import segments
from model.editing.tokenizer import Tokenizer, hash_of, lex, train
from tests.tokenizing import small_tokenizer, texts


@given(texts)
def test_any_text_comes_back(text: str) -> None:
    tokenizer = small_tokenizer()
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert "".join(lex(text)) == text
    assert "".join(segments(text)) == text


@given(texts, texts, texts)
def test_to_tokenize_the_lines_around_a_change_is_to_tokenize_the_whole(
    head: str, middle: str, tail: str
) -> None:
    tokenizer = small_tokenizer()
    lines = segments(head + middle + tail)
    before, after = len(head), len(head) + len(middle)
    starts = list(accumulate(map(len, lines), initial=0))
    first = next(n for n in range(len(lines)) if starts[n + 1] >= before)
    last = next(n for n in range(len(lines)) if starts[n + 1] >= after) + 1
    window = "".join(lines[first:last])
    tokens = [tokenizer.encode_segment(line) for line in lines]
    inside = [token for line in tokens[first:last] for token in line]
    assert inside == tokenizer.encode(window)
    assert tokenizer.encode(head + middle + tail) == [token for line in tokens for token in line]


@given(texts)
def test_a_token_ends_where_a_lexical_token_ends(text: str) -> None:
    tokenizer = small_tokenizer()
    units: list[list[int]] = [[]]
    for token in tokenizer.encode(text):
        units[-1].append(token)
        if tokenizer.ends[token]:
            units.append([])
    assert units.pop() == []
    assert [tokenizer.decode(unit) for unit in units] == [u for line in segments(text) for u in lex(line)]


@given(texts)
def test_lengths_add_up_to_offsets(text: str) -> None:
    tokenizer = small_tokenizer()
    tokens = tokenizer.encode(text)
    assert sum(tokenizer.lengths[token] for token in tokens) == len(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [""]),
        ("a", ["a"]),
        ("a\n", ["a", "\n"]),
        ("\na", ["", "\na"]),
        ("a\r\nb\rc\n\n", ["a", "\r\nb", "\rc", "\n", "\n"]),
        ("a\x0cb\u2028c", ["a\x0cb\u2028c"]),
    ],
)
def test_segments_are_lines_with_the_break_before_them(text: str, expected: list[str]) -> None:
    assert segments(text) == expected


def test_lexical_tokens_of_code() -> None:
    assert lex('x1 = foo("a", 12)\n\t# né') == [
        *("x1", " ", "=", " ", "foo", "(", '"', "a", '"', ",", " ", "12", ")", "\n\t", "#", " ", "né")
    ]


def test_a_page_of_base64_is_not_one_token() -> None:
    assert max(map(len, lex("a" * 1000 + "1" * 1000))) == 64


def test_specials_in_a_text_are_text() -> None:
    tokenizer = small_tokenizer()
    text = "".join(SPECIALS) + "▁"
    tokens = tokenizer.encode(text)
    assert min(tokens) >= len(SPECIALS)
    assert tokenizer.decode(tokens) == text


def test_a_tokenizer_is_what_its_file_says() -> None:
    tokenizer = small_tokenizer()
    again = Tokenizer(tokenizer.json)
    assert again.spellings == tokenizer.spellings
    assert again.encode("def total(): pass") == tokenizer.encode("def total(): pass")
    assert len(again) == len(again.spellings) == len(again.ends) == len(again.bytes_of)


def test_training_twice_gives_one_vocabulary() -> None:
    sample = ["def total(items):\n    return sum(items)\n"] * 3
    assert train(sample, 280).json == train(sample, 280).json
    assert hash_of(train(sample, 280).spellings) != hash_of(train(sample, 281).spellings)


def test_half_of_a_character_is_no_text() -> None:
    tokenizer = small_tokenizer()
    half = [token for token, piece in enumerate(tokenizer.bytes_of) if piece == "é".encode()[:1]]
    with pytest.raises(ValueError, match="utf-8"):
        tokenizer.decode(half)


@given(st.sampled_from(["result", "res", "items", "zz", "i", "é", "count_"]))
def test_agreeing_tokens_are_those_that_can_begin_a_name(prefix: str) -> None:
    tokenizer, spelled = small_tokenizer(), prefix.encode()
    expected = [
        token
        for token, piece in enumerate(tokenizer.bytes_of)
        if piece and (piece.startswith(spelled) or (spelled.startswith(piece) and not tokenizer.ends[token]))
    ]
    assert sorted(tokenizer.agreeing(spelled)) == expected
    assert tokenizer.encode(prefix)[0] in expected


def damaged(change: str) -> str:
    content = json.loads(small_tokenizer().json)
    vocabulary = content["model"]["vocab"]
    if change == "specials":
        vocabulary["<P>"], vocabulary["<S>"] = vocabulary["<S>"], vocabulary["<P>"]
    elif change == "gap":
        vocabulary["zzzz"] = len(vocabulary) + 5
    else:
        del vocabulary["~"]
        content["model"]["vocab"] = {
            word: index for index, word in enumerate(sorted(vocabulary, key=vocabulary.get))
        }
    return json.dumps(content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{}", "not a tokenizer file"),
        (damaged("specials"), "the vocabulary begins with"),
        (damaged("gap"), "the ids of the vocabulary have gaps"),
        (damaged("alphabet"), "the vocabulary lacks 1 of the characters"),
    ],
)
def test_a_file_that_is_no_tokenizer_of_ours_is_refused(content: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Tokenizer(content)
