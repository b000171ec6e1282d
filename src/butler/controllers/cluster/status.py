"""What a cluster's status says, given how far its steps are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from msgspec import structs

from butler.api.cluster import (
    ClusterPhase,
    ObservedState,
    ObservedWorkers,
    TenantClusterStatus,
)
from butler.api.shared import LocalRef, NsRef
from butler.engines.tenants import admin_kubeconfig_secret
from kubekit.model.status import Condition
from kubekit.runtime.conditions import condition, merged, without
from kubekit.runtime.reconciler import Note

from . import kinds
from .addons.progress import FAILURES, shown
from .scope import Scope
from .step import NOT_NEEDED, Step, Verdict
from .steps import GATES, STEPS, WORK
from .steps.addons import Addons
from .steps.node_addons import NodeAddons
from .steps.workers import Workers, counts_of

READY = "Ready"
ACCESS_GRANTED, ACCESS_DENIED = "ProviderAccessGranted", "ProviderAccessDenied"
"""A part of being accepted that other programs ask for by itself."""

Report = Sequence[tuple[Step, Verdict]]
"""The steps that were reached, with how far they are."""

_INSTALLED = {NodeAddons.condition, Addons.condition}
_ESTABLISHED = {ClusterPhase.READY, ClusterPhase.RUNNING, ClusterPhase.UPDATING}


def status_after(scope: Scope, report: Report, now: datetime) -> TenantClusterStatus:
    """The whole status after a visit."""
    old = scope.cluster.status
    phase = _phase(old, report)
    desired, ready = counts_of(scope)
    nodes = tuple(sorted(one.status.node_ref.name for one in scope.machines() if one.status.node_ref))
    return structs.replace(
        old,
        phase=phase,
        conditions=_conditions(old.conditions, report),
        tenant_namespace=scope.namespace,
        control_plane_endpoint=scope.address or old.control_plane_endpoint,
        kubeconfig_secret_ref=_kubeconfig(scope),
        provider_config_ref=_provider(scope, report),
        worker_nodes_desired=desired,
        worker_nodes_ready=ready,
        observed_state=ObservedState(
            kubernetes_version=scope.running_version or None,
            workers=ObservedWorkers(desired=desired, ready=ready, nodes=nodes),
            addons=shown(scope),
        ),
        # What is refused is not kept in mind: a report that begins well is of what is written.
        accepted_spec=scope.asked if all(verdict.done for _, verdict in report[: len(GATES)]) else old.accepted_spec,
        last_transition_time=now if phase is not old.phase else old.last_transition_time,
    )


def refused_status(old: TenantClusterStatus, gates: Report, now: datetime) -> TenantClusterStatus:
    """A cluster that cannot be as it is written, nor be kept as it was: what there is of it goes on alone."""
    phase = old.phase if old.phase in _ESTABLISHED else ClusterPhase.FAILED
    return structs.replace(
        old,
        phase=phase,
        conditions=merged(old.conditions, *_told(gates), _ready(gates)),
        last_transition_time=now if phase is not old.phase else old.last_transition_time,
    )


def failed_status(old: TenantClusterStatus, message: str, now: datetime) -> TenantClusterStatus:
    """A cluster of which a part cannot be written: what there is of it goes on alone."""
    phase = old.phase if old.phase in _ESTABLISHED else ClusterPhase.FAILED
    return structs.replace(
        old,
        phase=phase,
        conditions=merged(old.conditions, condition(READY, False, "CAPIResourceError", message)),
        last_transition_time=now if phase is not old.phase else old.last_transition_time,
    )


def deleting_status(old: TenantClusterStatus, message: str, now: datetime) -> TenantClusterStatus:
    phase = ClusterPhase.DELETING
    return structs.replace(
        old,
        phase=phase,
        conditions=merged(old.conditions, condition(READY, False, "Deleting", message)),
        last_transition_time=now if phase is not old.phase else old.last_transition_time,
    )


def notes_for(old: TenantClusterStatus, new: TenantClusterStatus) -> tuple[Note, ...]:
    """What happened: steps that are done or no longer so, another phase, another number of workers."""
    notes = list(_step_notes(old, new))
    if new.phase is not old.phase:
        notes.extend(_phase_note(old, new))
    before, after = old.worker_nodes_desired, new.worker_nodes_desired
    if before is not None and after is not None and before != after:
        notes.append(Note("ClusterScaling", f"from {before} to {after} workers"))
    return tuple(notes)


def _step_notes(old: TenantClusterStatus, new: TenantClusterStatus) -> Iterator[Note]:
    """Without steps there was nothing to do for, and without Ready: the phase says the same."""
    for step in STEPS:
        before, after = old.condition(step.condition), new.condition(step.condition)
        if after is None or after.reason == NOT_NEEDED or step.condition == NodeAddons.condition:
            # Of the addons that nodes need, the condition of all addons tells.
            continue
        if after.reason in FAILURES and after.reason != (before.reason if before is not None else ""):
            yield Note(after.reason, after.message, "Warning")
        elif before is not None and before.reason in FAILURES and after.status == "True":
            yield Note("AddonRetrySucceeded", after.message)
        elif after.status != (before.status if before is not None else "False"):
            yield Note(after.reason, after.message, "Warning" if step.holds and after.status != "True" else "Normal")


def _phase_note(old: TenantClusterStatus, new: TenantClusterStatus) -> Sequence[Note]:
    ready = new.condition(READY)
    match new.phase:
        case ClusterPhase.PROVISIONING if old.phase in {None, ClusterPhase.PENDING, ClusterPhase.FAILED}:
            return [Note("ClusterProvisioning", f"its parts are made in namespace {new.tenant_namespace}")]
        case ClusterPhase.RUNNING if old.phase is not ClusterPhase.UPDATING:
            return [Note("ClusterReady", f"workers ready: {new.worker_nodes_ready}")]
        case ClusterPhase.RUNNING:
            return [Note("ClusterUpdated", f"workers ready: {new.worker_nodes_ready}")]
        case ClusterPhase.UPDATING:
            return [Note("ClusterUpdating", ready.message if ready else "")]
        case ClusterPhase.DELETING:
            return [Note("ClusterDeleting", ready.message if ready else "")]
        case ClusterPhase.FAILED:
            return [Note("ClusterFailed", ready.message if ready else "", "Warning")]
    return []


def _phase(old: TenantClusterStatus, report: Report) -> ClusterPhase:
    """A change that is refused is none: the phase is that of the cluster as it is kept."""
    waiting = [(step, verdict) for step, verdict in report if not verdict.done and step not in GATES]
    if not waiting:
        return ClusterPhase.RUNNING
    if old.phase in _ESTABLISHED:
        changing = any(verdict.changing for _, verdict in waiting)
        return ClusterPhase.UPDATING if changing or old.phase is ClusterPhase.UPDATING else ClusterPhase.RUNNING
    only_addons = all(step.condition in _INSTALLED for step, _ in waiting)
    return ClusterPhase.INSTALLING if only_addons else ClusterPhase.PROVISIONING


def _conditions(old: tuple[Condition, ...], report: Report) -> tuple[Condition, ...]:
    """A condition for each step that was reached, and one for all of them."""
    reached = {step.condition for step, _ in report}
    unreached = [step.condition for step in WORK if step.condition not in reached]
    return merged(without(old, *unreached), *_told(report), _ready(report))


def _told(report: Report) -> list[Condition]:
    told = [condition(step.condition, verdict.done, verdict.reason, verdict.message) for step, verdict in report]
    _, accepted = report[0]
    if accepted.done or accepted.reason == ACCESS_DENIED:
        reason = ACCESS_GRANTED if accepted.done else ACCESS_DENIED
        told.append(condition(ACCESS_GRANTED, accepted.done, reason, accepted.message))
    return told


def _ready(report: Report) -> Condition:
    for step, verdict in report:
        if not verdict.done:
            message = verdict.message if step in GATES else f"{step.title.lower()}: {verdict.message}"
            return condition(READY, False, verdict.reason, message)
    return condition(READY, True, "ReconcileSucceeded", "everything is as asked")


def _provider(scope: Scope, report: Report) -> NsRef | None:
    """Known from when the first machine may have been made there."""
    if not any(step.condition == Workers.condition for step, _ in report):
        return scope.cluster.status.provider_config_ref
    found = scope.accepted.provider.metadata
    return NsRef(name=found.name, namespace=found.namespace)


def _kubeconfig(scope: Scope) -> LocalRef | None:
    name = admin_kubeconfig_secret(scope.name)
    there = scope.sight.get(kinds.SecretSeen, f"{scope.namespace}/{name}")
    return LocalRef(name=name) if there is not None else None
