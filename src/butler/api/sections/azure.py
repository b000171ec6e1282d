"""What a ProviderConfig says about Microsoft Azure."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from kubekit.model.resource import Model, Rule

from ..shared import SecretRef

HttpsUrl = Annotated[str, Meta(pattern=r"^https://")]


class AzureSection(Model):
    """Microsoft Azure."""

    rules = (
        Rule("has(self.location)", "machines cannot be made without it", missing=".location"),
        Rule("has(self.subnetName)", "machines cannot be made without it", missing=".subnetName"),
        Rule(
            "has(self.vnetName) || !has(self.subnetName) || self.subnetName.startsWith('/')",
            "a subnet that is given by its name is in one",
            missing=".vnetName",
        ),
    )

    credentials_ref: SecretRef | None = None
    """Another place for spec.credentialsRef."""
    subscription_id: str
    """Subscription."""
    resource_group: str
    """Resource group."""
    tenant_id: str | None = None
    """Tenant of the service principal; left out, that of the credentials. Workers of tenant clusters need it here."""
    client_id: str | None = None
    """Service principal; left out, that of the credentials. Workers of tenant clusters need it here."""
    location: str | None = None
    """Region."""
    vnet_name: str | None = None
    """Virtual network: its name, or its id when it is in another resource group."""
    subnet_name: str | None = None
    """Subnet: its name, or its id, which says the virtual network too."""
    vm_size: str | None = None
    """VM size such as Standard_D4s_v3; left out, the smallest with the cores and memory that are asked for."""
    image_urn: str | None = None
    """publisher:offer:sku:version, or the id of a managed or gallery image."""
    security_group_name: str | None = None
    """Security group of the machines, by name or id; left out, that of the credentials, then that of the subnet."""
    zone: str | None = None
    """Availability zone; left out, Azure chooses."""
    disk_type: str | None = None
    """Kind of the disks such as StandardSSD_LRS; left out, Premium_LRS."""
    ssh_public_key: str | None = None
    """For the account `butler` on the machines; left out, a key that opens nothing."""
    load_balancer: Literal["public", "internal"] = "public"
    """Whether load balancers have a public address, or one of the subnet."""
    environment: Literal["AzurePublicCloud", "AzureUSGovernmentCloud", "AzureChinaCloud"] = "AzurePublicCloud"
    """Which of Microsoft's clouds."""
    endpoint: HttpsUrl | None = None
    """Resource Manager, when it is none of those clouds."""
    authority: HttpsUrl | None = None
    """Where tokens come from, when it is none of those clouds."""
    ca_bundle: str | None = None
    """Certificates in PEM form that are trusted besides the system's."""
    proxy: str | None = None
    """Proxy through which Azure is reached."""
