"""The status of a MachineDeployment, from its sets and their machines."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgspec import structs

from butler.engines.capi.kinds import Machine, MachineDeployment, MachineSet, SetStatus
from kubekit.model.status import Condition
from kubekit.runtime.conditions import condition

from ..conditions import completed, find
from ..shared import paused
from . import counts
from .rollout import Bounds


def status_of(
    deployment: MachineDeployment,
    sets: Sequence[MachineSet],
    machines: Sequence[Machine],
    bounds: Bounds,
    now: datetime,
) -> SetStatus:
    new = structs.replace(
        deployment.status,
        selector=counts.selector_text(deployment.spec.selector.match_labels),
        replicas=_total([one.status.replicas for one in sets]),
        ready_replicas=_total([one.status.ready_replicas for one in sets]),
        available_replicas=_total([one.status.available_replicas for one in sets]),
        up_to_date_replicas=_total([one.status.up_to_date_replicas for one in sets]),
    )
    have = new.replicas or 0
    want = 0 if deployment.deleting else bounds.replicas
    conditions = [
        _available(deployment, new, bounds),
        _rolling_out(machines),
        counts.not_remediating(),
        counts.scaling_down(have, want),
        counts.scaling_up(have, want),
        counts.machines_ready("MachinesReady", machines),
        counts.machines_up_to_date("MachinesUpToDate", machines, now),
        paused(""),
        counts.deleting(deployment.deleting, f"Deleting {len(sets)} MachineSets with {len(machines)} Machines"),
    ]
    return structs.replace(
        new,
        phase=_phase(deployment, have, want),
        conditions=completed(deployment.status.conditions, conditions, deployment.metadata.generation),
    )


def _total(figures: Sequence[int | None]) -> int | None:
    """The sum of those that are known; None when none is."""
    known = [one for one in figures if one is not None]
    return sum(known) if known else None


def _phase(deployment: MachineDeployment, have: int, want: int) -> str:
    if deployment.deleting or have > want:
        return "ScalingDown"
    return "Running" if have == want else "ScalingUp"


def _available(deployment: MachineDeployment, new: SetStatus, bounds: Bounds) -> Condition:
    if new.available_replicas is None:
        message = "Waiting for the MachineSets to say how many of their Machines are available"
        return condition("Available", "Unknown", "WaitingForAvailableReplicasSet", message)
    if new.available_replicas >= bounds.fewest:
        return condition("Available", True, "Available")
    message = f"{new.available_replicas} available replicas, at least {bounds.fewest} required"
    return condition("Available", False, "NotAvailable", "Deletion in progress" if deployment.deleting else message)


def _rolling_out(machines: Sequence[Machine]) -> Condition:
    told = [found for one in machines if (found := find(one.status.conditions, "UpToDate")) and found.status == "False"]
    if not told:
        return condition("RollingOut", False, "NotRollingOut")
    lines = dict.fromkeys(line for one in told for line in one.message.splitlines())
    ordered = sorted(lines, key=lambda line: (not line.startswith("* Version"), line))
    message = "\n".join([f"Rolling out {len(told)} not up-to-date replicas", *ordered])
    return condition("RollingOut", True, "RollingOut", message)
