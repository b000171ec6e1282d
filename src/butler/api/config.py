"""ButlerConfig: settings of the whole platform."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from kubekit.model.resource import AGE, Column, Model, NotEmpty, Positive, Quantity, Time
from kubekit.model.status import Status

from .model import NOT_YET, HttpUrl, Resource
from .shared import (
    TENANTS_NAMESPACE,
    ControlPlaneResources,
    Exposure,
    LocalRef,
    NsRef,
    Platform,
    ProviderRef,
    RepositorySecretRef,
    SecretRef,
)

BUTLER_CONFIG_NAME = "butler"
"""The one name a ButlerConfig may have."""

TenancyMode = Literal["Enforced", "Optional", "Disabled", "enforced", "optional", "disabled"]


class MultiTenancy(Model):
    """Whether clusters belong to teams."""

    mode: TenancyMode = "Disabled"
    """Every cluster needs a team (Enforced), may have one (Optional), or has none (Disabled)."""


class Audit(Model):
    """The record of who did what."""

    enabled: bool = True
    """Keep it."""
    buffer_size: Annotated[int, Meta(ge=100, le=100000)] = 10000
    """Entries kept in memory."""
    webhook_url: str | None = None
    """Where entries are sent."""


class DefaultAddonVersions(Model):
    """Versions for clusters that name none."""

    cilium: str | None = None
    """Cilium."""
    cert_manager: str | None = None
    """cert-manager."""
    longhorn: str | None = None
    """Longhorn."""
    metallb: str | None = None
    """MetalLB."""
    traefik: str | None = None
    """Traefik."""
    metrics_server: str | None = None
    """Metrics Server."""
    fluxcd: Annotated[str | None, NOT_YET] = None
    """Flux."""


class ChartMirror(Model):
    """Another place for charts."""

    prefix: NotEmpty
    """Beginning of the addresses of repositories that it stands for, such as https://charts.jetstack.io."""
    replacement: NotEmpty
    """What takes its place, such as oci://registry.example.com/charts."""
    credentials_ref: RepositorySecretRef | None = None
    """Secret with username and password, and ca.crt where needed; left out of it, the namespace is butler-system."""
    plain_http: bool = False
    """The registry speaks no TLS; for oci:// only."""


class Charts(Model):
    """Where charts come from."""

    mirrors: tuple[ChartMirror, ...] = ()
    """For sites without the internet; the longest prefix counts."""
    allowed_repositories: tuple[str, ...] = ()
    """Beginnings of addresses that TenantAddons may name charts from themselves; left out, all on the internet."""


class DefaultTeamLimits(Model):
    """What a team may have unless it says otherwise."""

    max_clusters: Positive | None = None
    """Clusters."""
    max_workers_per_cluster: Positive | None = None
    """Workers in one cluster."""
    max_total_cpu: Quantity | None = None
    """Cores over all clusters."""
    max_total_memory: Quantity | None = None
    """Memory over all clusters."""
    max_total_storage: Quantity | None = None
    """Disk over all clusters."""


class GitProvider(Model):
    """The Git host of GitOps features."""

    type: Literal["github", "gitlab", "bitbucket"]
    """Which host."""
    url: str = "https://api.github.com"
    """Address of its API."""
    organization: str | None = None
    """Organisation or group repositories are listed from."""
    secret_ref: LocalRef
    """Secret in butler-system with token, or username and app-password."""


class ImageFactory(Model):
    """Where operating system images are made."""

    url: HttpUrl
    """Address of the factory."""
    credentials_ref: Annotated[SecretRef | None, NOT_YET] = None
    """Secret with apiKey."""
    default_schematic_id: Annotated[str | None, NOT_YET] = None
    """Schematic of clusters that name none."""
    auto_sync: Annotated[bool, NOT_YET] = True
    """Bring missing images to a provider without being asked."""


class Notifications(Model):
    """Where notifications go."""

    webhook_url: str | None = None
    """Address they are sent to."""


class AutoEnroll(Model):
    """Agents a cluster gets as soon as it is ready."""

    vector_agent: bool | None = None
    """Logs; needs pipeline.logEndpoint."""
    prometheus: bool | None = None
    """Metrics; needs pipeline.metricEndpoint."""
    otel_collector: bool | None = None
    """Traces; needs pipeline.traceEndpoint."""


