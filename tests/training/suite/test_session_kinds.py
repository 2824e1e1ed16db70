"""The kinds of session: their sites, and sessions played with suggesters whose every answer is known."""

import ast
from collections.abc import Sequence

import pytest

from model.editing.change import Change
from training.suite.play_kinds import HANDS, LIMIT_SITES, KindRow, play_session, summarize, table
from training.suite.session_kinds import KINDS, Session, SessionKind
from training.suite.whole_commits import Offer, Suggest
from training.trajectories.hands import Hands
from training.trajectories.keyboard import Step
from training.trajectories.lexical_hunks import apply_all, lexical_hunks

SHORT = next(kind for kind in KINDS if kind.name == "readonly fields").read()


def text_after(text: str, steps: Sequence[Step]) -> str:
    for step in steps:
        for change in step.changes:
            text = change.apply_to(text)
    return text


def oracle(session: Session) -> Suggest:
    """Knows the final text; offers the first hunk that is left."""
    final = apply_all(session.before, session.sites)

    def suggest(text: str, steps: Sequence[Step], cursor: int, time: float) -> list[Offer]:
        return [Offer(hunk, 0.9) for hunk in (lexical_hunks(text_after(text, steps), final) or [])[:1]]

    return suggest


def be_silent(text: str, steps: Sequence[Step], cursor: int, time: float) -> list[Offer]:
    return []


def offer_nonsense(text: str, steps: Sequence[Step], cursor: int, time: float) -> list[Offer]:
    return [Offer(Change(0, 0, "nonsense "), 0.9)]


def test_there_are_17_kinds() -> None:
    assert len({kind.name for kind in KINDS}) == 17


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_sites_are_apart_and_change_the_text(kind: SessionKind) -> None:
    session = kind.read()
    assert len(session.sites) >= 4
    for one, other in zip(session.sites, session.sites[1:], strict=False):
        assert one.end <= other.start
    for site in session.sites:
        assert session.before[site.start : site.end] != site.text
    if (
        session.path.suffix == ".py" and kind.name != "await calls"
    ):  # it makes functions that are not async yet
        ast.parse(apply_all(session.before, session.sites))


@pytest.mark.parametrize("hands", HANDS.values(), ids=HANDS)
@pytest.mark.parametrize("fresh", [False, True])
def test_whoever_knows_everything_leaves_one_site_to_the_hands(hands: Hands, fresh: bool) -> None:
    played = play_session(SHORT, oracle(SHORT), hands, threshold=0.5, fresh=fresh)
    assert played.sites == len(SHORT.sites) <= LIMIT_SITES
    assert played.by_tab == played.sites - 1
    assert played.wrong == 0
    assert played.first_right is not None
    assert played.first_right <= 1


@pytest.mark.parametrize("hands", HANDS.values(), ids=HANDS)
def test_silence_leaves_everything_to_the_hands(hands: Hands) -> None:
    played = play_session(SHORT, be_silent, hands, threshold=0.5)
    assert (played.sites, played.by_tab, played.first_right, played.wrong) == (len(SHORT.sites), 0, None, 0)


def test_a_wrong_offer_is_counted_once() -> None:
    played = play_session(SHORT, offer_nonsense, HANDS["least"], threshold=0.5)
    assert (played.by_tab, played.wrong) == (0, 1)
    assert "nonsense" in played.wrong_offers[0]


def test_a_kind_counts_as_early_when_it_is_for_both_hands() -> None:
    good = play_session(SHORT, oracle(SHORT), HANDS["least"], threshold=0.5)
    bad = play_session(SHORT, be_silent, HANDS["least"], threshold=0.5)
    rows = [KindRow("one", "retypes", good), KindRow("one", "least", good)]
    mixed = [*rows, KindRow("two", "retypes", good), KindRow("two", "least", bad)]
    assert summarize(rows)["early_kinds"] == 1
    assert summarize(mixed)["early_kinds"] == 1
    assert "| two |" in table(mixed)
