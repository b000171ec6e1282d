"""A tenant's API, real Helm, and charts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from butler.engines.helm.engine import Helm
from butler.engines.helm.protocol import Cluster
from butler.simulation.delays import NONE
from butler.simulation.workloads.activity import on_server
from butler.simulation.workloads.tenants import Workloads
from kubekit.client import kubeconfig
from kubekit.client.http import HttpClient
from kubekit.server.client import DirectClient
from kubekit.server.serve.server import Server
from tests.engines.helm.world import World
from tests.simulation.workloads.world import NODES, node

TENANT = "shop"


@pytest.fixture
async def world(server: Server, tmp_path: Path) -> AsyncIterator[World]:
    """A tenant's API over HTTPS, in which nothing ever becomes ready."""
    await server.add_space(TENANT)
    path = tmp_path / "kubeconfig"
    path.write_bytes(server.admin_kubeconfig(TENANT))
    config = kubeconfig.load(path)
    async with HttpClient(config) as client:
        yield World(Cluster(config, client), Helm(tmp_path / "helm"), path, tmp_path)


@pytest.fixture
async def workloads(server: Server, world: World) -> AsyncIterator[Workloads]:
    """Lets what is deployed become ready, on one node."""
    client = DirectClient(server.spaces[TENANT])
    await client.create(node(1), NODES)
    running = Workloads(lambda name: DirectClient(server.spaces[name]), on_server(server), delays=NONE)
    task = asyncio.create_task(running.run())
    yield running
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
