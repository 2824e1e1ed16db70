"""A draft keeps its regions apart, whatever is done in them and in which order."""

from hypothesis import given
from hypothesis import strategies as st

from model.editing.change import Change
from training.trajectories.draft import Draft

TEXT = "one two three four five six"
REGIONS = (Change(0, 3, "ONE"), Change(4, 4, "new "), Change(8, 13, ""), Change(19, 23, "cinq"))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(0, 9), st.text(max_size=3))))
def test_changes_of_the_text_and_of_the_regions_agree(edits: list[tuple[int, int, int, str]]) -> None:
    draft = Draft(TEXT, REGIONS)
    text = TEXT
    for number, one, other, new in edits:
        length = len(draft.contents[number])
        start, end = sorted((min(one, length), min(other, length)))
        for change in draft.replace([number], start, end, new):
            text = text[: change.start] + change.text + text[change.end :]
    assert draft.text == text
    for number, region in enumerate(REGIONS):
        start = draft.start_of(number)
        assert text[start : start + len(draft.contents[number])] == draft.contents[number]
        assert draft.offset_before(start) == region.start
        assert draft.remaining(number) == Change(start, start + len(draft.contents[number]), region.text)
    assert draft.offset_before(len(text)) == len(TEXT)


def test_one_key_at_several_regions_changes_the_lowest_first() -> None:
    draft = Draft("a(x)\nb(x)\n", [Change(2, 3, "y"), Change(7, 8, "y")])
    assert draft.replace([0, 1], 0, 1, "long") == (Change(7, 8, "long"), Change(2, 3, "long"))
    assert draft.text == "a(long)\nb(long)\n"
