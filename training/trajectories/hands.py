"""Hands: every parameter of how a person works in an editor, and the ranges that people are drawn from.

A parameter is a share (how often, from 0 to 1), a weight, a number of characters or lines, or a time in seconds. The ranges for
training and for tests are apart in every parameter, so that a figure measured with the test hands says something about
hands that were never seen.
"""

from dataclasses import dataclass, fields
from random import Random
from typing import NamedTuple


@dataclass(frozen=True, kw_only=True)
class Hands:
    """One person at one keyboard."""

    # Times. Medians; their logarithms are spread by `key_spread` and `pause_spread`.
    key_seconds: float  # between two keys
    key_spread: float
    thinking_seconds: float  # before a token that needs a thought
    line_seconds: float  # before the next hunk when it is on the same line
    hunk_seconds: float  # before any other next hunk
    far_seconds: float  # before the next hunk when it is off the screen
    pause_spread: float
    # While typing.
    thinking: float  # share of the tokens
    typo: float  # share of the letters
    typo_letters: float  # letters typed after a typo, at most, before it is noticed
    undo: float  # share of the tokens that are taken back by undo and typed again
    completion: float  # share of the longer words that are completed from a popup
    completion_letters: float  # letters typed before that, at most
    auto_close: float  # share of the sessions in which the editor closes brackets and quotes
    auto_indent: float  # share of the sessions in which the editor indents after Enter
    # Ways to make a hunk.
    select: float  # weight: select, and type over the selection
    delete_first: float  # weight: delete, then type
    minimal: float  # weight: change only the characters that differ
    delete_at_once: float  # share of the deletions that take one key
    delete_words: float  # share of the other deletions that go word by word
    paste_block: float  # share of the new blocks of lines
    paste_text: float  # share of the other long texts
    paste_repeat: float  # share of the repeats of a change
    change_of_mind: float  # share of the hunks that are first deleted, and brought back by undo
    retype_line: float  # share of the changed lines that are typed again as a whole
    retype_expression: float  # share of the lines with several hunks that are made as one
    # The order of the hunks.
    downwards: float  # share of the sessions that go from top to bottom
    upwards: float
    passes: float  # share of the sessions that make one change everywhere, then the next
    near_lines: float  # in the other sessions: a hunk that much farther away is half as likely to be next
    related: float  # in the other sessions: a hunk with the same names is so many times likelier
    backwards_on_line: float  # share of the lines whose hunks are made from right to left
    several_cursors: float  # share of the groups of equal hunks
    interleave: float  # share of the hunks that are left half made for the next one
    wander: float  # share of the hunks before which the cursor visits another line


class HandsRange(NamedTuple):
    """The people between two extremes: each parameter is drawn by itself."""

    low: Hands
    high: Hands

    def draw(self, random: Random) -> Hands:
        """Draw a person."""
        names = [field.name for field in fields(Hands)]
        return Hands(
            **{name: random.uniform(getattr(self.low, name), getattr(self.high, name)) for name in names}
        )


def _range(**bounds: tuple[float, float]) -> HandsRange:
    return HandsRange(
        Hands(**{name: low for name, (low, _) in bounds.items()}),
        Hands(**{name: high for name, (_, high) in bounds.items()}),
    )


TRAINING_HANDS = _range(
    key_seconds=(0.07, 0.17),
    key_spread=(0.3, 0.5),
    thinking_seconds=(0.5, 1.4),
    line_seconds=(0.3, 0.8),
    hunk_seconds=(0.9, 2.4),
    far_seconds=(1.5, 3.5),
    pause_spread=(0.4, 0.7),
    thinking=(0.02, 0.06),
    typo=(0.004, 0.02),
    typo_letters=(0.0, 2.4),
    undo=(0.002, 0.01),
    completion=(0.1, 0.45),
    completion_letters=(2.0, 3.9),
    auto_close=(0.6, 1.0),
    auto_indent=(0.75, 1.0),
    select=(0.4, 0.7),
    delete_first=(0.15, 0.35),
    minimal=(0.1, 0.35),
    delete_at_once=(0.4, 0.7),
    delete_words=(0.3, 0.6),
    paste_block=(0.3, 0.6),
    paste_text=(0.02, 0.1),
    paste_repeat=(0.2, 0.5),
    change_of_mind=(0.005, 0.02),
    retype_line=(0.02, 0.06),
    retype_expression=(0.1, 0.3),
    downwards=(0.35, 0.55),
    upwards=(0.05, 0.12),
    passes=(0.05, 0.15),
    near_lines=(8.0, 20.0),
    related=(4.0, 10.0),
    backwards_on_line=(0.02, 0.08),
    several_cursors=(0.02, 0.06),
    interleave=(0.01, 0.03),
    wander=(0.05, 0.15),
)

TEST_HANDS = _range(
    key_seconds=(0.18, 0.26),
    key_spread=(0.51, 0.65),
    thinking_seconds=(1.5, 2.2),
    line_seconds=(0.9, 1.4),
    hunk_seconds=(2.5, 3.5),
    far_seconds=(3.6, 5.0),
    pause_spread=(0.3, 0.39),
    thinking=(0.07, 0.1),
    typo=(0.022, 0.035),
    typo_letters=(2.5, 3.9),
    undo=(0.011, 0.02),
    completion=(0.5, 0.65),
    completion_letters=(4.0, 4.9),
    auto_close=(0.4, 0.59),
    auto_indent=(0.6, 0.74),
    select=(0.25, 0.39),
    delete_first=(0.36, 0.5),
    minimal=(0.36, 0.5),
    delete_at_once=(0.2, 0.39),
    delete_words=(0.15, 0.29),
    paste_block=(0.15, 0.29),
    paste_text=(0.11, 0.16),
    paste_repeat=(0.1, 0.19),
    change_of_mind=(0.021, 0.035),
    retype_line=(0.061, 0.09),
    retype_expression=(0.31, 0.45),
    downwards=(0.2, 0.34),
    upwards=(0.13, 0.2),
    passes=(0.16, 0.25),
    near_lines=(21.0, 32.0),
    related=(2.0, 3.9),
    backwards_on_line=(0.09, 0.15),
    several_cursors=(0.07, 0.1),
    interleave=(0.031, 0.05),
    wander=(0.16, 0.25),
)
