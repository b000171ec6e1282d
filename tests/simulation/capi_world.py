"""A management API in memory, tenants' APIs beside it, and the smallest providers Cluster API can work with."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec import structs

from butler.engines.capi.kinds import (
    BOOTSTRAP,
    CLUSTER_NAME,
    CONTROL_PLANE,
    INFRASTRUCTURE,
    Bootstrap,
    Cluster,
    ClusterSpec,
    Endpoint,
    KubeadmConfig,
    KubeadmConfigTemplate,
    LabelSelector,
    Machine,
    MachineDeployment,
    MachineDeploymentSpec,
    MachineSet,
    MachineSpec,
    MachineTemplateSpec,
    Ref,
    RollingUpdate,
    Rollout,
    RolloutStrategy,
    TemplateMeta,
)
from butler.engines.core import Secret
from butler.engines.kamaji.kinds import (
    ControlPlaneInitialization,
    KamajiControlPlane,
    KamajiControlPlaneSpec,
    KamajiControlPlaneStatus,
)
from butler.local.installation import install_definitions
from butler.simulation.capi import add_cluster_api
from butler.simulation.capi.machines.nodes import Node
from butler.simulation.delays import NONE, Delays
from butler.simulation.infrastructure.kinds import (
    Initialization,
    SimulatedCluster,
    SimulatedClusterSpec,
    SimulatedClusterStatus,
    SimulatedMachine,
    SimulatedMachineResource,
    SimulatedMachineSpec,
    SimulatedMachineStatus,
    SimulatedMachineTemplate,
    SimulatedMachineTemplateSpec,
)
from kubekit.client.config import Config
from kubekit.client.protocol import Client, Selection
from kubekit.errors import AlreadyExists, NotFound
from kubekit.model.resource import Address, ObjectMeta
from kubekit.runtime.client_wrapper import Call, Go, WrappedClient
from kubekit.runtime.manager import Manager, ManagerSettings
from kubekit.runtime.objects import owners_of
from kubekit.runtime.reconciler import Outcome, Reconciler, Watch
from kubekit.server.access.pki import ROOT, Pki
from kubekit.server.client import DirectClient
from kubekit.server.pipeline.watches import Hub
from kubekit.server.spaces.kubernetes_service import Location
from kubekit.server.spaces.served_space import ServedSpace
from kubekit.server.spaces.spaces import Spaces
from kubekit.server.store.changes import Change
from kubekit.server.store.events import Event
from kubekit.server.store.store import Store
from kubekit.testing.deterministic_loop import Loop
from tests.simulation.tenant_kubeconfig import HOST, KUBECONFIG, PORT

NAMESPACE = "shop-12345678"
NAME = "shop"
VERSION = "v1.34.0"
NODES = Address("", "v1", "Node", "nodes", False)
PODS = Address("", "v1", "Pod", "pods", True)
EVENTS = Address("", "v1", "Event", "events", True)
KINDS = (
    Cluster, MachineDeployment, MachineSet, Machine, KubeadmConfig, KubeadmConfigTemplate, KamajiControlPlane,
    SimulatedCluster, SimulatedMachine, SimulatedMachineTemplate,
)  # fmt: skip
_WELL = [
    {"type": "Ready", "status": "True"},
    *({"type": pressure, "status": "False"} for pressure in ("MemoryPressure", "DiskPressure", "PIDPressure")),
]


class Counting(WrappedClient):
    """Counts what is written, and hangs for ever once the world's last write is done: its process is dead."""

    def __init__(self, inner: Client, world: World) -> None:
        super().__init__(inner)
        self.writes: Counter[tuple[str, str, str]] = Counter()
        self._world = world

    async def around(self, call: Call, go: Go) -> Any:
        if not call.writes:
            return await go()
        if self._world.lives <= 0:
            await self._die()
        self._world.lives -= 1
        answer = await go()
        self.writes[call.verb, call.address.kind, call.subresource] += 1
        if self._world.lives <= 0:
            await self._die()
        return answer

    async def _die(self) -> None:
        self._world.died.set()
        await asyncio.get_running_loop().create_future()


class ControlPlanes(Reconciler[KamajiControlPlane]):
    """KamajiControlPlane → an API for the tenant."""

    kind = KamajiControlPlane
    finalizer = "test/control-plane"
    tells_conditions = False

    def __init__(self, manager: Manager, world: World) -> None:
        self._client, self._world = manager.client, world
        self._clusters = manager.informers.of(Cluster)
        self.watches = (Watch(Cluster, lambda one: [one.key]),)

    async def reconcile(self, control_plane: KamajiControlPlane) -> Outcome:
        cluster = self._clusters.get(control_plane.key)
        if cluster is None or not any(owner.kind == "Cluster" for owner in owners_of(control_plane)):
            return Outcome()
        done = cluster.status.initialization
        if not (done and done.infrastructure_provisioned and cluster.spec.control_plane_endpoint):
            return Outcome()
        secret = Secret(
            metadata=ObjectMeta(name=f"{cluster.metadata.name}-kubeconfig", namespace=cluster.metadata.namespace),
            type="cluster.x-k8s.io/secret",
            data={"value": KUBECONFIG},
        )
        with suppress(AlreadyExists):
            await self._client.create(secret)
        if self._world.upgrading:
            return Outcome(control_plane.status)
        return Outcome(
            KamajiControlPlaneStatus(
                initialization=ControlPlaneInitialization(control_plane_initialized=True),
                version=control_plane.spec.version,
                replicas=2,
                ready_replicas=2,
            )
        )


