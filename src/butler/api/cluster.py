"""TenantCluster: a Kubernetes cluster somebody asked for."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal

from msgspec import Meta

from kubekit.model.resource import (
    AGE,
    REQUIRED,
    Column,
    Model,
    NotNegative,
    Positive,
    Quantity,
    Rule,
    Scale,
    Time,
    keyed_by,
)
from kubekit.model.status import Status

from .cluster_addons import ClusterAddons
from .model import NOT_YET, REFUSED, DnsLabel, Duration, KubernetesVersion, Resource, Values
from .shared import ControlPlaneResources, IPRange, LocalRef, NsRef, Platform, ProviderRef

DEFAULT_CPU = 4
DEFAULT_MEMORY = "8Gi"
DEFAULT_DISK = "40Gi"

CLUSTER_DELETED = "ClusterDeleted"
"""The reason of the last event about a cluster."""


class ClusterPhase(StrEnum):
    """Where a cluster is in its life; Running and Ready mean the same."""

    PENDING = "Pending"
    PROVISIONING = "Provisioning"
    INSTALLING = "Installing"
    READY = "Ready"
    RUNNING = "Running"
    UPDATING = "Updating"
    DELETING = "Deleting"
    FAILED = "Failed"

    @property
    def is_usable(self) -> bool:
        return self in {ClusterPhase.READY, ClusterPhase.RUNNING}


class Talos(Model):
    """Settings of Talos Linux."""

    version: str = "v1.9.3"
    """Talos version."""
    install_disk: str = "/dev/vda"
    """Disk Talos is installed on."""
    installer_image: str | None = None
    """Installer image."""


class OperatingSystem(Model):
    """What the machines run."""

    type: Annotated[Literal["rocky", "flatcar", "talos", "kairos", "bottlerocket"], NOT_YET] = "rocky"
    """Family."""
    version: Annotated[str, NOT_YET] = "9.5"
    """Version of the family."""
    image_ref: str | None = None
    """Exact image of the provider; wins over type and version."""
    schematic_id: Annotated[str | None, REFUSED] = None
    """Image Factory schematic; an ImageSync brings the image to the provider."""
    ssh_authorized_key: str | None = None
    """SSH public key, except for Talos; left out, that of the ButlerConfig."""
    talos: Annotated[Talos | None, NOT_YET] = None
    """Needed when type is talos."""


class MachineTemplate(Model):
    """What one worker looks like. Sizes left out come from the environment, the team, then 4 cores, 8Gi, 40Gi."""

    cpu: Positive | None = None
    """Cores."""
    memory: Quantity | None = None
    """Memory."""
    disk_size: Quantity | None = None
    """Root disk."""
    disk: Quantity | None = None
    """Another name for diskSize."""
    os: OperatingSystem | None = None
    """Operating system."""


class Taint(Model):
    """Keeps pods without a matching toleration away from a node."""

    key: Annotated[str, Meta(min_length=1, max_length=316)]
    """Taint key."""
    value: Annotated[str, Meta(max_length=63)] | None = None
    """Taint value."""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
    """What happens to pods that do not tolerate it."""


class WorkerPool(Model):
    """A named group of equal workers, fixed in number or scaled within a range."""

    rules = (
        Rule(
            "has(self.replicas) != (has(self.minReplicas) || has(self.maxReplicas))",
            "a pool has either replicas, or minReplicas and maxReplicas",
        ),
        Rule("has(self.minReplicas) == has(self.maxReplicas)", "minReplicas and maxReplicas go together"),
        Rule(
            "!has(self.minReplicas) || !has(self.maxReplicas) || self.minReplicas <= self.maxReplicas",
            "minReplicas must not exceed maxReplicas",
        ),
    )

    name: DnsLabel
    """Name, unique in the cluster; part of the machines' names."""
    replicas: NotNegative | None = None
    """Fixed number of workers."""
    min_replicas: NotNegative | None = None
    """Fewest workers when scaled automatically."""
    max_replicas: Positive | None = None
    """Most workers when scaled automatically."""
    machine_template: MachineTemplate = MachineTemplate()
    """What each worker looks like."""
    labels: Mapping[str, str] = {}
    """Labels of the nodes."""
    taints: Annotated[tuple[Taint, ...], Meta(max_length=32)] = ()
    """Taints of the nodes."""
    failure_domain: str | None = None
    """Zone, host group or Prism Element the workers stay in."""


