"""The protocol of the stream, rule by rule. `test_stream_agrees` has the random streams."""

import asyncio
import json
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient, WebSocketDenialResponse

from model.editing.edits import apply
from model.inference.predictor import Predictor
from server.engine import Engine
from server.schema import Open, TextEdit, TextRequest, TokenEdit, edit_from_wire, wire_edit
from server.settings import Settings
from server.stream import Connection
from server.suggest import question_from_text
from tests.server.conftest import TEXT, Talk, stream

MakeClient = Callable[..., TestClient]


def insertion(
    talk: Talk, state: list[int], after: str = "result", new: str = "items"
) -> list[dict[str, Any]]:
    tokenizer = talk.bundle.require_tokenizer()
    left = state.index(tokenizer.encode(after)[-1])
    edits = []
    for index, token in enumerate(tokenizer.encode(new)):
        edits.append({"position": left, "content": token})
        left = len(state) + index
    return edits


def test_open_edit_predict(client: TestClient, predictor: Predictor) -> None:
    with stream(client) as socket:
        talk = Talk(socket, predictor)
        state = talk.open()
        talk.say("edits", version=2, keep=0, append=insertion(talk, state))
        talk.say("predict", version=2, threshold=0.0, limit=3, until="hunk")
        answer = talk.hear()
        assert (answer["type"], answer["document"], answer["version"]) == ("prediction", "a.py", 2)
        assert bool(answer["suggestions"]) == (answer["silence"] is None)
        assert answer["timings"]["predict"] > 0


def test_the_stream_and_post_give_the_same_answer(client: TestClient, predictor: Predictor) -> None:
    wish = {"threshold": 0.0, "limit": 3, "until": "hunk"}
    with stream(client) as socket:
        talk = Talk(socket, predictor)
        state = talk.open()
        edits = insertion(talk, state)
        talk.say("edits", version=2, keep=0, append=edits)
        talk.say("predict", version=2, **wish)
        streamed = talk.hear()
    posted = client.post(
        "/predict", json={"state": state, "edits": edits, "bundle": talk.bundle.sha256, **wish}
    ).json()
    assert streamed["silence"] == posted["silence"]
    assert [s["text"] for s in streamed["suggestions"]] == [s["text"] for s in posted["suggestions"]]
    assert [s["edits"] for s in streamed["suggestions"]] == [s["edits"] for s in posted["suggestions"]]


def test_a_prefix_is_continued_from_where_it_begins(client: TestClient, predictor: Predictor) -> None:
    text = "result = 1\nx = \n"
    with stream(client) as socket:
        talk = Talk(socket, predictor)
        state = talk.open(text)
        before = len(talk.bundle.require_tokenizer().encode("result = 1\nx = "))
        talk.say("predict", version=1, cursor=before, prefix="re", threshold=0.0, limit=5)
        answer = talk.hear()
        assert answer["type"] == "prediction"
        for suggestion in answer["suggestions"]:
            if suggestion["continues_prefix"]:
                assert suggestion["text"].startswith("re")
                assert suggestion["start"] == suggestion["end"] == len("result = 1\nx = ")
        assert len(state) == before + 3


@pytest.mark.parametrize("version", ["0", "2", "x" * 500])
def test_a_client_of_another_wire_version_is_told_what_to_do(client: TestClient, version: str) -> None:
    with (
        pytest.raises(WebSocketDenialResponse) as denied,
        client.websocket_connect(f"ws://127.0.0.1:8377/stream?wire={version}"),
    ):
        pass
    assert denied.value.status_code == 409
    problem = denied.value.json()
    assert problem["code"] == "other-wire-version"
    assert "update the older of the two" in problem["message"]
    assert len(problem["message"]) < 200


def test_a_client_may_name_the_wire_version_that_the_model_tells(
    client: TestClient, predictor: Predictor
) -> None:
    version = client.get("/model").json()["wire_version"]
    with client.websocket_connect(f"ws://127.0.0.1:8377/stream?wire={version}") as socket:
        Talk(socket, predictor).open()


RENAMED = "total = 1\nvalue = total\nprint(total)\nreturn total\n"


def type_over(text: str, old: str, new: str, count: int) -> tuple[str, list[dict[str, Any]], int]:
    """Replace a name so many times from the top; type the last one key by key. The text, the changes and the cursor."""
    changes: list[dict[str, Any]] = []
    cursor = 0
    for number in range(count):
        start = text.index(old, cursor)
        keys = [new] if number < count - 1 else list(new)
        changes.append({"start": start, "end": start + len(old), "text": keys[0]})
        for key in keys[1:]:
            at = changes[-1]["start"] + len(changes[-1]["text"])
            changes.append({"start": at, "end": at, "text": key})
        cursor = start + len(new)
        text = text[:start] + new + text[start + len(old) :]
    return text, changes, cursor


