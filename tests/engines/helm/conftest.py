"""An API, real Helm, and charts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from pathlib import Path

import pytest

from butler.engines.helm.engine import Helm
from butler.engines.helm.protocol import Cluster
from butler.simulation.delays import NONE
from butler.simulation.workloads.activity import on_server
from butler.simulation.workloads.tenants import Workloads
from kubekit.client import kubeconfig
from kubekit.client.http import HttpClient
from kubekit.client.protocol import Client, Selection, Signal
from kubekit.errors import NotFound
from kubekit.model.resource import Address
from kubekit.server.client import DirectClient
from kubekit.server.serve.server import Server
from testbed.running.helm import helm_of
from testbed.running.servers import Cluster as RealCluster
from tests.engines.helm.world import DEFINITIONS, WEBHOOKS, World
from tests.simulation.workloads.world import NODES, node

TENANT = "shop"
NAMESPACES = Address.of("v1", "Namespace", namespaced=False)
SETUPS = [
    ("3", "embedded"),
    *(
        pytest.param((version, on), marks=pytest.mark.real)
        for version, on in (("4", "embedded"), ("3", "real"), ("4", "real"))
    ),
]
"""Which Helm, on whose API server."""
EVERYWHERE = {"test_release_life", "test_drift", "test_recovery", "test_safety"}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "setup" in metafunc.fixturenames and metafunc.module.__name__.rpartition(".")[2] in EVERYWHERE:
        metafunc.parametrize("setup", SETUPS, ids="-".join)


@pytest.fixture
def setup() -> tuple[str, str]:
    return "3", "embedded"


@pytest.fixture
async def world(
    setup: tuple[str, str], server: Server, request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[World]:
    """An API over HTTPS on which nothing ever becomes ready, and which nothing of another test is left on."""
    version, on = setup
    path = tmp_path / "kubeconfig"
    if on == "real":
        real: RealCluster = request.getfixturevalue("real_server")
        path.write_bytes(real.kubeconfig.read_bytes())
    else:
        await server.add_space(TENANT)
        path.write_bytes(server.admin_kubeconfig(TENANT))
    config = kubeconfig.load(path)
    async with HttpClient(config) as client:
        yield World(Cluster(config, client), Helm(tmp_path / "helm", helm_of(version)), path, tmp_path)
        if on == "real":
            await clear(client)


async def clear(client: Client) -> None:
    """Remove what tests leave on a server that they share."""
    defined = [(DEFINITIONS, f"{plural}.gadgets.example.com") for plural in ("gadgets", "gizmos")]
    for kind, name in ((WEBHOOKS, "web"), *defined, (NAMESPACES, "addons")):
        with suppress(NotFound):
            await client.delete(kind, name)
    async with (
        asyncio.timeout(40),
        aclosing(client.watch(NAMESPACES, Selection(fields="metadata.name=addons"))) as told,
    ):
        with suppress(NotFound):
            await client.get(NAMESPACES, "addons")
            async for event in told:
                if event.signal is Signal.DELETED:
                    return


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
