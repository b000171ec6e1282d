"""The status of a Machine, from everything it is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from msgspec import structs

from butler.engines.capi.kinds import Cluster, Machine, MachineInitialization, MachineStatus, NodeRef
from kubekit.model.status import Condition
from kubekit.runtime.conditions import condition

from ..conditions import Reasons, completed, find, mirrored, summed_up
from ..external import External
from ..shared import paused
from . import nodes
from .nodes import Node

_READY = Reasons("Ready", "ReadyUnknown", "NotReady")
_GONE = ("ObjectDeleted", "DoesNotExist", "NodeDeleted", "NodeDoesNotExist")
"""Reasons that are no trouble to a machine that goes anyway."""


@dataclass(frozen=True, slots=True)
class MachineView:
    """A machine with everything that concerns it, as it is now."""

    machine: Machine
    cluster: Cluster | None
    config: External | None
    infrastructure: External | None
    node: Node | None
    connected: bool
    """Whether the tenant's nodes are known."""
    outdated: Sequence[str] | None
    """Why it is not what its deployment asks for, in lines; None when it has no deployment."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How far taking a machine down has come."""

    reason: str
    message: str = ""


def status_of(sight: MachineView, now: datetime, ending: Ending | None = None) -> MachineStatus:
    """The whole status; `ending` for a machine that is being deleted."""
    machine, old = sight.machine, sight.machine.status
    new = structs.replace(
        old,
        initialization=_initialization(sight),
        node_ref=NodeRef(name=sight.node.metadata.name) if sight.node is not None else old.node_ref,
        node_info=sight.node.status.node_info if sight.node is not None else old.node_info,
        addresses=sight.infrastructure.addresses if sight.infrastructure is not None else old.addresses,
        deprecated=_failure(sight),
    )
    phase = phase_of(machine, new)
    moved = {} if phase == old.phase else {"last_updated": now.replace(microsecond=0)}
    conditions = _conditions(sight, new, ending, now)
    return structs.replace(
        new, phase=phase, conditions=completed(old.conditions, conditions, machine.metadata.generation), **moved
    )


def phase_of(machine: Machine, status: MachineStatus) -> str:
    done = status.initialization or MachineInitialization()
    if machine.deleting:
        return "Deleting"
    if status.deprecated:
        return "Failed"
    if status.node_ref is not None and done.infrastructure_provisioned:
        return "Running"
    if machine.spec.provider_id:
        return "Provisioned"
    return "Provisioning" if done.bootstrap_data_secret_created else "Pending"


def _initialization(sight: MachineView) -> MachineInitialization | None:
    machine = sight.machine
    old = machine.status.initialization or MachineInitialization()
    infrastructure = sight.infrastructure
    provisioned = infrastructure is not None and infrastructure.provisioned and bool(machine.spec.provider_id)
    written = bool(machine.spec.bootstrap.data_secret_name)
    new = MachineInitialization(
        bootstrap_data_secret_created=True if written else old.bootstrap_data_secret_created,
        infrastructure_provisioned=True if provisioned else old.infrastructure_provisioned,
    )
    return None if new == MachineInitialization() else new


def _failure(sight: MachineView) -> dict[str, Any]:
    """A failure that no repetition mends, where Cluster API still shows those."""
    told = [one.failure for one in (sight.infrastructure, sight.config) if one is not None and any(one.failure)]
    if not told:
        return {}
    reason, message = told[0]
    return {"v1beta1": {"failureReason": reason or "UpdateError", "failureMessage": message}}


def _conditions(sight: MachineView, new: MachineStatus, ending: Ending | None, now: datetime) -> list[Condition]:
    bootstrap, infrastructure = _bootstrap(sight, new), _infrastructure(sight, new)
    node_ready, node_healthy = _node(sight, new)
    deleting = _deleting(sight.machine, ending)
    # People read of the stage here; the whole message is in the condition itself.
    stage = deleting if ending is None else condition(
        "Deleting", True, "Deleting", f"Machine deletion in progress, stage: {ending.reason}"
    )  # fmt: skip
    harmless = [one.type for one in (bootstrap, infrastructure, node_healthy) if ending and one.reason in _GONE]
    ready = summed_up(
        "Ready", (stage, bootstrap, infrastructure, node_healthy), _READY, negative=("Deleting",), harmless=harmless
    )
    return [
        _available(sight.machine, ready, now),
        ready,
        *_up_to_date(sight),
        bootstrap,
        infrastructure,
        node_healthy,
        node_ready,
        condition("Updating", False, "NotUpdating"),
        paused(""),
        deleting,
    ]


def _available(machine: Machine, ready: Condition, now: datetime) -> Condition:
    if ready.status != "True":
        return condition("Available", False, "NotReady")
    if waits_until_available(machine, ready, now) > 0:
        return condition("Available", False, "WaitingForMinReadySeconds")
    return condition("Available", True, "Available")


