"""The referee knows which sites are left, and which offers make them."""

from pathlib import Path

from model.editing.change import Change
from training.suite.kinds_referee import describe, judge
from training.suite.session_kinds import Session

TEXT = "a = log.info(1)\nb = log.info(2)\nc = log.info(3)\n"
SITES = tuple(Change(start, start + 8, "log.debug") for start in (4, 20, 36))
SESSION = Session("logs", Path("logs.py"), TEXT, SITES)


def test_all_sites_are_left_at_first() -> None:
    left = judge(SESSION, TEXT, [])["left"]
    assert [each["number"] for each in left] == [0, 1, 2]
    assert left[1]["change"] == (20, 28, "log.debug")
    assert left[1]["hunks"] == [Change(24, 28, "debug")]
    assert describe(SESSION)["sites"] == 3


def test_what_is_made_moves_the_rest() -> None:
    now = TEXT.replace("info(1)", "debug(1)")
    left = judge(SESSION, now, [])["left"]
    assert [(each["number"], each["change"]) for each in left] == [
        (1, (21, 29, "log.debug")),
        (2, (37, 45, "log.debug")),
    ]


def test_an_offer_is_right_or_wrong() -> None:
    offers = [Change(8, 12, "debug"), Change(4, 12, "log.debug"), Change(0, 1, "x")]
    assert judge(SESSION, TEXT, offers)["verdicts"] == ["right", "right", "wrong"]
