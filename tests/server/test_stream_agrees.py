"""Random streams against a naive model that recomputes everything from scratch: they agree."""

from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from starlette.testclient import TestClient

from model.editing.change import Change
from model.editing.edits import DELETE, Edit, Slots
from model.editing.rendering import render
from model.inference.predictor import Predictor
from model.inference.search import Wish, decode
from server.app import create_app
from server.settings import Settings
from tests.server.conftest import ADDRESS, TEXT, stream

DOCUMENTS = ("a.py", "b.py", "c.py")
TEXTS = ("", "x = 1\n", TEXT, TEXT * 2)


class Naive:
    """A document: a version, a state, and edits."""

    def __init__(self, version: int, state: list[int]) -> None:
        self.version = version
        self.state = state
        self.edits: list[Edit] = []

    def slots(self) -> Slots:
        slots = Slots(self.state)
        for edit in self.edits:
            slots.apply(edit)
        return slots

    def suggestions(self, predictor: Predictor, wish: Wish) -> tuple[list[Any], str | None]:
        """The suggestions as the protocol wants them: in the text without the prefix."""
        bundle = predictor.bundle
        tokenizer = bundle.require_tokenizer()
        history = predictor.open(self.state)
        history.append(self.edits)
        decoded = decode(history, wish, tokenizer, bundle.calibration)
        slots, name = self.slots(), decoded.name
        begin = render(slots, name, tokenizer).start if name else 0
        if name:  # as if the client had sent it as edits
            history.append(name)
            decoded = decode(history, wish._replace(cursor=None, prefix=""), tokenizer, bundle.calibration)
            for edit in name:
                slots.apply(edit)
        made, dropped = [], 0
        for prediction in decoded.predictions:
            try:
                change = render(slots, prediction.edits, tokenizer)
            except UnicodeError:
                continue
            if name:
                without = take_out(change, begin, wish.prefix)
                dropped += without is None
                if without is None:
                    continue
                change = without
            because = [index for index in prediction.because if index < len(self.edits)]
            made.append((*change, pytest.approx(prediction.confidence, abs=1e-3), because))
        return made, None if made else (decoded.silence or ("no-text-range" if dropped else "no-op"))


def take_out(change: Change, begin: int, name: str) -> Change | None:
    """The change in the text without the name, by a comparison of characters: which are the name's?"""
    after = begin + len(name)
    start, end, text = change
    if end <= begin and start < begin:
        return change
    if start > after:
        return Change(start - len(name), end - len(name), text)
    if start == after:
        return Change(begin, end - len(name), name + text)
    if start == begin and end >= after and text.startswith(name):
        return Change(begin, end - len(name), text)
    return None


