"""The kinds of Kamaji and of its Cluster API provider, as far as Butler writes and reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import field

from kubekit.model.resource import AGE, Column, Int64, Model, NotEmpty, Resource, Scale, Time
from kubekit.model.status import Status

CONTROL_PLANE = "controlplane.cluster.x-k8s.io"
KAMAJI = "kamaji.clastix.io"

ADMIN_CONF = "admin.conf"
"""Key of the administrator's kubeconfig in its Secret."""

API_PATH = "butler.butlerlabs.dev/api-path"
"""On a TenantControlPlane whose API server shares host and port with others: where on that endpoint it is."""

Parts = tuple[Mapping[str, Any], ...]
"""Parts of a spec that are passed on as they are."""


class Endpoint(Model):
    """Where an API server is reached."""

    host: str = ""
    port: int | None = None


class ControlPlaneNetwork(Model):
    """How the API server is reached."""

    service_type: str = "LoadBalancer"
    service_address: str | None = None
    advertise_address: str | None = None
    service_labels: Mapping[str, str] = {}
    service_annotations: Mapping[str, str] = {}
    additional_service_ports: Parts = ()
    cert_sans: tuple[str, ...] = ()
    dns_service_ips: tuple[str, ...] = ()
    ingress: Mapping[str, Any] = {}
    gateway: Mapping[str, Any] = {}
    load_balancer_config: Mapping[str, Any] = {}


class KamajiControlPlaneSpec(Model):
    """A hosted control plane."""

    version: NotEmpty
    replicas: int = 2
    registry: str = "registry.k8s.io"
    data_store_name: str | None = None
    data_store_schema: str | None = None
    data_store_username: str | None = None
    data_store_overrides: Parts = ()
    network: ControlPlaneNetwork = ControlPlaneNetwork()
    addons: Mapping[str, Any] = {}
    admission_controllers: tuple[str, ...] = ()
    kubelet: Mapping[str, Any] = {}
    api_server: Mapping[str, Any] = {}
    controller_manager: Mapping[str, Any] = {}
    scheduler: Mapping[str, Any] = {}
    kine: Mapping[str, Any] = {}
    deployment: Mapping[str, Any] = {}
    control_plane_endpoint: Endpoint | None = None


class ControlPlaneInitialization(Model):
    """What was reached once and stays true."""

    control_plane_initialized: bool | None = None


class KamajiControlPlaneStatus(Status):
    """The control plane as it is."""

    initialization: ControlPlaneInitialization | None = None
    ready: bool | None = None
    external_managed_control_plane: bool | None = None
    version: str | None = None
    selector: str | None = None
    replicas: int | None = None
    ready_replicas: int | None = None
    available_replicas: int | None = None
    up_to_date_replicas: int | None = None
    unavailable_replicas: int | None = None
    failure_reason: str | None = None
    failure_message: str | None = None


class KamajiControlPlane(
    Resource,
    plural="kamajicontrolplanes",
    short="ktcp",
    group=CONTROL_PLANE,
    version="v1alpha2",
    scale=Scale(".spec.replicas", ".status.replicas"),
    columns=(
        Column("Version", ".spec.version"),
        Column("Initialized", ".status.initialization.controlPlaneInitialized", "boolean"),
        Column("Ready", ".status.ready", "boolean"),
        AGE,
    ),
):
    """A hosted control plane as Cluster API sees it."""

    spec: KamajiControlPlaneSpec
    status: KamajiControlPlaneStatus = KamajiControlPlaneStatus()


class HostingDeployment(Model):
    """The Deployment that runs a control plane."""

    replicas: int = 2
    registry_settings: Mapping[str, Any] = {}
    strategy: Mapping[str, Any] = {}
    resources: Mapping[str, Any] = {}
    extra_args: Mapping[str, Any] = {}
    probes: Mapping[str, Any] = {}
    node_selector: Mapping[str, str] = {}
    tolerations: Parts = ()
    affinity: Mapping[str, Any] = {}
    topology_spread_constraints: Parts = ()
    runtime_class_name: str | None = None
    service_account_name: str | None = None
    additional_metadata: Mapping[str, Any] = {}
    pod_additional_metadata: Mapping[str, Any] = {}
    additional_init_containers: Parts = ()
    additional_containers: Parts = ()
    additional_volumes: Parts = ()
    additional_volume_mounts: Mapping[str, Any] = {}


class HostingService(Model):
    """The Service in front of a control plane."""

    service_type: str
    additional_metadata: Mapping[str, Any] = {}
    additional_ports: Parts = ()


class Hosting(Model):
    """What runs in the management cluster."""

    deployment: HostingDeployment = HostingDeployment()
    service: HostingService
    ingress: Mapping[str, Any] = {}
    gateway: Mapping[str, Any] = {}


