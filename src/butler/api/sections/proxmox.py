"""What a ProviderConfig says about Proxmox VE."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from kubekit.model.resource import Model

from ..model import HttpUrl
from ..shared import SecretRef


class VmidRange(Model):
    """VM numbers Butler may use."""

    start: Annotated[int, Meta(ge=100)]
    """First."""
    end: Annotated[int, Meta(ge=100)]
    """Last."""


class ProxmoxSection(Model):
    """Proxmox VE."""

    credentials_ref: SecretRef | None = None
    """Another place for spec.credentialsRef."""
    endpoint: HttpUrl
    """Address of the API."""
    insecure: bool = False
    """Do not verify its certificate."""
    ca_bundle: str | None = None
    """Certificates in PEM that are trusted besides the system's."""
    proxy: HttpUrl | None = None
    """HTTP proxy on the way to the API."""
    nodes: Annotated[tuple[str, ...], Meta(min_length=1)]
    """Hosts the machines may be on."""
    storage: str
    """Storage of the disks."""
    iso_storage: str | None = None
    """Storage with content `iso` that takes the configuration of each machine; left out, `local`."""
    image_storage: str | None = None
    """Storage with content `import` that takes images; left out, isoStorage."""
    template_id: int | None = None
    """Template that is cloned."""
    template: str | None = None
    """Template that is cloned, by name; where disks are local to a host, there may be one of that name on each."""
    image: str | None = None
    """Disk image that is imported instead of a template, such as `local:import/talos.qcow2`."""
    full_clone: bool = True
    """Copy the disks of the template; otherwise they stay linked to it."""
    bridge: str | None = None
    """Bridge or vnet the machines are connected to; left out, that of the template, or `vmbr0`."""
    vlan: Annotated[int, Meta(ge=1, le=4094)] | None = None
    """VLAN on the bridge."""
    cpu_type: str | None = None
    """Model of the CPU that machines see, such as `host`; left out, that of the template, or `x86-64-v2-AES`."""
    pool: str | None = None
    """Resource pool the machines belong to."""
    vmid_range: VmidRange | None = None
    """Left out, 100000 to 999999."""
    worker_addresses: tuple[str, ...] = ()
    """Addresses that Cluster API gives to workers of tenant clusters: single ones, ranges as first-last, or CIDR."""
