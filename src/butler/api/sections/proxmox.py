"""What a ProviderConfig says about Proxmox VE."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from ..model import HttpUrl, Model
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
    nodes: Annotated[tuple[str, ...], Meta(min_length=1)]
    """Hosts the machines may be on."""
    storage: str
    """Storage of the disks."""
    template_id: int | None = None
    """Template that is cloned."""
    vmid_range: VmidRange | None = None
