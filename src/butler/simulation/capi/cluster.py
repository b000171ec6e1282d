"""Cluster → infrastructure and control plane that belong together, and what is known of them and their workers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from msgspec import structs

from butler.engines.capi.kinds import (
    CLUSTER_NAME,
    Cluster,
    ClusterStatus,
    Machine,
    MachineDeployment,
    MachineSet,
    Ref,
)
from butler.engines.core import Secret
from kubekit.client.protocol import Selection
from kubekit.errors import KubeError, NotFound
from kubekit.runtime.conditions import merged
from kubekit.runtime.objects import key
from kubekit.runtime.reconciler import Note, Outcome, Permission, Reconciler, Watch

from . import names
from .cluster_status import ClusterView, Ending, status_of
from .external import External
from .shared import BY_CLUSTER, WAITING, Shared, has_controller, owned_by, pause_of, paused

SOURCE = "cluster-controller"
MANAGER = "capi-cluster"
_LOOK_AGAIN = timedelta(seconds=10)
"""While the tenant's API does not answer."""


class Clusters(Reconciler[Cluster]):
    """Cluster → what its parts say of it."""

    kind = Cluster
    finalizer = names.CLUSTER_FINALIZER
    tells_conditions = False
    source = SOURCE
    permissions = (
        Permission(Cluster, ("patch",)),
        Permission(MachineDeployment, ("list", "delete")),
        Permission(MachineSet, ("list", "delete")),
        Permission(Machine, ("list", "delete")),
        Permission(Secret, ("get",)),
    )

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self.watches = (
            Watch(MachineDeployment, _cluster_of, matters=_news_of),
            Watch(MachineSet, _cluster_of_standalone, matters=_news_of),
            Watch(Machine, _cluster_of_standalone, matters=_news_of_machine),
        )

    async def reconcile(self, cluster: Cluster) -> Outcome:
        if why := pause_of(cluster, cluster):
            return Outcome(_paused(cluster, why))
        sight = await self._look(cluster)
        for part in (sight.infrastructure, sight.control_plane):
            if part is not None and not part.deleting:
                labels = {CLUSTER_NAME: cluster.metadata.name}
                await self._shared.externals.adopt(part, owned_by(cluster), labels, MANAGER)
        if change := _endpoint(sight):
            meta = cluster.metadata
            await self._shared.client.patch(Cluster, meta.name, {"spec": change}, meta.namespace, manager=MANAGER)
            # That changed the cluster, and so wakes it.
            return Outcome()
        return self._observed(sight)

    async def finalize(self, cluster: Cluster) -> Outcome:
        """Workers first, then the control plane, then the infrastructure, each gone before the next."""
        if why := pause_of(cluster, cluster):
            return Outcome(_paused(cluster, why), again=WAITING)
        sight = await self._look(cluster)
        ending = await self._remove_workers(cluster) or await self._remove_parts(sight)
        if ending is None:
            await self._shared.workloads.forget(cluster.metadata.namespace, cluster.metadata.name)
            self._shared.say(cluster, SOURCE, "Deleted", f"Cluster {cluster.metadata.name} has been deleted")
            return Outcome()
        status = status_of(sight, self._shared.clock.now(), ending)
        return Outcome(status, again=WAITING, notes=_notes(cluster, status))

    async def _look(self, cluster: Cluster) -> ClusterView:
        control_plane = await self._find(cluster, cluster.spec.control_plane_ref)
        return ClusterView(
            cluster,
            await self._find(cluster, cluster.spec.infrastructure_ref),
            control_plane,
            self._shared.deployments.by(BY_CLUSTER, cluster.key),
            [one for one in self._shared.sets.by(BY_CLUSTER, cluster.key) if not has_controller(one)],
            self._shared.machines.by(BY_CLUSTER, cluster.key),
            await self._connected(cluster, control_plane),
        )

    async def _find(self, cluster: Cluster, ref: Ref | None) -> External | None:
        return None if ref is None else await self._shared.externals.find(cluster.metadata.namespace, ref)

    async def _connected(self, cluster: Cluster, control_plane: External | None) -> bool:
        """Whether the tenant's nodes are known; they are followed from when the control plane answers."""
        done = cluster.status.initialization
        initialized = done is not None and done.control_plane_initialized
        if not initialized and (control_plane is None or not control_plane.initialized):
            return False
        if cluster.deleting:
            return self._shared.workloads.nodes(cluster.key) is not None
        try:
            return await self._shared.workloads.connect(cluster.metadata.namespace, cluster.metadata.name)
        except KubeError:
            return False

    def _observed(self, sight: ClusterView) -> Outcome:
        cluster = sight.cluster
        status = status_of(sight, self._shared.clock.now())
        if _is_on_its_way(sight, status) and (left := self._shared.held_back(cluster.metadata)):
            return Outcome(again=left)
        done = status.initialization
        lost = done is not None and done.control_plane_initialized and not sight.connected
        return Outcome(status, again=_LOOK_AGAIN if lost else None, notes=_notes(cluster, status))

    async def _remove_workers(self, cluster: Cluster) -> Ending | None:
        """None when there are none left, by the API and not by a cache."""
        left: list[str] = []
        for kind in (MachineDeployment, MachineSet, Machine):
            found = [one for one in await self._belonging(kind, cluster) if not _is_control_plane(one)]
            left += [f"{one.kind} {one.metadata.name}" for one in found]
            for one in found:
                if not one.deleting and not has_controller(one):
                    await self._delete(kind, one)
        if not left:
            return None
        return Ending("WaitingForWorkersDeletion", f"* {left[0]}" + (f" and {len(left) - 1} more" if left[1:] else ""))

    async def _remove_parts(self, sight: ClusterView) -> Ending | None:
        parts = (
            (sight.cluster.spec.control_plane_ref, sight.control_plane, "WaitingForControlPlaneDeletion"),
            (sight.cluster.spec.infrastructure_ref, sight.infrastructure, "WaitingForInfrastructureDeletion"),
        )
        for ref, seen, reason in parts:
            if ref is None:
                continue
            if seen is not None:
                await self._shared.externals.delete(seen)
            if await self._shared.externals.exists(sight.cluster.metadata.namespace, ref):
                return Ending(reason, f"* {ref.kind} {ref.name}")
        return None

    async def _belonging(self, kind: type[Any], cluster: Cluster) -> Sequence[Any]:
        here = Selection(namespace=cluster.metadata.namespace)
        listed = (await self._shared.client.list(kind, here)).items
        return [one for one in listed if one.spec.cluster_name == cluster.metadata.name]

    async def _delete(self, kind: type[Any], obj: Any) -> None:
        try:
            await self._shared.client.delete(kind, obj.metadata.name, obj.metadata.namespace, uid=obj.metadata.uid)
        except NotFound:
            return


