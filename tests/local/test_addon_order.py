"""What nodes need comes before them, and the rest when they are there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from butler import app
from butler.addons import builtin
from butler.api import KINDS
from butler.api.cluster import ClusterPhase, TenantCluster
from butler.controllers.cluster.explanation import explain
from butler.local import system
from butler.local.home import Home
from butler.local.installation import install_definitions
from butler.local.platform import Options, Platform, running, working
from butler.simulation import world as simulated
from butler.simulation.delays import NONE
from butler.simulation.infrastructure.nodes import NODE
from butler.simulation.installer import CONFIG_MAP, NAME
from kubekit.client.protocol import Client, Patch
from kubekit.runtime.client_wrapper import WrappedClient
from kubekit.runtime.manager import Manager, ManagerSettings
from kubekit.server.client import DirectClient
from kubekit.server.serve.server import Server
from tests.local.worlds import NAME as CLUSTER
from tests.local.worlds import TENANTS, create, destroy, is_gone, runs, scale, until

(CILIUM,) = (
    f"cilium {one.spec.chart.default_version}" for one in builtin.definitions() if one.metadata.name == "cilium"
)
NO_NETWORK = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
NOW = datetime(2030, 1, 1, tzinfo=UTC)
MESSAGE = "container runtime network not ready: cni plugin not initialized"


class Nodes:
    """Nodes as real kubelets make them: NotReady and tainted, until the network is there."""

    def __init__(self) -> None:
        self.have_network = False
        self.may_be_recorded = asyncio.Event()
        self.may_be_recorded.set()
        self.waited: list[str] = []
        self.recorded: list[list[str]] = []
        """What was installed, each time."""

    def wrap(self, client: Client) -> Client:
        return _Tenant(client, self)

    def as_registered(self, node: dict[str, Any]) -> dict[str, Any]:
        if self.have_network:
            return node
        self.waited.append(node["metadata"]["name"])
        said = [one | _UNREADY if one["type"] == "Ready" else one for one in node["status"]["conditions"]]
        return {
            **node,
            "spec": {**node["spec"], "taints": [*node["spec"].get("taints", ()), NO_NETWORK]},
            "status": {**node["status"], "conditions": said},
        }

    async def recorded_there(self, tenant: Client, addons: dict[str, str]) -> None:
        self.recorded.append(list(addons))
        if "cilium" not in addons:
            return
        self.have_network = True
        for node in (await tenant.list(NODE)).items:
            name, taints = node["metadata"]["name"], [one for one in node["spec"]["taints"] if one != NO_NETWORK]
            await tenant.patch(NODE, name, {"spec": {"taints": taints}})
            ready = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
            change = {"status": {"conditions": [ready]}}
            await tenant.patch(NODE, name, change, form=Patch.STRATEGIC, subresource="status")


_UNREADY = {"status": "False", "reason": "KubeletNotReady", "message": MESSAGE}


class _Tenant(WrappedClient):
    """A client of a tenant's API, which tells of what is written there."""

    def __init__(self, inner: Client, nodes: Nodes) -> None:
        super().__init__(inner)
        self._nodes = nodes

    async def create(self, obj: Any, kind: Any = None, **options: Any) -> Any:
        if kind is CONFIG_MAP and obj["metadata"]["name"] == NAME:
            await self._nodes.may_be_recorded.wait()
        made = await super().create(self._nodes.as_registered(obj) if kind is NODE else obj, kind, **options)
        if kind is CONFIG_MAP and obj["metadata"]["name"] == NAME:
            await self._nodes.recorded_there(self.inner, obj["data"])
        return made

    async def patch(self, kind: Any, name: str, change: Any, *place: Any, **options: Any) -> Any:
        made = await super().patch(kind, name, change, *place, **options)
        if kind is CONFIG_MAP and name == NAME:
            await self._nodes.recorded_there(self.inner, change["data"])
        return made


@pytest.fixture
def nodes() -> Nodes:
    return Nodes()


@pytest.fixture
async def platform(tmp_path: Path, nodes: Nodes) -> AsyncIterator[Platform]:
    async with running(Home(tmp_path / "data"), Options(delays=NONE, wrap=nodes.wrap)) as running_platform:
        yield running_platform


async def test_a_cluster_runs_whose_nodes_wait_for_the_network(platform: Platform, nodes: Nodes) -> None:
    await create(platform.client)
    await until(platform.client, runs("v1.31.4", 2))
    assert nodes.recorded[0] == ["cilium"]
    assert nodes.recorded[1:] == [["cert-manager", "longhorn", "metallb", "traefik", "metrics-server"]]
    await scale(platform.client)
    await until(platform.client, runs("v1.31.4", 3))
    assert nodes.recorded[2:] == [["longhorn"]], "volumes have as many copies as there are workers, up to three"


def installs(cluster: TenantCluster | None) -> bool:
    said = cluster.status.condition("NodeAddonsReady") if cluster is not None else None
    return said is not None and said.message == "being installed: cilium"


async def test_machines_are_asked_for_while_the_network_is_installed(platform: Platform, nodes: Nodes) -> None:
    nodes.may_be_recorded.clear()
    await create(platform.client)
    await until(platform.client, installs)
    async with asyncio.timeout(60):
        while len(nodes.waited) < 2:  # noqa: ASYNC110 -- nothing tells of it
            await asyncio.sleep(0.01)
    told = await explain(platform.client, TENANTS, CLUSTER, NOW)
    assert (told.summary, told.waiting_for) == ("shop waits for its node addons", f"{CILIUM}: is being installed")
    nodes.may_be_recorded.set()
    await until(platform.client, runs("v1.31.4", 2))


async def test_a_cluster_goes_while_something_is_being_installed(platform: Platform, nodes: Nodes) -> None:
    nodes.may_be_recorded.clear()
    await create(platform.client)
    await until(platform.client, installs)
    await destroy(platform.client)
    await until(platform.client, is_gone)
    assert nodes.recorded == []


async def test_without_an_installer_a_cluster_says_what_it_lacks(server: Server, tmp_path: Path) -> None:
    client = DirectClient(server.root)
    await install_definitions(client, (*KINDS, *simulated.ENGINE_KINDS))
    await system.install(client, simulated=True)
    async with simulated.world(server, tmp_path / "datacentre", NONE, lambda one: one, None, None) as world:
        butler, engines = (Manager(client, ManagerSettings(name)) for name in ("butler", "engines"))
        app.add_controllers(butler, world.connect, world.surroundings, ("simulated",), None)
        simulated.add_stand_ins(engines, world, simulated.ENGINES)
        async with working([butler, engines]):
            await create(client)
            await until(client, lambda one: one is not None and one.status.phase is ClusterPhase.INSTALLING)
            found = await client.get(TenantCluster, CLUSTER, TENANTS)
            told = await explain(client, TENANTS, CLUSTER, NOW)
    for name in ("NodeAddonsReady", "AddonsReady", "Ready"):
        said = found.status.condition(name)
        assert said is not None
        assert (said.status, said.reason) == ("False", "NoInstaller")
    assert found.status.observed_state is not None
    assert {one.status for one in found.status.observed_state.addons} == {"Pending"}
    assert told.whose == "the platform's"
    assert f"{CILIUM}: nothing here installs it" in told.chain
