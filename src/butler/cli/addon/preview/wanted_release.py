"""What a TenantAddon comes to in its cluster, worked out here: for looking at a change before it happens."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from butler import advice
from butler.addons.errors import AddonRefused
from butler.addons.facts import running_facts
from butler.addons.resolution import Wish, resolve
from butler.addons.values import merged
from butler.api.addon import AddonDefinition, HelmChart, TenantAddon
from butler.api.cluster import TenantCluster
from butler.engines import tenants
from butler.engines.core import Secret
from butler.engines.helm.charts import Chart
from butler.engines.helm.protocol import Cluster, Place, Release
from kubekit.client import kubeconfig
from kubekit.client.http import HttpClient
from kubekit.errors import NotFound

from ...lazy import MISSING, REFUSED, Failure
from ...session import AGENT, Session
from .. import checks, secret_values
from ..host import Host
from ..lookup import definition_of
from . import chart_access


@dataclass(frozen=True, slots=True)
class WantedRelease:
    """A release, and which of its values nobody should see."""

    release: Release
    secrets: Sequence[Mapping[str, Any]] = field(default=(), repr=False)


@asynccontextmanager
async def connected(session: Session, host: Host) -> AsyncIterator[Cluster]:
    """The cluster itself, by its administrator's kubeconfig. Raises Failure, InvalidConfiguration."""
    name, namespace = host.metadata.name, host.status.tenant_namespace
    missing = Failure(
        f"cluster {session.namespace}/{name} has no kubeconfig yet: it is {host.status.phase or 'Pending'}; "
        f"`{advice.why(name, session.where)}` says what it waits for",
        MISSING,
    )
    if not namespace:
        raise missing
    try:
        secret: Secret = await session.client.get(Secret, tenants.admin_kubeconfig_secret(name), namespace)
    except NotFound as error:
        raise missing from error
    config = kubeconfig.self_contained(tenants.kubeconfig_in(secret), f"Secret {secret.key}")
    async with HttpClient(config, clock=session.clock, agent=AGENT) as client:
        yield Cluster(config, client)


async def wanted_release(session: Session, host: Host, addon: TenantAddon) -> WantedRelease:
    """Raises Failure."""
    spec = addon.spec
    secrets = await secret_values.read(session, addon.metadata.name, spec.values_from)
    layers = (spec.values or {}, *secrets)
    if spec.helm is not None:
        release, opened_by = _of_chart(addon, spec.helm, layers)
    else:
        definition = await definition_of(session, spec.addon or "")
        if definition is None:
            raise Failure(f'the catalogue has no addon "{spec.addon}" any more', REFUSED)
        release, opened_by = await _of_definition(session, host, addon, definition, layers)
    chart, credentials = await chart_access.reached(session.client, release.chart, opened_by)
    return WantedRelease(replace(release, chart=chart, credentials=credentials), secrets)


def _of_chart(addon: TenantAddon, helm: HelmChart, layers: Sequence[Mapping[str, Any]]) -> tuple[Release, Any]:
    meta = addon.metadata
    place = Place(helm.release_name or meta.name, helm.namespace or meta.name)
    release = Release(
        place=_there(addon) or place,
        chart=Chart(helm.repository, helm.chart, addon.spec.version, digest=helm.digest or ""),
        values=merged(*layers),
        create_namespace=helm.create_namespace,
    )
    return release, (meta.namespace, helm.credentials_ref.name) if helm.credentials_ref else None


async def _of_definition(
    session: Session, host: Host, addon: TenantAddon, definition: AddonDefinition, layers: Sequence[Mapping[str, Any]]
) -> tuple[Release, Any]:
    wish = Wish(definition.metadata.name, addon.spec.version, tuple(layers))
    cluster = await session.client.get(TenantCluster, host.metadata.name, session.namespace)
    facts = running_facts(cluster, await checks.provider_config(session, host))
    try:
        found = resolve(wish, definition, facts)
    except AddonRefused as error:
        raise Failure(str(error), REFUSED) from None
    return replace(found.release, place=_there(addon) or found.place), found.credentials


def _there(addon: TenantAddon) -> Place | None:
    """Where it was installed."""
    release = addon.status.helm_release
    return Place(release.name, release.namespace) if release and release.name and release.namespace else None
