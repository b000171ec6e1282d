"""Team: `quotas` and `defaults`; User: three ways to write platform administrator."""

from __future__ import annotations

from msgspec.structs import replace

from kubekit.model.resource import wire_name

from .. import units
from ..identity import User
from ..shared import TemplateSize
from ..team import ClusterDefaults, DefaultWorkers, ResourceLimits, Team, TeamDefaults, TeamSpec
from .sizes import disk_size, in_units
from .spellings import Spellings


def team(team: Team, spellings: Spellings) -> Team:
    limits, defaults = _limits(team.spec, spellings), _defaults(team.spec, spellings)
    made = replace(team.spec, resource_limits=limits, quotas=None, cluster_defaults=defaults, defaults=None)
    return replace(team, spec=made)


def _limits(spec: TeamSpec, spellings: Spellings) -> ResourceLimits | None:
    quotas = spec.quotas
    if quotas is None:
        return spec.resource_limits
    limits = spec.resource_limits or ResourceLimits()
    here, there = "spec.resourceLimits", "spec.quotas"
    return replace(
        limits,
        max_clusters=spellings.either(
            f"{here}.maxClusters", limits.max_clusters, f"{there}.maxClusters", quotas.max_clusters
        ),
        max_nodes_per_cluster=spellings.either(
            f"{here}.maxNodesPerCluster",
            limits.max_nodes_per_cluster,
            f"{there}.maxWorkersPerCluster",
            quotas.max_workers_per_cluster,
        ),
        max_total_nodes=spellings.either(
            f"{here}.maxTotalNodes", limits.max_total_nodes, f"{there}.maxTotalWorkers", quotas.max_total_workers
        ),
    )


def _defaults(spec: TeamSpec, spellings: Spellings) -> ClusterDefaults | None:
    if spec.defaults is None:
        return spec.cluster_defaults
    defaults, older = spec.cluster_defaults or ClusterDefaults(), _older(spec.defaults, spellings)
    chosen = {
        name: spellings.either(
            f"spec.clusterDefaults.{wire_name(name)}",
            getattr(defaults, name),
            f"spec.defaults ({wire_name(name)})",
            getattr(older, name),
        )
        for name in ("kubernetes_version", "worker_count", "worker_cpu", "worker_memory_gi", "worker_disk_gi")
    }
    return replace(defaults, **chosen)


def _older(defaults: TeamDefaults, spellings: Spellings) -> ClusterDefaults:
    workers = defaults.workers or DefaultWorkers()
    template = workers.machine_template or TemplateSize()
    path = "spec.defaults.workers.machineTemplate"
    disk = disk_size(spellings, path, template)

    def whole(name: str, quantity: str | int | None, unit: int) -> int | None:
        return None if quantity is None else spellings.parsed(f"{path}.{name}", in_units(unit), quantity)

    return ClusterDefaults(
        kubernetes_version=defaults.kubernetes_version,
        worker_count=workers.replicas,
        worker_cpu=whole("cpu", template.cpu, 1),
        worker_memory_gi=whole("memory", template.memory, units.GIB),
        worker_disk_gi=whole("diskSize", disk, units.GIB),
    )


def user(user: User, _: Spellings) -> User:
    """The higher right counts: the API server fills in `isPlatformAdmin: false`, so false says nothing."""
    spec = user.spec
    admin = spec.is_platform_admin or bool(spec.platform_admin) or spec.platform_role == "admin"
    role = "admin" if admin else spec.platform_role or None
    return replace(user, spec=replace(spec, is_platform_admin=admin, platform_admin=None, platform_role=role))