def place_in_text(suggestion: dict[str, Any], begin: int, prefix: str) -> tuple[int, int, str]:
    """Find a streamed suggestion's text range in the editor's text, which has the prefix, as a client does."""
    start, end, text = suggestion["start"], suggestion["end"], suggestion["text"]
    if suggestion["continues_prefix"]:
        assert start == begin
        assert text.startswith(prefix)
        return begin + len(prefix), end + len(prefix), text[len(prefix) :]
    grown = 0 if start < begin else len(prefix)
    return start + grown, end + grown, text


@pytest.mark.parametrize("until", ["token", "hunk"])
@pytest.mark.parametrize("new", ["size", "count", "x", "total_items"])
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_a_half_typed_name_that_is_whole_gets_the_same_answer_from_the_stream_and_from_post(
    client: TestClient, predictor: Predictor, count: int, new: str, until: str
) -> None:
    wish = {"until": until, "threshold": 0.0, "limit": 2}
    text, changes, cursor = type_over(RENAMED, "total", new, count)
    request = TextRequest(text=RENAMED, edits=[TextEdit(**change) for change in changes], cursor=cursor)
    question = question_from_text(request, predictor, Settings())
    posted = client.post(
        "/predict", json={"text": RENAMED, "edits": changes, "cursor": cursor, **wish}
    ).json()
    with stream(client) as socket:
        talk = Talk(socket, predictor)
        talk.say("open", version=1, bundle=talk.bundle.sha256, state=list(question.state))
        talk.hear()
        append = [wire_edit(edit).model_dump() for edit in question.edits]
        talk.say("edits", version=2, keep=0, append=append)
        talk.say("predict", version=2, cursor=question.cursor, prefix=question.prefix, **wish)
        streamed = talk.hear()
    assert (question.prefix, streamed["silence"]) == (new, posted["silence"])
    begin = cursor - len(new)
    ours = [place_in_text(each, begin, new) for each in streamed["suggestions"]]
    assert ours == [(each["start"], each["end"], each["text"]) for each in posted["suggestions"]]
    confidences = [each["confidence"] for each in posted["suggestions"]]
    assert [each["confidence"] for each in streamed["suggestions"]] == pytest.approx(confidences, abs=1e-3)
    # The edits of a suggestion, after those that the client sent, spell the text that accepting it leaves.
    tokenizer = talk.bundle.require_tokenizer()
    for suggestion, (start, end, inserted) in zip(streamed["suggestions"], ours, strict=True):
        edits = [edit_from_wire(TokenEdit(**edit)) for edit in suggestion["edits"]]
        spelled = tokenizer.decode(apply(question.state, [*question.edits, *edits]))
        assert spelled == text[:start] + inserted + text[end:]
        assert all(index < len(question.edits) for index in suggestion["because"])


def test_the_request_number_comes_back(client: TestClient, predictor: Predictor) -> None:
    with stream(client) as socket:
        talk = Talk(socket, predictor)
        talk.open()
        talk.say("predict", version=1, request=7)
        assert talk.hear()["request"] == 7
        talk.say("predict", version=5, request=8)
        assert talk.hear()["request"] == 8


@pytest.mark.parametrize(
    "message",
    [
        {"type": "edits", "version": 1, "keep": 0, "append": []},
        {"type": "predict", "version": 1},
    ],
)
def test_an_unknown_document_is_to_be_opened(
    client: TestClient, predictor: Predictor, message: dict[str, Any]
) -> None:
    with stream(client) as socket:
        socket.send_json({"document": "new.py", **message})
        answer = socket.receive_json()
        assert (answer["type"], answer["document"], answer["version"]) == ("reopen", "new.py", 1)
        assert answer["reason"] == "unknown-document"


@pytest.mark.parametrize(
    "message",
    [
        {"type": "edits", "version": 0, "keep": 0, "append": []},
        {"type": "edits", "version": 2, "keep": 1, "append": []},
        {"type": "predict", "version": 2},
        {"type": "predict", "version": 0},
    ],
)
def test_a_gap_is_answered_by_reopen_and_opening_heals_it(
    client: TestClient, predictor: Predictor, message: dict[str, Any]
) -> None:
    with stream(client) as socket:
        talk = Talk(socket, predictor)
        talk.open()
        talk.say(message.pop("type"), **message)
        answer = talk.hear()
        assert (answer["type"], answer["reason"]) == ("reopen", "version-gap")
        talk.open(version=3)
        talk.say("predict", version=3)
        assert talk.hear()["type"] == "prediction"


