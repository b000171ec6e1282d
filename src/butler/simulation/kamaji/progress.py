"""How far a hosted control plane has come, and what Kamaji lets it do next."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from msgspec import structs

from butler.engines.kamaji.kinds import DeploymentStatus, KubernetesResources, TenantControlPlane, TenantVersion

from ..delays import Delays

PROVISIONING, READY, UPGRADING, SLEEPING = "Provisioning", "Ready", "Upgrading", "Sleeping"

_VERSION = re.compile(r"v?(\d+)\.(\d+)\.(\d+)")


def refusal(old: str, new: str) -> str:
    """Why Kamaji does not let a control plane go from one version to another; empty when it does."""
    before, after = _VERSION.match(old), _VERSION.match(new)
    if before is None or after is None:
        return f"{old if before is None else new} is not a Kubernetes version"
    have, want = tuple(map(int, before.groups())), tuple(map(int, after.groups()))
    if want < have:
        return f"a control plane of {old} cannot go back to {new}"
    if want[:2] > (have[0], have[1] + 1):
        return f"a control plane of {old} cannot go to {new}: it can go one minor version at a time"
    return ""


@dataclass(frozen=True, slots=True)
class Progress:
    """What a control plane should be now."""

    version: str
    """What it runs; empty while it does not."""
    state: str
    deployment: DeploymentStatus
    wait: float = 0
    """Seconds until it gets further by itself; 0 when it is where it is to be."""
    refused: str = ""
    """Why it does not go where it is told to."""

    @property
    def is_running(self) -> bool:
        return bool(self.version)

    def resources(self) -> KubernetesResources:
        version = TenantVersion(version=self.version or None, status=self.state)
        return KubernetesResources(version=version, deployment=self.deployment)


def progress(plane: TenantControlPlane, delays: Delays, now: datetime) -> Progress:
    """The next state of a control plane, given what its status says it was."""
    resources = plane.status.kubernetes_resources or KubernetesResources()
    running = (resources.version.version if resources.version else None) or ""
    deployment = resources.deployment or DeploymentStatus()
    if not running:
        return _coming_up(plane, deployment, delays, now)
    state = (resources.version.status if resources.version else None) or READY
    version, state, upgrade_wait, refused = _upgrading(plane, running, state, deployment, delays, now)
    ready, scale_wait = _scaling(plane, deployment, delays, now)
    if state == READY and not _replicas(plane):
        state = SLEEPING
    new = _deployment(plane, ready, deployment, now, updated=state != UPGRADING)
    return Progress(version, state, new, max(upgrade_wait, scale_wait), refused)


def _coming_up(plane: TenantControlPlane, old: DeploymentStatus, delays: Delays, now: datetime) -> Progress:
    wanted = plane.spec.kubernetes.version
    if refused := refusal(wanted, wanted):
        return Progress("", PROVISIONING, _deployment(plane, 0, old, now), refused=refused)
    wait = left(plane.metadata.creation_timestamp, delays.control_plane, now)
    if wait:
        return Progress("", PROVISIONING, _deployment(plane, 0, old, now), wait)
    state = READY if _replicas(plane) else SLEEPING
    return Progress(wanted, state, _deployment(plane, _replicas(plane), old, now))


def _upgrading(
    plane: TenantControlPlane, running: str, state: str, old: DeploymentStatus, delays: Delays, now: datetime
) -> tuple[str, str, float, str]:
    """The version it runs, the state of it, how long that stays so, and why it will not become what is wanted."""
    wanted = plane.spec.kubernetes.version
    if wanted == running:
        return running, READY, 0, ""
    if refused := refusal(running, wanted):
        return running, READY, 0, refused
    wait = left(old.last_update, delays.upgrade, now) if state == UPGRADING else delays.upgrade
    return (running, UPGRADING, wait, "") if wait else (wanted, READY, 0, "")


def _scaling(plane: TenantControlPlane, old: DeploymentStatus, delays: Delays, now: datetime) -> tuple[int, float]:
    """How many replicas are ready, and how long that stays so."""
    wanted, ready = _replicas(plane), old.ready_replicas or 0
    if ready == wanted:
        return wanted, 0
    wait = left(old.last_update, delays.scale, now) if old.replicas == wanted else delays.scale
    return (min(ready, wanted), wait) if wait else (wanted, 0)


def _deployment(
    plane: TenantControlPlane, ready: int, old: DeploymentStatus, now: datetime, *, updated: bool = True
) -> DeploymentStatus:
    """The Deployment's status; the time in it is that of its last change."""
    wanted, meta = _replicas(plane), plane.metadata
    new = DeploymentStatus(
        name=meta.name,
        namespace=meta.namespace,
        selector=f"kamaji.clastix.io/name={meta.name}",
        replicas=wanted,
        updated_replicas=wanted if updated else 0,
        ready_replicas=ready,
        available_replicas=ready,
        unavailable_replicas=wanted - ready or None,
        last_update=old.last_update,
    )
    return old if new == old else structs.replace(new, last_update=now.replace(microsecond=0))


def _replicas(plane: TenantControlPlane) -> int:
    return plane.spec.control_plane.deployment.replicas


def left(since: datetime | None, delay: float, now: datetime) -> float:
    """Seconds until a delay is over."""
    return max(0.0, delay - (now - since).total_seconds()) if since is not None else 0.0
