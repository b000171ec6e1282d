"""What a cluster is to be, with everything it leaves out filled in: environment, team, then the platform."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import msgspec

from butler.addons.resolution import Reason, Wish
from butler.addons.selection import platform_wishes
from butler.api.cluster import DEFAULT_CPU, DEFAULT_DISK, DEFAULT_MEMORY, MachineTemplate, TenantCluster, WorkerPool
from butler.api.config import ButlerConfig
from butler.api.provider import ProviderConfig
from butler.api.shared import ControlPlaneResources
from butler.api.team import ClusterDefaults, ResourceLimits, Team
from butler.providers.contract import Blueprint, Pool

from . import names, versions

TIME_SERVERS = ("pool.ntp.org",)
"""Where machines ask for the time when nobody says."""


@dataclass(frozen=True, slots=True)
class PoolSettings:
    """A group of equal workers."""

    name: str
    replicas: int | None
    """None while something else scales the pool between `least` and `most`."""
    least: int
    most: int
    cpu: int
    memory: str
    disk: str
    image: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    taints: tuple[tuple[str, str, str], ...] = ()
    failure_domain: str = ""
    ssh_key: str = ""

    @property
    def desired(self) -> int:
        """How many workers are wanted at least."""
        return self.least if self.replicas is None else self.replicas

    def for_provider(self) -> Pool:
        return Pool(self.name, self.cpu, self.memory, self.disk, self.image, self.failure_domain)


@dataclass(frozen=True)
class ClusterSettings:
    """A cluster without gaps."""

    version: str
    pools: tuple[PoolSettings, ...]
    choose_addons: Callable[[], tuple[Wish, ...]] = field(compare=False, repr=False)
    control_plane_resources: ControlPlaneResources | None
    time_servers: tuple[str, ...]

    @cached_property
    def addons(self) -> tuple[Wish, ...]:
        """What it is to have inside, in whatever version the catalogue says where none is named. Most who ask for
        settings do not ask for this."""
        return self.choose_addons()

    @property
    def workers(self) -> int:
        return sum(pool.desired for pool in self.pools)

    def blueprint(self, cluster: TenantCluster, provider: ProviderConfig, namespace: str) -> Blueprint:
        override = cluster.spec.infrastructure_override
        kind = provider.spec.provider
        section = getattr(override, kind.value, None) if override and kind else None
        return Blueprint(
            name=cluster.metadata.name,
            namespace=namespace,
            provider=provider,
            version=self.version,
            pools=tuple(pool.for_provider() for pool in self.pools),
            override=msgspec.to_builtins(section) if section is not None else {},
        )


def defaults_of(cluster: TenantCluster, team: Team | None) -> ClusterDefaults:
    """The team's defaults with those of the cluster's environment on top."""
    if team is None:
        return ClusterDefaults()
    general = team.spec.cluster_defaults or ClusterDefaults()
    wanted = cluster.metadata.labels.get(names.ENVIRONMENT)
    special = next((one.cluster_defaults for one in team.spec.environments if one.name == wanted), None)
    if special is None:
        return general
    changed = {name: value for name in special.__struct_fields__ if (value := getattr(special, name)) not in (None, ())}
    merged: ClusterDefaults = msgspec.structs.replace(general, **changed)
    return merged


def settings_of(
    cluster: TenantCluster, team: Team | None, config: ButlerConfig | None, provider: ProviderConfig | None = None
) -> ClusterSettings:
    """The cluster, normalised, with everything it leaves out."""
    defaults = defaults_of(cluster, team)
    spec = cluster.spec
    platform = config.spec if config is not None else None
    return ClusterSettings(
        version=spec.kubernetes_version or _running_version(cluster) or defaults.kubernetes_version or versions.DEFAULT,
        pools=tuple(_pools(cluster, defaults, platform.ssh_authorized_key if platform else None)),
        choose_addons=lambda: tuple(_addons(cluster, team, platform_wishes(cluster, defaults, config, provider))),
        control_plane_resources=_resources(
            platform.default_control_plane_resources if platform else None, spec.control_plane.resources
        ),
        time_servers=(
            spec.time_servers
            or (provider.spec.network.time_servers if provider else ())
            or (platform.default_time_servers if platform else ())
            or TIME_SERVERS
        ),
    )


def _addons(cluster: TenantCluster, team: Team | None, wishes: Iterable[Wish]) -> Iterable[Wish]:
    """Without those that nobody asked for and the team may not have. What is there stays."""
    limits = team.spec.resource_limits if team is not None else None
    seen = cluster.status.observed_state
    there = {one.name for one in seen.addons} if seen is not None else set()
    for wish in wishes:
        may_be_left_out = wish.reason is Reason.FILLED_IN and wish.name not in there
        if limits is None or not may_be_left_out or _may_have(limits, wish.name):
            yield wish


def _may_have(limits: ResourceLimits, addon: str) -> bool:
    return addon not in limits.denied_addons and (not limits.allowed_addons or addon in limits.allowed_addons)


def _running_version(cluster: TenantCluster) -> str | None:
    """A cluster that names no version keeps the one it got, whatever becomes of the defaults."""
    seen = cluster.status.observed_state
    return seen.kubernetes_version if seen is not None else None


def _pools(cluster: TenantCluster, defaults: ClusterDefaults, ssh_key: str | None) -> Iterable[PoolSettings]:
    workers = cluster.spec.workers
    if workers.replicas is not None or not workers.pools:
        count = workers.replicas if workers.replicas is not None else defaults.worker_count or 1
        yield _pool(WorkerPool(name="", replicas=count, machine_template=workers.machine_template), defaults, ssh_key)
    for pool in workers.pools:
        yield _pool(pool, defaults, ssh_key)


def _pool(pool: WorkerPool, defaults: ClusterDefaults, ssh_key: str | None) -> PoolSettings:
    template = pool.machine_template
    system = template.os
    return PoolSettings(
        name=pool.name,
        replicas=pool.replicas,
        least=pool.min_replicas or 0,
        most=pool.max_replicas or 0,
        **_size(template, defaults),
        image=(system.image_ref or "") if system else "",
        labels=tuple(sorted(pool.labels.items())),
        taints=tuple((taint.key, taint.value or "", taint.effect) for taint in pool.taints),
        failure_domain=pool.failure_domain or "",
        ssh_key=(system.ssh_authorized_key if system else None) or ssh_key or "",
    )


def _size(template: MachineTemplate, defaults: ClusterDefaults) -> dict[str, Any]:
    memory = f"{defaults.worker_memory_gi}Gi" if defaults.worker_memory_gi else DEFAULT_MEMORY
    disk = f"{defaults.worker_disk_gi}Gi" if defaults.worker_disk_gi else DEFAULT_DISK
    return {
        "cpu": template.cpu or defaults.worker_cpu or DEFAULT_CPU,
        "memory": str(template.memory or memory),
        "disk": str(template.disk_size or disk),
    }


def _resources(
    platform: ControlPlaneResources | None, cluster: ControlPlaneResources | None
) -> ControlPlaneResources | None:
    """The platform's resources, component by component replaced by the cluster's."""
    if platform is None or cluster is None:
        return cluster or platform
    said = {name: value for name in cluster.__struct_fields__ if (value := getattr(cluster, name)) is not None}
    merged: ControlPlaneResources = msgspec.structs.replace(platform, **said)
    return merged
