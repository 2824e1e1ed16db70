from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from model.editing.line_index import LineIndex

LENGTHS = st.lists(st.integers(0, 4), max_size=12)


@given(LENGTHS, st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20), LENGTHS), max_size=12))
def test_after_any_replacements_the_starts_are_those_of_a_fresh_count(
    lengths: list[int], replacements: list[tuple[int, int, list[int]]]
) -> None:
    starts = LineIndex(lengths)
    for one, other, fresh in replacements:
        first, last = sorted((min(one, len(lengths)), min(other, len(lengths))))
        starts.replace(first, last, fresh)
        lengths[first:last] = fresh
        expected = list(accumulate(lengths, initial=0))
        assert [starts[piece] for piece in range(len(lengths) + 1)] == expected
        assert starts.end == sum(lengths)
        for offset in range(sum(lengths) + 1):
            held = [piece for piece in range(len(lengths)) if expected[piece] <= offset]
            assert starts.piece_at(offset) == max(held, default=0)
