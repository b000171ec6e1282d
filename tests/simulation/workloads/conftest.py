"""A tenant's API in memory, and one that kubectl and Helm can reach."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from butler.simulation.delays import NONE, Delays
from butler.simulation.workloads.activity import on_server
from butler.simulation.workloads.tenants import Workloads
from kubekit.server.client import DirectClient
from kubekit.server.serve.server import Server
from kubekit.testing.deterministic_loop import Loop
from testbed.running.embedded import kubectl_for
from tests.simulation.workloads.world import EVENTS, NODES, TENANT, World, node, opened


@pytest.fixture
def delays() -> Delays:
    """How long what is simulated takes; a test may have this as a parameter."""
    return NONE


@pytest.fixture
def nodes() -> int:
    """How many nodes there are; a test may have this as a parameter."""
    return 2


@pytest.fixture
async def world(kubekit_loop: Loop, keys: Path, delays: Delays, nodes: int) -> AsyncIterator[World]:
    """A tenant's API in memory that nobody can reach from outside."""
    async with opened(kubekit_loop, keys, delays, nodes) as made:
        yield made


@dataclass
class Tenant:
    """A tenant's API over HTTPS."""

    kubeconfig: Path
    workloads: Workloads
    client: DirectClient

    async def kubectl(self, *arguments: str, stdin: str | None = None, fails: bool = False) -> str:
        """What a stock kubectl says; the test's event loop serves it meanwhile."""
        ran = await asyncio.to_thread(kubectl_for(self.kubeconfig), *arguments, stdin=stdin, fails=fails)
        return ran.err if fails else ran.out

    async def told(self, reason: str) -> None:
        """Wait for an event."""
        async with asyncio.timeout(100), aclosing(self.client.watch(EVENTS)) as events:
            async for event in events:
                if event.item is not None and event.item["reason"] == reason:
                    return


@pytest.fixture
async def tenant(server: Server, tmp_path: Path) -> AsyncIterator[Tenant]:
    """A tenant with two nodes whose workloads are looked after."""
    client = DirectClient(await server.add_space(TENANT))
    for number in (1, 2):
        await client.create(node(number), NODES)
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_bytes(server.admin_kubeconfig(TENANT))
    workloads = Workloads(lambda name: DirectClient(server.spaces[name]), on_server(server), delays=NONE)
    task = asyncio.create_task(workloads.run())
    yield Tenant(kubeconfig, workloads, client)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
