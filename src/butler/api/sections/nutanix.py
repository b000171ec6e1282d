"""What a ProviderConfig says about Nutanix."""

from __future__ import annotations

from typing import Annotated, Literal

from kubekit.model.resource import Model, Rule

from ..model import NOT_YET, HttpUrl, Port
from ..shared import SecretRef

NUTANIX_PORT = 9440


class PrismCentral(Model):
    """Another way to write endpoint, port and insecure; port and insecure win over those."""

    address: str | None = None
    """Host name or URL."""
    port: Port | None = None
    """Port."""
    insecure: bool | None = None
    """Do not verify its certificate."""


class Entity(Model):
    """Something in Prism Central, by UUID or by name."""

    name: str | None = None
    """Name; looked up."""
    uuid: str | None = None
    """UUID; wins."""


def _named_or_uuid(entity: str) -> Rule:
    return Rule(
        f"has(self.{entity}UUID) || (has(self.{entity}) && (has(self.{entity}.uuid) || has(self.{entity}.name)))",
        f"here or as {entity}.uuid or {entity}.name",
        f".{entity}UUID",
    )


def _same_uuid(entity: str) -> Rule:
    return Rule(
        f"!has(self.{entity}UUID) || !has(self.{entity}) || !has(self.{entity}.uuid)"
        f" || self.{entity}UUID == self.{entity}.uuid",
        f"{entity}UUID and {entity}.uuid are two names of one field and must be equal",
    )


class NutanixSection(Model):
    """Nutanix AHV.

    After normalise() an entity is either a UUID (`cluster_uuid`) or, as long as nobody looked it up, a name
    (`cluster.name`); never both.
    """

    rules = (
        Rule(
            "has(self.endpoint) || (has(self.prismCentral) && has(self.prismCentral.address))",
            "here or as prismCentral.address",
            ".endpoint",
        ),
        _named_or_uuid("cluster"),
        _named_or_uuid("subnet"),
        _same_uuid("cluster"),
        _same_uuid("subnet"),
        _same_uuid("image"),
        _same_uuid("storageContainer"),
    )

    credentials_ref: SecretRef | None = None
    """Another place for spec.credentialsRef."""
    endpoint: HttpUrl | None = None
    """Prism Central as URL, without port."""
    port: int | None = None
    """Port; left out, that of the credentials, then 9440."""
    insecure: bool | None = None
    """Do not verify its certificate; left out, as the credentials say, then false."""
    prism_central: PrismCentral | None = None
    cluster_uuid: str | None = None
    """Prism Element cluster."""
    cluster: Entity | None = None
    """Prism Element cluster by name or UUID."""
    subnet_uuid: str | None = None
    """Subnet."""
    subnet: Entity | None = None
    """Subnet by name or UUID."""
    image_uuid: str | None = None
    """Image."""
    image: Entity | None = None
    """Image by name or UUID."""
    storage_container_uuid: str | None = None
    """Storage container."""
    storage_container: Entity | None = None
    """Storage container by name or UUID."""
    boot_type: Literal["legacy", "uefi"] = "legacy"
    """Firmware of the machines."""
    proxy: HttpUrl | None = None
    """HTTP proxy on the way to Prism Central."""
    prism_element: Annotated[str | None, NOT_YET] = None
    """Host of Prism Element, from which clusters with an account of their own take volumes."""
    tenant_credentials_name: str | None = None
    """Secret in the namespace of every tenant cluster with which Cluster API reaches Prism Central; left out, Cluster
    API uses the credentials it was installed with."""
