"""The borders of names and of other lexical tokens in a text: where a half-typed name begins, how far a token reaches."""

from model.editing.lines import Lines

_LIMIT_TOKEN = 64  # code points; the tokenizer splits longer names


def is_in_name(character: str) -> bool:
    return character == "_" or character.isalnum()


def half_typed(lines: Lines, cursor: int) -> str:
    """The beginning of the name that ends at an offset; empty when no name ends there."""
    segment = lines.segment_at(max(0, cursor - 1))
    line, column = lines.segments[segment], cursor - lines.start_of(segment)
    if column < len(line) and is_in_name(line[column]):
        return ""
    begin = column
    while begin > 0 and is_in_name(line[begin - 1]):
        begin -= 1
    name = line[begin:column]
    return name if name and not name[0].isdigit() else ""


def widen_to_tokens(lines: Lines, start: int, end: int) -> tuple[int, int]:
    """The text range that also holds the rest of a name, number or blank run in which the given range begins or ends."""
    segment = lines.segment_at(start)
    line, begin = lines.segments[segment], lines.start_of(segment)
    first = start - begin
    lowest = max(0, first - _LIMIT_TOKEN)
    while lowest < first < len(line) and _are_one_token(line[first - 1], line[first]):
        first -= 1
    start = begin + first
    segment = lines.segment_at(end)
    line, begin = lines.segments[segment], lines.start_of(segment)
    last = end - begin
    highest = min(len(line), last + _LIMIT_TOKEN)
    while 0 < last < highest and _are_one_token(line[last - 1], line[last]):
        last += 1
    return start, begin + last


def _are_one_token(left: str, right: str) -> bool:
    return is_in_name(left) and is_in_name(right) if left not in " \t" else right in " \t"