def test_closing_forgets(client: TestClient, predictor: Predictor) -> None:
    with stream(client) as socket:
        talk = Talk(socket, predictor)
        talk.open()
        talk.say("close")
        talk.say("predict", version=1)
        assert talk.hear()["type"] == "reopen"


def test_documents_of_two_connections_are_two(client: TestClient, predictor: Predictor) -> None:
    with stream(client) as first, stream(client) as second:
        Talk(first, predictor).open()
        Talk(second, predictor).say("predict", version=1)
        assert second.receive_json()["type"] == "reopen"


def test_the_end_of_a_connection_frees_its_sessions(client: TestClient, predictor: Predictor) -> None:
    sessions = client.app.state.engine.sessions  # type: ignore[attr-defined]
    with stream(client) as socket:
        Talk(socket, predictor).open()
        assert len(sessions) == 1
    deadline = time.monotonic() + 5
    while len(sessions) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(sessions) == 0


def test_of_many_questions_each_is_answered_once_and_the_newest_by_the_model(
    client: TestClient, predictor: Predictor
) -> None:
    with stream(client) as socket:
        talk = Talk(socket, predictor)
        state = talk.open()
        talk.say("edits", version=2, keep=0, append=insertion(talk, state))
        for number in range(20):
            talk.say("predict", version=2, request=number)
        answers = [talk.hear() for _ in range(20)]
        assert sorted(answer["request"] for answer in answers) == list(range(20))
        last = next(answer for answer in answers if answer["request"] == 19)
        assert last["silence"] != "superseded"
        for answer in answers:
            if answer["silence"] == "superseded":
                assert answer["suggestions"] == []


def test_expired_sessions_are_reopened(make_client: MakeClient, predictor: Predictor) -> None:
    client = make_client(limit_sessions=2)
    with stream(client) as socket:
        talks = [Talk(socket, predictor, name) for name in "abc"]
        for talk in talks:
            talk.open()
        talks[0].say("predict", version=1)
        assert talks[0].hear()["type"] == "reopen"
        talks[2].say("predict", version=1)
        assert talks[2].hear()["type"] == "prediction"


def test_what_is_evicted_before_it_is_open_is_told(make_client: MakeClient, predictor: Predictor) -> None:
    client = make_client(limit_sessions=2)
    with stream(client) as socket:
        talks = [Talk(socket, predictor, name) for name in "abcdef"]
        for talk in talks:
            talk.say("open", version=7, bundle=talk.bundle.sha256, state=[1, 2])
        heard = [socket.receive_json() for _ in talks]
        assert sorted(answer["document"] for answer in heard) == list("abcdef")
        assert {answer["type"] for answer in heard} <= {"opened", "reopen"}
        assert all(answer["version"] == 7 for answer in heard)
        assert {answer["document"] for answer in heard if answer["type"] == "opened"} >= {"e", "f"}


def test_a_connection_has_a_bounded_number_of_documents(
    make_client: MakeClient, predictor: Predictor
) -> None:
    client = make_client(limit_documents=2)
    with stream(client) as socket:
        for name in "ab":
            Talk(socket, predictor, name).open()
        third = Talk(socket, predictor, "c")
        third.say("open", version=1, bundle=third.bundle.sha256, state=[1, 2])
        assert third.hear()["code"] == "too-many-documents"
        Talk(socket, predictor, "a").open(version=2)
        Talk(socket, predictor, "a").say("close")
        third.open()


def test_connections_are_bounded(make_client: MakeClient) -> None:
    client = make_client(limit_connections=1)
    with stream(client):
        with pytest.raises(WebSocketDenialResponse) as denial, stream(client):
            pass
        assert denial.value.status_code == 429
        assert denial.value.json()["code"] == "too-many-connections"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"bundle": "0" * 64}, "other-bundle"),
        ({"state": [1]}, "invalid-state"),
        ({"state": [1, 0, 2]}, "invalid-state"),
        ({"state": [1, 10**9, 2]}, "invalid-state"),
    ],
)
def test_a_wrong_open_is_refused(
    client: TestClient, predictor: Predictor, fields: dict[str, Any], code: str
) -> None:
    with stream(client) as socket:
        talk = Talk(socket, predictor)
        talk.say("open", **{"version": 1, "bundle": talk.bundle.sha256, "state": [1, 2], **fields})
        answer = talk.hear()
        assert (answer["type"], answer["code"], answer["document"]) == ("error", code, "a.py")


