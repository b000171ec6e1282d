"""What there is: everything of ours, and what a ProviderConfig may name."""

from __future__ import annotations

from ..contract import Asset, Choice, by_name
from .api import COMPUTE, DISKS, GALLERIES, NETWORK, Arm, Object
from .section import Settings
from .vm import provider_id, token_of


async def assets(arm: Arm, settings: Settings) -> tuple[Asset, ...]:
    """Everything with our mark in the resource group."""
    kinds = (
        ("vm", settings.compute("virtualMachines"), COMPUTE),
        ("disk", settings.compute("disks"), DISKS),
        ("nic", settings.network("networkInterfaces"), NETWORK),
        ("address", settings.network("publicIPAddresses"), NETWORK),
        ("loadbalancer", settings.network("loadBalancers"), NETWORK),
    )
    found = [(kind, one) for kind, path, version in kinds for one in await arm.listed(path, version)]
    return tuple(_asset(kind, one) for kind, one in found if token_of(one))


async def images(arm: Arm, settings: Settings) -> tuple[Choice, ...]:
    """Images of the subscription and definitions in its galleries; the marketplace is too large to be listed."""
    everywhere = f"/subscriptions/{settings.subscription}/providers/Microsoft.Compute"
    found = [_image(one) for one in await arm.listed(f"{everywhere}/images", COMPUTE) if _is_near(one, settings)]
    for gallery in await arm.listed(f"{everywhere}/galleries", GALLERIES):
        definitions = await arm.listed(f"{gallery['id']}/images", GALLERIES)
        found += [_definition(one, gallery["name"]) for one in definitions]
    return by_name(found)


async def networks(arm: Arm, settings: Settings) -> tuple[Choice, ...]:
    """The subnets of the region, in whatever resource group."""
    path = f"/subscriptions/{settings.subscription}/providers/Microsoft.Network/virtualNetworks"
    near = [one for one in await arm.listed(path, NETWORK) if _is_near(one, settings)]
    return by_name(_subnet(one, vnet["name"]) for vnet in near for one in vnet["properties"].get("subnets") or ())


def _asset(kind: str, one: Object) -> Asset:
    identity = provider_id(one["id"]) if kind == "vm" else one["id"]
    return Asset(kind, identity, one["name"], token_of(one), _size(kind, one["properties"]))


def _size(kind: str, properties: Object) -> str:
    if kind == "vm":
        return str(properties["hardwareProfile"]["vmSize"])
    return f"{properties['diskSizeGB']} GB" if kind == "disk" and "diskSizeGB" in properties else ""


def _image(one: Object) -> Choice:
    disk = one["properties"].get("storageProfile", {}).get("osDisk", {})
    size = f", {disk['diskSizeGB']} GB" if "diskSizeGB" in disk else ""
    generation = one["properties"].get("hyperVGeneration", "V1")
    return Choice(one["id"], one["name"], f"{disk.get('osType', '')}, generation {generation}{size}")


def _definition(one: Object, gallery: str) -> Choice:
    facts = one["properties"]
    detail = f"{facts.get('osType', '')}, {facts.get('osState', '')}, generation {facts.get('hyperVGeneration', 'V1')}"
    return Choice(one["id"], f"{gallery}/{one['name']}", f"{detail}, newest version")


def _subnet(one: Object, vnet: str) -> Choice:
    facts = one["properties"]
    prefixes = facts.get("addressPrefixes") or [facts.get("addressPrefix", "")]
    return Choice(one["id"], f"{vnet}/{one['name']}", ", ".join(prefixes))


def _is_near(one: Object, settings: Settings) -> bool:
    return str(one.get("location", "")).replace(" ", "").lower() == settings.location
