"""Replica counts and the conditions that machine sets and deployments have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from butler.engines.capi.kinds import Machine
from kubekit.model.status import Condition
from kubekit.runtime.conditions import condition

from ..conditions import Member, Reasons, aggregated, find, holds

MACHINES_READY = Reasons("Ready", "ReadyUnknown", "NotReady")
MACHINES_UP_TO_DATE = Reasons("UpToDate", "UpToDateUnknown", "NotUpToDate")

_NEW = timedelta(seconds=10)
"""A machine so young need not say yet whether it is up to date."""


def member(machine: Machine) -> Member:
    return Member("Machine", machine.metadata.name, machine.status.conditions)


def count(machines: Sequence[Machine], kind: str) -> int:
    """How many of them have a condition that holds."""
    return sum(holds(one.status.conditions, kind) for one in machines)


def machines_ready(kind: str, machines: Sequence[Machine]) -> Condition:
    if not machines:
        return condition(kind, True, "NoReplicas")
    return aggregated(kind, [member(one) for one in machines], "Ready", MACHINES_READY)


def machines_up_to_date(kind: str, machines: Sequence[Machine], now: datetime) -> Condition:
    told = [one for one in machines if find(one.status.conditions, "UpToDate") is not None or _is_old(one, now)]
    if not told:
        return condition(kind, True, "NoReplicas")
    return aggregated(kind, [member(one) for one in told], "UpToDate", MACHINES_UP_TO_DATE)


def _is_old(machine: Machine, now: datetime) -> bool:
    created = machine.metadata.creation_timestamp
    return created is not None and now - created > _NEW


def scaling_up(have: int, want: int, blocked: Sequence[str] = ()) -> Condition:
    if have >= want:
        return condition("ScalingUp", False, "NotScalingUp")
    message = f"Scaling up from {have} to {want} replicas"
    if blocked:
        message += " is blocked because:\n" + "\n".join(f"* {line}" for line in blocked)
    return condition("ScalingUp", True, "ScalingUp", message)


def scaling_down(have: int, want: int) -> Condition:
    if have <= want:
        return condition("ScalingDown", False, "NotScalingDown")
    return condition("ScalingDown", True, "ScalingDown", f"Scaling down from {have} to {want} replicas")


def not_remediating() -> Condition:
    return condition("Remediating", False, "NotRemediating")


def deleting(is_deleting: bool, left: str) -> Condition:
    if not is_deleting:
        return condition("Deleting", False, "NotDeleting")
    return condition("Deleting", True, "Deleting", left)


def selector_text(labels: Mapping[str, str]) -> str:
    """A selector as `kubectl scale` wants it."""
    return ",".join(f"{name}={value}" for name, value in sorted(labels.items()))