@pytest.mark.parametrize(
    ("append", "code"),
    [
        ([{"position": 0, "content": "DELETE"}], "invalid-edit"),
        ([{"position": 10**6, "content": 9}], "invalid-edit"),
        ([{"position": 0, "content": 10**8}], "invalid-edit"),
        ([{"position": 0, "content": 9}] * 500, "too-many-edits"),
    ],
)
def test_wrong_edits_end_their_own_session_only(
    client: TestClient, predictor: Predictor, append: list[dict[str, Any]], code: str
) -> None:
    with stream(client) as socket:
        other, talk = Talk(socket, predictor, "other.py"), Talk(socket, predictor)
        other.open()
        talk.open()
        talk.say("edits", version=2, keep=0, append=append)
        if code == "invalid-edit" and append[0]["content"] != 10**8:  # it takes the history to know that
            talk.say("predict", version=2)
        answer = talk.hear()
        assert (answer["type"], answer["code"], answer["document"]) == ("error", code, "a.py")
        talk.say("predict", version=2)
        assert talk.hear()["type"] == "reopen"
        other.say("predict", version=1)
        assert talk.hear()["type"] == "prediction"


def test_a_wrong_cursor_is_an_error(client: TestClient, predictor: Predictor) -> None:
    with stream(client) as socket:
        talk = Talk(socket, predictor)
        talk.open()
        talk.say("predict", version=1, cursor=10**6)
        answer = talk.hear()
        assert (answer["code"], answer["version"]) == ("invalid-cursor", 1)


def test_a_prefix_without_a_cursor_is_an_error(client: TestClient, predictor: Predictor) -> None:
    with stream(client) as socket:
        talk = Talk(socket, predictor)
        talk.open()
        talk.say("predict", version=1, prefix="re")
        assert "say where" in talk.hear()["message"]


@pytest.mark.parametrize(
    "nonsense", ["", "{", "[]", "null", '{"type": "shout"}', '{"type": "open"}', "\x00" * 100]
)
def test_nonsense_is_answered_and_the_connection_goes_on(
    client: TestClient, predictor: Predictor, nonsense: str
) -> None:
    with stream(client) as socket:
        socket.send_text(nonsense)
        answer = socket.receive_json()
        assert (answer["type"], answer["code"], answer["document"]) == ("error", "invalid-message", None)
        Talk(socket, predictor).open()


def test_bytes_are_nonsense_too(client: TestClient) -> None:
    with stream(client) as socket:
        socket.send_bytes(b"\xff\xfe")
        assert socket.receive_json()["code"] == "invalid-message"


def test_errors_do_not_repeat_what_was_sent(client: TestClient) -> None:
    with stream(client) as socket:
        socket.send_json({"type": "predict", "document": "a.py", "version": "hunter2"})
        assert "hunter2" not in socket.receive_text()


def test_a_long_file_is_served(client: TestClient, predictor: Predictor) -> None:
    with stream(client) as socket:
        talk = Talk(socket, predictor)
        state = talk.open("x = 1\n" + TEXT * 400)
        for version, place in enumerate((5, len(state) // 2, len(state) - 5, 7), start=2):
            talk.say(
                "edits",
                version=version,
                keep=version - 2,
                append=[{"position": place, "content": state[place]}],
            )
            talk.say("predict", version=version, threshold=0.0, until="hunk")
            assert talk.hear()["type"] == "prediction"


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_half_typed_name_is_seen_wherever_it_is_in_a_long_file(
    client: TestClient, predictor: Predictor, share: float
) -> None:
    with stream(client) as socket:
        talk = Talk(socket, predictor)
        state = talk.open(TEXT * 100)
        name = predictor.bundle.require_tokenizer().encode("items")
        place = state.index(name[0], int(share * len(state)) - 60 if share else 0) - 1  # before a name
        talk.say("edits", version=2, keep=0, append=[{"position": 30, "content": state[30]}])
        talk.say("predict", version=2, threshold=0.0, cursor=place, prefix="it")
        (suggestion,) = talk.hear()["suggestions"]
        assert suggestion["text"].startswith("it")
        assert suggestion["continues_prefix"]


async def test_a_large_message_is_read_in_a_thread_and_its_order_is_kept(predictor: Predictor) -> None:
    engine, gate = Engine(predictor, Settings()), threading.Event()
    heard: list[dict[str, Any]] = []

    async def send(text: str) -> None:
        heard.append(json.loads(text))

    blocking = asyncio.create_task(engine.scheduler.read(lambda: gate.wait(30)))
    connection = Connection(engine, send)
    state = [1, *[4] * 60_000, 2]
    opening = Open(document="a", version=1, bundle=predictor.bundle.sha256, state=state).model_dump_json()
    receiving = asyncio.create_task(connection.receive(opening))
    await asyncio.sleep(0.05)  # the loop is free meanwhile
    assert not receiving.done()
    gate.set()
    await receiving
    async with asyncio.timeout(30):
        while not heard:
            await asyncio.sleep(0.01)
    assert heard == [{"type": "opened", "document": "a", "version": 1}]
    await blocking
    await connection.close()
    engine.scheduler.close()
