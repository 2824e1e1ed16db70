"""The referee when a real editor plays the kinds of session: it describes the sessions and judges offers.

The player sends one JSON object a line: the number of a session, the text as it is now, and offered changes. The referee
answers with the verdict on each offer and with the sites that are still to be made. All offsets are code points; the files of
the kinds have no character beyond the basic plane, so they are UTF-16 units as well.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from model.editing.change import Change
from training.suite.play_kinds import LIMIT_SITES
from training.suite.rightness import find_run, is_piece
from training.suite.session_kinds import KINDS, Session
from training.trajectories.lexical_hunks import apply_all, lexical_hunks


def describe(session: Session) -> dict[str, Any]:
    """A session for the player."""
    if not session.before.isascii() and max(session.before) > "\uffff":
        raise ValueError(f"{session.name}: {session.path} has characters beyond the basic plane")
    return {
        "name": session.name,
        "suffix": session.path.suffix,
        "before": session.before,
        "sites": len(session.sites),
        "limit": LIMIT_SITES,
    }


def judge(session: Session, now: str, offers: Iterable[Change]) -> dict[str, Any]:
    """The verdict on each offer, and the sites that are left, each with its change and the hunks of it."""
    hunks = lexical_hunks(now, apply_all(session.before, session.sites)) or []
    return {
        "verdicts": [_verdict(now, hunks, offer) for offer in offers],
        "left": list(_left(session, hunks)),
    }


def _verdict(now: str, hunks: list[Change], offer: Change) -> str:
    if find_run(now, hunks, offer) is not None:
        return "right"
    return "piece" if is_piece(now, hunks, offer) else "wrong"


def _left(session: Session, hunks: list[Change]) -> Iterator[dict[str, Any]]:
    """The sites that a hunk touches. A hunk and a site are compared where they are in the final text."""
    growth = 0
    placed: list[tuple[int, Change]] = []  # the offset of each hunk in the final text
    for hunk in hunks:
        placed.append((hunk.start + growth, hunk))
        growth += _growth(hunk)
    grown = 0
    for number, site in enumerate(session.sites):
        first, last = site.start + grown, site.start + grown + len(site.text)
        grown += _growth(site)
        own = [hunk for at, hunk in placed if at <= last and at + len(hunk.text) >= first]
        if own:
            before = sum(_growth(hunk) for at, hunk in placed if at + len(hunk.text) < first)
            start = first - before
            end = last - before - sum(map(_growth, own))
            yield {"number": number, "change": (start, end, site.text), "hunks": own}


def _growth(change: Change) -> int:
    return len(change.text) - (change.end - change.start)


def main() -> None:
    sessions = [kind.read() for kind in KINDS]
    print(json.dumps([describe(each) for each in sessions]), flush=True)
    for line in sys.stdin:
        question = json.loads(line)
        offers = [Change(*each) for each in question["offers"]]
        print(json.dumps(judge(sessions[question["session"]], question["now"], offers)), flush=True)


if __name__ == "__main__":
    main()
