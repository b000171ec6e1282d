"""What a ProviderConfig says about Google Cloud."""

from __future__ import annotations

from ..model import Model
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
    """Zone; left out, the region's zone a."""
    network: str | None = None
    """VPC network."""
    subnetwork: str | None = None
    """Subnetwork."""
    machine_type: str | None = None
    """Machine type."""
    image: str | None = None
    """Image; wins over the family."""
    image_family: str | None = None
    """Image family."""
    image_project: str | None = None
    """Project the image is in."""
    service_account: str | None = None
    """Service account of the machines."""
    tags: tuple[str, ...] = ()
    """Network tags."""
