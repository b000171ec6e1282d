"""The event loop on a virtual clock."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kubekit.errors import NotFound
from kubekit.model.resource import Address
from kubekit.server.access.pki import ROOT, Pki
from kubekit.server.client import DirectClient
from kubekit.server.pipeline.watches import Hub
from kubekit.server.spaces.kubernetes_service import Location
from kubekit.server.spaces.spaces import Spaces
from kubekit.server.store.store import Store
from kubekit.testing import deterministic_loop
from kubekit.testing.deterministic_loop import Loop, NothingLeft


def test_time_jumps_to_the_next_timer() -> None:
    async def main(loop: Loop) -> float:
        await asyncio.sleep(86_400)
        return loop.time()

    assert deterministic_loop.run(main, seed=1) == 86_400


def test_the_wall_clock_goes_with_it() -> None:
    async def main(loop: Loop) -> float:
        before = loop.clock.now()
        await loop.clock.sleep(90)
        return (loop.clock.now() - before).total_seconds()

    assert deterministic_loop.run(main, seed=1) == 90


async def order_of_ten(loop: Loop) -> list[int]:
    ran: list[int] = []

    async def step(number: int) -> None:
        ran.append(number)

    async with asyncio.TaskGroup() as group:
        for number in range(10):
            group.create_task(step(number))
    return ran


def test_the_order_of_tasks_belongs_to_the_seed() -> None:
    assert deterministic_loop.run(order_of_ten, 1) == deterministic_loop.run(order_of_ten, 1)
    assert len({tuple(deterministic_loop.run(order_of_ten, seed)) for seed in range(5)}) == 5


def test_plain_callbacks_keep_their_order() -> None:
    async def main(loop: Loop) -> list[int]:
        ran: list[int] = []
        for number in range(50):
            loop.call_soon(ran.append, number)
        await asyncio.sleep(1)
        return ran

    assert deterministic_loop.run(main, seed=3) == list(range(50))


def test_a_timeout_counts_virtual_seconds() -> None:
    async def main(loop: Loop) -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(30):
                await asyncio.sleep(60)
        return loop.time()

    assert deterministic_loop.run(main, seed=1) == 30


def test_waiting_for_what_never_comes_is_an_error() -> None:
    async def main(loop: Loop) -> None:
        await loop.create_future()

    with pytest.raises(NothingLeft, match="main"):
        deterministic_loop.run(main, seed=1)


def test_what_nobody_waited_for_is_an_error() -> None:
    async def fail() -> None:
        raise ValueError("unheard")

    async def main(loop: Loop) -> None:
        loop.create_task(fail())
        await asyncio.sleep(1)

    with pytest.raises(RuntimeError, match="never retrieved"):
        deterministic_loop.run(main, seed=1)


def test_what_is_left_running_is_ended() -> None:
    ended = []

    async def linger() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append(True)

    async def main(loop: Loop) -> None:
        loop.create_task(linger())
        await asyncio.sleep(1)

    deterministic_loop.run(main, seed=1)
    assert ended


def test_the_whole_embedded_api_runs_on_it(tmp_path: Path) -> None:
    config_maps = Address("", "v1", "ConfigMap", "configmaps", True)

    async def main(loop: Loop) -> str:
        pki = Pki(tmp_path, loop.clock)
        pki.open()
        store = Store(None)
        spaces = Spaces(store, Hub(store), pki, Location("192.0.2.1", 6443), loop.clock, loop.chance)
        space = await spaces.add(ROOT)
        client = DirectClient(space)
        owner = await client.create({"metadata": {"name": "owner", "namespace": "default"}}, config_maps)
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
        owned = {"metadata": {"name": "owned", "namespace": "default", "ownerReferences": [reference]}}
        await client.create(owned, config_maps)
        await client.delete(config_maps, "owner", "default")
        await asyncio.sleep(60)
        with pytest.raises(NotFound):
            await client.get(config_maps, "owned", "default")
        await spaces.stop()
        return str(owner["metadata"]["uid"])

    assert deterministic_loop.run(main, seed=1) == deterministic_loop.run(main, seed=1)
