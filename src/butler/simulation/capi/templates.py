"""Which parts of a machine template ask for new machines when they change, and which do not."""

from __future__ import annotations

import zlib
from datetime import datetime
from typing import Any

import msgspec
from msgspec import structs

from butler.engines.capi.kinds import MachineDeployment, MachineSet, MachineSpec, Ref


def lasting(spec: MachineSpec) -> MachineSpec:
    """The part that cannot be changed on a machine that exists."""
    return structs.replace(spec, min_ready_seconds=None, deletion=None, taints=(), provider_id=None)


def fingerprint(spec: MachineSpec) -> int:
    """A number that is another for another lasting part."""
    return zlib.crc32(msgspec.json.encode(lasting(spec), order="deterministic"))


def matches(machines: MachineSet, deployment: MachineDeployment, now: datetime) -> bool:
    """Whether a set's machines are what the deployment asks for."""
    return not differences(machines, deployment, now)


def differences(machines: MachineSet, deployment: MachineDeployment, now: datetime) -> list[str]:
    """Why the machines of a set are not what the deployment asks for, in lines for people."""
    have, want = lasting(machines.spec.template.spec), lasting(deployment.spec.template.spec)
    lines = []
    if have.version != want.version:
        lines.append(f"* Version {have.version or 'unset'}, {want.version or 'none'} required")
    if have.failure_domain != want.failure_domain:
        lines.append(f"* Failure domain {have.failure_domain or 'unset'}, {want.failure_domain or 'none'} required")
    if have.bootstrap != want.bootstrap:
        lines.append(f"* {_kind(want.bootstrap.config_ref, 'Bootstrap data')} is not up-to-date")
    if have.infrastructure_ref != want.infrastructure_ref:
        lines.append(f"* {_kind(want.infrastructure_ref, 'Infrastructure')} is not up-to-date")
    if _is_overdue(machines, deployment, now):
        lines.append("* spec.rollout.after has passed")
    return lines


def _kind(ref: Ref | None, otherwise: str) -> str:
    return ref.kind.removesuffix("Template") if ref is not None else otherwise


def _is_overdue(machines: MachineSet, deployment: MachineDeployment, now: datetime) -> bool:
    """Whether all machines were to be replaced at a time that has come since the set was made."""
    after = deployment.spec.rollout.after if deployment.spec.rollout is not None else None
    created = machines.metadata.creation_timestamp
    return after is not None and created is not None and created < after <= now


def passed_on(spec: MachineSpec) -> dict[str, Any]:
    """The part that is changed in place, in wire form; what is absent is None."""
    deletion = spec.deletion
    return {
        "minReadySeconds": spec.min_ready_seconds,
        "taints": [msgspec.to_builtins(one) for one in spec.taints] or None,
        "deletion": {
            "nodeDrainTimeoutSeconds": deletion.node_drain_timeout_seconds if deletion else None,
            "nodeVolumeDetachTimeoutSeconds": deletion.node_volume_detach_timeout_seconds if deletion else None,
            "nodeDeletionTimeoutSeconds": deletion.node_deletion_timeout_seconds if deletion else None,
        },
    }
