"""The units in which editors count characters: of UTF-8, UTF-16 or UTF-32. We count code points. Only this file knows them."""

from bisect import bisect_right

_CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


def count_units(text: str, encoding: str = "utf-16") -> int:
    """The length of a text in an editor's units."""
    if text.isascii():
        return len(text)
    codec, size = _CODECS[encoding]
    return len(text.encode(codec, "surrogatepass")) // size


def offset_from_units(text: str, units: int, encoding: str = "utf-16") -> int:
    """The offset in a text that is so many units from its start; an offset inside of a character is the one before it."""
    if text.isascii():
        return min(units, len(text))
    return bisect_right(range(len(text) + 1), units, key=lambda end: count_units(text[:end], encoding)) - 1
