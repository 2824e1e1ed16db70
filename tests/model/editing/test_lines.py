from hypothesis import given
from hypothesis import strategies as st

from model.editing.lines import Lines, segments
from tests.model.editing.drawn_changes import changes
from tests.tokenizing import texts


@given(texts, st.data())
def test_after_any_changes_the_lines_are_those_of_the_whole_text(text: str, data: st.DataObject) -> None:
    lines = Lines(text)
    for _ in range(data.draw(st.integers(1, 4))):
        change = data.draw(changes(len(text)))
        assert lines.between(change.start, change.end) == text[change.start : change.end]
        before = list(lines.segments)
        splice = lines.replace(change)
        assert splice.removed == text[change.start : change.end]
        text = change.apply_to(text)
        assert lines.segments == segments(text)
        assert lines.text == text
        assert len(lines) == len(text)
        before[splice.first : splice.first + len(splice.old)] = splice.new
        assert before == lines.segments
        starts = [lines.start_of(segment) for segment in range(len(lines.segments))]
        assert starts == [sum(map(len, lines.segments[:segment])) for segment in range(len(lines.segments))]
