"""The addon catalogue every platform starts with: modules of data, one for each infrastructure.

Tenants have workers only, so nothing may wait for a node of the control plane, and what a node needs to become Ready
reaches the API server by its own address rather than by a Service. What depends on the cluster is a placeholder; their
names are in `butler.addons.facts`."""

from __future__ import annotations

from butler.api.addon import AddonDefinition

from . import aws, azure, gcp, harvester, nutanix, observability, optional, platform, proxmox
from .entry import Entry

ENTRIES: tuple[Entry, ...] = (
    *platform.ENTRIES,
    *aws.ENTRIES,
    *azure.ENTRIES,
    *gcp.ENTRIES,
    *nutanix.ENTRIES,
    *proxmox.ENTRIES,
    *harvester.ENTRIES,
    *observability.ENTRIES,
    *optional.ENTRIES,
)


def definitions() -> tuple[AddonDefinition, ...]:
    return tuple(entry.definition() for entry in ENTRIES)
