"""The work queue, on a virtual clock."""

from __future__ import annotations

import asyncio

import pytest

from kubekit.runtime.metrics import Metrics
from kubekit.runtime.queue import Backoff, Lane, WorkQueue
from kubekit.testing.deterministic_loop import Loop


@pytest.fixture
def queue(kubekit_loop: Loop) -> WorkQueue:
    return WorkQueue("test", kubekit_loop.clock, kubekit_loop.chance)


async def test_a_key_added_twice_is_handed_out_once(queue: WorkQueue) -> None:
    queue.add("a")
    queue.add("a")
    assert await queue.get() == "a"
    assert len(queue) == 0


async def test_a_key_is_never_handed_out_while_someone_works_on_it(queue: WorkQueue) -> None:
    queue.add("a")
    assert await queue.get() == "a"
    queue.add("a")
    assert len(queue) == 0
    queue.done("a")
    assert await queue.get() == "a"


async def test_keys_come_in_the_order_they_were_added(queue: WorkQueue) -> None:
    for key in "bac":
        queue.add(key)
    assert [await queue.get() for _ in range(3)] == ["b", "a", "c"]


async def test_fresh_changes_come_before_routine(queue: WorkQueue) -> None:
    queue.add("routine", Lane.ROUTINE)
    queue.add("moved up", Lane.ROUTINE)
    queue.add("fresh")
    queue.add("moved up")
    assert [await queue.get() for _ in range(3)] == ["fresh", "moved up", "routine"]


async def test_routine_is_not_put_off_for_ever(queue: WorkQueue) -> None:
    queue.add("routine", Lane.ROUTINE)
    taken = []
    for number in range(20):
        queue.add(f"fresh-{number}")
        taken.append(await queue.get())
    assert "routine" in taken


async def test_a_key_added_for_later_comes_later(queue: WorkQueue, kubekit_loop: Loop) -> None:
    queue.add_after("a", 10)
    assert await queue.get() == "a"
    assert kubekit_loop.time() == 10


async def test_of_two_appointments_the_earlier_counts(queue: WorkQueue, kubekit_loop: Loop) -> None:
    queue.add_after("a", 10)
    queue.add_after("a", 5)
    queue.add_after("a", 20)
    queue.add_after("b", 30)
    assert (await queue.get(), kubekit_loop.time()) == ("a", 5)
    queue.done("a")
    assert (await queue.get(), kubekit_loop.time()) == ("b", 30)


async def test_work_done_earlier_cancels_the_appointment(queue: WorkQueue, kubekit_loop: Loop) -> None:
    queue.add_after("a", 10)
    queue.add_after("b", 30)
    queue.add("a")
    assert await queue.get() == "a"
    queue.done("a")
    assert (await queue.get(), kubekit_loop.time()) == ("b", 30)


async def test_an_appointment_made_during_the_work_holds(queue: WorkQueue, kubekit_loop: Loop) -> None:
    queue.add("a")
    await queue.get()
    queue.add_after("a", 3)
    queue.done("a")
    assert (await queue.get(), kubekit_loop.time()) == ("a", 3)


async def test_each_failure_waits_twice_as_long_up_to_a_limit(queue: WorkQueue) -> None:
    delays = [queue.add_rate_limited("a") for _ in range(16)]
    assert all(0.05 * 2**n <= delay <= 0.05 * 2**n * 1.2 for n, delay in enumerate(delays[:12]))
    assert 300 <= delays[-1] <= 360


async def test_a_success_forgets_the_failures(queue: WorkQueue) -> None:
    for _ in range(5):
        queue.add_rate_limited("a")
    queue.forget("a")
    assert queue.add_rate_limited("a") <= 0.06


async def test_failures_of_one_key_do_not_slow_another(queue: WorkQueue) -> None:
    for _ in range(5):
        queue.add_rate_limited("a")
    assert queue.add_rate_limited("b") <= 0.06


async def test_a_closed_queue_hands_out_nothing_and_wakes_those_who_wait(queue: WorkQueue) -> None:
    waiting = asyncio.ensure_future(queue.get())
    await asyncio.sleep(1)
    queue.close()
    queue.add("a")
    queue.add_after("b", 1)
    assert await waiting is None
    assert await queue.get() is None


async def test_a_cancelled_getter_does_not_take_a_wake_up_with_it(queue: WorkQueue) -> None:
    first, second = (asyncio.ensure_future(queue.get()) for _ in range(2))
    await asyncio.sleep(1)
    queue.add("a")
    first.cancel()
    assert await second == "a"


async def test_the_queue_counts(kubekit_loop: Loop) -> None:
    metrics = Metrics()
    queue = WorkQueue("q", kubekit_loop.clock, kubekit_loop.chance, backoff=Backoff(first=1.0), metrics=metrics)
    queue.add("a")
    queue.add("b")
    assert metrics.depth.get("q") == 2
    await asyncio.sleep(2)
    await queue.get()
    await asyncio.sleep(3)
    assert metrics.longest.get("q") == metrics.unfinished.get("q") == 3
    queue.done("a")
    queue.add_rate_limited("a")
    assert (metrics.adds.get("q"), metrics.retries.get("q")) == (2, 1)
    assert metrics.queue_time.of("q").sum == 2
    assert metrics.work_time.of("q").sum == 3


async def test_many_cancelled_appointments_do_not_pile_up(queue: WorkQueue) -> None:
    for _ in range(1000):
        queue.add_after("a", 100)
        queue.add("a")
        queue.done(await queue.get() or "")
    assert len(queue._appointments) < 200
