"""What all reconcilers of Cluster API share: caches, ways to find one object from another, and patience."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from butler.engines.capi.kinds import (
    CLUSTER_NAME,
    DEPLOYMENT_NAME,
    Cluster,
    KubeadmConfig,
    Machine,
    MachineDeployment,
    MachineSet,
)
from kubekit.client.protocol import Client
from kubekit.clock import Chance, Clock
from kubekit.model.resource import ObjectMeta, OwnerReference, Resource
from kubekit.model.status import Condition
from kubekit.runtime.conditions import condition
from kubekit.runtime.events import Recorder
from kubekit.runtime.informer import Informer, Informers
from kubekit.runtime.objects import key, owners_of
from kubekit.runtime.reconciler import Note

from . import names
from .external import Externals, places_of
from .workload_clusters import Workloads

WAITING = timedelta(hours=1)
"""When to look again at something that is woken by what it waits for: only in case nothing ever wakes it."""

BY_CLUSTER = "cluster"
BY_OWNER = "owner"
BY_REF = "ref"
BY_DEPLOYMENT = "deployment"
BY_NODE = "node"


@dataclass(frozen=True, slots=True)
class Shared:
    """What every reconciler needs."""

    client: Client
    clusters: Informer[Cluster]
    deployments: Informer[MachineDeployment]
    sets: Informer[MachineSet]
    machines: Informer[Machine]
    configs: Informer[KubeadmConfig]
    externals: Externals
    workloads: Workloads
    recorder: Recorder
    clock: Clock
    chance: Chance
    hold: timedelta
    """How long the status of something new that is on its way may be left unwritten, because it is about to change."""

    def cluster_of(self, namespace: str, name: str) -> Cluster | None:
        return self.clusters.get(key(namespace, name))

    def held_back(self, meta: ObjectMeta) -> timedelta | None:
        """How much longer the status of an object on its way need not be written; None when it is time."""
        return self.too_young(meta, self.hold)

    def too_young(self, meta: ObjectMeta, age: timedelta) -> timedelta | None:
        """How much longer it takes until an object is that old; None when it is."""
        if meta.creation_timestamp is None:
            return None
        left = meta.creation_timestamp + age - self.clock.now()
        return left if left > timedelta(0) else None

    def since(self, moment: datetime) -> timedelta:
        return self.clock.now() - moment

    def say(self, obj: Resource, source: str, reason: str, message: str) -> None:
        """Record an event."""
        self.recorder.record(obj, type(obj), Note(reason, message), source)


def indexed(informers: Informers) -> dict[str, Informer[Any]]:
    """The caches with the indexes by which objects are found, by their place in `Shared`."""
    found: dict[str, Informer[Any]] = {
        "clusters": informers.of(Cluster),
        "deployments": informers.of(MachineDeployment),
        "sets": informers.of(MachineSet),
        "machines": informers.of(Machine),
        "configs": informers.of(KubeadmConfig),
    }
    found["clusters"].index(BY_REF, _cluster_refs)
    for name in ("deployments", "sets", "machines"):
        found[name].index(BY_CLUSTER, _cluster_by_spec)
    for name in ("sets", "machines"):
        found[name].index(BY_OWNER, _controllers)
    found["machines"].index(BY_REF, _machine_refs)
    found["machines"].index(BY_DEPLOYMENT, _deployment)
    found["machines"].index(BY_NODE, _node)
    found["configs"].index(BY_CLUSTER, _cluster_by_label)
    return found


def _cluster_refs(cluster: Cluster) -> list[str]:
    return places_of(cluster.metadata.namespace, (cluster.spec.infrastructure_ref, cluster.spec.control_plane_ref))


def _machine_refs(machine: Machine) -> list[str]:
    return places_of(machine.metadata.namespace, (machine.spec.infrastructure_ref, machine.spec.bootstrap.config_ref))


def _cluster_by_spec(obj: Any) -> list[str]:
    return [key(obj.metadata.namespace, obj.spec.cluster_name)]


def _cluster_by_label(obj: Any) -> list[str]:
    name = obj.metadata.labels.get(CLUSTER_NAME)
    return [key(obj.metadata.namespace, name)] if name else []


def _controllers(obj: Any) -> list[str]:
    return [owner.uid for owner in owners_of(obj) if owner.controls]


def _deployment(machine: Machine) -> list[str]:
    name = machine.metadata.labels.get(DEPLOYMENT_NAME)
    return [key(machine.metadata.namespace, name)] if name else []


def _node(machine: Machine) -> list[str]:
    if not machine.spec.provider_id:
        return []
    return [node_place(key(machine.metadata.namespace, machine.spec.cluster_name), machine.spec.provider_id)]


def node_place(cluster: str, provider_id: str) -> str:
    """Under which the machine of a node is found."""
    return f"{cluster} {provider_id}"


def pause_of(cluster: Cluster | None, obj: Resource) -> str:
    """Why an object is to be left alone; empty when it is not."""
    if cluster is not None and cluster.spec.paused:
        return "Cluster spec.paused is set to true"
    if names.PAUSED in obj.metadata.annotations:
        return f"{obj.kind} has the {names.PAUSED} annotation"
    return ""


def paused(why: str) -> Condition:
    return condition("Paused", True, "Paused", why) if why else condition("Paused", False, "NotPaused")


def owned_by(owner: Resource, *, controls: bool = False) -> OwnerReference:
    """A reference to an owner; to the one that controls if it does."""
    return OwnerReference(
        api_version=owner.address.api_version,
        kind=owner.kind,
        name=owner.metadata.name,
        uid=owner.metadata.uid,
        controller=True if controls else None,
        block_owner_deletion=True if controls else None,
    )


def is_owned(obj: Resource, owner: Resource) -> bool:
    return any(one.uid == owner.metadata.uid for one in obj.metadata.owner_references)


def has_controller(obj: Resource) -> bool:
    return any(one.controller for one in obj.metadata.owner_references)
