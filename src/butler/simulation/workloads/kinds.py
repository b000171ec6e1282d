"""The kinds of Kubernetes that workloads are made of, as far as these controllers read and write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import field

from butler.api.model import GROUP
from kubekit.model.resource import Address, Model, Resource, Time

EXIT_CODE = f"{GROUP}/simulated-exit-code"
"""Annotation of a pod: its containers end with this code instead of running on, or of succeeding."""

Condition = Mapping[str, Any]
Template = Mapping[str, Any]
IntOrPercent = int | str
Labels = Mapping[str, Any]
"""A selector of labels, as it is on the wire."""

BINDING = Address("", "v1", "Binding", "bindings", namespaced=True)


class Toleration(Model):
    """A taint that does not keep a pod away."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class ContainerPort(Model):
    """A port with a name."""

    container_port: int = field(default=0)
    name: str = ""
    protocol: str = ""


class Demand(Model):
    """What a container asks for."""

    requests: Mapping[str, str | int] = {}


class Container(Model):
    """One container of a pod."""

    name: str
    image: str = ""
    resources: Demand = Demand()
    ports: tuple[ContainerPort, ...] = ()
    restart_policy: str = ""


class ClaimSource(Model):
    """The claim behind a volume."""

    claim_name: str


class PodVolume(Model):
    """A volume of a pod; only claims matter here."""

    name: str = ""
    persistent_volume_claim: ClaimSource | None = None


class PodSpec(Model):
    """What a pod is to be."""

    node_name: str = ""
    node_selector: Mapping[str, str] = {}
    affinity: Mapping[str, Any] | None = None
    tolerations: tuple[Toleration, ...] = ()
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    restart_policy: str = ""
    volumes: tuple[PodVolume, ...] = ()
    scheduling_gates: tuple[Any, ...] = ()
    host_network: bool | None = None
    overhead: Mapping[str, str | int] = {}
    hostname: str = ""
    subdomain: str = ""


class PodAddress(Model):
    """One address of a pod or of its node."""

    ip: str


class PodStatus(Model):
    """What a pod is."""

    phase: str = ""
    conditions: tuple[Condition, ...] = ()
    host_ip: str | None = field(default=None, name="hostIP")
    host_ips: tuple[PodAddress, ...] = field(default=(), name="hostIPs")
    pod_ip: str | None = field(default=None, name="podIP")
    pod_ips: tuple[PodAddress, ...] = field(default=(), name="podIPs")
    start_time: Time | None = None
    container_statuses: tuple[Mapping[str, Any], ...] = ()
    init_container_statuses: tuple[Mapping[str, Any], ...] = ()


class Pod(Resource, plural="pods", group="", version="v1"):
    """Containers on a node."""

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


class Taint(Model):
    """What keeps pods away from a node."""

    key: str
    effect: str
    value: str = ""
    time_added: Time | None = None


class NodeSpec(Model):
    """How a node may be used."""

    pod_cidr: str = ""
    taints: tuple[Taint, ...] = ()
    unschedulable: bool | None = None


class NodeAddress(Model):
    """One address of a node."""

    type: str
    address: str


class NodeStatus(Model):
    """What a node offers."""

    allocatable: Mapping[str, str | int] = {}
    capacity: Mapping[str, str | int] = {}
    conditions: tuple[Condition, ...] = ()
    addresses: tuple[NodeAddress, ...] = ()


class Node(Resource, plural="nodes", group="", version="v1", namespaced=False):
    """A machine for pods."""

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class RollingUpdate(Model):
    """How far a rolling update may go at a time."""

    max_unavailable: IntOrPercent | None = None
    max_surge: IntOrPercent | None = None
    partition: int | None = None


class Strategy(Model):
    """How old pods are replaced by new ones."""

    type: str = ""
    rolling_update: RollingUpdate | None = None


class ReplicaSetSpec(Model):
    """So many pods of a template."""

    replicas: int = field(default=1)
    selector: Mapping[str, Any] = {}
    template: Mapping[str, Any] = {}
    min_ready_seconds: int = field(default=0)


