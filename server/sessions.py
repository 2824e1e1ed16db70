"""The sessions of streamed documents: bounded in number, age and bytes. A client can open a dropped one again."""

import itertools
import time
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence

from model.editing.edits import Edit
from model.inference.history import AnyHistory
from server.metrics import Metrics
from server.schema import Predict
from server.settings import Settings

_numbers = itertools.count(1)


class Session:
    """One streamed document: the newest edits that its client sent, and the history that follows them.

    The history belongs to the worker thread that serves the session, one at a time; all else to the event loop.
    """

    def __init__(self, document: str, version: int, state: Sequence[int]) -> None:
        self.number = next(_numbers)  # names it in the log, which must not hold the document's own name
        self.document = document
        self.opened_version = self.version = version
        self.state = array(
            "i", state
        )  # a tenth of the list that came over the wire; empty once it is encoded
        self.edits: list[Edit] = []
        self.history: AnyHistory | None = None
        self.waiting: Predict | None = None  # the newest question that no task works on yet
        self.asked: Predict | None = None  # the newest question
        self.is_window_due = False  # the window of a long file is to be encoded
        self.is_alive = True
        self.is_encoded = False
        self.is_served = False  # by a task that runs until there is no work left
        self.touched = time.monotonic()
        self._synced = 0  # how many of the edits the history has, or will have when the running step is done

    @property
    def has_work(self) -> bool:
        return not self.is_encoded or self.waiting is not None or self.is_window_due

    @property
    def nbytes(self) -> int:
        waiting = self.state.itemsize * len(self.state)
        return waiting + (self.history.nbytes if self.history is not None else 0)

    def begin(self, history: AnyHistory) -> None:
        """Take the encoded state."""
        self.history = history
        self.is_encoded = True
        self.state = array("i")

    def end(self) -> None:
        """Give the memory back. The connection holds the session until the client's next message about it."""
        self.is_alive = False
        self.history = None
        self.state = array("i")

    def change(self, version: int, keep: int, append: Sequence[Edit]) -> None:
        self._synced = min(self._synced, keep)
        del self.edits[keep:]
        self.edits.extend(append)
        self.version = version

    def take_changes(self) -> tuple[int, list[Edit]]:
        """Return how many edits the history must keep, and those it must append, to match the client."""
        keep, append = self._synced, self.edits[self._synced :]
        self._synced = len(self.edits)
        return keep, append


class Sessions:
    """All sessions of all connections, least recently used first."""

    def __init__(
        self, settings: Settings, metrics: Metrics, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._settings = settings
        self._metrics = metrics
        self._clock = clock
        self._sessions: OrderedDict[int, Session] = OrderedDict()
        self.ended = 0  # so far

    def __len__(self) -> int:
        return len(self._sessions)

    def __iter__(self) -> Iterator[Session]:
        return iter(self._sessions.values())

    @property
    def nbytes(self) -> int:
        return sum(session.nbytes for session in self)

    def add(self, session: Session) -> None:
        self._sessions[session.number] = session
        self.touch(session)
        self.trim()

    def touch(self, session: Session) -> None:
        session.touched = self._clock()
        self._sessions.move_to_end(session.number)

    def end(self, session: Session) -> None:
        session.end()
        if self._sessions.pop(session.number, None) is not None:
            self.ended += 1
        self._measure()

    def trim(self) -> None:
        """End sessions that are too old, then the least recently used while there are too many; never the newest one."""
        oldest = self._clock() - self._settings.limit_idle_seconds
        for session in [session for session in self if session.touched < oldest]:
            self._evict(session, "idle")
        while len(self) > self._settings.limit_sessions:
            self._evict(next(iter(self)), "number")
        nbytes = self.nbytes
        while len(self) > 1 and nbytes > self._settings.limit_session_bytes:
            session = next(iter(self))
            nbytes -= session.nbytes
            self._evict(session, "bytes")
        self._measure()

    def _evict(self, session: Session, reason: str) -> None:
        self._metrics.evictions.labels(reason).inc()
        self.end(session)

    def _measure(self) -> None:
        self._metrics.sessions.set(len(self))
        self._metrics.session_bytes.set(self.nbytes)
