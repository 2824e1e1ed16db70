import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from lsp.client import Client, Snapshot
from lsp.fetch import Address, ServiceUnavailable
from model.editing.change import Change
from model.editing.edits import Edit
from model.silence import Silence
from server import schema
from tests.lsp.scripted_service import ScriptedService
from tests.tokenizing import small_tokenizer

pytestmark = pytest.mark.asyncio

STATE = (1, *small_tokenizer().encode("foo = foo\n"), 2)
INSERTED = small_tokenizer().encode("(")
FIRST = (Edit(0, INSERTED[0]),)
SECOND = (*FIRST, Edit(0, INSERTED[0]))


class Seen:
    """The connections and losses that a client reported."""

    def __init__(self) -> None:
        self.models: list[schema.ModelResponse] = []
        self.connected = asyncio.Event()
        self.lost: list[str] = []

    async def watch(self, client: Client) -> None:
        async for event in client.run():
            if isinstance(event, ServiceUnavailable):
                self.lost.append(event.reason)
                self.connected.clear()
            else:
                self.models.append(event)
                self.connected.set()


@asynccontextmanager
async def talking(
    service: ScriptedService, seen: Seen, token: str = "", deadline_seconds: float = 2.0
) -> AsyncIterator[Client]:
    async def locate() -> Address:
        return Address(service.address, token)

    client = Client(locate, deadline_seconds=deadline_seconds)
    task = asyncio.create_task(seen.watch(client))
    try:
        yield client
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


def snapshot(edits: tuple[Edit, ...] = FIRST, document: str = "a.py") -> Snapshot:
    return Snapshot(document, STATE, edits)


async def answered(
    ask: Callable[[], Awaitable[schema.Prediction]], seconds: float = 5.0
) -> schema.Prediction:
    """Ask until there is an answer."""
    async with asyncio.timeout(seconds):
        while True:
            try:
                return await ask()
            except ServiceUnavailable:
                await asyncio.sleep(0.02)


async def test_a_question_opens_the_document_and_later_ones_say_only_what_is_new() -> None:
    service, seen = await ScriptedService().start(), Seen()
    async with talking(service, seen) as client:
        await asyncio.wait_for(seen.connected.wait(), 5)
        first = await client.ask(snapshot())
        assert [(s.start, s.text) for s in first.suggestions] == [(1, "bar")]
        await client.ask(snapshot(SECOND))
        await client.ask(snapshot(FIRST[:1]))
        await client.ask(snapshot(FIRST[:1]))
    assert len(service.said("open")) == 1
    assert [(m.keep, len(m.append)) for m in service.said("edits")] == [(0, 1), (1, 1), (1, 0)]
    assert len(service.said("predict")) == 4
    await service.stop()


async def test_a_service_that_lost_the_document_gets_the_snapshot_again() -> None:
    service, seen = await ScriptedService().start(), Seen()
    async with talking(service, seen) as client:
        await asyncio.wait_for(seen.connected.wait(), 5)
        await client.ask(snapshot())
        service.sessions.clear()
        answer = await client.ask(snapshot(SECOND))
        assert answer.suggestions
        assert len(service.said("open")) == 2
    await service.stop()


async def test_after_a_crash_of_the_service_answers_come_back_by_themselves() -> None:
    service, seen = await ScriptedService().start(), Seen()
    async with talking(service, seen) as client:
        await asyncio.wait_for(seen.connected.wait(), 5)
        await client.ask(snapshot())
        await service.stop()
        with pytest.raises(ServiceUnavailable):
            await client.ask(snapshot(SECOND))
        await until(lambda: bool(seen.lost))
        await service.start()
        answer = await answered(lambda: client.ask(snapshot(SECOND)))
        assert answer.suggestions
    await service.stop()


