"""Team: people, their namespace, what they may use."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal

from msgspec import Meta

from kubekit.model.resource import AGE, Column, Model, NotEmpty, NotNegative, Positive, Quantity, keyed_by
from kubekit.model.status import Status

from .model import NOT_YET, Percent, Resource, Values
from .shared import LocalRef, TemplateSize

TeamRole = Literal["admin", "operator", "viewer"]


class TeamPhase(StrEnum):
    """Where a team is in its life."""

    PENDING = "Pending"
    READY = "Ready"
    TERMINATING = "Terminating"
    FAILED = "Failed"


class TeamUser(Model):
    """A person."""

    name: NotEmpty
    """E-mail address."""
    role: TeamRole = "viewer"
    """What they may do."""


class TeamGroup(Model):
    """A group of an identity provider."""

    name: NotEmpty
    """Name of the group."""
    role: TeamRole = "viewer"
    """What its members may do."""
    identity_provider: str | None = None
    """Only groups of this identity provider."""


class TeamAccess(Model):
    """Who belongs to it."""

    users: tuple[TeamUser, ...] = ()
    """People."""
    groups: tuple[TeamGroup, ...] = ()
    """Groups."""


class ClusterDefaults(Model):
    """What new clusters are like unless they say otherwise."""

    kubernetes_version: str | None = None
    """Kubernetes version."""
    worker_count: NotNegative | None = None
    """Workers."""
    worker_cpu: Positive | None = None
    """Cores of a worker."""
    worker_memory_gi: Positive | None = None
    """Memory of a worker in Gi."""
    worker_disk_gi: Annotated[int, Meta(ge=10)] | None = None
    """Disk of a worker in Gi."""
    default_addons: tuple[str, ...] = ()
    """Addons of the catalogue that clusters get besides those of the platform."""
    addon_values: Mapping[str, Values] | None = None
    """By addon, Helm values over those of the catalogue and under those of the cluster."""


class EnvironmentLimits(Model):
    """What an environment may have, below the limits of the team."""

    max_clusters: NotNegative | None = None
    """Clusters; 0 means any number."""
    max_clusters_per_member: NotNegative | None = None
    """Clusters of one member; 0 means any number."""


class Environment(Model):
    """A named part of a team, such as staging."""

    name: Annotated[str, Meta(min_length=1, max_length=63, pattern=r"^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$")]
    """Name, which clusters carry as a label."""
    description: str | None = None
    """What it is for."""
    access: Annotated[TeamAccess | None, NOT_YET] = None
    """Further rights of team members in this environment."""
    cluster_defaults: ClusterDefaults | None = None
    """Defaults that win over those of the team."""
    limits: EnvironmentLimits | None = None


class ResourceLimits(Model):
    """What a team may have; only platform administrators change it."""

    max_clusters: NotNegative | None = None
    """Clusters."""
    max_total_nodes: NotNegative | None = None
    """Workers over all clusters."""
    max_nodes_per_cluster: NotNegative | None = None
    """Workers in one cluster."""
    max_cpu_cores: Quantity | None = None
    """Cores over all clusters."""
    max_memory: Quantity | None = None
    """Memory over all clusters."""
    max_storage: Quantity | None = None
    """Disk over all clusters."""
    default_node_count: Annotated[NotNegative, NOT_YET] = 3
    """Workers of a cluster that does not say."""
    default_cpu_per_node: Quantity | None = None
    """Cores of a worker that does not say."""
    default_memory_per_node: Quantity | None = None
    """Memory of a worker that does not say."""
    allowed_kubernetes_versions: tuple[str, ...] = ()
    """Kubernetes versions; empty means all."""
    allowed_providers: tuple[str, ...] = ()
    """ProviderConfigs; empty means all."""
    allowed_addons: tuple[str, ...] = ()
    """Addons; empty means all."""
    denied_addons: tuple[str, ...] = ()
    """Addons that are not allowed in any case."""


class Quotas(Model):
    """Older way to write resourceLimits."""

    max_clusters: NotNegative | None = None
    """Another way to write resourceLimits.maxClusters."""
    max_workers_per_cluster: NotNegative | None = None
    """Another way to write resourceLimits.maxNodesPerCluster."""
    max_total_workers: NotNegative | None = None
    """Another way to write resourceLimits.maxTotalNodes."""


class DefaultWorkers(Model):
    """Older way to write the worker fields of clusterDefaults."""

    replicas: NotNegative | None = None
    """Another way to write clusterDefaults.workerCount."""
    machine_template: TemplateSize | None = None
    """Another way to write clusterDefaults.workerCPU, workerMemoryGi and workerDiskGi."""


class TeamDefaults(Model):
    """Older way to write clusterDefaults."""

    kubernetes_version: str | None = None
    """Another way to write clusterDefaults.kubernetesVersion."""
    workers: DefaultWorkers | None = None


class TeamSpec(Model):
    """The team and its limits."""

    display_name: str | None = None
    """Title."""
    description: str | None = None
    """What it does."""
    access: Annotated[TeamAccess, NOT_YET] = TeamAccess()
    """Members."""
    resource_limits: ResourceLimits | None = None
    quotas: Quotas | None = None
    cluster_defaults: ClusterDefaults | None = None
    defaults: TeamDefaults | None = None
    environments: Annotated[tuple[Environment, ...], keyed_by("name")] = ()
    """Named parts of the team."""
    provider_config_ref: LocalRef | None = None
    """ProviderConfig of clusters that name none, in butler-system."""


class ResourceUsage(Model):
    """What the team has."""

    clusters: int | None = None
    """Clusters."""
    total_nodes: int | None = None
    """Workers."""
    total_cpu: Quantity | None = None
    """Cores."""
    total_memory: Quantity | None = None
    """Memory."""
    total_storage: Quantity | None = None
    """Disk."""
    cluster_utilization: Percent | None = None
    """Clusters in percent of the limit."""
    node_utilization: Percent | None = None
    """Workers in percent of the limit."""
    cpu_utilization: Percent | None = None
    """Cores in percent of the limit."""
    memory_utilization: Percent | None = None
    """Memory in percent of the limit."""


class TeamStatus(Status):
    """The team as it is."""

    phase: TeamPhase | None = None
    """Where it is in its life."""
    namespace: str | None = None
    """Its namespace."""
    member_count: int | None = None
    """People with access."""
    cluster_count: int | None = None
    """Clusters."""
    resource_usage: ResourceUsage | None = None
    quota_status: Literal["OK", "Warning", "Exceeded"] | None = None
    """Whether it is within its limits."""
    quota_message: str | None = None
    """Which limit is near or reached."""


class Team(
    Resource,
    plural="teams",
    short="tm",
    namespaced=False,
    columns=(
        Column("Display Name", ".spec.displayName"),
        Column("Phase", ".status.phase"),
        Column("Namespace", ".status.namespace"),
        Column("Clusters", ".status.clusterCount", "integer"),
        Column("Quota", ".status.quotaStatus"),
        AGE,
    ),
):
    """People who share a namespace, a quota and clusters."""

    spec: TeamSpec = TeamSpec()
    status: TeamStatus = TeamStatus()
