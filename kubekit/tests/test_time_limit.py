from __future__ import annotations

import asyncio

import pytest

from kubekit.time_limit import TimeLimit

pytestmark = pytest.mark.usefixtures("kubekit_loop")


async def test_work_that_takes_too_long_is_cut_off_and_the_next_is_not() -> None:
    limit = TimeLimit(10)
    with pytest.raises(TimeoutError), limit:
        await asyncio.sleep(11)
    with limit:
        await asyncio.sleep(9)


async def test_every_piece_has_the_whole_time() -> None:
    limit, began = TimeLimit(10), asyncio.get_running_loop().time()
    for _ in range(5):
        with limit:
            await asyncio.sleep(7)
    with pytest.raises(TimeoutError), limit:
        await asyncio.sleep(1000)
    assert asyncio.get_running_loop().time() - began == pytest.approx(5 * 7 + 10)


async def test_time_between_two_pieces_does_not_count() -> None:
    limit = TimeLimit(10)
    with limit:
        pass
    await asyncio.sleep(100)
    with limit:
        await asyncio.sleep(9)


async def test_whoever_cancels_the_task_is_not_told_of_a_limit() -> None:
    async def work() -> None:
        with TimeLimit(10):
            await asyncio.sleep(1000)

    task = asyncio.create_task(work())
    await asyncio.sleep(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_task_that_is_cancelled_and_late_at_once_stays_cancelled() -> None:
    async def work() -> None:
        with TimeLimit(10):
            try:
                await asyncio.sleep(1000)
            except asyncio.CancelledError:
                await asyncio.sleep(1)
                raise

    task = asyncio.create_task(work())
    await asyncio.sleep(10.5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_an_error_of_the_work_is_its_own() -> None:
    with pytest.raises(ZeroDivisionError), TimeLimit(10):
        _ = 1 // 0


async def test_a_closed_limit_leaves_no_timer() -> None:
    limit = TimeLimit(10)
    with limit:
        pass
    limit.close()
    limit.close()
    with limit:
        await asyncio.sleep(1)
