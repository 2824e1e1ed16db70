import asyncio

import pytest

from lsp.snooze import Snooze

pytestmark = pytest.mark.asyncio


async def test_it_ends_by_itself_and_says_so() -> None:
    ended = asyncio.Event()
    snooze = Snooze(ended.set)
    assert not snooze.is_on
    snooze.begin(0.05)
    assert snooze.is_on
    await asyncio.wait_for(ended.wait(), 5)
    assert not snooze.is_on


async def test_one_that_is_ended_early_says_nothing_later() -> None:
    ended = asyncio.Event()
    snooze = Snooze(ended.set)
    snooze.begin(0.01)
    snooze.begin(0)
    assert not snooze.is_on
    await asyncio.sleep(0.1)
    assert not ended.is_set()
