"""What an addon comes to in one cluster: the chart, its version, the release, all values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import Any

from butler.api.addon import AddonDefinition
from butler.api.shared import SYSTEM_NAMESPACE
from butler.api.units import duration
from butler.engines.helm.charts import Chart
from butler.engines.helm.protocol import Place, Release
from kubekit.model.resource import Object

from . import bundled, placeholders, schemas, suitability, values
from .errors import InvalidValues, VersionUnknown
from .facts import Facts
from .model import Addon

_ON_NODES = frozenset(["cni", "loadbalancer", "storage"])
"""Categories whose pods change the network or the disks of nodes."""


class Reason(Enum):
    """Why a cluster is to have an addon."""

    NEEDED = "needed"
    """It would be none without."""
    ASKED = "asked"
    FILLED_IN = "filled in"
    """Nobody said anything, so it may as well be left out."""


@dataclass(frozen=True, slots=True)
class Wish:
    """An addon as somebody asks for it."""

    name: str
    """In its cluster; also that of the release unless the definition says otherwise."""
    version: str = ""
    """Empty: that of the definition."""
    values: tuple[Mapping[str, Any], ...] = ()
    """Layers, the last one wins; all of them lie over the definition's."""
    reason: Reason = Reason.ASKED


def resolve(wish: Wish, definition: AddonDefinition, facts: Facts) -> Addon:
    """Raises AddonRefused."""
    spec, defaults = definition.spec, definition.spec.defaults
    suitability.check(definition, facts)
    version = wish.version or spec.chart.default_version
    if not version:
        raise VersionUnknown(wish.name, "neither who asks for it nor its definition says which version")
    try:
        given = placeholders.filled(defaults.values or {}, facts.named)
        resources = tuple(_there(spec.resources, facts))
    except placeholders.UnknownPlaceholder as unknown:
        raise InvalidValues(wish.name, f"its definition asks for $({unknown.args[0]}), which nobody knows") from None
    wanted = values.merged(given, *wish.values)
    schemas.check(wish.name, wanted, spec.values_schema)
    credentials = spec.chart.credentials_ref
    return Addon(
        name=wish.name,
        release=Release(
            place=Place(defaults.release_name or wish.name, defaults.namespace or definition.metadata.name),
            chart=Chart(
                bundled.located(spec.chart.repository),
                spec.chart.name,
                version,
                digest=spec.chart.digests.get(version, ""),
                plain_http=spec.chart.plain_http,
            ),
            values=wanted,
            create_namespace=defaults.create_namespace,
            timeout=duration(defaults.timeout),
        ),
        for_nodes=spec.for_nodes,
        depends_on=spec.depends_on,
        credentials=(credentials.namespace or SYSTEM_NAMESPACE, credentials.name) if credentials else None,
        resources=resources,
        privileged=spec.platform or spec.for_nodes or spec.category in _ON_NODES,
    )


def _there(resources: Iterable[Mapping[str, Any]], facts: Facts) -> Iterator[Object]:
    """Without those that are about something this cluster has none of, such as addresses for Services."""
    for resource in resources:
        with suppress(placeholders.AbsentFact):
            yield placeholders.filled(resource, facts.named)