class Infrastructures(Reconciler[SimulatedCluster]):
    """SimulatedCluster → nothing to do."""

    kind = SimulatedCluster
    finalizer = "test/infrastructure"
    tells_conditions = False

    async def reconcile(self, cluster: SimulatedCluster) -> Outcome:
        if cluster.spec.control_plane_endpoint is None:
            return Outcome()
        return Outcome(SimulatedClusterStatus(initialization=Initialization(provisioned=True)))


class Vms(Reconciler[SimulatedMachine]):
    """SimulatedMachine → a node."""

    kind = SimulatedMachine
    finalizer = "simulatedmachine.infrastructure.cluster.x-k8s.io"
    tells_conditions = False

    def __init__(self, manager: Manager, world: World) -> None:
        self._client, self._world = manager.client, world
        self._machines = manager.informers.of(Machine)
        self.watches = (Watch(Machine, lambda one: [one.key]),)

    async def reconcile(self, vm: SimulatedMachine) -> Outcome:
        machine = self._machines.get(vm.key)
        if machine is None or not machine.spec.bootstrap.data_secret_name or self._world.vms_never_boot:
            return Outcome()
        if vm.status.initialization is not None:
            return Outcome()
        name = vm.metadata.name
        if self._world.failure:
            return Outcome(structs.replace(vm.status, conditions=self._world.failure))
        if vm.spec.provider_id is None:
            self._world.booted.append(name)
            change = {"spec": {"providerID": f"simulated://{name}"}}
            await self._client.patch(SimulatedMachine, name, change, vm.metadata.namespace)
            return Outcome()
        with suppress(AlreadyExists):
            await self._world.tenant.create(node(name, machine.spec.version or ""), NODES)
        return Outcome(SimulatedMachineStatus(initialization=Initialization(provisioned=True)))

    async def finalize(self, vm: SimulatedMachine) -> Outcome:
        # Asked twice, a machine is still removed once.
        if vm.metadata.name not in self._world.removed:
            self._world.removed.append(vm.metadata.name)
        if vm.status.initialization is None:
            # Nobody else knows of it yet.
            with suppress(NotFound):
                await self._world.tenant.delete(NODES, vm.metadata.name)
        return Outcome()


def node(name: str, version: str = VERSION) -> dict[str, Any]:
    return {
        "metadata": {"name": name},
        "spec": {"providerID": f"simulated://{name}"},
        "status": {"conditions": _WELL, "nodeInfo": {"kubeletVersion": version, "osImage": "Simulated"}},
    }


@dataclass
class World:
    """Everything there is."""

    root: ServedSpace
    tenant_space: ServedSpace
    loop: Loop
    delays: Delays = NONE
    wrap: Callable[[Client], Client] = lambda client: client
    """Goes around every client of the stand-ins."""
    lives: float = float("inf")
    """How many more writes there are before everybody dies."""
    booted: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    failure: tuple[Any, ...] = ()
    vms_never_boot: bool = False
    upgrading: bool = False
    clients: list[Counting] = field(default_factory=list)
    machines: dict[str, dict[str, Any]] = field(default_factory=dict)
    """All machines there are, by name, as of now."""
    look: Callable[[], None] = lambda: None
    """Called whenever one of them has changed."""

    def __post_init__(self) -> None:
        self.client = DirectClient(self.root)
        self.tenant = DirectClient(self.tenant_space)
        self.died = asyncio.Event()
        self.root.store.listen(self._see)

    def connect(self, config: Config) -> Client:
        assert config.cluster.server == f"https://{HOST}:{PORT}"
        return self.wrap(self.tenant)

    def _see(self, event: Event) -> None:
        if self.root.store.names_of(event.bucket) != ("root", "cluster.x-k8s.io/machines"):
            return
        if event.change is Change.DELETED:
            self.machines.pop(event.key, None)
        else:
            self.machines[event.key] = event.object
        self.look()

    @asynccontextmanager
    async def managed(self) -> AsyncIterator[Manager]:
        """The stand-ins at work; afterwards they are gone, whatever they were about to do."""
        self.died = asyncio.Event()
        providers, standins = self._manager("providers"), self._manager("standins")
        providers.add(ControlPlanes(providers, self))
        providers.add(Infrastructures())
        providers.add(Vms(providers, self))
        add_cluster_api(standins, self.connect, self.delays, clock=self.loop.clock, chance=self.loop.chance)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one.run()) for one in (providers, standins)]
            yield standins
            for task in tasks:
                task.cancel()

    def _manager(self, name: str) -> Manager:
        client = Counting(self.wrap(DirectClient(self.root)), self)
        self.clients.append(client)
        return Manager(client, ManagerSettings(name), clock=self.loop.clock, chance=self.loop.chance)

    async def settled(self, seconds: float = 60.0) -> None:
        """Let everything happen that happens within so much virtual time."""
        await asyncio.sleep(seconds)

    @property
    def writes(self) -> Counter[tuple[str, str, str]]:
        """What Cluster API has written."""
        return self.clients[-1].writes

    async def all(self, kind: type[Any]) -> list[Any]:
        return list((await self.client.list(kind, Selection(namespace=NAMESPACE))).items)

    async def get(self, kind: type[Any], name: str = NAME) -> Any:
        return await self.client.get(kind, name, NAMESPACE)

    async def nodes(self) -> list[Node]:
        return list((await self.tenant.list(Node)).items)

    async def events(self) -> list[tuple[str, str, str]]:
        """Kind of what they are about, reason and message."""
        found = (await self.client.list(EVENTS, Selection(namespace=NAMESPACE))).items
        return [(one["involvedObject"]["kind"], one["reason"], one["message"]) for one in found]

    async def make_cluster(self, replicas: int = 3, **rolling: int) -> None:
        """What Butler would apply."""
        for obj in manifests(replicas, **rolling):
            await self.client.create(obj)

    async def change(self, kind: type[Any], name: str, change: dict[str, Any]) -> None:
        await self.client.patch(kind, name, change, NAMESPACE)

    async def delete_cluster(self) -> None:
        await self.client.delete(Cluster, NAME, NAMESPACE)


