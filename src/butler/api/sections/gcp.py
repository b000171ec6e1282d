"""What a ProviderConfig says about Google Cloud."""

from __future__ import annotations

from typing import Literal

from msgspec import field

from kubekit.model.resource import Model

from ..model import HttpUrl
from ..shared import SecretRef


class GcpSection(Model):
    """Google Cloud."""

    credentials_ref: SecretRef | None = None
    """Another place for spec.credentialsRef."""
    project_id: str
    """Project."""
    region: str
    """Region."""
    zone: str | None = None
    """Zone; left out, the region's zone a, and another one of the region when that has no room."""
    network: str | None = None
    """VPC network, by name or path; left out, that of the subnetwork, then default."""
    subnetwork: str | None = None
    """Subnetwork, by name or, for a shared VPC, as projects/PROJECT/regions/REGION/subnetworks/NAME."""
    machine_type: str | None = None
    """Machine type; left out, the smallest that has the cores and the memory of a machine."""
    disk_type: str | None = None
    """Type of the disks; left out, pd-balanced."""
    image: str | None = None
    """Image, by name or path; wins over the family."""
    image_family: str | None = None
    """Image family."""
    image_project: str | None = None
    """Project the image is in."""
    service_account: str | None = None
    """Service account of the machines."""
    tags: tuple[str, ...] = ()
    """Network tags."""
    public_ip: bool | None = field(default=None, name="publicIP")
    """Give machines a public address; left out, they get one. Without, they need Cloud NAT to reach the internet."""
    load_balancer: Literal["external", "internal"] = "external"
    """Whether load balancers have a public address, or one of the subnetwork."""
    endpoint: HttpUrl | None = None
    """Address of the Compute Engine API, for Private Service Connect; left out, the public one."""
    resource_manager_endpoint: HttpUrl | None = None
    """Address of the Resource Manager API, which tells what the account may do; left out, the public one."""
    ca_bundle: str | None = None
    """Certificates in PEM form that are trusted besides the system's."""
    proxy: HttpUrl | None = None
    """Proxy through which Google's APIs are reached."""
