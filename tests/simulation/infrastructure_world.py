"""Two APIs in memory, the simulated data centre, and between them a process that can be killed."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import msgspec

from butler.api.provider import ProviderConfig, ProviderConfigSpec
from butler.api.sections.simulated import SimulatedSection
from butler.api.shared import ProviderRef, ProviderType
from butler.engines.capi.kinds import (
    CLUSTER_NAME,
    Bootstrap,
    CidrBlocks,
    Cluster,
    ClusterNetwork,
    ClusterSpec,
    Endpoint,
    KubeadmConfig,
    Machine,
    MachineSpec,
    Ref,
)
from butler.engines.core import Secret
from butler.engines.tenants import kubeconfig_secret
from butler.providers.simulated.datacentre import DataCentre
from butler.simulation.delays import NONE, Delays
from butler.simulation.infrastructure.controllers import add_infrastructure
from butler.simulation.infrastructure.kinds import KINDS, SimulatedCluster, SimulatedMachine, SimulatedMachineSpec
from butler.simulation.infrastructure.nodes import NODE
from kubekit.client.protocol import Client
from kubekit.errors import NotFound, Unauthorized
from kubekit.model.resource import ObjectMeta, OwnerReference
from kubekit.runtime.client_wrapper import Call, Go, WrappedClient
from kubekit.runtime.manager import Manager, ManagerSettings
from kubekit.runtime.queue import Backoff
from kubekit.testing.deterministic_loop import Loop
from kubekit.testing.memory import MemorySpace
from tests.simulation.tenant_kubeconfig import HOST, KUBECONFIG, PORT

NAMESPACE = "shop-12345678"
CLUSTER = "shop"
CONFIG = "simulated"
VERSION = "v1.33.4"
NODE_REGISTRATION = {
    "taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}],
    "kubeletExtraArgs": [{"name": "node-labels", "value": "pool=gpu,tier=gold"}],
}

READY = {
    "Ready": "True/Ready",
    "VMProvisioned": "True/Provisioned",
    "NodeProvisioned": "True/Provisioned",
    "Paused": "False/NotPaused",
}
"""What a machine says of itself when all is well."""


class Mortal(WrappedClient):
    """A client of a process that is killed at one of its writes: nothing it sends or awaits after that arrives."""

    def __init__(self, inner: Client, process: Process) -> None:
        super().__init__(inner)
        self._process = process

    async def around(self, call: Call, go: Go) -> Any:
        process = self._process
        if not call.writes or call.address.plural == "events":
            return await go()
        process.writes.append(f"{call.verb} {call.address.plural}{'/' * bool(call.subresource)}{call.subresource}")
        if process.dies_before == len(process.writes):
            process.dead.set()
        if process.dead.is_set():
            await asyncio.get_running_loop().create_future()
        answer = await go()
        if process.dies_after == len(process.writes):
            process.dead.set()
            await asyncio.get_running_loop().create_future()
        return answer


class Guarded(WrappedClient):
    """A tenant's API that may not know who asks."""

    def __init__(self, inner: Client, process: Process) -> None:
        super().__init__(inner)
        self._process = process

    async def around(self, call: Call, go: Go) -> Any:
        if self._process.is_refused:
            raise Unauthorized("Unauthorized")
        return await go()


class Process:
    """A manager with the reconcilers under test, from its start to its end."""

    def __init__(self, world: World, delays: Delays, dies_before: int = 0, dies_after: int = 0) -> None:
        self.is_refused = False
        """Whether the tenant's API does not know who asks."""
        self.writes: list[str] = []
        self.dead = asyncio.Event()
        self.dies_before, self.dies_after = dies_before, dies_after
        settings = ManagerSettings("test", backoff=Backoff(first=0.05, longest=5.0))
        client = Mortal(world.root.client(), self)
        self.manager = Manager(client, settings, clock=world.loop.clock, chance=world.loop.chance)
        tenant = Guarded(Mortal(world.tenant.client(), self), self)
        add_infrastructure(self.manager, world.datacentre, lambda config: tenant, delays)
        self.task = asyncio.create_task(self.manager.run())

    async def end(self) -> None:
        self.task.cancel()
        with suppress(asyncio.CancelledError):
            await self.task


