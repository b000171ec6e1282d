"""Cluster API's core and kubeadm bootstrap controllers, as far as anyone can tell from the objects."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from butler.engines.capi.kinds import KubeadmConfig, KubeadmConfigTemplate
from butler.engines.kamaji.kinds import KamajiControlPlane
from butler.engines.tenants import Connect
from butler.providers.simulated.templates import ClusterTemplates
from kubekit.clock import Chance, Clock, SystemChance, SystemClock
from kubekit.runtime.controller import Controller
from kubekit.runtime.manager import Manager
from kubekit.runtime.queue import Lane

from ..delays import Delays
from ..reached_tenants import ReachedTenants
from .cluster import Clusters
from .external import External, Externals, place_of
from .machines.bootstrap import KubeadmConfigs
from .machines.machine import Machines
from .machines.nodes import Node
from .sets.machinedeployment import MachineDeployments
from .sets.machineset import MachineSets
from .shared import BY_CLUSTER, BY_NODE, BY_REF, Shared, indexed, node_place
from .workload_clusters import Workloads

_KNOWN = (
    ClusterTemplates.cluster_kind,
    ClusterTemplates.machine_kind,
    ClusterTemplates.machine_template_kind,
    KamajiControlPlane.address,
    KubeadmConfig.address,
    KubeadmConfigTemplate.address,
)
"""Kinds that are found without asking, and for which permissions are declared."""
_HOLD = timedelta(seconds=30)
"""Where nothing takes time, so long is waited before something is shown that is about to change."""


def add_cluster_api(
    manager: Manager, connect: Connect, delays: Delays, *, clock: Clock | None = None, chance: Chance | None = None
) -> None:
    """Let the manager do what Cluster API does. Tenants are reached by the kubeconfigs in their Secrets."""
    clock, chance = clock or SystemClock(), chance or SystemChance()
    externals = Externals(manager.client, manager.informers, _KNOWN)
    workloads = Workloads(manager.client, ReachedTenants(manager, connect), clock, chance)
    takes_time = any((delays.control_plane, delays.join, delays.drain))
    hold = timedelta(0) if takes_time else _HOLD
    caches = indexed(manager.informers)
    shared = Shared(
        manager.client, **caches, externals=externals, workloads=workloads, recorder=manager.recorder,
        clock=clock, chance=chance, hold=hold,
    )  # fmt: skip
    clusters = manager.add(Clusters(shared))
    manager.add(MachineDeployments(shared))
    sets = manager.add(MachineSets(shared))
    machines = manager.add(Machines(shared, delays.drain, _KNOWN))
    wakers = Wakers(shared, clusters, sets, machines)
    manager.add(KubeadmConfigs(shared))
    externals.on_change(wakers.external)
    workloads.on_change(wakers.node)
    manager.accompany(workloads.run)


class Wakers:
    """Who is concerned when an object of a provider or a node of a tenant changes."""

    def __init__(self, shared: Shared, clusters: Controller, sets: Controller, machines: Controller) -> None:
        self._shared, self._clusters, self._sets, self._machines = shared, clusters, sets, machines

    def external(self, old: External | None, new: External | None, news: bool) -> None:
        obj = new if new is not None else old
        assert obj is not None
        address, meta = type(obj).address, obj.metadata
        place = place_of(meta.namespace, address.group, address.kind, meta.name)
        lane = Lane.FRESH if news else Lane.ROUTINE
        for machine in self._shared.machines.keys_by(BY_REF, place):
            self._machines.queue.add(machine, lane)
        for cluster in self._shared.clusters.keys_by(BY_REF, place):
            self._clusters.queue.add(cluster, lane)
            if _versions(old) != _versions(new):
                # What a control plane runs decides whether machines can join it.
                for machines in self._shared.sets.keys_by(BY_CLUSTER, cluster):
                    self._sets.queue.add(machines, lane)

    def node(self, cluster: str, node: Node) -> None:
        if node.spec.provider_id:
            for machine in self._shared.machines.keys_by(BY_NODE, node_place(cluster, node.spec.provider_id)):
                self._machines.queue.add(machine)


def _versions(obj: External | None) -> Any:
    return None if obj is None else (obj.version, obj.running_version)