class Streams(RuleBasedStateMachine):
    """Opens, edits, takes back, asks, closes and blunders, over several documents of one connection."""

    predictor: Predictor

    @initialize()
    def connect(self) -> None:
        # Two sessions for three documents: expiry is part of life.
        app = create_app(self.predictor, Settings(limit_sessions=2))
        self.client = TestClient(app, base_url=ADDRESS).__enter__()
        self.connection = stream(self.client)
        self.socket = self.connection.__enter__()
        self.open: dict[str, Naive] = {}  # in order of use

    def teardown(self) -> None:
        self.connection.__exit__(None, None, None)
        self.client.__exit__(None, None, None)

    def say(self, kind: str, document: str, **fields: Any) -> None:
        self.socket.send_json({"type": kind, "document": document, **fields})

    def use(self, document: str, naive: Naive) -> None:
        self.open.pop(document, None)
        self.open[document] = naive
        while len(self.open) > 2:
            del self.open[next(iter(self.open))]

    @rule(document=st.sampled_from(DOCUMENTS), text=st.sampled_from(TEXTS), version=st.integers(0, 3))
    def opens(self, document: str, text: str, version: int) -> None:
        bundle = self.predictor.bundle
        state = [1, *bundle.require_tokenizer().encode(text), 2]
        self.say("open", document, version=version, bundle=bundle.sha256, state=state)
        assert self.socket.receive_json() == {"type": "opened", "document": document, "version": version}
        self.use(document, Naive(version, state))

    @precondition(lambda self: self.open)
    @rule(data=st.data())
    def edits(self, data: st.DataObject) -> None:
        document = data.draw(st.sampled_from(sorted(self.open)))
        naive = self.open[document]
        keep = data.draw(st.integers(0, len(naive.edits)))
        del naive.edits[keep:]
        slots = naive.slots()
        vocabulary = sorted({token for token in naive.state if token > DELETE}) or [9]
        for _ in range(data.draw(st.integers(0, 4))):
            if len(slots.order) > 2 and data.draw(st.booleans()):
                edit = Edit(slots.order[data.draw(st.integers(1, len(slots.order) - 2))], DELETE)
            else:
                place = data.draw(st.integers(0, len(slots.order) - 2))
                edit = Edit(slots.order[place], data.draw(st.sampled_from(vocabulary)))
            slots.apply(edit)
            naive.edits.append(edit)
        naive.version += data.draw(st.integers(0, 2))
        append = [
            {"position": edit.position, "content": "DELETE" if edit.content == DELETE else edit.content}
            for edit in naive.edits[keep:]
        ]
        self.say("edits", document, version=naive.version, keep=keep, append=append)
        self.use(document, naive)

    @rule(data=st.data(), document=st.sampled_from(DOCUMENTS))
    def asks(self, data: st.DataObject, document: str) -> None:
        naive = self.open.get(document)
        if naive is None:
            self.say("predict", document, version=1)
            assert self.socket.receive_json()["type"] == "reopen"
            return
        cursor = data.draw(st.none() | st.sampled_from(naive.slots().order[:-1]))
        prefix = (
            data.draw(st.sampled_from(["", "", "r", "it", "items", "result"])) if cursor is not None else ""
        )
        wish: dict[str, Any] = {
            "until": data.draw(st.sampled_from(["token", "hunk"])),
            "limit": data.draw(st.integers(1, 3)),
            "threshold": data.draw(st.sampled_from([0.0, 0.5])),
            "cursor": cursor,
            "prefix": prefix,
        }
        self.say("predict", document, version=naive.version, **wish)
        answer = self.socket.receive_json()
        assert (answer["type"], answer["version"]) == ("prediction", naive.version)
        got = [
            (s["start"], s["end"], s["text"], s["confidence"], s["because"]) for s in answer["suggestions"]
        ]
        expected, silence = naive.suggestions(self.predictor, Wish(**wish))
        assert got == expected
        assert answer["silence"] == silence
        self.use(document, naive)

    @precondition(lambda self: self.open)
    @rule(data=st.data())
    def blunders(self, data: st.DataObject) -> None:
        document = data.draw(st.sampled_from(sorted(self.open)))
        naive = self.open.pop(document)
        message, answer = data.draw(
            st.sampled_from(
                [
                    ({"type": "predict", "version": naive.version + 1}, "reopen"),
                    (
                        {
                            "type": "edits",
                            "version": naive.version,
                            "keep": len(naive.edits) + 1,
                            "append": [],
                        },
                        "reopen",
                    ),
                    ({"type": "edits", "version": naive.version - 1, "keep": 0, "append": []}, "reopen"),
                    (
                        {
                            "type": "edits",
                            "version": naive.version,
                            "keep": 0,
                            "append": [{"position": 0, "content": "DELETE"}],
                        },
                        "error",
                    ),
                ]
            )
        )
        self.socket.send_json({"document": document, **message})
        if answer == "error":
            self.say("predict", document, version=naive.version)
        assert self.socket.receive_json()["type"] == answer

    @precondition(lambda self: self.open)
    @rule(data=st.data())
    def closes(self, data: st.DataObject) -> None:
        document = data.draw(st.sampled_from(sorted(self.open)))
        self.say("close", document)
        del self.open[document]

    @invariant()
    def nothing_is_left_over(self) -> None:
        if hasattr(self, "open"):
            assert len(self.client.app.state.engine.sessions) <= 2  # type: ignore[attr-defined]


def test_random_streams_agree_with_a_model_that_recomputes_everything(predictor: Predictor) -> None:
    machine = type("StreamsOfTinyBundle", (Streams,), {"predictor": predictor})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=25, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