class Workers(Model):
    """The worker machines: one unnamed pool, named pools, or both."""

    replicas: Positive | None = None
    """Number of workers outside the named pools."""
    machine_template: MachineTemplate = MachineTemplate()
    """What each of them looks like."""
    pools: Annotated[tuple[WorkerPool, ...], Meta(max_length=32), keyed_by("name")] = ()
    """Named pools."""


class ControlPlane(Model):
    """The cluster's own control plane."""

    type: Annotated[Literal["Hosted", "Standalone"], REFUSED] = "Hosted"
    """Hosted runs as pods in the management cluster, Standalone on machines of its own."""
    replicas: Annotated[int, Meta(ge=1, le=3)] | None = None
    """API server replicas; left out, the engine decides."""
    service_type: Literal["LoadBalancer", "NodePort", "ClusterIP"] | None = None
    """Service of the API server; left out, LoadBalancer."""
    external_cloud_provider: bool = True
    """Nodes wait for the infrastructure's cloud controller, where it has one; false: they do without it."""
    cert_sans: tuple[str, ...] = ()
    """Further names and addresses in the API server's certificate."""
    data_store_ref: LocalRef | None = None
    """DataStore of the hosted control plane; left out, the default one."""
    resources: ControlPlaneResources | None = None
    """Replaces the platform's defaults, component by component."""


class Networking(Model):
    """Networks inside the cluster."""

    pod_cidr: str = "10.244.0.0/16"
    """Addresses of pods."""
    service_cidr: str = "10.96.0.0/12"
    """Addresses of Services."""
    load_balancer_pool: IPRange | None = None
    """Addresses for LoadBalancer Services; left out, these get none."""
    lb_pool_size: Annotated[Positive | None, NOT_YET] = None
    """How many such addresses to take from the pools."""


class HarvesterOverride(Model):
    """Differs from the ProviderConfig on Harvester."""

    namespace: str | None = None
    """Namespace of the VMs."""
    network_name: str | None = None
    """Network as namespace/name."""
    image_name: str | None = None
    """Image as namespace/name."""


class NutanixOverride(Model):
    """Differs from the ProviderConfig on Nutanix."""

    cluster_uuid: str | None = None
    """Prism Element cluster."""
    subnet_uuid: str | None = None
    """Subnet."""
    image_uuid: str | None = None
    """Image."""
    storage_container_uuid: Annotated[str | None, NOT_YET] = None
    """Storage container."""


class ProxmoxOverride(Model):
    """Differs from the ProviderConfig on Proxmox."""

    node: str | None = None
    """Host."""
    storage: str | None = None
    """Storage."""
    template_id: int | None = None
    """Template VM."""


class GcpOverride(Model):
    """Differs from the ProviderConfig on Google Cloud."""

    zone: str | None = None
    """Zone."""
    subnetwork: str | None = None
    """Subnetwork."""
    machine_type: str | None = None
    """Machine type."""
    image: str | None = None
    """Image."""
    image_family: str | None = None
    """Image family."""


class InfrastructureOverride(Model):
    """What differs from the ProviderConfig for this one cluster."""

    harvester: HarvesterOverride | None = None
    nutanix: NutanixOverride | None = None
    proxmox: ProxmoxOverride | None = None
    gcp: GcpOverride | None = None


class ManagementPolicy(Model):
    """How long Butler keeps its hands on the addons."""

    mode: Literal["Active", "Observe", "GitOps"] = "Active"
    """Active follows the spec, Observe stops once all of them were installed; GitOps, which sets up Flux and hands
    over, is refused for now."""


class WorkspaceQuota(Model):
    """What all workspaces of the cluster may use together."""

    max_cpu: str = "16"
    """Cores."""
    max_memory: str = "32Gi"
    """Memory."""
    max_storage: str = "500Gi"
    """Volumes."""


class WorkspacePolicy(Model):
    """Development workspaces inside the cluster."""

    enabled: Annotated[bool, REQUIRED] = False
    """Whether there may be any."""
    default_image: str = "ghcr.io/butlerdotdev/workspace-base:latest"
    """Image of a workspace that names none."""
    max_workspaces: int = 20
    """How many; 0 means any number."""
    auto_delete_after: Duration = "720h"
    """Delete a workspace this long after it stopped; 0 means never."""
    resource_quota: WorkspaceQuota | None = None
    """What they may use together."""


