"""What a ProviderConfig says about Harvester."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from kubekit.model.resource import Model

from ..model import HttpUrl
from ..shared import SecretRef


class HarvesterSection(Model):
    """Harvester HCI."""

    credentials_ref: SecretRef | None = None
    """Another place for spec.credentialsRef."""
    endpoint: str | None = None
    """Address of the API; left out, that of the kubeconfig."""
    insecure: bool = False
    """Do not verify its certificate."""
    proxy: HttpUrl | None = None
    """HTTP proxy on the way to the API."""
    namespace: str = "default"
    """Namespace of the VMs."""
    network_name: Annotated[str, Meta(pattern=r"^[a-z0-9-]+/[a-z0-9-]+$")]
    """VM network as namespace/name."""
    image_name: str | None = None
    """Image as namespace/name."""
    storage_class_name: str | None = None
    """Storage class of the disks."""
    image_storage_class_name: str | None = None
    """Storage class that Harvester made for the image, as its status tells; needed for workers of tenant clusters
    unless the image is of the backend cdi."""
    context: str | None = None
    """Context of the kubeconfig; left out, its current one."""
