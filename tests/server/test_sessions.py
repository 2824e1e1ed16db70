import sys
from array import array

import pytest

from model.editing.edits import Edit
from server.metrics import Metrics
from server.sessions import Session, Sessions
from server.settings import Settings


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def make_session(name: str, tokens: int = 10) -> Session:
    return Session(name, 1, [1, *[9] * tokens, 2])


def names(sessions: Sessions) -> list[str]:
    return [session.document for session in sessions]


def test_the_least_recently_used_goes_first(clock: Clock) -> None:
    sessions = Sessions(Settings(limit_sessions=2), Metrics(), clock)
    first, second, third = map(make_session, "abc")
    sessions.add(first)
    sessions.add(second)
    sessions.touch(first)
    sessions.add(third)
    assert names(sessions) == ["a", "c"]
    assert not second.is_alive


def test_idle_sessions_end(clock: Clock) -> None:
    sessions = Sessions(Settings(limit_idle_seconds=10), Metrics(), clock)
    old, used = make_session("old"), make_session("used")
    sessions.add(old)
    sessions.add(used)
    clock.now = 8
    sessions.touch(used)
    clock.now = 11
    sessions.trim()
    assert names(sessions) == ["used"]


def test_bytes_are_bounded_but_the_newest_session_stays(clock: Clock) -> None:
    sessions = Sessions(Settings(limit_session_bytes=1000), Metrics(), clock)
    for name in "abc":
        sessions.add(make_session(name, tokens=100))
    assert names(sessions) == ["b", "c"]
    sessions.add(make_session("huge", tokens=5000))
    assert names(sessions) == ["huge"]


def test_what_a_history_must_take_in_is_the_sum_of_all_changes_since() -> None:
    session = make_session("a")
    edits = [Edit(position, 9) for position in range(6)]
    session.change(2, 0, edits[:3])
    assert session.take_changes() == (0, edits[:3])
    session.change(3, 3, edits[3:5])
    session.change(4, 2, [edits[5]])
    session.change(5, 3, [edits[0]])
    assert session.edits == [*edits[:2], edits[5], edits[0]]
    assert session.take_changes() == (2, [edits[5], edits[0]])


def test_edits_can_be_taken_back() -> None:
    session = make_session("a")
    session.change(2, 0, [Edit(0, 9), Edit(1, 9)])
    session.take_changes()
    session.change(3, 1, [])
    assert session.take_changes() == (1, [])
    assert session.take_changes() == (1, [])


def test_a_state_that_waits_takes_what_is_counted() -> None:
    tokens = list(range(1000, 101_000))
    session = Session("a", 1, tokens)
    assert list(session.state) == tokens
    assert session.nbytes == sys.getsizeof(session.state) - sys.getsizeof(array("i")) < 500_000


def test_an_evicted_session_holds_nothing(clock: Clock) -> None:
    sessions = Sessions(Settings(limit_sessions=1), Metrics(), clock)
    evicted = make_session("evicted", tokens=100)
    sessions.add(evicted)
    sessions.add(make_session("newer", tokens=100))
    assert not evicted.is_alive
    assert (evicted.history, evicted.nbytes) == (None, 0)
