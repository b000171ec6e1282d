"""What a ProviderConfig and its Secret say, with every default filled in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from butler.api.provider import ProviderConfig
from butler.api.sections.azure import AzureSection
from butler.errors import CredentialsInvalid
from kubekit.errors import InvalidConfiguration

from .. import account_fields
from ..rest import Trust

NAME = "azure"
DISK_TYPE = "Premium_LRS"
NOBODYS_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIK/ZrRct4+UHslwnY4H0H+yKqLxDWKT9/AVUdwwxMQMx"
"""Azure demands a key or a password for Linux. This one is the hash of a sentence, so nobody has its other half."""

_CLOUDS = {
    "AzurePublicCloud": ("https://management.azure.com", "https://login.microsoftonline.com"),
    "AzureUSGovernmentCloud": ("https://management.usgovcloudapi.net", "https://login.microsoftonline.us"),
    "AzureChinaCloud": ("https://management.chinacloudapi.cn", "https://login.chinacloudapi.cn"),
}
_TENANT = re.compile(r"[0-9A-Za-z.-]+")
_IMAGE = re.compile(r"[^:/]+(:[^:/]+){3}|/(subscriptions|communitygalleries|sharedgalleries)/.+", re.IGNORECASE)
_SUBNET = re.compile(r"(?P<vnet>/subscriptions/.+/virtualNetworks/[^/]+)/subnets/[^/]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Settings:
    """An account on Azure and what machines are like there."""

    endpoint: str
    authority: str
    tenant: str
    client: str
    secret: str = field(repr=False)
    trust: Trust = field(repr=False)
    subscription: str
    resource_group: str
    location: str
    vnet: str
    """Its id."""
    subnet: str
    """Its id."""
    security_group: str
    """Its id; empty for none."""
    vm_size: str
    """Empty for the smallest that fits."""
    image: str
    zone: str
    disk_type: str
    ssh_public_key: str
    is_internal: bool
    """Whether load balancers have an address of the subnet."""

    @property
    def scope(self) -> str:
        """What a token is asked for."""
        return f"{self.endpoint}/.default"

    @property
    def group(self) -> str:
        """The path of the resource group."""
        return f"/subscriptions/{self.subscription}/resourceGroups/{self.resource_group}"

    def compute(self, kind: str, name: str = "") -> str:
        """The path of something in the resource group, or of all of a kind."""
        return _path(self.group, "Microsoft.Compute", kind, name)

    def network(self, kind: str, name: str = "") -> str:
        return _path(self.group, "Microsoft.Network", kind, name)


def settings(config: ProviderConfig, credentials: Mapping[str, str]) -> Settings:
    """Raises InvalidConfiguration and CredentialsInvalid."""
    section = config.spec.azure
    assert section is not None, "the registry asks for it"
    said = {"tenantID": section.tenant_id, "clientID": section.client_id}
    given = {**credentials, **{key: value for key, value in said.items() if value}}
    tenant, client, secret = account_fields.needed(config, given, "tenantID", "clientID", "clientSecret")
    if not _TENANT.fullmatch(tenant):
        raise CredentialsInvalid(NAME, "", f"tenantID {tenant!r} is neither the id nor the domain of a tenant")
    endpoint, authority = _CLOUDS[section.environment]
    group = _group(section)
    vnet, subnet = networks(config, section)
    security_group = section.security_group_name or credentials.get("securityGroupName", "").strip()
    return Settings(
        endpoint=(section.endpoint or endpoint).rstrip("/"),
        authority=(section.authority or authority).rstrip("/"),
        tenant=tenant,
        client=client,
        secret=secret,
        trust=_trust(config, section),
        subscription=section.subscription_id,
        resource_group=section.resource_group,
        location=location(config, section),
        vnet=vnet,
        subnet=subnet,
        security_group=_id(group, "networkSecurityGroups", security_group) if security_group else "",
        vm_size=section.vm_size or "",
        image=_image(config, section.image_urn or ""),
        zone=section.zone or "",
        disk_type=section.disk_type or DISK_TYPE,
        ssh_public_key=section.ssh_public_key or NOBODYS_KEY,
        is_internal=section.load_balancer == "internal",
    )


def _trust(config: ProviderConfig, section: AzureSection) -> Trust:
    trust = Trust(ca=section.ca_bundle or "", proxy=section.proxy or "")
    try:
        trust.context(NAME)
    except InvalidConfiguration:
        raise _invalid(config, "caBundle", "is not a certificate in PEM form") from None
    return trust


def location(config: ProviderConfig, section: AzureSection) -> str:
    """The region as Azure spells it: `West Europe` is westeurope. Raises InvalidConfiguration."""
    return _needed(config, "location", section.location).replace(" ", "").lower()


def networks(config: ProviderConfig, section: AzureSection) -> tuple[str, str]:
    """The ids of the virtual network and of the subnet. Raises InvalidConfiguration."""
    subnet = _needed(config, "subnetName", section.subnet_name)
    if subnet.startswith("/"):
        if (whole := _SUBNET.fullmatch(subnet)) is None:
            raise _invalid(config, "subnetName", f"{subnet!r} is neither the name nor the id of a subnet")
        return whole["vnet"], subnet
    vnet = _id(_group(section), "virtualNetworks", _needed(config, "vnetName", section.vnet_name))
    return vnet, f"{vnet}/subnets/{subnet}"


def _image(config: ProviderConfig, image: str) -> str:
    if image and not _IMAGE.fullmatch(image):
        message = f"{image!r} is neither publisher:offer:sku:version nor the id of an image"
        raise _invalid(config, "imageURN", message)
    return image


def _group(section: AzureSection) -> str:
    return f"/subscriptions/{section.subscription_id}/resourceGroups/{section.resource_group}"


def _id(group: str, kind: str, name: str) -> str:
    return name if name.startswith("/") else _path(group, "Microsoft.Network", kind, name)


def _path(group: str, namespace: str, kind: str, name: str) -> str:
    return f"{group}/providers/{namespace}/{kind}" + (f"/{name}" if name else "")


def _needed(config: ProviderConfig, name: str, value: str | None) -> str:
    if not value:
        raise _invalid(config, name, "is missing; machines cannot be made without it")
    return value


def _invalid(config: ProviderConfig, name: str, message: str) -> InvalidConfiguration:
    return InvalidConfiguration(f"ProviderConfig {config.key}", f"spec.azure.{name}", message)
