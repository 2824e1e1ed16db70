"""The recorded stream as whole replacements: old tokens and the new ones that the user put instead.

The stream has the deletion of a word and the insertion of another as separate edits, and in separate bursts
when the user paused between them. Here such edits are one replacement, as the user meant them.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from lsp.recorded_hunks import RecordedHunk, find_hunks, start_of
from model.editing.change import common_length
from model.editing.edits import DELETE
from model.editing.recorder import Recorder
from model.editing.tokenizer import Tokenizer

# These characters hold a path or a phrase together: "os.path" that became "pathlib.Path" is one replacement.
_WITHIN = re.compile(r"[ \t.:>/-]{1,3}")

Tokens = tuple[int, ...]


class Replacement(NamedTuple):
    """The tokens `old`, from explicit position `start` on, became `new` by these edits of the stream."""

    hunk: RecordedHunk
    start: int
    old: Tokens
    new: Tokens

    @property
    def end(self) -> int:
        """The end of the new tokens, in the state after it."""
        return self.start + len(self.new)

    @property
    def old_end(self) -> int:
        """The end of the old tokens, in the state before it."""
        return self.start + len(self.old)


def find_replacements(recorder: Recorder) -> list[Replacement]:
    """Read the whole stream, oldest first. Edits that cancel each other are no replacement."""
    tokens = list(recorder.state)
    tokenizer = recorder.text.tokenizer
    result: list[Replacement] = []
    for hunk in find_hunks(recorder):
        newest = _read_hunk(recorder, hunk)
        last = result[-1] if result else None
        if last is not None and _is_continued(last, newest, tokens, recorder):
            result[-1] = join(last, newest, tokens)
        else:
            result.append(newest)
        tokens[newest.start : newest.old_end] = newest.new
    shortened = [trim_replacement(each, tokenizer.ends) for each in result]
    return [each for each in shortened if each.old != each.new]


def join(first: Replacement, second: Replacement, tokens: Sequence[int]) -> Replacement:
    """Make one replacement of two successive ones. `tokens` are the state between them."""
    left, right = min(first.start, second.start), max(first.end, second.old_end)
    before, behind = tuple(tokens[left : first.start]), tuple(tokens[first.end : right])
    return Replacement(
        RecordedHunk(first.hunk.first, second.hunk.last),
        left,
        before + first.old + behind,
        tuple(tokens[left : second.start]) + second.new + tuple(tokens[second.old_end : right]),
    )


def trim_replacement(replacement: Replacement, ends: Sequence[bool]) -> Replacement:
    """Leave out the lexical tokens that old and new have in common at both ends."""
    hunk, start, old, new = replacement
    head = common_length(old, new)
    while head and not ends[old[head - 1]]:
        head -= 1
    old, new = old[head:], new[head:]
    tail = common_length(old[::-1], new[::-1])
    while tail and not all(ends[side[-tail - 1]] for side in (old, new) if len(side) > tail):
        tail -= 1
    return Replacement(hunk, start + head, old[: len(old) - tail], new[: len(new) - tail])


def _read_hunk(recorder: Recorder, hunk: RecordedHunk) -> Replacement:
    edits = recorder.edits[hunk.first : hunk.last]
    contents = recorder.slots.contents
    old = tuple(contents[edit.position] for edit in edits if edit.content == DELETE)
    return Replacement(
        hunk, start_of(recorder, hunk), old, tuple(edit.content for edit in edits if edit.content != DELETE)
    )


def _is_continued(first: Replacement, second: Replacement, tokens: Sequence[int], recorder: Recorder) -> bool:
    """Does the second replacement continue the first?"""
    tokenizer = recorder.text.tokenizer
    if (first.old, first.new) == (second.old, second.new):
        return False  # the same replacement again, elsewhere
    if second.start <= first.start and first.end <= second.old_end:
        return _opens_line(first, tokenizer) == _opens_line(second, tokenizer)
    if second.start == first.end:
        return not _opens_line(second, tokenizer)
    if second.old_end == first.start:
        return not _opens_line(first, tokenizer)
    # A change inside of a text that was just pasted is a replacement of its own.
    return (
        first.end < second.start
        and second.hunk.first not in recorder.burst_ends
        and _is_within(tokens[first.end : second.start], tokenizer)
    )


def _opens_line(replacement: Replacement, tokenizer: Tokenizer) -> bool:
    """Does it begin with a line break? A new line never continues the one before."""
    tokens = replacement.old + replacement.new  # empty if two joined replacements cancel each other
    return bool(tokens) and tokenizer.bytes_of[tokens[0]][:1] in (b"\r", b"\n")


def _is_within(gap: Sequence[int], tokenizer: Tokenizer) -> bool:
    spelled = b"".join(tokenizer.bytes_of[token] for token in gap[:4])  # more tokens would not match either
    return len(gap) < 4 and _WITHIN.fullmatch(spelled.decode("utf-8", "replace")) is not None
