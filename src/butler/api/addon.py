"""TenantAddon, ManagementAddon, AddonDefinition: software that Butler installs."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal

from msgspec import Meta

from kubekit.model.resource import AGE, Column, Model, NotEmpty, Rule, Time
from kubekit.model.status import Condition, Status

from .model import NOT_YET, Resource, Values
from .shared import HelmRelease, LocalRef, RepositorySecretRef


class TenantAddonPhase(StrEnum):
    """Where an addon of a tenant is in its life."""

    PENDING = "Pending"
    INSTALLING = "Installing"
    INSTALLED = "Installed"
    UPGRADING = "Upgrading"
    DEGRADED = "Degraded"
    FAILED = "Failed"
    DELETING = "Deleting"


class HelmChart(Model):
    """A chart that is not in the catalogue."""

    repository: str
    """Address of the chart repository."""
    chart: str
    """Name of the chart."""
    release_name: str | None = None
    """Name of the release; left out, that of this object."""
    namespace: str | None = None
    """Namespace it is installed in; left out, it has the name of this object."""
    create_namespace: bool = True
    """Create the namespace."""
    credentials_ref: LocalRef | None = None
    """Secret beside this object with username and password, and ca.crt where needed."""
    digest: str | None = None
    """sha256:… of the chart's archive; another one is refused."""


class ValuesSource(Model):
    """Helm values that are kept in a Secret."""

    secret_ref: LocalRef
    """Secret beside this object."""
    key: str = "values.yaml"
    """Key of the Secret under which they are, as YAML."""


class TenantAddonSpec(Model):
    """The addon that is wanted: one of the catalogue, or a chart."""

    rules = (
        Rule("(has(self.addon) && self.addon != '') != has(self.helm)", "either addon or helm is needed, and not both"),
        Rule("self.clusterRef == oldSelf.clusterRef", "clusterRef is immutable"),
    )

    cluster_ref: LocalRef
    """TenantCluster beside this object."""
    addon: str | None = None
    """AddonDefinition; instead of helm."""
    helm: HelmChart | None = None
    """A chart; instead of addon."""
    version: str = ""
    """Version to install; left out, that of the definition."""
    values: Values | None = None
    """Helm values, over those of the definition."""
    values_from: tuple[ValuesSource, ...] = ()
    """Further Helm values, over those, the last one wins: for what nobody should read here."""
    depends_on: tuple[LocalRef, ...] = ()
    """TenantAddons that must be installed first."""


class TenantAddonStatus(Status):
    """The addon as it is."""

    phase: TenantAddonPhase | None = None
    """Where it is in its life."""
    installed_version: str | None = None
    """Version that runs."""
    helm_release: HelmRelease | None = None
    values_digest: str | None = None
    """Tells the chart and the values it was installed with from others."""
    message: str | None = None
    """What is going on."""
    last_transition_time: Time | None = None
    """When the phase last changed."""


class TenantAddon(
    Resource,
    plural="tenantaddons",
    short="ta",
    columns=(
        Column("Cluster", ".spec.clusterRef.name"),
        Column("Addon", ".spec.addon"),
        Column("Version", ".spec.version"),
        Column("Phase", ".status.phase"),
        Column("Installed", ".status.installedVersion"),
        Column("Message", ".status.message", priority=1),
        AGE,
    ),
):
    """An addon on one tenant cluster."""

    spec: TenantAddonSpec
    status: TenantAddonStatus = TenantAddonStatus()


class ManagementAddonPhase(StrEnum):
    """Where an addon of the management cluster is in its life."""

    PENDING = "Pending"
    INSTALLING = "Installing"
    INSTALLED = "Installed"
    UPGRADING = "Upgrading"
    FAILED = "Failed"
    UNINSTALLING = "Uninstalling"


class ManagementAddonSpec(Model):
    """The addon that is wanted."""

    addon: NotEmpty
    """AddonDefinition."""
    version: str | None = None
    """Version; left out, that of the definition."""
    values: Values | None = None
    """Helm values, over those of the definition."""
    paused: bool | None = None
    """Leave it as it is."""


class ManagementAddonStatus(Status):
    """The addon as it is."""

    phase: ManagementAddonPhase | None = None
    """Where it is in its life."""
    installed_version: str | None = None
    """Version that runs."""
    last_attempted_version: str | None = None
    """Version that was last tried."""
    helm_release: HelmRelease | None = None
    values_digest: str | None = None
    """Tells the chart and the values it was installed with from others."""
    message: str | None = None
    """What is going on."""
    conditions: tuple[Condition, ...] = ()
    """What is known about the addon, aspect by aspect."""


