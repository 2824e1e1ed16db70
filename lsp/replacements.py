"""The stream read back as its developer made it: whole replacements, old tokens and new ones.

The stream has the deletion of a word and the insertion of another as edits of their own, and in bursts of their own when there
was a pause between them. Told one by one they are not what anybody did; here such edits are one replacement.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from lsp.hunks import Hunk, hunks, start_of
from model.editing.change import common_length
from model.editing.edits import DELETE
from model.editing.recorder import Recorder
from model.editing.tokenizer import Tokenizer

# What holds a path or a phrase together: "os.path" that became "pathlib.Path" is one replacement.
_WITHIN = re.compile(r"[ \t.:>/-]{1,3}")

Tokens = tuple[int, ...]


class Replacement(NamedTuple):
    """The tokens `old`, from explicit position `start` on, became `new` by these edits of the stream."""

    hunk: Hunk
    start: int
    old: Tokens
    new: Tokens

    @property
    def end(self) -> int:
        """Where it ends in the state that it left."""
        return self.start + len(self.new)

    @property
    def old_end(self) -> int:
        """Where it ends in the state that it met."""
        return self.start + len(self.old)


def replacements(recorder: Recorder) -> list[Replacement]:
    """All of the stream, oldest first. What came to nothing is none."""
    tokens = list(recorder.state)
    tokenizer = recorder.text.tokenizer
    result: list[Replacement] = []
    for hunk in hunks(recorder):
        made = _made(recorder, hunk)
        last = result[-1] if result else None
        if last is not None and _is_one(last, made, tokens, recorder):
            result[-1] = joined(last, made, tokens)
        else:
            result.append(made)
        tokens[made.start : made.old_end] = made.new
    shortened = [trimmed(each, tokenizer.ends) for each in result]
    return [each for each in shortened if each.old != each.new]


def joined(first: Replacement, second: Replacement, tokens: Sequence[int]) -> Replacement:
    """Two that were made one after the other, as one. `tokens` are the state between them."""
    left, right = min(first.start, second.start), max(first.end, second.old_end)
    before, behind = tuple(tokens[left : first.start]), tuple(tokens[first.end : right])
    return Replacement(
        Hunk(first.hunk.first, second.hunk.last),
        left,
        before + first.old + behind,
        tuple(tokens[left : second.start]) + second.new + tuple(tokens[second.old_end : right]),
    )


def trimmed(replacement: Replacement, ends: Sequence[bool]) -> Replacement:
    """Without the lexical tokens that old and new have in common at both ends."""
    hunk, start, old, new = replacement
    head = common_length(old, new)
    while head and not ends[old[head - 1]]:
        head -= 1
    old, new = old[head:], new[head:]
    tail = common_length(old[::-1], new[::-1])
    while tail and not all(ends[side[-tail - 1]] for side in (old, new) if len(side) > tail):
        tail -= 1
    return Replacement(hunk, start + head, old[: len(old) - tail], new[: len(new) - tail])


def _made(recorder: Recorder, hunk: Hunk) -> Replacement:
    edits = recorder.edits[hunk.first : hunk.last]
    contents = recorder.slots.contents
    old = tuple(contents[edit.position] for edit in edits if edit.content == DELETE)
    return Replacement(
        hunk, start_of(recorder, hunk), old, tuple(edit.content for edit in edits if edit.content != DELETE)
    )


def _is_one(first: Replacement, second: Replacement, tokens: Sequence[int], recorder: Recorder) -> bool:
    """Does the second go on with what the first began?"""
    tokenizer = recorder.text.tokenizer
    if (first.old, first.new) == (second.old, second.new):
        return False  # the same again, in another place
    if second.start <= first.start and first.end <= second.old_end:  # in its place
        return _opens_line(first, tokenizer) == _opens_line(second, tokenizer)
    if second.start == first.end:
        return not _opens_line(second, tokenizer)
    if second.old_end == first.start:
        return not _opens_line(first, tokenizer)
    # Inside of it is not with it: what is changed in a text that was just pasted is a change of its own.
    return (
        first.end < second.start
        and second.hunk.first not in recorder.burst_ends
        and _is_within(tokens[first.end : second.start], tokenizer)
    )


def _opens_line(replacement: Replacement, tokenizer: Tokenizer) -> bool:
    """A new line is a new thought, however close it is to the one before."""
    tokens = replacement.old + replacement.new  # none: two that were joined may have come to nothing
    return bool(tokens) and tokenizer.bytes_of[tokens[0]][:1] in (b"\r", b"\n")


def _is_within(gap: Sequence[int], tokenizer: Tokenizer) -> bool:
    spelled = b"".join(tokenizer.bytes_of[token] for token in gap[:4])  # more tokens would not match either
    return len(gap) < 4 and _WITHIN.fullmatch(spelled.decode("utf-8", "replace")) is not None
