"""The status of a Cluster, from its infrastructure, its control plane and its workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from msgspec import structs

from butler.engines.capi.kinds import (
    Cluster,
    ClusterInitialization,
    ClusterStatus,
    Machine,
    MachineDeployment,
    MachineSet,
    Ref,
    ReplicaCounts,
)
from kubekit.model.status import Condition
from kubekit.runtime.conditions import condition

from . import names
from .conditions import Member, Reasons, aggregated, completed, find, mirrored, summed_up
from .external import External, number
from .sets import counts
from .shared import paused

_AVAILABLE = Reasons("Available", "AvailableUnknown", "NotAvailable")
_GONE = ("ObjectDeleted", "DoesNotExist")


@dataclass(frozen=True, slots=True)
class ClusterView:
    """A cluster with everything it is made of, as it is now."""

    cluster: Cluster
    infrastructure: External | None
    control_plane: External | None
    deployments: Sequence[MachineDeployment]
    sets: Sequence[MachineSet]
    """Only those of no deployment."""
    machines: Sequence[Machine]
    connected: bool

    @property
    def workers(self) -> list[Machine]:
        return [one for one in self.machines if names.CONTROL_PLANE not in one.metadata.labels]

    @property
    def control_plane_machines(self) -> list[Machine]:
        return [one for one in self.machines if names.CONTROL_PLANE in one.metadata.labels]

    @property
    def standalone(self) -> list[Machine]:
        """Machines of no set and no control plane object."""
        return [one for one in self.machines if not any(ref.controller for ref in one.metadata.owner_references)]


@dataclass(frozen=True, slots=True)
class Ending:
    """How far taking a cluster down has come."""

    reason: str
    message: str = ""


def status_of(sight: ClusterView, now: datetime, ending: Ending | None = None) -> ClusterStatus:
    cluster = sight.cluster
    new = structs.replace(
        cluster.status,
        initialization=_initialization(sight),
        control_plane=_control_plane_counts(sight),
        workers=_worker_counts(sight),
    )
    conditions = _conditions(sight, new, now, ending)
    return structs.replace(
        new,
        phase=_phase(cluster, new),
        conditions=completed(cluster.status.conditions, conditions, cluster.metadata.generation),
    )


def _phase(cluster: Cluster, new: ClusterStatus) -> str:
    if cluster.deleting:
        return "Deleting"
    endpoint = cluster.spec.control_plane_endpoint
    if new.initialization is not None and new.initialization.infrastructure_provisioned and endpoint and endpoint.host:
        return "Provisioned"
    return "Provisioning" if cluster.spec.infrastructure_ref or cluster.spec.control_plane_ref else "Pending"


def _initialization(sight: ClusterView) -> ClusterInitialization | None:
    old = sight.cluster.status.initialization or ClusterInitialization()
    infrastructure, control_plane = sight.infrastructure, sight.control_plane
    provisioned = infrastructure is not None and infrastructure.provisioned
    initialized = control_plane is not None and control_plane.initialized
    new = ClusterInitialization(
        infrastructure_provisioned=True if provisioned else old.infrastructure_provisioned,
        control_plane_initialized=True if initialized else old.control_plane_initialized,
    )
    return None if new == ClusterInitialization() else new


def _control_plane_counts(sight: ClusterView) -> ReplicaCounts | None:
    if sight.cluster.spec.control_plane_ref is None:
        return _counted(sight.control_plane_machines) if sight.control_plane_machines else None
    control_plane = sight.control_plane
    if control_plane is None:
        return None
    status = control_plane.status
    return ReplicaCounts(
        desired_replicas=number(control_plane.spec.replicas),
        replicas=number(status.replicas),
        up_to_date_replicas=number(status.up_to_date_replicas),
        ready_replicas=number(status.ready_replicas),
        available_replicas=number(status.available_replicas),
    )


def _worker_counts(sight: ClusterView) -> ReplicaCounts:
    groups: list[MachineDeployment | MachineSet] = [*sight.deployments, *sight.sets]
    alone = [one for one in sight.standalone if names.CONTROL_PLANE not in one.metadata.labels]
    counted = [_counted(alone)] if alone else []
    parts = [
        *counted,
        *(
            ReplicaCounts(
                desired_replicas=one.spec.replicas,
                replicas=one.status.replicas,
                up_to_date_replicas=one.status.up_to_date_replicas,
                ready_replicas=one.status.ready_replicas,
                available_replicas=one.status.available_replicas,
            )
            for one in groups
        ),
    ]
    return ReplicaCounts(**{name: _total([getattr(part, name) for part in parts]) for name in _FIGURES})


_FIGURES = ("desired_replicas", "replicas", "up_to_date_replicas", "ready_replicas", "available_replicas")


def _counted(machines: Sequence[Machine]) -> ReplicaCounts:
    """Machines that nobody else counts: that they are there is that they are wanted."""
    return ReplicaCounts(
        desired_replicas=len(machines),
        replicas=len(machines),
        up_to_date_replicas=counts.count(machines, "UpToDate"),
        ready_replicas=counts.count(machines, "Ready"),
        available_replicas=counts.count(machines, "Available"),
    )


def _total(figures: Sequence[int | None]) -> int | None:
    known = [one for one in figures if one is not None]
    return sum(known) if known else None


def _conditions(sight: ClusterView, new: ClusterStatus, now: datetime, ending: Ending | None) -> list[Condition]:
    infrastructure = _infrastructure(sight, new)
    available = _control_plane_available(sight, new)
    workers = _workers_available(sight)
    probe = _probe(sight)
    deleting = _deleting(ending)
    harmless = [one.type for one in (infrastructure, available) if ending is not None and one.reason in _GONE]
    return [
        summed_up(
            "Available", (infrastructure, available, workers, probe, deleting), _AVAILABLE,
            negative=("Deleting",), harmless=harmless,
        ),
        probe,
        infrastructure,
        _control_plane_initialized(sight, new),
        available,
        workers,
        _of_groups(sight, "RollingOut"),
        counts.not_remediating(),
        _of_groups(sight, "ScalingDown"),
        _of_groups(sight, "ScalingUp"),
        counts.machines_ready("ControlPlaneMachinesReady", sight.control_plane_machines),
        counts.machines_ready("WorkerMachinesReady", sight.workers),
        counts.machines_up_to_date("ControlPlaneMachinesUpToDate", sight.control_plane_machines, now),
        counts.machines_up_to_date("WorkerMachinesUpToDate", sight.workers, now),
        paused(""),
        deleting,
    ]  # fmt: skip


def _infrastructure(sight: ClusterView, new: ClusterStatus) -> Condition:
    done = bool(new.initialization and new.initialization.infrastructure_provisioned)
    ref = sight.cluster.spec.infrastructure_ref
    if sight.infrastructure is None:
        return _missing("InfrastructureReady", ref, done, sight.cluster.deleting)
    told = find(sight.infrastructure.status.conditions, "Ready")
    if told is not None:
        return mirrored("InfrastructureReady", told, "Ready" if told.status == "True" else "NotReady")
    if done:
        return condition("InfrastructureReady", True, "Ready")
    name = type(sight.infrastructure).address.kind
    return condition("InfrastructureReady", False, "NotReady", f"{name} is not provisioned yet")


def _control_plane_available(sight: ClusterView, new: ClusterStatus) -> Condition:
    done = bool(new.initialization and new.initialization.control_plane_initialized)
    ref = sight.cluster.spec.control_plane_ref
    if sight.control_plane is None:
        return _missing("ControlPlaneAvailable", ref, done, sight.cluster.deleting)
    told = find(sight.control_plane.status.conditions, "Available")
    if told is not None:
        return mirrored("ControlPlaneAvailable", told, "Available" if told.status == "True" else "NotAvailable")
    if done:
        return condition("ControlPlaneAvailable", True, "Available")
    name = type(sight.control_plane).address.kind
    return condition("ControlPlaneAvailable", False, "NotAvailable", f"{name} is not initialized yet")


def _missing(kind: str, ref: Ref | None, was_there: bool, is_deleting: bool) -> Condition:
    name = _kind_of(ref)
    if not was_there:
        return condition(kind, False, "DoesNotExist", f"{name} does not exist")
    still = "" if is_deleting else " while the Cluster still exists"
    return condition(kind, False, "ObjectDeleted", f"{name} has been deleted{still}")


def _kind_of(ref: Ref | None) -> str:
    return ref.kind if ref is not None else "Object"


def _control_plane_initialized(sight: ClusterView, new: ClusterStatus) -> Condition:
    kind = "ControlPlaneInitialized"
    if new.initialization is not None and new.initialization.control_plane_initialized:
        return condition(kind, True, "Initialized")
    if sight.control_plane is None:
        name = _kind_of(sight.cluster.spec.control_plane_ref)
        return condition(kind, "Unknown", "DoesNotExist", f"{name} does not exist")
    name = type(sight.control_plane).address.kind
    return condition(kind, False, "NotInitialized", f"Waiting for the {name} to be initialized")


def _workers_available(sight: ClusterView) -> Condition:
    if not sight.deployments:
        return condition("WorkersAvailable", True, "NoWorkers")
    return aggregated("WorkersAvailable", _members(sight.deployments), "Available", _AVAILABLE)


def _of_groups(sight: ClusterView, kind: str) -> Condition:
    """A condition that holds if it does of the control plane or of any group of workers."""
    members = _members([*sight.deployments, *(sight.sets if kind != "RollingOut" else ())])
    control_plane = sight.control_plane
    if control_plane is not None and find(control_plane.status.conditions, kind) is not None:
        name = type(control_plane).address.kind
        members.insert(0, Member(name, control_plane.metadata.name, control_plane.status.conditions))
    return aggregated(kind, members, kind, Reasons(f"Not{kind}", f"{kind}Unknown", kind), negative=True)


def _members(groups: Sequence[MachineDeployment | MachineSet]) -> list[Member]:
    return [Member(one.kind, one.metadata.name, one.status.conditions) for one in groups]


def _probe(sight: ClusterView) -> Condition:
    if sight.connected:
        return condition("RemoteConnectionProbe", True, "ProbeSucceeded")
    return condition("RemoteConnectionProbe", False, "ProbeFailed", "Remote connection not established yet")


def _deleting(ending: Ending | None) -> Condition:
    if ending is None:
        return condition("Deleting", False, "NotDeleting")
    return condition("Deleting", True, ending.reason, ending.message)