def waits_until_available(machine: Machine, ready: Condition | None, now: datetime) -> float:
    """Seconds a machine that is ready has yet to stay so before it counts."""
    needed = machine.spec.min_ready_seconds or 0
    if not needed or ready is None or ready.status != "True":
        return 0.0
    before = machine.status.condition("Ready")
    since = before.last_transition_time if before is not None and before.status == "True" else None
    return max(needed - (now - (since or now)).total_seconds(), 0.0)


def _up_to_date(sight: MachineView) -> list[Condition]:
    if sight.outdated is None:
        return []
    if sight.outdated:
        return [condition("UpToDate", False, "NotUpToDate", "\n".join(sight.outdated))]
    return [condition("UpToDate", True, "UpToDate")]


def _bootstrap(sight: MachineView, new: MachineStatus) -> Condition:
    kind, ref = "BootstrapConfigReady", sight.machine.spec.bootstrap.config_ref
    if ref is None:
        return condition(kind, True, "DataSecretProvided")
    created = bool(new.initialization and new.initialization.bootstrap_data_secret_created)
    if sight.config is not None:
        return _reported(kind, sight.config, created, f"{ref.kind} has not written its data yet")
    if sight.machine.deleting and created:
        return condition(kind, False, "ObjectDeleted", f"{ref.kind} has been deleted")
    return condition(kind, False, "DoesNotExist", f"{ref.kind} does not exist")


def _infrastructure(sight: MachineView, new: MachineStatus) -> Condition:
    kind, ref = "InfrastructureReady", sight.machine.spec.infrastructure_ref
    name = ref.kind if ref is not None else "Infrastructure"
    provisioned = bool(new.initialization and new.initialization.infrastructure_provisioned)
    if sight.infrastructure is not None:
        return _reported(kind, sight.infrastructure, provisioned, f"{name} is not provisioned yet")
    if not provisioned:
        return condition(kind, False, "DoesNotExist", f"{name} does not exist")
    still = "" if sight.machine.deleting else " while the Machine still exists"
    return condition(kind, False, "ObjectDeleted", f"{name} has been deleted{still}")


def _reported(kind: str, obj: External, done: bool, otherwise: str) -> Condition:
    """What an object says of itself; of one that says nothing, whether it has done its part."""
    told = find(obj.status.conditions, "Ready")
    reason, message = obj.failure
    if told is not None:
        return mirrored(kind, told, "Ready" if told.status == "True" else "NotReady")
    if reason or message:
        return condition(kind, False, "NotReady", message or reason)
    return condition(kind, True, "Ready") if done else condition(kind, False, "NotReady", otherwise)


def _node(sight: MachineView, new: MachineStatus) -> tuple[Condition, Condition]:
    """NodeReady and NodeHealthy."""
    if sight.node is not None:
        return nodes.health(sight.node)
    if unknown := _unknowable(sight):
        kept = [one for one in sight.machine.status.conditions if one.type in ("NodeReady", "NodeHealthy")]
        if new.node_ref is not None and len(kept) == 2:
            first, second = sorted(kept, key=lambda one: one.type, reverse=True)
            return first, second
        return nodes.both("Unknown", *unknown)
    return _missing_node(sight, new)


def _unknowable(sight: MachineView) -> tuple[str, str] | None:
    """Why nothing can be said of any node, as reason and message; None when it can."""
    done = sight.cluster.status.initialization if sight.cluster is not None else None
    if done is None or not done.infrastructure_provisioned:
        return "InspectionFailed", "Waiting for the infrastructure of the Cluster to be provisioned"
    if not done.control_plane_initialized:
        return "InspectionFailed", "Waiting for the control plane of the Cluster to be initialized"
    return None if sight.connected else ("ConnectionDown", "Waiting for a connection to the Cluster")


def _missing_node(sight: MachineView, new: MachineStatus) -> tuple[Condition, Condition]:
    machine = sight.machine
    if new.node_ref is not None:
        still = "" if machine.deleting else " while the Machine still exists"
        return nodes.both("False", "NodeDeleted", f"Node {new.node_ref.name} has been deleted{still}")
    if machine.deleting:
        return nodes.both("Unknown", "NodeDoesNotExist", "Node does not exist")
    if machine.spec.provider_id:
        message = f"Waiting for a Node with spec.providerID {machine.spec.provider_id} to exist"
        return nodes.both("Unknown", "InspectionFailed", message)
    name = machine.spec.infrastructure_ref.kind if machine.spec.infrastructure_ref else "the infrastructure"
    return nodes.both("Unknown", "InspectionFailed", f"Waiting for {name} to report spec.providerID")


def _deleting(machine: Machine, ending: Ending | None) -> Condition:
    if ending is None:
        return condition("Deleting", False, "NotDeleting")
    return condition("Deleting", True, ending.reason, ending.message)
