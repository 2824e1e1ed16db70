from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from model.editing.edits import END, START
from model.editing.tokenizer import lex
from model.inference.bundle import Bundle
from model.proposals.lexical_text import Kind, LexicalTables, LexicalText

TEXTS = st.text(st.sampled_from("ab_1 \n\t(.é'\""), max_size=60)


def lexical_text(tables: LexicalTables, text: str) -> LexicalText:
    return LexicalText(tables, np.array([START, *tables.tokenizer.encode(text), END], np.int32))


@given(TEXTS)
def test_lexical_tokens_are_those_of_the_tokenizer(bundle: Bundle, text: str) -> None:
    tables = LexicalTables(bundle.require_tokenizer())
    found = lexical_text(tables, text)
    assert [found.text_of(index) for index in range(1, len(found) - 1)] == lex(text)
    assert (
        found.offsets.tolist()
        == [0, 0, *np.cumsum([len(each) for each in lex(text)]).tolist(), len(text)][: len(found) + 1]
    )
    assert all(
        found.tables.hash_of(found.lexical(index)) == found.hashes[index] for index in range(len(found))
    )


@given(TEXTS, st.data())
def test_finding_a_sequence_finds_every_occurrence(bundle: Bundle, text: str, data: st.DataObject) -> None:
    tables = LexicalTables(bundle.require_tokenizer())
    found = lexical_text(tables, text)
    first = data.draw(st.integers(0, len(found) - 1))
    last = data.draw(st.integers(first + 1, min(len(found), first + 4)))
    wanted = found.lexicals(first, last)
    naive = [n for n in range(len(found)) if found.lexicals(n, min(len(found), n + len(wanted))) == wanted]
    assert found.find(tables.hashes_of(wanted)).tolist() == naive


@given(TEXTS)
def test_lines_begin_with_their_line_break(bundle: Bundle, text: str) -> None:
    found = lexical_text(LexicalTables(bundle.require_tokenizer()), text)
    for line, (begin, end) in enumerate(pairwise(found.line_starts.tolist())):
        assert (found.lines[begin:end] == line).all()
        assert line == 0 or found.kinds[begin] == Kind.NEWLINE
