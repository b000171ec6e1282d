"""What a ProviderConfig says about Microsoft Azure."""

from __future__ import annotations

from ..model import Model
from ..shared import SecretRef


class AzureSection(Model):
    """Microsoft Azure."""

    credentials_ref: SecretRef | None = None
    """Another place for spec.credentialsRef."""
    subscription_id: str
    """Subscription."""
    resource_group: str
    """Resource group."""
    location: str | None = None
    """Region."""
    vnet_name: str | None = None
    """Virtual network."""
    subnet_name: str | None = None
    """Subnet."""
    vm_size: str | None = None
    """VM size such as Standard_D4s_v3."""
    image_urn: str | None = None
    """publisher:offer:sku:version, or the id of a managed or gallery image."""