def manifests(replicas: int, **rolling: int) -> Iterable[Any]:
    labels = {CLUSTER_NAME: NAME}
    meta = ObjectMeta(name=NAME, namespace=NAMESPACE, labels=labels)
    worker = structs.replace(meta, name=f"{NAME}-worker")
    endpoint = Endpoint(host=HOST, port=PORT)
    yield SimulatedCluster(metadata=meta, spec=SimulatedClusterSpec(control_plane_endpoint=endpoint))
    yield KubeadmConfigTemplate(metadata=worker)
    yield SimulatedMachineTemplate(
        metadata=worker,
        spec=SimulatedMachineTemplateSpec(template=SimulatedMachineResource(spec=SimulatedMachineSpec(cpu=4))),
    )
    yield KamajiControlPlane(metadata=meta, spec=KamajiControlPlaneSpec(version=VERSION))
    yield Cluster(
        metadata=meta,
        spec=ClusterSpec(
            control_plane_endpoint=endpoint,
            control_plane_ref=Ref(api_group=CONTROL_PLANE, kind="KamajiControlPlane", name=NAME),
            infrastructure_ref=Ref(api_group=INFRASTRUCTURE, kind="SimulatedCluster", name=NAME),
        ),
    )
    yield deployment(replicas, **rolling)


def deployment(replicas: int, **rolling: int) -> MachineDeployment:
    labels = {CLUSTER_NAME: NAME, "pool": "workers"}
    return MachineDeployment(
        metadata=ObjectMeta(name=f"{NAME}-workers", namespace=NAMESPACE, labels={CLUSTER_NAME: NAME}),
        spec=MachineDeploymentSpec(
            cluster_name=NAME,
            replicas=replicas,
            selector=LabelSelector(match_labels=labels),
            rollout=Rollout(
                strategy=RolloutStrategy(
                    rolling_update=RollingUpdate(**{"max_surge": 1, "max_unavailable": 0, **rolling})
                )
            ),
            template=MachineTemplateSpec(
                metadata=TemplateMeta(labels=labels),
                spec=MachineSpec(
                    cluster_name=NAME,
                    version=VERSION,
                    bootstrap=Bootstrap(
                        config_ref=Ref(api_group=BOOTSTRAP, kind="KubeadmConfigTemplate", name=f"{NAME}-worker")
                    ),
                    infrastructure_ref=Ref(
                        api_group=INFRASTRUCTURE, kind="SimulatedMachineTemplate", name=f"{NAME}-worker"
                    ),
                ),
            ),
        ),
    )


@asynccontextmanager
async def opened(loop: Loop, directory: Path, delays: Delays = NONE) -> AsyncIterator[World]:
    """A world with its kinds installed and nothing in it."""
    store = Store(None)
    pki = Pki(directory, loop.clock)
    pki.open()
    spaces = Spaces(store, Hub(store), pki, Location(HOST, PORT), loop.clock, loop.chance)
    await spaces.open()
    client = DirectClient(spaces[ROOT])
    await install_definitions(client, KINDS)
    await client.create({"metadata": {"name": NAMESPACE}}, Address("", "v1", "Namespace", "namespaces", False))
    try:
        yield World(spaces[ROOT], await spaces.add("tenant"), loop, delays)
    finally:
        await spaces.stop()


def conditions(obj: Any) -> dict[str, str]:
    """`True/Reason` by type."""
    return {one.type: f"{one.status}/{one.reason}" for one in obj.status.conditions}
