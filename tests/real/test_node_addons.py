"""A cluster whose nodes are NotReady and tainted until its network is there becomes Running, by real Helm."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from butler import app
from butler.addons.model import Installer
from butler.api import KINDS
from butler.api.cluster import Networking, TenantCluster, TenantClusterSpec, Workers
from butler.local import installers, system
from butler.local.home import Home
from butler.local.installation import install_definitions
from butler.local.platform import working
from butler.simulation import world as simulated
from butler.simulation.delays import NONE
from butler.simulation.infrastructure.nodes import NODE
from butler.simulation.installer import RecordingInstaller
from butler.simulation.tenant_apis import TenantApi, TenantApis
from kubekit.client import kubeconfig
from kubekit.client.http import HttpClient
from kubekit.client.protocol import Client, Patch
from kubekit.model.resource import Address, ObjectMeta
from kubekit.runtime.client_wrapper import WrappedClient
from kubekit.runtime.manager import Manager, ManagerSettings
from kubekit.server.client import DirectClient
from kubekit.server.serve.server import Server
from testbed.running import servers
from testbed.running.helm import helm_of
from testbed.running.servers import Cluster
from tests.local.worlds import NAME, TENANTS, runs, until

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]

VERSION, SERVICES = "v1.33.0", "10.0.0.0/24"
CONTROLLERS = (
    "*,-nodeipam,-service-lb-controller,-node-lifecycle-controller,-daemonset-controller,-deployment-controller"
)
DAEMON_SET, DEPLOYMENT = (Address.of("apps/v1", kind) for kind in ("DaemonSet", "Deployment"))
NO_NETWORK = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
UNREADY = {
    "status": "False", "reason": "KubeletNotReady",
    "message": "container runtime network not ready: cni plugin not initialized",
}  # fmt: skip


class Registering(WrappedClient):
    """Registers nodes as real kubelets do: NotReady and tainted."""

    async def create(self, obj: Any, kind: Any = None, **options: Any) -> Any:
        if kind is NODE:
            said = [one | UNREADY if one["type"] == "Ready" else one for one in obj["status"]["conditions"]]
            taints = [*obj["spec"].get("taints", ()), NO_NETWORK]
            obj = {**obj, "spec": {**obj["spec"], "taints": taints}, "status": {**obj["status"], "conditions": said}}
        return await super().create(obj, kind, **options)


class RealTenant(TenantApi):
    """A tenant whose API is the real one; its authority remains that of the simulation, since nobody asks for it."""

    def __init__(self, server: Server, space: Any, content: bytes, client: Client) -> None:
        super().__init__(server, space)
        self.client, self._content = client, content
        self._cluster = kubeconfig.self_contained(content, "test").cluster

    @property
    def url(self) -> str:
        return self._cluster.server

    @property
    def endpoint(self) -> str:
        return urlsplit(self.url).netloc

    @property
    def authority(self) -> bytes:
        return self._cluster.authority.read()

    def kubeconfig(self) -> bytes:
        return self._content


class RealTenants(TenantApis):
    """Every tenant gets the real API, so there may be one."""

    def __init__(self, server: Server, content: bytes, client: Client) -> None:
        super().__init__(server)
        self._space, self._content, self._client = server, content, client

    @property
    def endpoint(self) -> str:
        return urlsplit(kubeconfig.self_contained(self._content, "test").cluster.server).netloc

    async def open(self, name: str, *options: Any, **more: Any) -> TenantApi:
        await super().open(name, *options, **more)
        return RealTenant(self._space, self._space.spaces[name], self._content, self._client)


class Kubelets:
    """Everything on the nodes: it runs where it may, and the network is there once its DaemonSet is."""

    def __init__(self, tenant: Client) -> None:
        self._tenant = tenant

    async def run(self) -> None:
        while True:  # one look after the other is all that is needed here
            await self._look()
            await asyncio.sleep(0.1)

    async def _look(self) -> None:
        nodes = (await self._tenant.list(NODE)).items
        waiting = [one for one in nodes if NO_NETWORK["key"] in {t["key"] for t in one["spec"].get("taints", ())}]
        for one in (await self._tenant.list(DAEMON_SET)).items:
            anywhere = one["spec"]["template"]["spec"].get("tolerations")
            count = len(nodes) if anywhere else len(nodes) - len(waiting)
            counts = ("desiredNumberScheduled", "currentNumberScheduled", "numberReady", "numberAvailable")
            status = {**dict.fromkeys((*counts, "updatedNumberScheduled"), count), "numberMisscheduled": 0}
            await self._tell(DAEMON_SET, one, status)
            if one["metadata"]["name"] == "cilium":
                await self._connect(waiting)
        ready = len(nodes) > len(waiting)
        for one in (await self._tenant.list(DEPLOYMENT)).items:
            if ready:
                available = {"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"}
                counts = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
                told: dict[str, Any] = dict.fromkeys(counts, one["spec"]["replicas"])
                await self._tell(DEPLOYMENT, one, {**told, "conditions": [available]})

    async def _tell(self, kind: Address, one: Any, status: dict[str, Any]) -> None:
        wanted = {**status, "observedGeneration": one["metadata"]["generation"]}
        there = one.get("status") or {}
        if {name: there.get(name, 0) for name in wanted if name != "conditions"} != {
            name: value for name, value in wanted.items() if name != "conditions"
        }:
            meta = one["metadata"]
            await self._tenant.patch(kind, meta["name"], {"status": wanted}, meta["namespace"], subresource="status")

    async def _connect(self, nodes: list[Any]) -> None:
        for node in nodes:
            name, taints = node["metadata"]["name"], node["spec"]["taints"]
            left = [one for one in taints if one["key"] != NO_NETWORK["key"]]
            await self._tenant.patch(NODE, name, {"spec": {"taints": left or None}})
            ready = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
            await self._tenant.patch(
                NODE, name, {"status": {"conditions": [ready]}}, form=Patch.STRATEGIC, subresource="status"
            )


@pytest.fixture
def real(tmp_path: Path) -> Iterator[Cluster]:
    """Without the controllers whose work depends on kubelets."""
    folder = tmp_path / "real"
    folder.mkdir()
    with servers.real(folder, CONTROLLERS) as running:
        yield running


def content_of(cluster: Cluster) -> bytes:
    """A kubeconfig that names no files."""
    found = json.loads(cluster.kubeconfig.read_text())
    where = found["clusters"][0]["cluster"]
    where["certificate-authority-data"] = base64.b64encode(
        Path(where.pop("certificate-authority")).read_bytes()
    ).decode()
    return json.dumps(found).encode()


@asynccontextmanager
async def platform(server: Server, real: Cluster, folder: Path, installer: Installer) -> AsyncIterator[Client]:
    """Butler and simulated machines, for one tenant on the real API."""
    management, content = DirectClient(server.root), content_of(real)
    await install_definitions(management, (*KINDS, *simulated.ENGINE_KINDS))
    await system.install(management, simulated=True)
    config = kubeconfig.self_contained(content, "test")
    async with (
        HttpClient(config) as tenant,
        app.connections() as connect,
        simulated.world(server, folder / "datacentre", NONE, lambda one: one, None, None) as usual,
    ):
        tenants = RealTenants(server, content, tenant)
        world = replace(usual, tenants=tenants, connect=lambda config: Registering(connect(config)))
        butler, engines = (Manager(management, ManagerSettings(name)) for name in ("butler", "engines"))
        app.add_controllers(butler, connect, world.surroundings, ("simulated",), installer)
        simulated.add_stand_ins(engines, world, simulated.ENGINES)
        kubelets = asyncio.create_task(Kubelets(tenant).run())
        async with working([butler, engines]):
            yield management
        kubelets.cancel()
        with suppress(asyncio.CancelledError):
            await kubelets


async def create(management: Client) -> None:
    spec = TenantClusterSpec(
        kubernetes_version=VERSION, workers=Workers(replicas=2), networking=Networking(service_cidr=SERVICES)
    )
    await management.create(TenantCluster(metadata=ObjectMeta(name=NAME, namespace=TENANTS), spec=spec))


async def test_a_cluster_runs_whose_nodes_wait_for_a_chart(server: Server, real: Cluster, tmp_path: Path) -> None:
    client = DirectClient(server.root)
    installer = installers.for_simulation(installers.by_helm(Home(tmp_path / "home"), client, None))
    async with platform(server, real, tmp_path, installer) as management:
        await create(management)
        await until(management, runs(VERSION, 2))
        found = await management.get(TenantCluster, NAME, TENANTS)
    assert found.status.observed_state is not None
    assert {one.status for one in found.status.observed_state.addons} == {"Healthy"}
    process = await asyncio.create_subprocess_exec(
        str(helm_of("3")), "list", "--all-namespaces", "--output", "json", "--kubeconfig", str(real.kubeconfig),
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    output, _ = await process.communicate()
    releases = {one["name"]: one["status"] for one in json.loads(output)}
    assert releases == dict.fromkeys((one.name for one in found.status.observed_state.addons), "deployed")


async def test_without_the_chart_its_nodes_wait_for_ever(server: Server, real: Cluster, tmp_path: Path) -> None:
    """What shows that these nodes are as real ones: a note of the network is none."""

    def has_only_its_network(cluster: TenantCluster | None) -> bool:
        told = cluster.status.condition("NodeAddonsReady") if cluster is not None else None
        return told is not None and told.status == "True"

    async with platform(server, real, tmp_path, RecordingInstaller()) as management:
        await create(management)
        await until(management, has_only_its_network)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(5):
                await until(management, runs(VERSION, 2))
