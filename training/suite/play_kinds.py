"""Play the kinds of session against the engine, as a user would feel it.

The author makes one site after another, from top to bottom, key by key. The engine is asked at each key, at each longer pause between
keys, and a second after each site. A right offer is accepted with Tab, and the next one too; a wrong offer is counted once, by its line
and by the line that it would make, and is not shown again. One pair of hands selects and types the whole expression of a site; the other
changes as little as possible.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from random import Random

from tqdm import tqdm

from model.editing.change import Change
from model.inference.bundle import Bundle
from model.inference.predictor import Predictor
from training.suite.engine import EngineSuggest
from training.suite.rightness import find_run, is_piece
from training.suite.session_kinds import KINDS, Session
from training.suite.whole_commits import Offer, Suggest
from training.trajectories.draft import Draft
from training.trajectories.hands import TEST_HANDS, Hands
from training.trajectories.keyboard import Step
from training.trajectories.lexical_hunks import lexical_hunks
from training.trajectories.typist import type_hunks

LIMIT_SITES = 12  # of one session; a longer one says nothing new
_AFTER_SITE_SECONDS = 1.0  # of quiet before the question after a site
_READING_SECONDS = 0.8  # a longer pause between two keys is a moment for another question
_TAB_SECONDS = 0.7  # from an offer to Tab, and from Tab to the next question
_PASTE_SECONDS = 20.0  # from the paste of a new text to the first key


@dataclass(frozen=True)
class PlayedSession:
    """Counts of one session."""

    sites: int  # that were made
    by_tab: int  # sites that no key was typed at
    finished_by_tab: int  # sites that were begun by hand
    first_right: int | None  # sites that were made by hand when the first right offer came
    wrong: int  # offers
    pieces: int  # offers that are right but leave a rest of a hunk
    wrong_offers: tuple[str, ...]  # the line that each wrong offer would make, after the line as it was


def _person(**ways: float) -> Hands:
    """Test hands that work from top to bottom without detours."""
    middle = {
        field.name: (getattr(TEST_HANDS.low, field.name) + getattr(TEST_HANDS.high, field.name)) / 2
        for field in fields(Hands)
    }
    steady = dict.fromkeys(
        (
            "upwards",
            "passes",
            "backwards_on_line",
            "several_cursors",
            "interleave",
            "wander",
            "retype_line",
            "retype_expression",
        ),
        0.0,
    )
    calm = dict.fromkeys(("undo", "change_of_mind", "paste_repeat", "paste_text", "paste_block"), 0.0)
    return Hands(**middle | steady | calm | {"downwards": 1.0, "auto_close": 1.0, "auto_indent": 1.0} | ways)


RETYPING = _person(select=1.0, delete_first=0.0, minimal=0.0)
SPARING = _person(select=0.0, delete_first=0.0, minimal=1.0)
HANDS = {"retypes": RETYPING, "least": SPARING}


def play_session(
    session: Session, suggest: Suggest, hands: Hands, *, threshold: float, fresh: bool = False
) -> PlayedSession:
    """Play a session. With `fresh`, the whole text is pasted into an empty file first."""
    game = _Game(session, suggest, hands, threshold, fresh=fresh)
    for number in range(len(session.sites)):
        if game.made >= LIMIT_SITES:
            break
        if not game.draft.is_made(number):
            game.type_site(number)
            game.accept_all()
    return game.played()


class _Game:
    """One session while it is played."""

    def __init__(
        self, session: Session, suggest: Suggest, hands: Hands, threshold: float, *, fresh: bool
    ) -> None:
        self.draft = Draft(session.before, session.sites)
        self._session, self._suggest, self._threshold = session, suggest, threshold
        self._hands, self._random = hands, Random(session.name)
        self._steps: list[Step] = []
        self._time = 0.0
        self._begin = session.before
        if fresh:
            self._begin = ""
            self._steps.append(Step(0.0, (Change(0, 0, session.before),), len(session.before), -1))
            self._time = _PASTE_SECONDS
        self._wrong: dict[tuple[int, str], str] = {}
        self._pieces: set[tuple[int, str]] = set()
        self._by_hand: set[int] = set()  # sites at which keys were typed
        self._finished_by_tab = 0
        self._first_right: int | None = None

    @property
    def made(self) -> int:
        return sum(map(self.draft.is_made, range(len(self.draft.regions))))

    def played(self) -> PlayedSession:
        return PlayedSession(
            self.made,
            self.made - len(self._by_hand),
            self._finished_by_tab,
            self._first_right,
            len(self._wrong),
            len(self._pieces),
            tuple(self._wrong.values()),
        )

    # --- what the author does ---

    def type_site(self, number: int) -> None:
        """Make a site key by key, with questions between the keys, until it is made by hand or by Tab."""
        is_whole = self._hands.select > 0
        hunks = [self.draft.remaining(number)] if is_whole else self._hunks_of(number)
        typed = type_hunks(self.draft.text, hunks, self._random, self._hands)
        start, begin = self.draft.start_of(number), self._time
        self._by_hand.add(number)
        for step, following in zip(typed.steps, (*typed.steps[1:], None), strict=True):
            for change in step.changes:
                self.draft.replace([number], change.start - start, change.end - start, change.text)
            self._time = begin + step.time
            self._steps.append(step._replace(time=self._time, hunk=number))
            if following is None or self.draft.is_made(number):
                continue
            if self._is_finished_by_tab(number):
                break
            if following.time - step.time > _READING_SECONDS:
                self._time += _READING_SECONDS
                if self._is_finished_by_tab(number):
                    break
        self._time += _AFTER_SITE_SECONDS

    def accept_all(self) -> None:
        """Accept offers with Tab until one is not right, or enough is done."""
        while self.made < LIMIT_SITES and (found := self._ask()) is not None:
            self._accept(*found)
        self._time += self._hands.hunk_seconds

    def _is_finished_by_tab(self, number: int) -> bool:
        """Ask while a site is half made; accept what belongs to it. A right offer elsewhere waits."""
        found = self._ask()
        if found is None or any(site != number for site, _ in found[0]):
            return False
        self._accept(*found)
        if not self.draft.is_made(number):
            self.type_rest(number)
        self._finished_by_tab += 1
        return True

    def type_rest(self, number: int) -> None:
        """Make what is left of a site by hand, at once."""
        change = self.draft.remaining(number)
        self._time += _READING_SECONDS
        self.draft.replace([number], 0, change.end - change.start, change.text)
        self._steps.append(Step(self._time, (change,), change.start + len(change.text), number))

    def _accept(self, hunks: Sequence[tuple[int, Change]], offer: Offer) -> None:
        self._time += _TAB_SECONDS
        for site, hunk in reversed(hunks):
            start = self.draft.start_of(site)
            self.draft.replace([site], hunk.start - start, hunk.end - start, hunk.text)
        change = offer.change
        self._steps.append(Step(self._time, (change,), change.new_end, hunks[0][0], accepted=True))
        self._time += _TAB_SECONDS

    # --- how ---

    def _hunks_of(self, number: int) -> list[Change]:
        """The hunks that are left at a site, with offsets in the current text."""
        if self.draft.is_made(number):
            return []
        region = self.draft.remaining(number)
        hunks = lexical_hunks(self.draft.contents[number], region.text)
        assert hunks is not None
        return [Change(region.start + hunk.start, region.start + hunk.end, hunk.text) for hunk in hunks]

    def _ask(self) -> tuple[list[tuple[int, Change]], Offer] | None:
        """Ask, and count what is shown; the hunks, each with its site, that a right offer makes."""
        offer = self._shown()
        if offer is None:
            return None
        left = [(site, hunk) for site in range(len(self.draft.regions)) for hunk in self._hunks_of(site)]
        remaining = [hunk for _, hunk in left]
        run = find_run(self.draft.text, remaining, offer.change)
        if run is not None:
            if self._first_right is None:
                self._first_right = sum(map(self.draft.is_made, self._by_hand))
            return [left[index] for index in run], offer
        line, made, was = self._line_of(offer.change)
        if is_piece(self.draft.text, remaining, offer.change):
            self._pieces.add((line, made))
        else:
            self._wrong[line, made] = f"{was.strip()} => {made.strip()} ({offer.confidence:.2f})"
        return None

    def _shown(self) -> Offer | None:
        """The first offer that is above the threshold, changes something, and was not shown and wrong before."""
        text = self.draft.text
        for offer in self._suggest(self._begin, self._steps, self._steps[-1].cursor, self._time):
            change = offer.change
            if offer.confidence < self._threshold or text[change.start : change.end] == change.text:
                continue
            if self._line_of(change)[:2] not in self._wrong:
                return offer
        return None

    def _line_of(self, change: Change) -> tuple[int, str, str]:
        """The number of a change's line in the text before, the lines that it makes, and those that it changes."""
        text = self.draft.text
        start = text.rfind("\n", 0, change.start) + 1
        end = text.find("\n", change.end)
        end = end if end >= 0 else len(text)
        made = text[start : change.start] + change.text + text[change.end : end]
        line = self._session.before.count("\n", 0, self.draft.offset_before(change.start))
        return line, made, text[start:end]