class World:
    """Everything outside of the process."""

    def __init__(self, loop: Loop, fast: bool = False) -> None:
        self.loop = loop
        custom = (*KINDS, ProviderConfig, Cluster, Machine, KubeadmConfig)
        self.root = MemorySpace(loop.clock, loop.chance, kinds=custom, namespaces=(NAMESPACE, "butler-system"))
        self.tenant = MemorySpace(loop.clock, loop.chance)
        self.client, self.tenant_client = self.root.client(), self.tenant.client()
        self.datacentre = DataCentre(clock=loop.clock, chance=loop.chance, fast=fast)

    async def furnish(self, **section: Any) -> None:
        """What is there before any machine."""
        meta = ObjectMeta(name=CONFIG, namespace="butler-system")
        spec = ProviderConfigSpec(provider=ProviderType.SIMULATED, simulated=SimulatedSection(**section))
        await self.client.create(ProviderConfig(metadata=meta, spec=spec))
        network = ClusterNetwork(pods=CidrBlocks(cidr_blocks=("10.244.0.0/16",)))
        meta = ObjectMeta(name=CLUSTER, namespace=NAMESPACE)
        cluster = ClusterSpec(cluster_network=network, control_plane_endpoint=Endpoint(host=HOST, port=PORT))
        await self.client.create(Cluster(metadata=meta, spec=cluster))
        await self.secret(kubeconfig_secret(CLUSTER), KUBECONFIG)

    async def secret(self, name: str, value: bytes) -> None:
        await self.client.create(
            Secret(metadata=ObjectMeta(name=name, namespace=NAMESPACE), type="Opaque", data={"value": value})
        )

    async def machine(self, name: str, has_data: bool = True, **spec: Any) -> None:
        """A Machine with everything that Cluster API makes for it."""
        meta = ObjectMeta(name=name, namespace=NAMESPACE, labels={CLUSTER_NAME: CLUSTER})
        if has_data:
            await self.secret(name, b"#cloud-config")
        config = KubeadmConfig(metadata=meta, spec={"joinConfiguration": {"nodeRegistration": NODE_REGISTRATION}})
        await self.client.create(config)
        owner = await self.client.create(
            Machine(
                metadata=meta,
                spec=MachineSpec(
                    cluster_name=CLUSTER,
                    version=VERSION,
                    bootstrap=Bootstrap(
                        config_ref=Ref(api_group="bootstrap.cluster.x-k8s.io", kind="KubeadmConfig", name=name),
                        data_secret_name=name if has_data else None,
                    ),
                    infrastructure_ref=Ref(
                        api_group=SimulatedMachine.address.group, kind=SimulatedMachine.address.kind, name=name
                    ),
                ),
            )
        )
        reference = OwnerReference(
            api_version=Machine.address.api_version, kind="Machine", name=name, uid=owner.metadata.uid, controller=True
        )
        await self.client.create(
            SimulatedMachine(
                metadata=msgspec.structs.replace(meta, owner_references=(reference,)),
                spec=SimulatedMachineSpec(
                    provider_config_ref=ProviderRef(name=CONFIG, namespace="butler-system"), **spec
                ),
            )
        )

    async def simulated(self, name: str = "web-0") -> SimulatedMachine | None:
        try:
            found: SimulatedMachine = await self.client.get(SimulatedMachine, name, NAMESPACE)
        except NotFound:
            return None
        return found

    async def nodes(self) -> list[dict[str, Any]]:
        return list((await self.tenant_client.list(NODE)).items)

    async def delete(self, name: str = "web-0") -> None:
        await self.client.delete(SimulatedMachine, name, NAMESPACE)

    async def cluster(self, endpoint: dict[str, Any] | None) -> None:
        spec = {"controlPlaneEndpoint": endpoint} if endpoint else {}
        obj = {"metadata": {"name": CLUSTER, "namespace": NAMESPACE}, "spec": spec}
        await self.client.create(obj, SimulatedCluster.address)


def facts(machine: SimulatedMachine | None) -> dict[str, str]:
    """Each condition as `status/reason`."""
    assert machine is not None
    return {one.type: f"{one.status}/{one.reason}" for one in machine.status.conditions}


REALISTIC = Delays()
FAST = NONE
