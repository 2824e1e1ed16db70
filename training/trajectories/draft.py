"""A text while somebody changes some regions of it, each from its old content to a new one.

Whatever is done in one region, the others keep their content; their offsets follow. So regions may be worked on in any order, and one
may be left half made while another is.
"""

from collections.abc import Sequence

from model.editing.change import Change


class Draft:
    """The current text, and the current content of each region."""

    def __init__(self, text: str, regions: Sequence[Change]) -> None:
        """`regions` are top to bottom, with offsets in the text, and do not overlap; `regions[n].text` is the wanted content."""
        self.text = text
        self.regions = tuple(regions)
        self.contents = [text[region.start : region.end] for region in regions]
        self._grown = [0] * len(self.regions)

    def start_of(self, number: int) -> int:
        """The offset at which a region begins in the current text."""
        return self.regions[number].start + sum(self._grown[:number])

    def is_made(self, number: int) -> bool:
        return self.contents[number] == self.regions[number].text

    def remaining(self, number: int) -> Change:
        """The change that gives a region its wanted content, in the current text."""
        start = self.start_of(number)
        return Change(start, start + len(self.contents[number]), self.regions[number].text)

    def offset_before(self, offset: int) -> int:
        """The offset in the text at first of what is at an offset now; inside a region, where the region began."""
        grown = 0
        for region, grows in zip(self.regions, self._grown, strict=True):
            if offset - grown <= region.start:
                break
            if offset - grown < region.end + grows:
                return region.start
            grown += grows
        return offset - grown

    def replace(self, numbers: Sequence[int], start: int, end: int, text: str) -> tuple[Change, ...]:
        """Replace the same part of the content of several regions, and return the changes of the text in their order.

        The lowest region comes first, as in an editor with several cursors: so no change moves a later one."""
        changes: list[Change] = []
        for number in sorted(numbers, reverse=True):
            content = self.contents[number]
            assert 0 <= start <= end <= len(content)
            begin = self.start_of(number)
            self.contents[number] = content[:start] + text + content[end:]
            self._grown[number] += len(text) - (end - start)
            self.text = self.text[: begin + start] + text + self.text[begin + end :]
            changes.append(Change(begin + start, begin + end, text))
        return tuple(changes)
