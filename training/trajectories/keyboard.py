"""Keys: what one person's hands and editor do to a draft, key by key, with the time that each takes.

The editor closes brackets and quotes (and lets the closing one be typed over), indents after Enter, and completes words. The hands
make typos, take text back by undo, delete by letters, by words or at once, and paste. Whatever happens on the way, each
function here ends with exactly the text that was wanted.
"""

import re
from collections.abc import Iterator, Sequence
from math import log
from random import Random
from typing import NamedTuple

from model.editing.change import Change
from model.editing.tokenizer import lex
from training.trajectories.draft import Draft
from training.trajectories.hands import Hands

_CLOSING = {"(": ")", "[": "]", "{": "}", '"': '"', "'": "'", "`": "`"}
_QUOTES = "\"'`"
_OPENS_BLOCK = tuple(":{([")  # a line that ends so is followed by a deeper one
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_WORD_END = re.compile(r"(?:\w+|[^\w\s]+|\s+)\Z")
_SHORTEST_COMPLETION = 5  # letters of a word for which somebody waits for a popup
_LONGEST_BY_KEYS = 24  # characters that somebody deletes key by key
_LONGEST_TYPED = 2000  # characters; a longer text is never typed in one go
_PASTED_LENGTH = 12  # characters of a text on one line that is worth a copy and a paste


class Step(NamedTuple):
    """One key, paste, completion or click: the changes that it makes at one moment, and where the cursor is after it.

    Each change is in the text as the ones before it left it. There are several for several cursors, and none when only the
    cursor moves (a click, or a closing bracket that is typed over)."""

    time: float  # seconds since the session began
    changes: tuple[Change, ...]
    cursor: int  # offset in the text after the changes
    hunk: int  # number of the hunk that is worked on
    completed: tuple[int, ...] = ()  # numbers of the hunks that are complete with this step, for good
    accepted: bool = False  # a suggestion of ours that was accepted with Tab


class Keyboard:
    """A person's hands on an editor that shows a draft: makes steps."""

    def __init__(self, draft: Draft, hands: Hands, random: Random) -> None:
        self.draft, self.hands, self.random = draft, hands, random
        self.steps: list[Step] = []
        self.time = 0.0
        self.cursor = 0  # offset in the text
        self.caret: Caret | None = None  # the one that was used last
        self.closes_brackets = random.random() < hands.auto_close
        self.indents_lines = random.random() < hands.auto_indent

    def wait(self, median: float) -> None:
        """Let the time of a thought pass."""
        self.time += self.random.lognormvariate(log(median), self.hands.pause_spread)

    def press(self, hunk: int, changes: tuple[Change, ...], cursor: int, slowness: float = 1.0) -> None:
        """Add a step after the time that a key takes."""
        self.time += slowness * self.random.lognormvariate(log(self.hands.key_seconds), self.hands.key_spread)
        self.cursor = cursor
        self.steps.append(Step(round(self.time, 3), changes, cursor, hunk))


