"""A cluster as it runs, written as someone would write it who wants another like it wherever the defaults differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import convert, structs

from butler.api.cluster import MachineTemplate, OperatingSystem, TenantCluster, TenantClusterSpec
from butler.api.cluster_addons import CertManagerAddon, ClusterAddons, CniAddon, IngressAddon
from butler.api.config import BUTLER_CONFIG_NAME, ButlerConfig
from butler.api.normalise import normalise
from butler.api.provider import ProviderConfig
from butler.api.shared import SYSTEM_NAMESPACE, ProviderRef
from butler.api.team import Team
from kubekit.client.protocol import Client
from kubekit.runtime.objects import key

from .acceptance import as_last_accepted
from .addons.observed import version_there
from .lookup import Lookup, Snapshot
from .settings import ClusterSettings, PoolSettings, settings_of

_WITH_VALUES = ("cni", "cert_manager", "storage", "load_balancer", "ingress")


async def fetch_defaults(client: Client, sight: Snapshot, cluster: TenantCluster) -> None:
    """Where the values come from that a cluster does not say itself. Raises NotFound, Forbidden."""
    team, provider = cluster.spec.team_ref, cluster.status.provider_config_ref
    if sight.get(ButlerConfig, BUTLER_CONFIG_NAME) is None:
        await sight.fetch_one(client, ButlerConfig, BUTLER_CONFIG_NAME)
    if team is not None and sight.get(Team, team.name) is None:
        await sight.fetch_one(client, Team, team.name)
    if provider is not None and sight.get(ProviderConfig, key(provider.namespace, provider.name)) is None:
        await sight.fetch_one(client, ProviderConfig, provider.name, provider.namespace)


def as_it_runs(cluster: TenantCluster, sight: Lookup) -> TenantCluster | None:
    """The cluster that was last accepted, with everything it left out; None when nothing of it ever was."""
    kept = as_last_accepted(cluster, sight)
    if kept is None:
        return None
    kept = normalise(structs.replace(cluster, spec=_with_values(kept.spec, cluster.spec.addons)))
    spec, made_with = kept.spec, cluster.status.provider_config_ref
    team = sight.get(Team, spec.team_ref.name) if spec.team_ref is not None else None
    provider = sight.get(ProviderConfig, key(made_with.namespace, made_with.name)) if made_with else None
    settings = settings_of(
        kept, normalise(team) if team is not None else None, sight.get(ButlerConfig, BUTLER_CONFIG_NAME), provider
    )
    return structs.replace(kept, spec=_complete(kept, settings))


def _with_values(spec: TenantClusterSpec, written: ClusterAddons) -> TenantClusterSpec:
    """With the Helm values, which are remembered nowhere else than where they are written."""
    found: dict[str, Any] = {}
    for name in _WITH_VALUES:
        addon, source = getattr(spec.addons, name), getattr(written, name)
        if addon is not None and source is not None and source.values is not None:
            found[name] = structs.replace(addon, values=source.values)
    return structs.replace(spec, addons=structs.replace(spec.addons, **found))


def _complete(cluster: TenantCluster, settings: ClusterSettings) -> TenantClusterSpec:
    spec, pools = cluster.spec, {pool.name: pool for pool in settings.pools}
    workers = structs.replace(
        spec.workers,
        pools=tuple(
            structs.replace(pool, machine_template=_template(pool.machine_template, pools[pool.name]))
            for pool in spec.workers.pools
        ),
    )
    if (unnamed := pools.get("")) is not None:
        template = _template(spec.workers.machine_template, unnamed)
        workers = structs.replace(workers, replicas=unnamed.replicas, machine_template=template)
    return structs.replace(
        spec,
        kubernetes_version=settings.version,
        workers=workers,
        control_plane=structs.replace(spec.control_plane, resources=settings.control_plane_resources),
        addons=_addons(spec.addons, _versions(cluster, settings)),
        provider_config_ref=_provider(cluster),
        time_servers=settings.time_servers,
    )


def _template(template: MachineTemplate, pool: PoolSettings) -> MachineTemplate:
    system = template.os
    if pool.ssh_key:
        system = structs.replace(system or OperatingSystem(), ssh_authorized_key=pool.ssh_key)
    sizes = convert({"cpu": pool.cpu, "memory": pool.memory, "diskSize": pool.disk}, MachineTemplate)
    return structs.replace(sizes, os=system)


def _provider(cluster: TenantCluster) -> ProviderRef | None:
    """The one it was made with; its namespace is said where it would not be looked for."""
    made_with = cluster.status.provider_config_ref
    if made_with is None:
        return cluster.spec.provider_config_ref
    namespace = made_with.namespace if made_with.namespace != SYSTEM_NAMESPACE else None
    return ProviderRef(name=made_with.name, namespace=namespace)


def _versions(cluster: TenantCluster, settings: ClusterSettings) -> dict[str, str]:
    """By name, what was asked for, else what is there."""
    seen = cluster.status.observed_state
    there = {one.name: version_there(one) for one in (seen.addons if seen is not None else ())}
    return {one.name: one.version or there.get(one.name, "") for one in settings.addons}


def _addons(addons: ClusterAddons, found: Mapping[str, str]) -> ClusterAddons:
    """With the versions they have, also those that nobody asked for."""
    storage, balancer, ingress = addons.storage, addons.load_balancer, addons.ingress or IngressAddon()
    given = (
        ("cni", "cilium", addons.cni or CniAddon()),
        ("cert_manager", "cert-manager", addons.cert_manager or CertManagerAddon()),
        ("storage", (storage.provider if storage else None) or "", storage),
        ("load_balancer", balancer.provider if balancer else "", balancer),
        ("ingress", ingress.provider or "traefik", ingress),
    )
    changed = {
        field: structs.replace(addon, version=found[name] or None)
        for field, name, addon in given
        if addon is not None and name in found
    }
    return structs.replace(addons, **changed)
