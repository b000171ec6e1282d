"""Services, volumes and budgets, as far as these controllers read and write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import field

from kubekit.model.resource import Model, Resource

from .kinds import Condition, IntOrPercent, Labels


class ServicePort(Model):
    """A port of a Service, and the one of its pods behind it."""

    port: int
    name: str = ""
    protocol: str = ""
    target_port: int | str | None = None
    app_protocol: str | None = None


class ServiceSpec(Model):
    """A name for pods."""

    type: str = ""
    selector: Mapping[str, str] = {}
    ports: tuple[ServicePort, ...] = ()
    cluster_ip: str = field(default="", name="clusterIP")
    load_balancer_ip: str = field(default="", name="loadBalancerIP")
    load_balancer_class: str = ""
    publish_not_ready_addresses: bool | None = None


class Ingress(Model):
    """Where a Service is reached from outside."""

    ip: str = ""
    ip_mode: str = field(default="", name="ipMode")


class Balancer(Model):
    """The load balancer in front of a Service."""

    ingress: tuple[Ingress, ...] = ()


class ServiceStatus(Model):
    """What a Service got."""

    load_balancer: Balancer = Balancer()


class Service(Resource, plural="services", group="", version="v1"):
    """An address for pods."""

    spec: ServiceSpec = ServiceSpec()
    status: ServiceStatus = ServiceStatus()


class Endpoints(Resource, plural="endpoints", group="", version="v1"):
    """The pods behind a Service, in the old form."""

    subsets: tuple[Mapping[str, Any], ...] = ()


class EndpointSlice(Resource, plural="endpointslices", group="discovery.k8s.io", version="v1"):
    """The pods behind a Service."""

    endpoints: tuple[Mapping[str, Any], ...] | None = ()
    ports: tuple[Mapping[str, Any], ...] | None = ()


class ClaimDemand(Model):
    """How much a claim asks for."""

    requests: Mapping[str, str | int] = {}


class ClaimSpec(Model):
    """A volume that somebody wants."""

    access_modes: tuple[str, ...] = ()
    storage_class_name: str | None = None
    volume_name: str = ""
    volume_mode: str = ""
    resources: ClaimDemand = ClaimDemand()


class ClaimStatus(Model):
    """Whether there is one."""

    phase: str | None = None
    access_modes: tuple[str, ...] = ()
    capacity: Mapping[str, str | int] = {}


class PersistentVolumeClaim(Resource, plural="persistentvolumeclaims", group="", version="v1"):
    """Somebody's wish for a volume."""

    spec: ClaimSpec = ClaimSpec()
    status: ClaimStatus = ClaimStatus()


class ClaimReference(Model):
    """Whose a volume is."""

    name: str = ""
    namespace: str = ""
    uid: str = ""


class VolumeSpec(Model):
    """A piece of storage."""

    access_modes: tuple[str, ...] = ()
    capacity: Mapping[str, str | int] = {}
    storage_class_name: str = ""
    persistent_volume_reclaim_policy: str = ""
    claim_ref: ClaimReference | None = None


class VolumeStatus(Model):
    """What it is used for."""

    phase: str | None = None


class PersistentVolume(Resource, plural="persistentvolumes", group="", version="v1", namespaced=False):
    """A piece of storage."""

    spec: VolumeSpec = VolumeSpec()
    status: VolumeStatus = VolumeStatus()


class StorageClass(Resource, plural="storageclasses", group="storage.k8s.io", version="v1", namespaced=False):
    """A way to get volumes."""

    provisioner: str = ""
    reclaim_policy: str = ""
    volume_binding_mode: str = ""


class BudgetSpec(Model):
    """How many pods must stay."""

    selector: Labels | None = None
    min_available: IntOrPercent | None = None
    max_unavailable: IntOrPercent | None = None


class BudgetStatus(Model):
    """How many may go now."""

    current_healthy: int = 0
    desired_healthy: int = 0
    disruptions_allowed: int = 0
    expected_pods: int = 0
    disrupted_pods: Mapping[str, str] = {}
    conditions: tuple[Condition, ...] = ()
    observed_generation: int | None = None


class PodDisruptionBudget(Resource, plural="poddisruptionbudgets", group="policy", version="v1"):
    """How much disruption pods stand."""

    spec: BudgetSpec = BudgetSpec()
    status: BudgetStatus = BudgetStatus()