class ManagementAddon(
    Resource,
    plural="managementaddons",
    short=("ma", "maddon"),
    namespaced=False,
    columns=(
        Column("Addon", ".spec.addon"),
        Column("Version", ".spec.version"),
        Column("Phase", ".status.phase"),
        Column("Installed", ".status.installedVersion"),
        Column("Message", ".status.message", priority=1),
        AGE,
    ),
):
    """An addon on the management cluster."""

    spec: ManagementAddonSpec
    status: ManagementAddonStatus = ManagementAddonStatus()


ChartRepository = Annotated[str, Meta(pattern=r"^((https?|oci)://|builtin://$)")]


class CatalogueChart(Model):
    """Where the chart of an addon is."""

    repository: ChartRepository
    """Address of the chart repository, or oci://… of a registry up to the chart's name; builtin:// has the charts that
    come with Butler."""
    name: NotEmpty
    """Name of the chart."""
    default_version: str
    """Version for those who name none."""
    available_versions: tuple[str, ...] = ()
    """Further versions known to work."""
    digests: Mapping[str, str] = {}
    """By version, sha256:… of the chart's archive; another one is refused."""
    credentials_ref: RepositorySecretRef | None = None
    """Secret with username and password, and ca.crt where needed; left out of it, the namespace is butler-system."""
    plain_http: bool = False
    """The registry speaks no TLS; for oci:// only."""


class InstallDefaults(Model):
    """How an addon is installed unless its user says otherwise."""

    namespace: str | None = None
    """Namespace; left out, named like the definition."""
    release_name: str | None = None
    """Release; left out, named like the definition."""
    create_namespace: bool = True
    """Create the namespace."""
    timeout: str = "10m"
    """How long Helm may take."""
    values: Values | None = None
    """Helm values, under those of the user; $(cluster.name) and other placeholders stand for what the cluster is."""


class AddonLinks(Model):
    """Where to read more."""

    documentation: str | None = None
    """Documentation."""
    homepage: str | None = None
    """Project."""
    source: str | None = None
    """Source code."""


class Maintainer(Model):
    """Who looks after the definition."""

    name: str | None = None
    """Name."""
    email: str | None = None
    """Address."""


Category = Literal[
    "cni", "loadbalancer", "storage", "certmanager", "ingress", "observability", "backup", "gitops", "security",
    "dns", "database", "messaging", "service-mesh", "other",
]  # fmt: skip


class AddonDefinitionSpec(Model):
    """The addon and how it is shown."""

    display_name: Annotated[str, Meta(min_length=1, max_length=64)]
    """Title."""
    description: Annotated[str, Meta(min_length=1, max_length=512)]
    """What it does."""
    category: Category
    """Where it is listed."""
    chart: CatalogueChart
    defaults: InstallDefaults = InstallDefaults()
    depends_on: tuple[str, ...] = ()
    """AddonDefinitions that must be installed first."""
    conflicts: tuple[str, ...] = ()
    """AddonDefinitions that cannot be in the same cluster."""
    kubernetes_versions: str | None = None
    """Kubernetes it runs on, such as >=1.28 <1.37."""
    providers: tuple[str, ...] = ()
    """Infrastructures it is for; left out, all."""
    for_nodes: bool = False
    """Nodes become Ready only with it: it is installed before them."""
    values_schema: Values | None = None
    """JSON schema of all its values together."""
    resources: tuple[Values, ...] = ()
    """Objects that are written once it is healthy; placeholders as in defaults.values, and one that asks for something
    the cluster has none of, such as addresses for Services, is left out."""
    platform: bool = False
    """Part of every cluster: installed at creation, not removed from the console."""
    tier: Annotated[Literal["infrastructure", "apps"] | None, NOT_YET] = None
    """Directory in a GitOps export; left out, infrastructure for platform addons, else apps."""
    icon: Annotated[str, Meta(max_length=8)] | None = None
    """Emoji or icon name."""
    icon_data: Annotated[str, Meta(max_length=131072)] | None = None
    """SVG as base64; wins over icon."""
    links: AddonLinks | None = None
    maintainer: Maintainer | None = None


class AddonDefinition(
    Resource,
    plural="addondefinitions",
    short=("ad", "adddef"),
    namespaced=False,
    columns=(
        Column("Display Name", ".spec.displayName"),
        Column("Category", ".spec.category"),
        Column("Chart", ".spec.chart.name"),
        Column("Version", ".spec.chart.defaultVersion"),
        Column("Platform", ".spec.platform", "boolean"),
        AGE,
    ),
):
    """An entry of the addon catalogue."""

    spec: AddonDefinitionSpec