def _endpoint(sight: ClusterView) -> dict[str, Any]:
    """Where the API server is, as far as a part knows it and the cluster does not; empty otherwise."""
    known = sight.cluster.spec.control_plane_endpoint
    if known is not None and known.host:
        return {}
    infrastructure, control_plane = sight.infrastructure, sight.control_plane
    if infrastructure is not None and infrastructure.provisioned and infrastructure.endpoint is not None:
        return {"controlPlaneEndpoint": infrastructure.endpoint}
    if control_plane is not None and control_plane.endpoint is not None:
        return {"controlPlaneEndpoint": control_plane.endpoint}
    return {}


def _is_on_its_way(sight: ClusterView, new: ClusterStatus) -> bool:
    """Whether nothing was reached since the last time that anyone waits for, and more is about to be."""
    done = new.initialization
    if done != sight.cluster.status.initialization:
        return False
    started = done is not None and done.infrastructure_provisioned and done.control_plane_initialized
    return not started or any(one.status.phase is None for one in sight.deployments)


def _notes(cluster: Cluster, new: ClusterStatus) -> tuple[Note, ...]:
    """What people are told happened to a cluster."""
    name, old = cluster.metadata.name, cluster.status
    before, after = old.initialization, new.initialization
    notes = []
    if after is not None and after.infrastructure_provisioned and not (before and before.infrastructure_provisioned):
        notes.append(Note("InfrastructureReady", f"Cluster {name} InfrastructureProvisioned is now True"))
    if after is not None and after.control_plane_initialized and not (before and before.control_plane_initialized):
        notes.append(Note("ControlPlaneInitialized", f"Cluster {name} ControlPlaneInitialized is now True"))
    if new.phase is not None and new.phase != old.phase:
        notes.append(Note(new.phase, f"Cluster {name} is {new.phase}"))
    return tuple(notes)


def _paused(cluster: Cluster, why: str) -> ClusterStatus:
    return structs.replace(cluster.status, conditions=merged(cluster.status.conditions, paused(why)))


def _is_control_plane(obj: Any) -> bool:
    return names.CONTROL_PLANE in obj.metadata.labels


def _cluster_of(obj: Any) -> Iterable[str]:
    return [key(obj.metadata.namespace, obj.spec.cluster_name)]


def _cluster_of_standalone(obj: Any) -> Iterable[str]:
    """Those of a set or of a deployment are told of by it; control planes of any sort tell of themselves."""
    return [] if has_controller(obj) and not _is_control_plane(obj) else _cluster_of(obj)


def _news_of(obj: Any) -> tuple[Any, ...]:
    return obj.spec.replicas, obj.status, obj.deleting


def _news_of_machine(machine: Machine) -> tuple[Any, ...]:
    return machine.status, machine.deleting
