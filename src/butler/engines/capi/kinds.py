"""The kinds of Cluster API as far as Butler writes and reads them, in their v1beta2 form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta

from kubekit.model.resource import AGE, Column, Model, Resource, Scale, Time
from kubekit.model.status import Status

CORE = "cluster.x-k8s.io"
BOOTSTRAP = "bootstrap.cluster.x-k8s.io"
CONTROL_PLANE = "controlplane.cluster.x-k8s.io"
INFRASTRUCTURE = "infrastructure.cluster.x-k8s.io"
VERSION = "v1beta2"

CLUSTER_NAME = "cluster.x-k8s.io/cluster-name"
"""Label of everything that belongs to a Cluster."""
DEPLOYMENT_NAME = "cluster.x-k8s.io/deployment-name"
AUTOSCALER_MIN_SIZE = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size"
AUTOSCALER_MAX_SIZE = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size"
"""Annotations that leave the size of a MachineDeployment to the cluster autoscaler."""
SET_NAME = "cluster.x-k8s.io/set-name"
SECRET_TYPE = "cluster.x-k8s.io/secret"  # noqa: S105 -- a type, not a secret


class Ref(Model):
    """An object of another provider, beside the one that refers to it; its version is found out."""

    api_group: str
    kind: str
    name: str


class Endpoint(Model):
    """Where an API server is reached."""

    host: str = ""
    port: int | None = None


class CidrBlocks(Model):
    """Address ranges."""

    cidr_blocks: tuple[str, ...] = ()


class ClusterNetwork(Model):
    """Networks inside a cluster."""

    api_server_port: int | None = None
    pods: CidrBlocks | None = None
    services: CidrBlocks | None = None
    service_domain: str | None = None


class ClusterSpec(Model):
    """A cluster, by what makes it up."""

    paused: bool | None = None
    cluster_network: ClusterNetwork | None = None
    control_plane_endpoint: Endpoint | None = None
    control_plane_ref: Ref | None = None
    infrastructure_ref: Ref | None = None


class ClusterInitialization(Model):
    """What was reached once and stays true."""

    infrastructure_provisioned: bool | None = None
    control_plane_initialized: bool | None = None


class ReplicaCounts(Model):
    """How many machines there are, by how well they are."""

    desired_replicas: int | None = None
    replicas: int | None = None
    up_to_date_replicas: int | None = None
    ready_replicas: int | None = None
    available_replicas: int | None = None


class ClusterStatus(Status):
    """The cluster as it is."""

    phase: str | None = None
    initialization: ClusterInitialization | None = None
    control_plane: ReplicaCounts | None = None
    workers: ReplicaCounts | None = None


class Cluster(
    Resource,
    plural="clusters",
    short="cl",
    group=CORE,
    version=VERSION,
    columns=(
        Column("Phase", ".status.phase"),
        Column("Available", '.status.conditions[?(@.type=="Available")].status'),
        AGE,
    ),
):
    """A cluster as Cluster API sees it."""

    spec: ClusterSpec = ClusterSpec()
    status: ClusterStatus = ClusterStatus()


class Bootstrap(Model):
    """Where a machine's first boot gets its instructions."""

    config_ref: Ref | None = None
    data_secret_name: str | None = None


class Taint(Model):
    """A taint a node begins with or always has."""

    key: str
    value: str | None = None
    effect: str
    propagation: str | None = None


class MachineDeletion(Model):
    """How patiently a machine is taken down."""

    order: str | None = None
    node_drain_timeout_seconds: int | None = None
    node_volume_detach_timeout_seconds: int | None = None
    node_deletion_timeout_seconds: int | None = None


class MachineSpec(Model):
    """One machine."""

    cluster_name: str
    bootstrap: Bootstrap = Bootstrap()
    infrastructure_ref: Ref | None = None
    version: str | None = None
    provider_id: str | None = None
    failure_domain: str | None = None
    min_ready_seconds: int | None = None
    taints: tuple[Taint, ...] = ()
    deletion: MachineDeletion | None = None


class MachineInitialization(Model):
    """What was reached once and stays true."""

    infrastructure_provisioned: bool | None = None
    bootstrap_data_secret_created: bool | None = None


class MachineAddress(Model):
    """One address."""

    type: str
    address: str


class NodeRef(Model):
    """A node of the tenant's cluster."""

    name: str


class NodeInfo(Model):
    """What the node says about itself."""

    kubelet_version: str | None = None
    os_image: str | None = None
    kernel_version: str | None = None
    container_runtime_version: str | None = None
    architecture: str | None = None
    operating_system: str | None = None
    machine_id: str | None = None
    system_uuid: str | None = None
    boot_id: str | None = None
    kube_proxy_version: str | None = None


class MachineDeletionStatus(Model):
    """How far taking a machine down has come."""

    node_drain_start_time: Time | None = None
    wait_for_node_volume_detach_start_time: Time | None = None