def play_kinds(
    bundle: Bundle, threshold: float, *, only: str | None = None, fresh: bool = False
) -> list["KindRow"]:
    """Play each kind with both hands; with `only`, the kinds whose name contains it."""
    engine = EngineSuggest(Predictor(bundle), least_confidence=threshold)
    chosen = [kind.read() for kind in KINDS if only is None or only in kind.name]
    return [
        KindRow(session.name, name, play_session(session, engine, hands, threshold=threshold, fresh=fresh))
        for session in tqdm(chosen, unit=" kinds")
        for name, hands in HANDS.items()
    ]


# --- figures ---


@dataclass(frozen=True)
class KindRow:
    """One session in a table."""

    kind: str
    hands: str
    played: PlayedSession


def summarize(rows: Iterable[KindRow]) -> dict[str, float]:
    """The figures that count: kinds with an early right offer for both hands, share of sites by Tab, wrong offers."""
    listed = list(rows)
    is_early = {row.kind: True for row in listed}
    for row in listed:
        is_early[row.kind] &= row.played.first_right is not None and row.played.first_right <= 2
    sites = sum(row.played.sites for row in listed)
    return {
        "kinds": len(is_early),
        "early_kinds": sum(is_early.values()),
        "sites": sites,
        "by_tab": sum(row.played.by_tab for row in listed) / max(1, sites),
        "wrong": sum(row.played.wrong for row in listed),
    }


def table(rows: Iterable[KindRow]) -> str:
    """The sessions as a Markdown table: both hands of a kind in one row."""
    by_kind: dict[str, list[KindRow]] = {}
    for row in rows:
        by_kind.setdefault(row.kind, []).append(row)
    names = [row.hands for row in next(iter(by_kind.values()), [])]
    head = [f"{what} ({name})" for name in names for what in ("first right after", "by Tab", "wrong")]
    lines = ["| kind | " + " | ".join(head) + " |", "| --- |" + " ---: |" * len(head)]
    for kind, of_kind in by_kind.items():
        cells = [kind]
        for row in of_kind:
            played = row.played
            cells += [
                "-" if played.first_right is None else str(played.first_right),
                f"{played.by_tab} of {played.sites}",
                str(played.wrong),
            ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def describe(summary: dict[str, float]) -> str:
    """The summary as a sentence."""
    return (
        f"{summary['early_kinds']} of {summary['kinds']} kinds have a right offer after the second edit at the latest;"
        f" {100 * summary['by_tab']:.0f} % of {summary['sites']} sites by Tab; {summary['wrong']} wrong offers"
    )