async def test_a_replica_that_ends_sends_its_clients_elsewhere_and_no_question_is_lost() -> None:
    service, seen = await ScriptedService().start(), Seen()
    async with talking(service, seen) as client:
        await asyncio.wait_for(seen.connected.wait(), 5)
        await client.ask(snapshot())
        service.hangs = True
        asked = asyncio.create_task(client.ask(snapshot(SECOND)))
        await until(lambda: len(service.said("edits")) == 2)
        await service.send_away()
        assert client.is_connected
        assert (await client.ask(snapshot(SECOND, "b.py"))).suggestions  # asked during the move
        assert (await asked).suggestions
        assert seen.lost == []
        assert len(seen.models) == 2
    await service.stop()


async def test_a_service_that_hangs_costs_a_deadline_and_then_the_connection() -> None:
    service, seen = await ScriptedService().start(), Seen()
    async with talking(service, seen, deadline_seconds=0.2) as client:
        await asyncio.wait_for(seen.connected.wait(), 5)
        await client.ask(snapshot())
        service.hangs = True
        for _ in range(2):
            with pytest.raises(ServiceUnavailable, match="in time") as error:
                await client.ask(snapshot(SECOND))
            assert error.value.silence is Silence.DEADLINE
        await until(lambda: bool(seen.lost))
        service.hangs = False
        assert (await answered(lambda: client.ask(snapshot(SECOND)))).suggestions
    await service.stop()


async def test_a_wrong_token_is_said_and_tried_again() -> None:
    service, seen = await ScriptedService(token="right").start(), Seen()
    async with talking(service, seen, token="wrong") as client:
        await until(lambda: len(seen.lost) >= 2)
        assert set(seen.lost) == {"wrong-token"}
        with pytest.raises(ServiceUnavailable) as error:
            await client.ask(snapshot())
        assert error.value.silence is Silence.NO_SERVICE
    await service.stop()


async def test_the_right_token_is_let_in() -> None:
    service, seen = await ScriptedService(token="right").start(), Seen()
    async with talking(service, seen, token="right"):
        await asyncio.wait_for(seen.connected.wait(), 5)
        assert seen.models[0].name == "scripted"
    await service.stop()


async def test_many_documents_share_a_connection_and_the_oldest_are_closed() -> None:
    service, seen = await ScriptedService().start(), Seen()
    async with talking(service, seen) as client:
        await asyncio.wait_for(seen.connected.wait(), 5)
        for number in range(110):
            await client.ask(snapshot(document=f"{number}.py"))
        client.close("109.py")
        await until(lambda: "109.py" not in service.sessions)
        assert len(service.sessions) == 99
        assert (await client.ask(snapshot(document="0.py"))).suggestions
    assert len(seen.models) == 1
    await service.stop()


async def test_several_questions_at_once_are_answered_each_by_its_own() -> None:
    def script(text: str, asked: schema.Predict) -> list[Change]:
        return [Change(0, 0, asked.document)]

    service, seen = await ScriptedService(script=script).start(), Seen()
    async with talking(service, seen) as client:
        await asyncio.wait_for(seen.connected.wait(), 5)
        names = [f"{number}.py" for number in range(20)]
        answers = await asyncio.gather(*(client.ask(snapshot(document=name)) for name in names))
        assert [answer.suggestions[0].text for answer in answers] == names
    await service.stop()


class RedirectingService(ScriptedService):
    """Tells its model, and sends those who want a stream elsewhere."""

    elsewhere = ""

    def _request(self, connection: ServerConnection, request: Request) -> Response | None:
        if not request.path.startswith("/stream"):
            return super()._request(connection, request)
        return Response(302, "Found", Headers({"Location": self.elsewhere, "Content-Length": "0"}))


async def test_neither_the_token_nor_a_text_follows_a_redirect_of_the_stream() -> None:
    other = await ScriptedService().start()
    service = RedirectingService(token="secret")
    service.elsewhere = other.address.replace("http", "ws") + "/stream?wire=1"
    await service.start()
    seen = Seen()
    async with talking(service, seen, token="secret"):
        await until(lambda: "no-connection" in seen.lost)
        assert not seen.connected.is_set()
    assert other._sockets == set()
    await service.stop()
    await other.stop()
