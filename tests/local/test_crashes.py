"""A platform that is killed at any moment goes on where it was: nothing is there twice, and nothing is left over."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from butler.api.cluster import TenantCluster
from butler.engines.capi.kinds import Machine
from butler.local.home import Home, Remembered
from butler.local.installation import NAMESPACE
from butler.local.platform import Options, Platform, running
from butler.providers.simulated.datacentre import DataCentre
from butler.simulation.delays import NONE, Delays
from butler.simulation.infrastructure.kinds import SimulatedMachine
from kubekit.client.protocol import Client, Signal
from kubekit.errors import NotFound
from kubekit.runtime.client_wrapper import Call, Go, WrappedClient
from tests.local.worlds import NAME, TENANTS, Done, create, destroy, is_gone, runs, scale, shrink, until, upgrade

SHORT = Delays(**dict.fromkeys(Delays.__dataclass_fields__, 0.01))
"""Everything takes a moment, so that there are more states to be killed in."""


class Killed(Exception):
    """The process is gone."""


@dataclass
class Fate:
    """When the process dies: before or after which write of any controller. From then on nothing goes out."""

    writes_left: int
    is_before: bool
    came: asyncio.Event = field(default_factory=asyncio.Event)

    async def on_write(self, go: Go) -> Any:
        if self.came.is_set():
            await asyncio.get_running_loop().create_future()
        self.writes_left -= 1
        if self.writes_left > 0:
            return await go()
        self.came.set()
        if not self.is_before:
            await go()
        return await asyncio.get_running_loop().create_future()


class Mortal(WrappedClient):
    """A client whose process dies."""

    def __init__(self, inner: Client, fate: Fate) -> None:
        super().__init__(inner)
        self._fate = fate

    async def around(self, call: Call, go: Go) -> Any:
        return await (self._fate.on_write(go) if call.writes else go())


Act = Callable[[Client], Awaitable[Any]]

LIFE: tuple[tuple[Act, Done, int], ...] = (
    (create, runs("v1.31.4", 2), 2),
    (scale, runs("v1.31.4", 3), 3),
    (upgrade, runs("v1.32.2", 3), 3),
    (shrink, runs("v1.32.2", 1), 1),
    (destroy, is_gone, 0),
)


async def dies_first(platform: Platform, done: Done, fate: Fate) -> bool:
    """Whether the process dies before a cluster is as it should be."""
    settled = asyncio.ensure_future(until(platform.client, done))
    died = asyncio.ensure_future(fate.came.wait())
    await asyncio.wait((settled, died), return_when=asyncio.FIRST_COMPLETED)
    is_settled = settled.done()
    for task in (settled, died):
        task.cancel()
    await asyncio.gather(settled, died, return_exceptions=True)
    return not is_settled


@asynccontextmanager
async def started(place: Home, delays: Delays, fate: Fate | None = None) -> AsyncIterator[Platform]:
    """A platform, always on the same port."""

    def wrap(client: Client) -> Client:
        return client if fate is None else Mortal(client, fate)

    async with running(place, Options(place.remembered().port, delays, wrap)) as platform:
        place.remember(Remembered(port=platform.port or 0))
        yield platform


async def live(place: Home, delays: Delays, act: Act | None, done: Done, fate: Fate) -> bool:
    """Run a platform until a cluster is as it should be, or the process dies; answers whether it died."""
    try:
        async with started(place, delays, fate) as platform:
            if act is not None:
                await act(platform.client)
            if await dies_first(platform, done, fate):
                raise Killed
            return False
    except BaseExceptionGroup as group:
        if group.subgroup(Killed) is None:
            raise
        return True


def fate_of(first: int, attempt: int) -> Fate:
    """Every start lives a little longer than the one before."""
    return Fate(first + attempt * 2, is_before=attempt % 2 == 0)


async def settled(client: Client, kind: Any, count: int) -> list[Any]:
    """All objects of a kind, once there are so many: machines that were replaced may take a moment to go."""
    while True:
        listed = await client.list(kind)
        if len(listed.items) == count:
            return list(listed.items)
        async for event in client.watch(kind, version=listed.version):
            if event.signal is not Signal.BOOKMARK:
                break


async def check(place: Home, workers: int) -> None:
    """Exactly one VM, one Machine and one node per worker; and nothing else anywhere."""
    async with started(place, NONE) as platform:
        client = platform.client
        owners = await settled(client, SimulatedMachine, workers)
        machines = await settled(client, Machine, workers)
        namespaces = [item["metadata"]["name"] for item in (await client.list(NAMESPACE)).items]
    with closing(DataCentre(place.datacentre)) as datacentre:
        vms = Counter(vm.token for vm in datacentre.machines())
    assert vms == Counter(owner.metadata.uid for owner in owners)
    assert len(vms) == len(machines) == workers
    assert len([name for name in namespaces if name.startswith(f"{NAME}-")]) == (1 if workers else 0)


@pytest.mark.parametrize(("delays", "first"), [(NONE, 1), (SHORT, 6)])
async def test_a_cluster_survives_kills_at_every_turn_of_its_life(tmp_path: Path, delays: Delays, first: int) -> None:
    place, kills = Home(tmp_path / "data"), 0
    for act, done, workers in LIFE:
        attempt = 0
        begin: Act | None = act
        while await live(place, delays, begin, done, fate_of(first, attempt)):
            attempt, kills, begin = attempt + 1, kills + 1, None
            assert attempt < 40, "it does not get anywhere"
        await check(place, workers)
    assert kills > 15


async def test_the_client_of_a_dead_process_writes_nothing(tmp_path: Path) -> None:
    fate = Fate(1, is_before=True)
    async with started(Home(tmp_path / "data"), NONE) as platform:
        writing = asyncio.ensure_future(create(Mortal(platform.client, fate)))
        await fate.came.wait()
        with pytest.raises(NotFound):
            await platform.client.get(TenantCluster, NAME, TENANTS)
        writing.cancel()