class TenantKubernetes(Model):
    """The Kubernetes a tenant gets."""

    version: NotEmpty
    kubelet: Mapping[str, Any] = {}
    admission_controllers: tuple[str, ...] = ()


class NetworkProfile(Model):
    """Addresses of a tenant's cluster."""

    address: str | None = None
    advertise_address: str | None = None
    allow_address_as_external_ip: bool | None = field(default=None, name="allowAddressAsExternalIP")
    port: int = 6443
    cluster_domain: str = "cluster.local"
    service_cidr: str = field(default_factory=lambda: "10.96.0.0/16", name="serviceCidr")
    pod_cidr: str = field(default_factory=lambda: "10.244.0.0/16", name="podCidr")
    dns_service_ips: tuple[str, ...] = ()
    cert_sans: tuple[str, ...] = ()
    load_balancer_class: str | None = None
    load_balancer_source_ranges: tuple[str, ...] = ()


class TenantAddons(Model):
    """What Kamaji keeps in a tenant's cluster; an addon that is there without settings is an empty map."""

    core_dns: Mapping[str, Any] | None = field(default=None, name="coreDNS")
    kube_proxy: Mapping[str, Any] | None = None
    konnectivity: Mapping[str, Any] | None = None


class TenantControlPlaneSpec(Model):
    """A hosted control plane, part by part."""

    data_store: str | None = None
    data_store_schema: str | None = None
    data_store_username: str | None = None
    data_store_overrides: Parts = ()
    control_plane: Hosting
    kubernetes: TenantKubernetes
    network_profile: NetworkProfile = NetworkProfile()
    addons: TenantAddons = TenantAddons()


class TenantVersion(Model):
    """The version that runs."""

    version: str | None = None
    status: str | None = None


class DeploymentStatus(Model):
    """How the Deployment of a control plane is."""

    name: str | None = None
    namespace: str | None = None
    selector: str | None = None
    observed_generation: Int64 | None = None
    replicas: int | None = None
    updated_replicas: int | None = None
    ready_replicas: int | None = None
    available_replicas: int | None = None
    unavailable_replicas: int | None = None
    last_update: Time | None = None


class ServiceStatus(Model):
    """How the Service of a control plane is."""

    name: str | None = None
    namespace: str | None = None
    port: int | None = None
    load_balancer: Mapping[str, Any] = {}


class KubernetesResources(Model):
    """What runs in the management cluster."""

    version: TenantVersion | None = None
    deployment: DeploymentStatus | None = None
    service: ServiceStatus | None = None


class StoredSecret(Model):
    """A Secret beside the control plane."""

    secret_name: str | None = None
    checksum: str | None = None
    last_update: Time | None = None


class KubeconfigSecrets(Model):
    """Where the kubeconfigs are."""

    admin: StoredSecret | None = None


class Certificates(Model):
    """Where the certificates are."""

    ca: StoredSecret | None = None


class AddonState(Model):
    """Whether an addon is there."""

    # A factory, because False must be written too.
    enabled: bool = field(default_factory=bool)
    last_update: Time | None = None


class TenantAddonStates(Model):
    """Which addons are there."""

    core_dns: AddonState | None = field(default=None, name="coreDNS")
    kube_proxy: AddonState | None = None
    konnectivity: AddonState | None = None


class TenantStorage(Model):
    """Where the tenant's objects are kept."""

    driver: str | None = None
    data_store_name: str | None = None


class TenantControlPlaneStatus(Model):
    """The control plane as it is."""

    control_plane_endpoint: str | None = None
    kubernetes_resources: KubernetesResources | None = None
    kubeconfig: KubeconfigSecrets | None = None
    certificates: Certificates | None = None
    storage: TenantStorage | None = None
    addons: TenantAddonStates | None = None


class TenantControlPlane(
    Resource,
    plural="tenantcontrolplanes",
    short="tcp",
    group=KAMAJI,
    version="v1alpha1",
    scale=Scale(".spec.controlPlane.deployment.replicas", ".status.kubernetesResources.deployment.replicas"),
    columns=(
        Column("Version", ".spec.kubernetes.version"),
        Column("Installed version", ".status.kubernetesResources.version.version"),
        Column("Status", ".status.kubernetesResources.version.status"),
        Column("Control-Plane endpoint", ".status.controlPlaneEndpoint"),
        Column("Kubeconfig", ".status.kubeconfig.admin.secretName"),
        Column("Datastore", ".status.storage.dataStoreName"),
        AGE,
    ),
):
    """A hosted control plane as Kamaji sees it."""

    spec: TenantControlPlaneSpec
    status: TenantControlPlaneStatus = TenantControlPlaneStatus()
