"""Whether an addon can be had in a cluster as it is asked for, said before anything is written."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from butler import advice
from butler.addons import placeholders, schemas, suitability
from butler.addons.errors import AddonRefused, InvalidValues
from butler.addons.facts import Facts
from butler.addons.values import merged
from butler.api.addon import AddonDefinition, TenantAddon
from butler.api.provider import ProviderConfig
from butler.engines.helm.charts import Chart
from butler.engines.helm.errors import ChartRefused
from kubekit.client.protocol import Selection
from kubekit.errors import Forbidden, NotFound

from ..lazy import MISSING, REFUSED, USAGE, Failure
from ..output import say
from ..session import Session
from .host import Host, how_to_change
from .lookup import host_of, speaking_of

Catalogue = Mapping[str, AddonDefinition]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where an addon is to go."""

    host: Host
    catalogue: Catalogue
    addons: Sequence[TenantAddon]
    """Those that the cluster has already."""

    def has(self, name: str) -> bool:
        """Whether an addon of the catalogue is in the cluster, or comes with it."""
        if self.host.platform_addon(name) or any(one.spec.addon == name for one in self.addons):
            return True
        definition = self.catalogue.get(name)
        return definition is not None and definition.spec.platform and not self.host.is_complete


async def surroundings(session: Session, cluster: str) -> Surroundings:
    """Raises Failure."""
    with speaking_of(session):
        host, definitions, addons = await asyncio.gather(
            host_of(session, cluster),
            session.client.list(AddonDefinition),
            session.client.list(TenantAddon, Selection(session.namespace)),
        )
    return Surroundings(
        host,
        {one.metadata.name: one for one in definitions.items},
        [one for one in addons.items if one.spec.cluster_ref.name == cluster],
    )


def definition_named(name: str, catalogue: Catalogue, where: str) -> AddonDefinition:
    """Raises Failure, with names that are close."""
    if found := catalogue.get(name):
        return found
    titles = {one.spec.display_name.lower(): one.metadata.name for one in catalogue.values()}
    close = get_close_matches(name.lower(), [*catalogue, *titles], 3, 0.5)
    close += [one for one in catalogue if name.lower() in one]
    names = [*dict.fromkeys(titles.get(one, one) for one in close)][:3]
    hint = f"did you mean {' or '.join(names)}? " if names else ""
    raise Failure(f'the catalogue has no addon "{name}"; {hint}`{advice.addon_catalogue(where)}` shows all', MISSING)


async def check_new(session: Session, definition: AddonDefinition, around: Surroundings) -> None:
    """That the cluster can take an addon which it does not have. Raises Failure."""
    name, cluster = definition.metadata.name, around.host.metadata.name
    subject = f"{name} cannot be installed into cluster {session.namespace}/{cluster}"
    if around.host.platform_addon(name):
        remedy = how_to_change(definition.spec.category, cluster, session.where)
        raise Failure(f"{subject}: the platform keeps it there; {remedy}", REFUSED)
    if other := next((one for one in around.addons if one.spec.addon == name), None):
        raise Failure(f"{subject}: it is there already, as {other.metadata.name.removeprefix(f'{cluster}-')}", REFUSED)
    await _check_suitable(session, definition, around.host, subject)
    _check_conflicts(session, definition, around, subject)
    missing = [one for one in definition.spec.depends_on if not around.has(one)]
    if missing:
        how = " && ".join(advice.install_addon(cluster, one, session.where) for one in missing)
        raise Failure(f"{subject}: it needs {', '.join(missing)}, which is not there; first `{how}`", REFUSED)


async def _check_suitable(session: Session, definition: AddonDefinition, host: Host, subject: str) -> None:
    config = await provider_config(session, host) if definition.spec.providers else None
    infrastructure = config.spec.infrastructure if config is not None else ""
    try:
        suitability.check(definition, Facts(host.metadata.name, host.version, infrastructure, {}))
    except AddonRefused as error:
        told = str(error).removeprefix(f"{error.addon}: ")
        raise Failure(f"{subject}: it {told}", REFUSED) from None


async def provider_config(session: Session, host: Host) -> ProviderConfig | None:
    """What the cluster runs on; None where that is not to be found out."""
    ref = host.status.provider_config_ref
    if ref is None:
        return None
    try:
        found: ProviderConfig = await session.client.get(ProviderConfig, ref.name, ref.namespace)
    except (NotFound, Forbidden):
        return None
    return found


def _check_conflicts(session: Session, definition: AddonDefinition, around: Surroundings, subject: str) -> None:
    """Either of two may say that they do not go together."""
    name, cluster = definition.metadata.name, around.host.metadata.name
    against = {*definition.spec.conflicts}
    against |= {other for other, one in around.catalogue.items() if name in one.spec.conflicts}
    for other in sorted(against - {name}):
        if around.host.platform_addon(other):
            raise Failure(f"{subject}: it cannot be beside {other}, which the platform keeps there", REFUSED)
        if any(one.spec.addon == other for one in around.addons):
            remove = advice.uninstall_addon(cluster, other, session.where)
            raise Failure(f"{subject}: it cannot be beside {other}, which is there; `{remove}` removes that", REFUSED)


def check_chart(name: str, repository: str, chart: str, version: str) -> None:
    """That exactly one chart can be meant. Raises Failure."""
    try:
        Chart(repository, chart, version).check()
    except ChartRefused as error:
        raise Failure(f"{name}: {error.message}", USAGE) from None


def check_version(definition: AddonDefinition, version: str) -> None:
    """Raises Failure for what is no version; others than those of the catalogue are only remarked on."""
    chart, name = definition.spec.chart, definition.metadata.name
    wanted = version or chart.default_version
    if not wanted:
        raise Failure(f"{name}: the catalogue names no version; say one with --version", USAGE)
    check_chart(name, chart.repository, chart.name, wanted)
    known = dict.fromkeys((chart.default_version, *chart.available_versions))
    if version and version not in known:
        say(f"Warning: {name} {version} is not among the versions that the catalogue knows: {', '.join(known)}")


def check_defaults(definition: AddonDefinition) -> None:
    """That a definition's own values go with its schema, but for what is missing, which users may say. Raises
    Failure."""
    spec, name = definition.spec, definition.metadata.name
    try:
        found = schemas.problems(name, placeholders.without(spec.defaults.values or {}), spec.values_schema)
        schemas.refuse(name, [one for one in found if not schemas.is_about_a_gap(one)])
    except InvalidValues as error:
        raise Failure(str(error), USAGE) from None


def check_values(definition: AddonDefinition, layers: Sequence[Mapping[str, Any]]) -> None:
    """That values go with the definition's schema, as far as those of the definition do. Raises Failure."""
    spec, name = definition.spec, definition.metadata.name
    defaults = placeholders.without(spec.defaults.values or {})
    try:
        before = schemas.problems(name, defaults, spec.values_schema)
        found = schemas.problems(name, merged(defaults, *layers), spec.values_schema)
        schemas.refuse(name, [one for one in found if one not in before])
    except InvalidValues as error:
        raise Failure(str(error), USAGE) from None
