"""Results on their way from a thread to the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextvars import Context
from typing import TypeVarTuple

import pytest

from kubekit.server.store.loop_bridge import Handover

Ts = TypeVarTuple("Ts")


class CountingLoop(asyncio.SelectorEventLoop):
    """Knows how often others have woken it."""

    woken = 0

    def call_soon_threadsafe(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        self.woken += 1
        return super().call_soon_threadsafe(callback, *args, context=context)


def in_thread(work: Callable[[], None]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


async def test_a_loop_that_sleeps_is_woken() -> None:
    handover, loop = Handover(), asyncio.get_running_loop()
    told: asyncio.Future[str] = loop.create_future()
    threading.Timer(0.05, lambda: handover.put(loop, told.set_result, "done")).start()
    assert await asyncio.wait_for(told, 60) == "done"


def test_a_loop_that_comes_by_anyway_is_not_woken() -> None:
    told: list[str] = []

    async def main() -> None:
        handover, loop = Handover(), asyncio.get_running_loop()
        handover.come_by()
        in_thread(lambda: handover.put(loop, told.append, "first"))
        await asyncio.sleep(0)
        assert told == ["first"]
        assert isinstance(loop, CountingLoop)
        assert loop.woken == 0
        # It has come by, so the next one has to wake it.
        in_thread(lambda: handover.put(loop, told.append, "second"))
        assert loop.woken == 1
        await asyncio.sleep(0)
        assert told == ["first", "second"]

    with asyncio.Runner(loop_factory=CountingLoop) as runner:
        runner.run(main())


async def test_nothing_is_lost_and_all_keeps_its_order_whenever_the_loop_comes_by() -> None:
    handover, loop, count = Handover(), asyncio.get_running_loop(), 20_000
    told: list[int] = []

    def work() -> None:
        for number in range(count):
            handover.put(loop, told.append, number)

    thread = threading.Thread(target=work)
    thread.start()
    while len(told) < count:
        handover.come_by()
        await asyncio.sleep(0)
    thread.join()
    assert told == list(range(count))


async def test_one_that_fails_does_not_keep_the_others(caplog: pytest.LogCaptureFixture) -> None:
    handover, loop, told = Handover(), asyncio.get_running_loop(), list[str]()

    def fail() -> None:
        raise ValueError("as it happens")

    handover.come_by()
    handover.put(loop, fail)
    handover.put(loop, told.append, "next")
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert told == ["next"]
    assert "as it happens" in caplog.text


def test_what_comes_too_late_for_a_closed_loop_harms_nobody() -> None:
    handover, told = Handover(), list[str]()
    closed = asyncio.new_event_loop()
    closed.close()
    in_thread(lambda: handover.put(closed, told.append, "nobody is there"))
    assert told == []
