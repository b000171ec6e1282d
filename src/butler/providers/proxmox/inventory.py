"""What there is on a cluster: what is ours, and what machines can be made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..contract import Asset, Choice
from . import vm
from .api import Api
from .boot_images import Isos
from .errors import Absent
from .lookup import MIB, Cluster, Guest
from .section import Settings

IMAGE_PREFIX = "butler-image-"
"""Disk images that Butler brought are called so: a file has no other place for a mark."""
_GIB = 1 << 30

Volume = Mapping[str, Any]


async def inventory(api: Api, settings: Settings, isos: Isos) -> tuple[Asset, ...]:
    """Machines, the ISO images they boot with, and disk images."""
    cluster = Cluster.of(await api.get("/cluster/resources"))
    found, _ = await isos.of(cluster, settings.nodes, "")
    machines = await _machines(api, cluster, {one.vmid: one.token for one in found})
    names = {one.token: one.name for one in machines}
    disks = {one.volume: Asset("disk", one.volume, names.get(one.token, ""), one.token) for one in found}
    images = {
        volume: Asset("image", volume, image_name(volume), "", _size(entry))
        for volume, entry in (await volumes(api, settings, cluster)).items()
        if image_name(volume)
    }
    return (*machines, *disks.values(), *images.values())


async def _machines(api: Api, cluster: Cluster, owners: Mapping[int, str]) -> list[Asset]:
    """Those that are marked, and those that are so young that only the name of their ISO image says whose they are."""
    found: dict[str, Asset] = {}
    for guest in cluster.guests:
        token = guest.token or owners.get(guest.place.vmid, "")
        if not token or not guest.is_vm:
            continue
        if guest.name and owners.get(guest.place.vmid) == guest.token:
            found[token] = _machine(guest, token)
        elif (name := await _name_if_ours(api, guest, token)) is not None:
            found[token] = _machine(guest, token, name)
    return list(found.values())


async def _name_if_ours(api: Api, guest: Guest, token: str) -> str | None:
    """Someone may have copied a machine of ours with its tags, but a copy has another number."""
    try:
        config = await api.get(f"{guest.place.path}/config")
    except Absent:
        return None
    is_ours = vm.is_ours(config, token, guest.place.vmid) or vm.is_nameless(config)
    return str(config.get("name") or guest.name or f"VM {guest.place.vmid}") if is_ours else None


def _machine(guest: Guest, token: str, name: str = "") -> Asset:
    size = f"{guest.cores} vCPU, {guest.memory // MIB} MB" if guest.memory else ""
    return Asset("vm", vm.provider_id(token), name or guest.name, token, size)


async def images(api: Api, settings: Settings) -> list[Choice]:
    """Templates, and disk images that can be imported."""
    cluster = Cluster.of(await api.get("/cluster/resources"))
    templates = [
        Choice(str(one.place.vmid), one.name or str(one.place.vmid), f"template on {one.place.node}")
        for one in cluster.guests
        if one.is_template and one.is_vm
    ]
    disks = [
        Choice(volume, image_name(volume) or volume.rpartition("/")[2], f"{entry.get('format', '')}, {_size(entry)}")
        for volume, entry in (await volumes(api, settings, cluster)).items()
    ]
    return [*templates, *disks]


async def networks(api: Api, settings: Settings) -> list[Choice]:
    """Bridges and vnets of the hosts."""
    where: dict[str, list[str]] = {}
    ranges: dict[str, str] = {}
    for node in settings.nodes:
        for bridge in await api.get(f"/nodes/{node}/network", type="any_bridge"):
            where.setdefault(bridge["iface"], []).append(node)
            ranges.setdefault(bridge["iface"], bridge.get("cidr", ""))
    return [Choice(name, name, f"{ranges[name]} on {', '.join(nodes)}".strip()) for name, nodes in where.items()]


async def volumes(api: Api, settings: Settings, cluster: Cluster) -> dict[str, Volume]:
    """Disk images on the storage for them, once each, wherever they are."""
    found: dict[str, Volume] = {}
    for node in cluster.holders(settings.image_storage, settings.nodes):
        path = f"/nodes/{node}/storage/{settings.image_storage}/content"
        found |= {one["volid"]: one for one in await api.get(path, content="import")}
    return found


def image_name(volume: str) -> str:
    """What Butler calls a disk image that it brought; empty for those of others."""
    name = volume.rpartition("/")[2]
    return name.removeprefix(IMAGE_PREFIX).rpartition(".")[0] if name.startswith(IMAGE_PREFIX) else ""


def _size(entry: Volume) -> str:
    return f"{int(entry.get('size') or 0) / _GIB:.1f} GB"