class MachineStatus(Status):
    """The machine as it is."""

    phase: str | None = None
    initialization: MachineInitialization | None = None
    node_ref: NodeRef | None = None
    node_info: NodeInfo | None = None
    addresses: tuple[MachineAddress, ...] = ()
    certificates_expiry_date: Time | None = None
    last_updated: Time | None = None
    deletion: MachineDeletionStatus | None = None
    deprecated: Mapping[str, Any] = {}


class Machine(
    Resource,
    plural="machines",
    short="ma",
    group=CORE,
    version=VERSION,
    columns=(
        Column("Cluster", ".spec.clusterName"),
        Column("Node Name", ".status.nodeRef.name"),
        Column("Ready", '.status.conditions[?(@.type=="Ready")].status'),
        Column("Phase", ".status.phase"),
        AGE,
        Column("Version", ".spec.version"),
    ),
):
    """One machine as Cluster API sees it."""

    spec: MachineSpec
    status: MachineStatus = MachineStatus()


class TemplateMeta(Model):
    """Labels and annotations that are passed on."""

    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}


class MachineTemplateSpec(Model):
    """What every machine of a set looks like."""

    metadata: TemplateMeta = TemplateMeta()
    spec: MachineSpec


class LabelSelector(Model):
    """Which machines belong to a set."""

    match_labels: Mapping[str, str] = {}


class MachineSetDeletion(Model):
    """Which machine goes first."""

    order: str | None = None


class MachineSetSpec(Model):
    """A number of equal machines."""

    cluster_name: str
    replicas: int | None = None
    selector: LabelSelector = LabelSelector()
    template: MachineTemplateSpec
    deletion: MachineSetDeletion | None = None


class SetStatus(Status):
    """How many machines there are, by how well they are."""

    phase: str | None = None
    selector: str | None = None
    replicas: int | None = None
    up_to_date_replicas: int | None = None
    ready_replicas: int | None = None
    available_replicas: int | None = None


class MachineSet(
    Resource,
    plural="machinesets",
    short="ms",
    group=CORE,
    version=VERSION,
    scale=Scale(".spec.replicas", ".status.replicas"),
    columns=(
        Column("Cluster", ".spec.clusterName"),
        Column("Desired", ".spec.replicas", "integer"),
        Column("Current", ".status.replicas", "integer"),
        Column("Ready", ".status.readyReplicas", "integer"),
        AGE,
        Column("Version", ".spec.template.spec.version"),
    ),
):
    """Equal machines of one revision of a MachineDeployment."""

    spec: MachineSetSpec
    status: SetStatus = SetStatus()


NumberOrPercent = Annotated[
    int | str,
    Meta(extra_json_schema={"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}),
]


class RollingUpdate(Model):
    """How many machines more or fewer than wanted while they are replaced."""

    max_surge: NumberOrPercent | None = None
    max_unavailable: NumberOrPercent | None = None


class RolloutStrategy(Model):
    """How machines are replaced."""

    type: str = "RollingUpdate"
    rolling_update: RollingUpdate | None = None


class Rollout(Model):
    """When and how machines are replaced."""

    after: Time | None = None
    strategy: RolloutStrategy | None = None


class MachineDeploymentSpec(MachineSetSpec):
    """A number of equal machines that are replaced one by one when they are to look different."""

    paused: bool | None = None
    rollout: Rollout | None = None


class MachineDeployment(
    Resource,
    plural="machinedeployments",
    short="md",
    group=CORE,
    version=VERSION,
    scale=Scale(".spec.replicas", ".status.replicas"),
    columns=(
        Column("Cluster", ".spec.clusterName"),
        Column("Desired", ".spec.replicas", "integer"),
        Column("Current", ".status.replicas", "integer"),
        Column("Ready", ".status.readyReplicas", "integer"),
        Column("Up-to-date", ".status.upToDateReplicas", "integer"),
        Column("Phase", ".status.phase"),
        AGE,
        Column("Version", ".spec.template.spec.version"),
    ),
):
    """Equal machines over all their revisions."""

    spec: MachineDeploymentSpec
    status: SetStatus = SetStatus()


class BootstrapTemplate(Model):
    """What is copied for each machine."""

    metadata: TemplateMeta | None = None
    spec: Mapping[str, Any] = {}


class KubeadmConfigTemplateSpec(Model):
    """Instructions for the first boot of machines."""

    template: BootstrapTemplate = BootstrapTemplate()


class KubeadmConfigTemplate(Resource, plural="kubeadmconfigtemplates", group=BOOTSTRAP, version=VERSION):
    """How machines join their cluster."""

    spec: KubeadmConfigTemplateSpec = KubeadmConfigTemplateSpec()


class DataInitialization(Model):
    """What was reached once and stays true."""

    data_secret_created: bool | None = None


class KubeadmConfigStatus(Status):
    """Whether the instructions are written."""

    initialization: DataInitialization | None = None
    data_secret_name: str | None = None


class KubeadmConfig(Resource, plural="kubeadmconfigs", group=BOOTSTRAP, version=VERSION):
    """How one machine joins its cluster."""

    spec: Mapping[str, Any] = {}
    status: KubeadmConfigStatus = KubeadmConfigStatus()