class LogCollection(Model):
    """Which logs are collected."""

    pod_logs: bool | None = None
    """Output of containers."""
    journald: bool | None = None
    """Journal of the nodes."""
    kubernetes_events: bool | None = None
    """Kubernetes events."""


class MetricCollection(Model):
    """Which metrics are collected."""

    enabled: bool | None = None
    """Collect them."""
    retention: str | None = None
    """How long they are kept, such as 15d."""


class Collection(Model):
    """What is collected from clusters."""

    auto_enroll: AutoEnroll | None = None
    logs: LogCollection | None = None
    metrics: MetricCollection | None = None


class Pipeline(Model):
    """Where logs, metrics and traces go."""

    cluster_ref: NsRef | None = None
    """TenantCluster the pipeline runs in."""
    log_endpoint: str | None = None
    """Address for logs."""
    metric_endpoint: str | None = None
    """Address for metrics."""
    trace_endpoint: str | None = None
    """Address for traces, as host:port."""


class Observability(Model):
    """Logs, metrics and traces of all clusters."""

    pipeline: Pipeline | None = None
    collection: Collection | None = None


class ButlerConfigSpec(Model):
    """Settings of the whole platform."""

    multi_tenancy: MultiTenancy = MultiTenancy()
    default_namespace: str = TENANTS_NAMESPACE
    """Namespace of clusters without a team; they may be in `default` as well."""
    default_provider_config_ref: ProviderRef | None = None
    """ProviderConfig of clusters that name none; without a namespace, in butler-system."""
    default_team_limits: DefaultTeamLimits | None = None
    default_addon_versions: DefaultAddonVersions = DefaultAddonVersions()
    charts: Charts = Charts()
    default_control_plane_resources: ControlPlaneResources | None = None
    default_time_servers: tuple[str, ...] = ()
    """Time servers; left out, pool.ntp.org."""
    control_plane_exposure: Annotated[Exposure, NOT_YET] = Exposure()
    platform: Annotated[Platform | None, NOT_YET] = None
    git_provider: Annotated[GitProvider | None, NOT_YET] = None
    image_factory: ImageFactory | None = None
    audit: Annotated[Audit, NOT_YET] = Audit()
    notifications: Annotated[Notifications | None, NOT_YET] = None
    observability: Annotated[Observability | None, NOT_YET] = None
    ssh_authorized_key: str | None = None
    """SSH public key of workers, except with Talos."""


class GitProviderStatus(Model):
    """Whether the Git host answers."""

    connected: bool | None = None
    """The token is accepted."""
    username: str | None = None
    """Whose token it is."""
    message: str | None = None
    """What is going on."""
    last_validated: Time | None = None
    """Last check."""


class ObservabilityStatus(Model):
    """How many clusters are observed."""

    pipeline_ready: bool | None = None
    """The pipeline works."""
    enrolled_count: int | None = None
    """Clusters with agents."""
    total_count: int | None = None
    """All clusters."""


class ButlerConfigStatus(Status):
    """The platform as it is."""

    tenancy_mode: Literal["Enforced", "Optional", "Disabled"] | None = None
    """Whether clusters belong to teams: what applies, also where nothing was said."""
    team_count: int | None = None
    """Teams."""
    cluster_count: int | None = None
    """Clusters."""
    control_plane_exposure_mode: Literal["LoadBalancer", "Ingress", "Gateway"] | None = None
    """How API servers of tenants are reached."""
    tcp_proxy_required: bool | None = None
    """Whether workers need the proxy to the API server."""
    git_provider: GitProviderStatus | None = None
    observability: ObservabilityStatus | None = None


class ButlerConfig(
    Resource,
    plural="butlerconfigs",
    short="bc",
    namespaced=False,
    columns=(
        Column("Mode", ".status.tenancyMode"),
        Column("Git", ".spec.gitProvider.type"),
        Column("Teams", ".status.teamCount", "integer"),
        Column("Clusters", ".status.clusterCount", "integer"),
        AGE,
    ),
):
    """Settings of the whole platform; there is one, named butler."""

    spec: ButlerConfigSpec = ButlerConfigSpec()
    status: ButlerConfigStatus = ButlerConfigStatus()
