"""The kinds of Kamaji and of its Cluster API provider, as far as Butler writes and reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from butler.api.model import AGE, Column, Model, Resource, Scale
from butler.api.shared import Status

CONTROL_PLANE = "controlplane.cluster.x-k8s.io"
KAMAJI = "kamaji.clastix.io"

ADMIN_CONF = "admin.conf"
"""Key of the administrator's kubeconfig in its Secret."""


class ControlPlaneNetwork(Model):
    """How the API server is reached."""

    service_type: str = "LoadBalancer"
    service_address: str | None = None
    cert_sans: tuple[str, ...] = ()
    ingress: Mapping[str, Any] = {}
    gateway: Mapping[str, Any] = {}


class KamajiControlPlaneSpec(Model):
    """A hosted control plane."""

    version: str
    replicas: int = 2
    data_store_name: str | None = None
    network: ControlPlaneNetwork = ControlPlaneNetwork()
    addons: Mapping[str, Any] = {}
    kubelet: Mapping[str, Any] = {}
    api_server: Mapping[str, Any] = {}
    controller_manager: Mapping[str, Any] = {}
    scheduler: Mapping[str, Any] = {}
    deployment: Mapping[str, Any] = {}


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


class TenantControlPlaneSpec(Model):
    """A hosted control plane, part by part."""

    data_store: str | None = None
    control_plane: Mapping[str, Any] = {}
    kubernetes: Mapping[str, Any] = {}
    network_profile: Mapping[str, Any] = {}
    addons: Mapping[str, Any] = {}


class TenantVersion(Model):
    """The version that runs."""

    version: str | None = None
    status: str | None = None


class KubernetesResources(Model):
    """What runs in the management cluster."""

    version: TenantVersion | None = None
    deployment: Mapping[str, Any] = {}
    service: Mapping[str, Any] = {}


class SecretName(Model):
    """A Secret beside the control plane."""

    secret_name: str | None = None


class KubeconfigSecrets(Model):
    """Where the kubeconfigs are."""

    admin: SecretName | None = None


class Certificates(Model):
    """Where the certificates are."""

    ca: SecretName | None = None


class TenantControlPlaneStatus(Model):
    """The control plane as it is."""

    control_plane_endpoint: str | None = None
    kubernetes_resources: KubernetesResources | None = None
    kubeconfig: KubeconfigSecrets | None = None
    certificates: Certificates | None = None


class TenantControlPlane(
    Resource,
    plural="tenantcontrolplanes",
    short="tcp",
    group=KAMAJI,
    columns=(
        Column("Version", ".spec.kubernetes.version"),
        Column("Installed version", ".status.kubernetesResources.version.version"),
        Column("Status", ".status.kubernetesResources.version.status"),
        Column("Control-Plane endpoint", ".status.controlPlaneEndpoint"),
        AGE,
    ),
):
    """A hosted control plane as Kamaji sees it."""

    spec: TenantControlPlaneSpec = TenantControlPlaneSpec()
    status: TenantControlPlaneStatus = TenantControlPlaneStatus()
