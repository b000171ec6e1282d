"""Platforms in a test's own event loop, and a cluster to ask them for."""

from __future__ import annotations

from collections.abc import Callable

from butler.api.cluster import ClusterPhase, TenantCluster, TenantClusterSpec, Workers
from butler.api.machine import MachineRequest, MachineRole, MachineSpec
from butler.api.shared import ProviderRef
from kubekit.client.protocol import Client, Selection, Signal
from kubekit.model.resource import ObjectMeta

TENANTS = "butler-tenants"
NAME = "shop"

Done = Callable[[TenantCluster | None], bool]


async def create(client: Client, name: str = NAME) -> None:
    spec = TenantClusterSpec(kubernetes_version="v1.31.4", workers=Workers(replicas=2))
    await client.create(TenantCluster(metadata=ObjectMeta(name=name, namespace=TENANTS), spec=spec))


async def scale(client: Client, replicas: int = 3) -> None:
    await client.patch(TenantCluster, NAME, {"spec": {"workers": {"replicas": replicas}}}, TENANTS)


async def upgrade(client: Client) -> None:
    await client.patch(TenantCluster, NAME, {"spec": {"kubernetesVersion": "v1.32.2"}}, TENANTS)


async def shrink(client: Client) -> None:
    await scale(client, 1)


async def destroy(client: Client) -> None:
    await client.delete(TenantCluster, NAME, TENANTS)


def runs(version: str, workers: int) -> Done:
    """Whether a cluster is wholly what was last asked for."""

    def is_done(cluster: TenantCluster | None) -> bool:
        if cluster is None:
            return False
        status, ready, seen = cluster.status, cluster.status.condition("Ready"), cluster.status.observed_state
        return (
            status.observed_generation == cluster.metadata.generation
            and status.phase is ClusterPhase.RUNNING
            and ready is not None
            and ready.status == "True"
            and status.worker_nodes_ready == workers
            and seen is not None
            and seen.kubernetes_version == version
        )

    return is_done


def is_gone(cluster: TenantCluster | None) -> bool:
    return cluster is None


async def until(client: Client, done: Done, name: str = NAME) -> None:
    """Wait until a cluster is as it should be."""
    one = Selection(TENANTS, fields=f"metadata.name={name}")
    listed = await client.list(TenantCluster, one)
    if done(listed.items[0] if listed.items else None):
        return
    async for event in client.watch(TenantCluster, one, version=listed.version):
        if event.signal is not Signal.BOOKMARK and done(None if event.signal is Signal.DELETED else event.item):
            return
    raise AssertionError("the watch has ended")


def a_machine_request() -> MachineRequest:
    """One that nobody sees to."""
    spec = MachineSpec(
        provider_ref=ProviderRef(name="lab"),
        machine_name="cp-0",
        role=MachineRole.WORKER,
        cpu=1,
        memory_mb=1024,
        disk_gb=10,
    )
    return MachineRequest(metadata=ObjectMeta(name="cp-0", namespace="default"), spec=spec)