class ReplicaSetStatus(Model):
    """How many there are."""

    replicas: int = 0
    fully_labeled_replicas: int | None = None
    ready_replicas: int | None = None
    available_replicas: int | None = None
    terminating_replicas: int | None = None
    observed_generation: int | None = None


class ReplicaSet(Resource, plural="replicasets", group="apps", version="v1"):
    """Pods that are replaced when they end."""

    spec: ReplicaSetSpec = ReplicaSetSpec()
    status: ReplicaSetStatus = ReplicaSetStatus()


class DeploymentSpec(Model):
    """ReplicaSets that follow each other."""

    replicas: int = field(default=1)
    selector: Mapping[str, Any] = {}
    template: Mapping[str, Any] = {}
    strategy: Strategy = Strategy()
    min_ready_seconds: int = field(default=0)
    revision_history_limit: int | None = None
    paused: bool | None = None
    progress_deadline_seconds: int | None = None


class DeploymentStatus(Model):
    """How far the newest one has come."""

    replicas: int | None = None
    updated_replicas: int | None = None
    ready_replicas: int | None = None
    available_replicas: int | None = None
    unavailable_replicas: int | None = None
    terminating_replicas: int | None = None
    conditions: tuple[Condition, ...] = ()
    observed_generation: int | None = None


class Deployment(Resource, plural="deployments", group="apps", version="v1"):
    """A template that rolls out."""

    spec: DeploymentSpec = DeploymentSpec()
    status: DeploymentStatus = DeploymentStatus()


class Ordinals(Model):
    """Where counting begins."""

    start: int = field(default=0)


class ClaimTemplate(Model):
    """A claim that each pod gets one of."""

    metadata: Mapping[str, Any] = {}
    spec: Mapping[str, Any] = {}


class ClaimRetention(Model):
    """What becomes of claims."""

    when_deleted: str = ""
    when_scaled: str = ""


class StatefulSetSpec(Model):
    """Pods with names that stay."""

    replicas: int = field(default=1)
    selector: Mapping[str, Any] = {}
    template: Mapping[str, Any] = {}
    service_name: str = ""
    ordinals: Ordinals = Ordinals()
    pod_management_policy: str = ""
    update_strategy: Strategy = Strategy()
    volume_claim_templates: tuple[ClaimTemplate, ...] = ()
    persistent_volume_claim_retention_policy: ClaimRetention = ClaimRetention()
    min_ready_seconds: int = field(default=0)
    revision_history_limit: int | None = None


class StatefulSetStatus(Model):
    """How many there are, of which revision."""

    replicas: int = 0
    ready_replicas: int | None = None
    current_replicas: int | None = None
    updated_replicas: int | None = None
    available_replicas: int = 0
    current_revision: str | None = None
    update_revision: str | None = None
    collision_count: int | None = None
    observed_generation: int | None = None


class StatefulSet(Resource, plural="statefulsets", group="apps", version="v1"):
    """Pods with names and volumes that stay."""

    spec: StatefulSetSpec = StatefulSetSpec()
    status: StatefulSetStatus = StatefulSetStatus()


class DaemonSetSpec(Model):
    """One pod per node."""

    selector: Mapping[str, Any] = {}
    template: Mapping[str, Any] = {}
    update_strategy: Strategy = Strategy()
    min_ready_seconds: int = field(default=0)
    revision_history_limit: int | None = None


class DaemonSetStatus(Model):
    """On how many nodes."""

    current_number_scheduled: int = 0
    desired_number_scheduled: int = 0
    number_misscheduled: int = 0
    number_ready: int = 0
    number_available: int | None = None
    number_unavailable: int | None = None
    updated_number_scheduled: int | None = None
    observed_generation: int | None = None


class DaemonSet(Resource, plural="daemonsets", group="apps", version="v1"):
    """A pod on every node that takes it."""

    spec: DaemonSetSpec = DaemonSetSpec()
    status: DaemonSetStatus = DaemonSetStatus()


class ControllerRevision(Resource, plural="controllerrevisions", group="apps", version="v1"):
    """A template as it once was."""

    data: Mapping[str, Any] = {}
    revision: int = field(default=0)