class TenantClusterSpec(Model):
    """The cluster that is wanted. Whatever is left out comes from the environment, the team, then the platform."""

    kubernetes_version: KubernetesVersion | None = None
    """Kubernetes version, such as v1.32.2."""
    workers: Workers = Workers()
    """Worker machines."""
    control_plane: ControlPlane = ControlPlane()
    """Control plane."""
    networking: Networking = Networking()
    """Networks."""
    addons: ClusterAddons = ClusterAddons()
    """Addons of the cluster; one that is no longer asked for is removed again."""
    provider_config_ref: ProviderRef | None = None
    """Infrastructure; without a namespace it is looked for in butler-system, then beside the cluster."""
    team_ref: LocalRef | None = None
    """Team that owns the cluster."""
    infrastructure_override: InfrastructureOverride | None = None
    """Differences from the ProviderConfig."""
    management_policy: ManagementPolicy = ManagementPolicy()
    """How addons are managed."""
    platform: Platform | None = None
    """metalLBPool here is another way to write networking.loadBalancerPool."""
    time_servers: tuple[str, ...] = ()
    """Time servers; left out, those of the provider, then of the platform."""
    workspaces: Annotated[WorkspacePolicy | None, NOT_YET] = None
    """Development workspaces."""


class ObservedAddon(Model):
    """An addon found in the cluster."""

    name: str
    """Addon."""
    version: str
    """Version the status is about; empty where nobody says which."""
    status: Literal["Pending", "Installing", "Healthy", "Degraded", "Failed"]
    """Health."""
    managed_by: Literal["butler", "flux", "argocd", "manual"]
    """Who keeps it."""
    installed_version: str | None = None
    """Version that is there, while the status is about another that is not."""
    release: str | None = None
    """Namespace and name of its Helm release."""
    values_digest: str | None = None
    """Tells the chart and Helm values it was installed with from others."""
    message: str | None = None
    """What else there is to say of it."""


class ObservedWorkers(Model):
    """Workers found in the cluster."""

    desired: int
    """Wanted."""
    ready: int
    """Ready."""
    nodes: tuple[str, ...] = ()
    """Names of the nodes."""


class ObservedState(Model):
    """The cluster as it was last seen."""

    kubernetes_version: str | None = None
    """Version the API server reports."""
    workers: ObservedWorkers | None = None
    addons: tuple[ObservedAddon, ...] = ()
    """Addons in the cluster."""


class TenantClusterStatus(Status):
    """The cluster as it is."""

    phase: ClusterPhase | None = None
    """Where the cluster is in its life; Running (or Ready) means usable."""
    tenant_namespace: str | None = None
    """Namespace of the control plane and the Cluster API objects."""
    control_plane_endpoint: str | None = None
    """API server as host:port, with a path where it shares these with others; https:// in front makes it a URL."""
    kubeconfig_secret_ref: LocalRef | None = None
    """Secret with the admin kubeconfig, in the tenant namespace."""
    provider_config_ref: NsRef | None = None
    """ProviderConfig the cluster was made with; one that names none stays with it."""
    worker_nodes_desired: int | None = None
    """Workers wanted, over all pools."""
    worker_nodes_ready: int | None = None
    """Workers ready, over all pools."""
    observed_state: ObservedState | None = None
    ip_allocation_ref: LocalRef | None = None
    """Addresses of the nodes."""
    lb_allocation_ref: LocalRef | None = None
    """Addresses for LoadBalancer Services."""
    image_sync_ref: LocalRef | None = None
    """Image that is being brought to the provider."""
    accepted_spec: Values | None = None
    """The spec that was last accepted, without defaults and Helm values: the cluster stays like that while a change
    of it is refused."""
    last_transition_time: Time | None = None
    """When the phase last changed."""


class TenantCluster(
    Resource,
    plural="tenantclusters",
    short="tc",
    scale=Scale(".spec.workers.replicas", ".status.workerNodesReady"),
    columns=(
        Column("Phase", ".status.phase"),
        Column("Ready", '.status.conditions[?(@.type=="Ready")].status'),
        Column("K8s Version", ".status.observedState.kubernetesVersion"),
        Column("Workers", ".status.observedState.workers.ready"),
        Column("Endpoint", ".status.controlPlaneEndpoint"),
        Column("Provider", ".status.providerConfigRef.name", priority=1),
        AGE,
    ),
):
    """A Kubernetes cluster for a tenant."""

    spec: TenantClusterSpec = TenantClusterSpec()
    status: TenantClusterStatus = TenantClusterStatus()
