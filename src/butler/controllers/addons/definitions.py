"""The entry of the catalogue that a TenantAddon comes from; a chart of its own is treated like one."""

from __future__ import annotations

from collections.abc import Callable

from butler.addons import repositories
from butler.addons.errors import AddonNotFound, AddonRefused
from butler.api.addon import (
    AddonDefinition,
    AddonDefinitionSpec,
    CatalogueChart,
    HelmChart,
    InstallDefaults,
    TenantAddon,
)
from butler.api.config import ButlerConfig, Charts
from butler.api.shared import RepositorySecretRef
from kubekit.model.resource import ObjectMeta

Find = Callable[[str], AddonDefinition | None]


class InvalidAddon(AddonRefused):
    """It says something that cannot be meant."""

    reason = "InvalidConfiguration"


def definition_of(obj: TenantAddon, find: Find, config: ButlerConfig | None) -> AddonDefinition:
    """Raises AddonRefused."""
    name, chart = obj.spec.addon, obj.spec.helm
    if bool(name) == (chart is not None):
        raise InvalidAddon(obj.metadata.name, "either spec.addon or spec.helm is needed, and not both")
    if chart is not None:
        repositories.check(obj.metadata.name, chart.repository, config.spec.charts if config is not None else Charts())
        return _of_chart(obj, chart)
    return named(obj.metadata.name, name or "", find)


def named(addon: str, name: str, find: Find) -> AddonDefinition:
    """Raises AddonNotFound."""
    found = find(name)
    if found is None:
        raise AddonNotFound(addon, f"the catalogue has no AddonDefinition {name}")
    return found


def _of_chart(obj: TenantAddon, chart: HelmChart) -> AddonDefinition:
    name, version = obj.metadata.name, obj.spec.version
    credentials = chart.credentials_ref
    return AddonDefinition(
        metadata=ObjectMeta(name=name),
        spec=AddonDefinitionSpec(
            display_name=name[:64],
            description="A chart that is not in the catalogue.",
            category="other",
            chart=CatalogueChart(
                repository=chart.repository,
                name=chart.chart,
                default_version=version,
                digests={version: chart.digest} if chart.digest else {},
                credentials_ref=RepositorySecretRef(name=credentials.name, namespace=obj.metadata.namespace)
                if credentials is not None
                else None,
            ),
            defaults=InstallDefaults(
                namespace=chart.namespace, release_name=chart.release_name, create_namespace=chart.create_namespace
            ),
        ),
    )
