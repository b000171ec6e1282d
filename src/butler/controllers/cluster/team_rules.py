"""What a team's limits say besides numbers of clusters and workers: what a cluster may choose, what it gets."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from msgspec import structs

from butler.addons.resolution import Reason
from butler.api import units
from butler.api.cluster import TenantCluster
from butler.api.config import ButlerConfig
from butler.api.provider import ProviderConfig
from butler.api.team import ClusterDefaults, ResourceLimits, Team
from kubekit.errors import FieldError, FieldProblem

from .settings import ClusterSettings


def with_platform_limits(team: Team, config: ButlerConfig | None) -> Team:
    """A team, normalised, with the platform's limits where it has none of its own."""
    given = config.spec.default_team_limits if config is not None else None
    if given is None:
        return team
    own = team.spec.resource_limits or ResourceLimits()
    offered = {
        "max_clusters": given.max_clusters,
        "max_nodes_per_cluster": given.max_workers_per_cluster,
        "max_cpu_cores": given.max_total_cpu,
        "max_memory": given.max_total_memory,
        "max_storage": given.max_total_storage,
    }
    limits = structs.replace(own, **{name: limit for name, limit in offered.items() if getattr(own, name) is None})
    return structs.replace(team, spec=structs.replace(team.spec, resource_limits=limits))


def with_default_sizes(team: Team) -> Team:
    """A team, normalised, whose limits say what workers are like where its defaults do not."""
    limits = team.spec.resource_limits
    if limits is None or (limits.default_cpu_per_node is None and limits.default_memory_per_node is None):
        return team
    own = team.spec.cluster_defaults or ClusterDefaults()
    cpu, memory = limits.default_cpu_per_node, limits.default_memory_per_node
    defaults = structs.replace(
        own,
        worker_cpu=own.worker_cpu or (units.whole(cpu, 1) if cpu is not None else None),
        worker_memory_gi=own.worker_memory_gi or (units.whole(memory, units.GIB) if memory is not None else None),
    )
    return structs.replace(team, spec=structs.replace(team.spec, cluster_defaults=defaults))


def forbidden_choices(
    cluster: TenantCluster, team: Team | None, provider: ProviderConfig, settings: ClusterSettings
) -> Iterator[tuple[str, FieldError]]:
    """What a cluster has chosen that its team may not, each with a reason. What it runs with already it may keep."""
    limits = team.spec.resource_limits if team is not None else None
    if limits is None:
        return
    seen, made_with = cluster.status.observed_state, cluster.status.provider_config_ref
    versions, providers = limits.allowed_kubernetes_versions, limits.allowed_providers
    running = seen.kubernetes_version if seen is not None else None
    if versions and settings.version not in versions and settings.version != running:
        yield "VersionNotAllowed", _forbidden("spec.kubernetesVersion", settings.version, versions)
    name = provider.metadata.name
    if providers and name not in providers and (made_with is None or made_with.name != name):
        yield "ProviderAccessDenied", _forbidden("spec.providerConfigRef.name", name, providers)
    there = {one.name for one in seen.addons} if seen is not None else set()
    for addon in settings.addons if limits.denied_addons or limits.allowed_addons else ():
        if addon.name in there or addon.reason is not Reason.ASKED:
            continue
        if addon.name in limits.denied_addons:
            yield "AddonNotAllowed", FieldError(FieldProblem.FORBIDDEN, "spec.addons", f"{addon.name} is denied")
        elif limits.allowed_addons and addon.name not in limits.allowed_addons:
            yield "AddonNotAllowed", _forbidden("spec.addons", addon.name, limits.allowed_addons)


def exceeded_sizes(limits: ResourceLimits, clusters: Collection[ClusterSettings]) -> Iterator[str]:
    """Which sums over the workers of all these clusters are above the limits."""
    pools = [pool for one in clusters for pool in one.pools]
    for what, limit, sizes in (
        ("cores", limits.max_cpu_cores, [(pool.desired, str(pool.cpu)) for pool in pools]),
        ("memory", limits.max_memory, [(pool.desired, pool.memory) for pool in pools]),
        ("disk", limits.max_storage, [(pool.desired, pool.disk) for pool in pools]),
    ):
        total = sum(count * units.amount(size) for count, size in sizes)
        if limit is not None and total > units.amount(limit):
            shown = str(total) if what == "cores" else f"{float(total / units.GIB):g}Gi"
            yield f"{shown} of {what} in the workers of the team, and {allowed(limit)}"


def allowed(limit: str | int) -> str:
    return f"{limit} {'is' if str(limit) == '1' else 'are'} allowed"


def _forbidden(path: str, value: str, allowed: tuple[str, ...]) -> FieldError:
    return FieldError(FieldProblem.FORBIDDEN, path, f"the team may not have {value}, only {', '.join(allowed)}")