class Caret:
    """The cursor in a region of the draft; or in several regions of equal content at once."""

    def __init__(self, keyboard: Keyboard, regions: Sequence[int], hunk: int) -> None:
        self._keyboard = keyboard
        self._draft, self._hands, self._random = keyboard.draft, keyboard.hands, keyboard.random
        self._regions = tuple(regions)
        self._hunk = hunk
        self.point = 0  # offset of the cursor in the content
        self.selected = 0  # characters after it that the next insertion replaces
        self._newest = -1  # number of its newest step
        self._closers = ""  # brackets and quotes after the cursor that the editor put there

    @property
    def content(self) -> str:
        return self._draft.contents[self._regions[0]]

    def offset(self) -> int:
        """The offset of the cursor in the text; of the first of several."""
        return self._draft.start_of(min(self._regions)) + self.point

    def move(self, point: int, selected: int = 0) -> None:
        """Put the cursor elsewhere in the region, and select what follows it."""
        self.point, self.selected = point, selected
        self._keyboard.caret = self
        if self._keyboard.cursor != self.offset():
            self._press((), 1.0)

    def replace(self, start: int, end: int, text: str, *, behind: int = 0, slowness: float = 1.0) -> None:
        """Replace a part of the content with one key. The cursor ends `behind` characters before the end of the new text."""
        if self._keyboard.caret is not self:  # another hunk was made in between
            self._keyboard.wait(self._hands.hunk_seconds)
            self.move(self.point, self.selected)
        changes = self._draft.replace(self._regions, start, end, text)
        self.point, self.selected = start + len(text) - behind, 0
        self._press(changes, slowness)

    def insert(self, text: str, *, behind: int = 0, slowness: float = 1.0) -> None:
        """Put text at the cursor, over the selection."""
        self.replace(self.point, self.point + self.selected, text, behind=behind, slowness=slowness)

    def mark_completed(self, hunks: Sequence[int]) -> None:
        """Say that these hunks are complete with the newest step of this cursor."""
        steps = self._keyboard.steps
        steps[self._newest] = steps[self._newest]._replace(completed=tuple(sorted(hunks)))

    def _press(self, changes: tuple[Change, ...], slowness: float) -> None:
        self._newest = len(self._keyboard.steps)
        self._keyboard.press(self._hunk, changes, self.offset(), slowness)

    # --- a text ---

    def write(self, text: str) -> Iterator[None]:
        """Bring in a text at the cursor: pasted, or typed. Yields between tokens."""
        breaks = len(re.findall(r"\r\n|\r|\n", text))
        share = self._hands.paste_block if breaks > 1 else self._hands.paste_text
        is_worth_it = breaks > 1 or len(text) > _PASTED_LENGTH
        if len(text) > _LONGEST_TYPED or (is_worth_it and self._random.random() < share):
            self.insert(text, slowness=4.0)
        else:
            yield from self._type(text)

    def _type(self, text: str) -> Iterator[None]:
        surplus = 0  # blanks that the editor put before the cursor and that are not wanted
        tokens = lex(text)
        for number, token in enumerate(tokens):
            if self._random.random() < self._hands.thinking:
                self._keyboard.wait(self._hands.thinking_seconds)
            if token[0] in "\r\n":
                follows = tokens[number + 1][0] in "\r\n" if number + 1 < len(tokens) else False
                surplus = self._enter(token, surplus, is_blank=follows)
            elif token.isspace():
                self.insert(token)
            else:
                self._type_token(token)
            yield
        if surplus:
            self._remove(self.point - surplus, self.point)
        while self._closers:
            self.replace(self.point, self.point + 1, "")
            self._closers = self._closers[1:]

    def _type_token(self, token: str) -> None:
        begin, closers = self.point, self._closers
        self._type_word(token)
        is_plain = self._closers == closers and self.point - begin == len(token)
        if is_plain and self._random.random() < self._hands.undo:
            self._keyboard.wait(self._hands.thinking_seconds)
            self._remove(begin, self.point)
            self._type_word(token)

    def _type_word(self, token: str) -> None:
        begin = self.point
        letters = self._random.randint(2, max(2, int(self._hands.completion_letters)))
        is_completed = (
            len(token) >= max(_SHORTEST_COMPLETION, letters + 2)
            and self._random.random() < self._hands.completion
        )
        typed = token[:letters] if is_completed else token
        number = 0
        while number < len(typed):
            if typed[number].isalpha() and self._random.random() < self._hands.typo:
                self._mistype(typed[number:])
            self._type_character(typed[number])
            number += 1
        if is_completed:
            self.replace(begin, self.point, token, slowness=2.0)

    def _mistype(self, rest: str) -> None:
        """A wrong letter, some of the right ones after it, and backspaces."""
        if self.selected:  # the first key replaces the selection, which no backspace brings back
            return
        begin = self.point
        self.insert(self._random.choice(_LETTERS))
        for letter in rest[1 : 1 + self._random.randint(0, int(self._hands.typo_letters))]:
            self.insert(letter)
        self._keyboard.wait(2 * self._hands.key_seconds)
        while self.point > begin:
            self._remove(self.point - 1, self.point)

    def _type_character(self, character: str) -> None:
        if self._closers and character == self._closers[0] and not self.selected:
            self._closers = self._closers[1:]
            self.move(self.point + 1)
        elif self._keyboard.closes_brackets and character in _CLOSING and self._is_closed(character):
            self.insert(character + _CLOSING[character], behind=1)
            self._closers = _CLOSING[character] + self._closers
        else:
            self.insert(character)

    def _is_closed(self, character: str) -> bool:
        """Does the editor close this bracket or quote here?"""
        if self.selected:
            return False
        at = self.offset()
        before, after = self._draft.text[max(0, at - 1) : at], self._draft.text[at : at + 1]
        if character in _QUOTES and (before in _QUOTES or before.isalnum() or before == "_") and before:
            return False
        return not after or after.isspace() or after in ")]},;:" or after in self._closers[:1]

    def _enter(self, token: str, surplus: int, *, is_blank: bool) -> int:
        """Enter, and the indentation that is wanted. Returns how many unwanted blanks the editor left before the cursor.

        `is_blank`: the line stays empty, so nothing is done about the blanks: the next Enter takes them away."""
        line_break = token.rstrip(" \t")
        wanted = token[len(line_break) :]
        given = self._indentation() if self._keyboard.indents_lines and not self.selected else ""
        if surplus:
            self.replace(self.point - surplus, self.point, line_break + given)
        else:
            self.insert(line_break + given)
        if given == wanted:
            return 0
        if not wanted and is_blank:
            return len(given)
        if wanted.startswith(given):
            self.insert(wanted[len(given) :])
        elif given.startswith(wanted):
            self._remove(self.point - (len(given) - len(wanted)), self.point)
        else:
            self.replace(self.point - len(given), self.point, wanted)
        return 0

    def _indentation(self) -> str:
        """The indentation that the editor gives the line after the current one."""
        text, at = self._draft.text, self.offset()
        start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
        line = text[start:at]
        blanks = line[: len(line) - len(line.lstrip(" \t"))]
        if line.rstrip(" \t").endswith(_OPENS_BLOCK):
            blanks += "\t" if blanks.startswith("\t") or "\n\t" in text[:4000] else "    "
        return blanks

    # --- a deletion ---

    def delete(self, start: int, end: int) -> Iterator[None]:
        """Delete a part of the content: at once, line by line, word by word, or letter by letter. Yields between words."""
        gone = self.content[start:end]
        has_break = "\n" in gone or "\r" in gone
        if (
            len(gone) == 1
            or (len(gone) > _LONGEST_BY_KEYS and not has_break)
            or self._random.random() < self._hands.delete_at_once
        ):
            self.move(start, end - start)
            self.replace(start, end, "")
            return
        if has_break:
            yield from self._delete_lines(start, end)
            return
        self.move(end)
        by_words = self._random.random() < self._hands.delete_words
        while end > start:
            word = _WORD_END.search(self.content, start, end) if by_words else None
            begin = word.start() if word is not None else end - 1
            self._remove(begin, end)
            end = begin
            yield

    def _delete_lines(self, start: int, end: int) -> Iterator[None]:
        """Delete lines one at a time, the first one first."""
        while end > start:
            line = re.compile(r"(?:\r\n|\r|\n)?[^\r\n]*").match(self.content, start, end)
            assert line is not None
            length = line.end() - start
            self.replace(start, start + length, "", slowness=1.5)
            end -= length
            yield

    def take_back(self, start: int, end: int) -> None:
        """Delete a part of the content and bring it back by undo."""
        gone = self.content[start:end]
        self.move(start, end - start)
        self.replace(start, end, "")
        self._keyboard.wait(self._hands.thinking_seconds)
        self.replace(start, start, gone)

    def _remove(self, start: int, end: int) -> None:
        self.replace(start, end, "", slowness=0.8)
