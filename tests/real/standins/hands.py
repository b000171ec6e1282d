"""Both providers at once, the infrastructure's and the control plane's, moved by hand: nothing happens by itself."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from butler.engines.capi.kinds import Cluster, KubeadmConfig, Machine, MachineDeployment
from butler.engines.core import Secret
from butler.engines.kamaji.kinds import KamajiControlPlane
from butler.simulation.infrastructure.kinds import MACHINE_FINALIZER, SimulatedCluster, SimulatedMachine
from kubekit.client.protocol import Client, Selection
from kubekit.errors import NotFound
from kubekit.model.resource import Address
from testbed.running.certificates import Authority
from tests.real.standins import objects
from tests.real.standins.objects import NAME, NAMESPACES, NODES, PODS, WORKERS, Json


class Hands:
    """What providers and people do to a cluster."""

    def __init__(self, namespace: str, management: Client, tenant: Client, kubeconfig: str) -> None:
        """`kubeconfig` is how others reach the tenant."""
        self.namespace, self.management, self.tenant = namespace, management, tenant
        self._kubeconfig = kubeconfig

    async def ask_for_cluster(self, workers: int) -> None:
        await self.management.create({"metadata": {"name": self.namespace}}, NAMESPACES)
        for obj, kind in objects.cluster(workers):
            await self.create(obj, kind)
        # Whoever finds no kubeconfig does not look again for half a minute.
        pair = Authority().pair
        authority = {"tls.crt": pair.certificate.decode(), "tls.key": pair.key.decode()}
        await self.create(objects.secret(f"{NAME}-ca", **authority), Secret.address)
        await self.create(objects.secret(f"{NAME}-kubeconfig", value=self._kubeconfig), Secret.address)

    async def create(self, obj: Json, kind: Address) -> None:
        await self.management.create({**obj, "metadata": {**obj["metadata"], "namespace": self.namespace}}, kind)

    async def change_workers(self, **spec: Any) -> None:
        await self._patch(MachineDeployment.address, WORKERS, {"spec": spec})

    async def change_cluster(self, **spec: Any) -> None:
        await self._patch(Cluster.address, NAME, {"spec": spec})

    async def ask_for_version(self, version: str) -> None:
        await self._patch(KamajiControlPlane.address, NAME, {"spec": {"version": version}})

    async def some_machine(self) -> str:
        return str(min(one["metadata"]["name"] for one in await self._all(Machine.address)))

    async def delete_machine(self, name: str) -> None:
        await self.management.delete(Machine, name, self.namespace)

    async def delete_cluster(self) -> None:
        await self.management.delete(Cluster, NAME, self.namespace)

    async def report_version(self, version: str) -> None:
        """All of it runs, in this version."""
        counts = dict.fromkeys(("replicas", "readyReplicas", "availableReplicas", "upToDateReplicas"), 2)
        status = {
            "initialization": {"controlPlaneInitialized": True}, "version": version, "ready": True,
            "externalManagedControlPlane": True, **counts,
        }  # fmt: skip
        await self._patch(KamajiControlPlane.address, NAME, {"status": status}, "status")

    async def provide_infrastructure(self) -> None:
        status = {"initialization": {"provisioned": True}}
        await self._patch(SimulatedCluster.address, NAME, {"status": status}, "status")

    async def boot(self, *, with_nodes: bool = True) -> None:
        """Every machine that has its data and does not run yet. Its node joins before anybody knows that it runs."""
        versions = {one["metadata"]["name"]: one["spec"]["version"] for one in await self._all(Machine.address)}
        bootable = {one["metadata"]["name"] for one in await self._all(KubeadmConfig.address) if _has_data(one)}
        for vm in await self._all(SimulatedMachine.address):
            name = vm["metadata"]["name"]
            if name not in bootable or vm["spec"].get("providerID") or _is_going(vm):
                continue
            if with_nodes:
                await self._join(name, versions[name], ready=True)
            change = {
                "metadata": {"finalizers": [MACHINE_FINALIZER]},
                "spec": {"providerID": objects.provider_id(name)},
            }
            await self._patch(SimulatedMachine.address, name, change)
            status = {
                "initialization": {"provisioned": True},
                "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
                "conditions": [_said("Ready", "True", "Running")],
            }
            await self._patch(SimulatedMachine.address, name, {"status": status}, "status")

    async def say_of_machines(self, truth: str, reason: str) -> None:
        for name in await self._running():
            status = {"conditions": [_said("Ready", truth, reason)]}
            await self._patch(SimulatedMachine.address, name, {"status": status}, "status")

    async def join(self) -> None:
        """A node for every machine that runs; none is ready."""
        for name in await self._running():
            await self._join(name, objects.VERSION, ready=False)

    async def _join(self, name: str, version: str, *, ready: bool) -> None:
        made = objects.node(name, version, ready=ready)
        await self.tenant.create(made, NODES)
        # A node that is created has no status yet, whatever was sent.
        await self.tenant.patch(NODES, name, {"status": made["status"]}, subresource="status")

    async def say_of_nodes(self, **health: str) -> None:
        for name in [one["metadata"]["name"] for one in (await self.tenant.list(NODES)).items]:
            change = {"status": {"conditions": objects.health(**health)}}
            await self.tenant.patch(NODES, name, change, subresource="status")

    async def lose_a_node(self) -> None:
        await self.tenant.delete(NODES, await self.some_machine())

    async def run_a_pod_on(self, node: str) -> None:
        await self.tenant.create(objects.pod("busy", node), PODS)

    async def end_the_pod(self) -> None:
        with suppress(NotFound):
            await self.tenant.delete(PODS, "busy", "default", grace=0)

    async def let_go(self, kind: type[Any] = SimulatedMachine) -> None:
        """Whatever of a kind is asked to go may go."""
        for one in await self._all(kind.address):
            if _is_going(one):
                await self._patch(kind.address, one["metadata"]["name"], {"metadata": {"finalizers": None}})

    async def _running(self) -> list[str]:
        found = await self._all(SimulatedMachine.address)
        return [one["metadata"]["name"] for one in found if one["spec"].get("providerID") and not _is_going(one)]

    async def _all(self, kind: Address) -> tuple[Json, ...]:
        return (await self.management.list(kind, Selection(namespace=self.namespace))).items

    async def _patch(self, kind: Address, name: str, change: Json, subresource: str = "") -> None:
        await self.management.patch(kind, name, change, self.namespace, subresource=subresource)


def _has_data(config: Json) -> bool:
    return bool(config.get("status", {}).get("dataSecretName"))


def _is_going(obj: Json) -> bool:
    return "deletionTimestamp" in obj["metadata"]


def _said(kind: str, truth: str, reason: str) -> Json:
    return {
        "type": kind, "status": truth, "reason": reason, "message": "so",
        "lastTransitionTime": "2030-01-01T00:00:00Z",
    }  # fmt: skip
