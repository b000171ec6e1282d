"""What has to hold so that machines can be made, tried one by one."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable

from butler import advice
from butler.errors import CredentialsInvalid

from ..contract import Check
from . import sizes
from .api import AUTHORIZATION, COMPUTE, NETWORK, RESOURCES, SUBSCRIPTIONS, Arm, Object
from .boot_image import Image, shown
from .section import Settings

NEEDED = (
    "Microsoft.Compute/virtualMachines/read",
    "Microsoft.Compute/virtualMachines/write",
    "Microsoft.Compute/virtualMachines/delete",
    "Microsoft.Compute/disks/read",
    "Microsoft.Compute/disks/write",
    "Microsoft.Compute/disks/delete",
    "Microsoft.Network/networkInterfaces/read",
    "Microsoft.Network/networkInterfaces/write",
    "Microsoft.Network/networkInterfaces/delete",
    "Microsoft.Network/networkInterfaces/join/action",
)
"""What a machine takes, on the resource group."""
_TYPES = {"Microsoft.Compute": ("virtualMachines", COMPUTE), "Microsoft.Network": ("networkInterfaces", NETWORK)}


Offers = Callable[[], Awaitable[list[Object]]]


async def all_of(arm: Arm, settings: Settings, offers: Offers) -> tuple[Check, ...]:
    """Raises ProviderError when nothing can be tried."""
    subscription = await arm.get(f"/subscriptions/{settings.subscription}", SUBSCRIPTIONS) or {}
    state = str(subscription.get("state", "unknown"))
    name = subscription.get("displayName", settings.subscription)
    return (
        Check("reachable", True, f"Azure answers at {settings.endpoint}."),
        await _tried("version", _version(arm, settings)),
        Check("credentials", state in ("Enabled", "Warned"), f"Subscription {name} is {state}.", _SUBSCRIPTION),
        await _tried("permissions", _permissions(arm, settings)),
        await _tried("image", _image(arm, settings)),
        await _tried("network", _network(arm, settings)),
        await _tried("storage", _storage(settings, offers)),
        await _tried("capacity", _capacity(arm, settings, offers)),
    )


async def _tried(name: str, trying: Awaitable[Check]) -> Check:
    """What may not even be looked at does not hold."""
    try:
        return await trying
    except CredentialsInvalid as error:
        return Check(name, False, str(error), "Let the service principal read this: see the role in the guide.")


_SUBSCRIPTION = "Pay what is owed, or name another subscription in spec.azure.subscriptionID."


async def _version(arm: Arm, settings: Settings) -> Check:
    """Whether the subscription has the services, in the versions that are spoken here."""
    for namespace, (kind, version) in _TYPES.items():
        found = await arm.get(f"/subscriptions/{settings.subscription}/providers/{namespace}", RESOURCES) or {}
        state = found.get("registrationState", "unknown")
        if state != "Registered":
            remedy = f"Run: az provider register --namespace {namespace}"
            return Check("version", False, f"{namespace} is {state} in the subscription.", remedy)
        spoken = [one["apiVersions"] for one in found["resourceTypes"] if one["resourceType"].lower() == kind.lower()]
        if not any(version in versions for versions in spoken):
            message = f"{namespace} does not speak version {version}."
            return Check("version", False, message, "This cloud is older than Butler: use an older Butler there.")
    return Check("version", True, f"Azure speaks compute {COMPUTE} and network {NETWORK}.", value=COMPUTE)


async def _permissions(arm: Arm, settings: Settings) -> Check:
    if await arm.get(settings.group, RESOURCES) is None:
        message = f"There is no resource group {settings.resource_group}."
        remedy = f"Run: az group create --name {settings.resource_group} --location {settings.location}"
        return Check("permissions", False, message, remedy)
    path = f"{settings.group}/providers/Microsoft.Authorization/permissions"
    granted = await arm.listed(path, AUTHORIZATION)
    missing = [one for one in NEEDED if not any(_grants(permission, one) for permission in granted)]
    if missing:
        remedy = f"Give the service principal a role with these actions on resource group {settings.resource_group}."
        return Check("permissions", False, f"Not permitted: {', '.join(missing)}.", remedy)
    return Check("permissions", True, f"Machines may be made in resource group {settings.resource_group}.")


def _grants(permission: Object, action: str) -> bool:
    return _matches(permission.get("actions") or (), action) and not _matches(
        permission.get("notActions") or (), action
    )


def _matches(patterns: Iterable[str], action: str) -> bool:
    forms = (re.escape(one).replace(r"\*", ".*") for one in patterns)
    return any(re.fullmatch(one, action, re.IGNORECASE) for one in forms)


async def _image(arm: Arm, settings: Settings) -> Check:
    image = Image(settings.image)
    if not settings.image:
        return Check("image", True, "spec.azure.imageURN names none, so every order has to.")
    found = await shown(arm, settings, image)
    if found is None:
        lists = advice.provider_images(advice.NAME)
        remedy = f"Name an image of this region in spec.azure.imageURN; `{lists}` lists those there are."
        return Check("image", False, f"There is no image {settings.image} in {settings.location}.", remedy)
    facts = found.get("properties", {})
    disk = facts.get("osDiskImage") or facts.get("storageProfile", {}).get("osDisk") or facts
    system = disk.get("operatingSystem") or disk.get("osType") or "Linux"
    if system != "Linux":
        return Check("image", False, f"Image {settings.image} is of {system}.", "Name an image of Linux.")
    if facts.get("osState") == "Specialized" or disk.get("osState") == "Specialized":
        message = f"Image {settings.image} is specialised, and takes no userData."
        return Check("image", False, message, "Name a generalised image.")
    if image.is_managed and str(found.get("location", "")).lower() != settings.location:
        message = f"Image {settings.image} is in {found.get('location')}, and machines are in {settings.location}."
        return Check("image", False, message, "Copy the image to the region, or use a gallery.")
    return Check("image", True, f"Image {settings.image} is there.")


async def _network(arm: Arm, settings: Settings) -> Check:
    vnet = await arm.get(settings.vnet, NETWORK)
    if vnet is None or await arm.get(settings.subnet, NETWORK) is None:
        missing = settings.vnet if vnet is None else settings.subnet
        lists = advice.provider_networks(advice.NAME)
        remedy = f"Correct spec.azure.vnetName and subnetName; `{lists}` lists those there are."
        return Check("network", False, f"There is no {missing}.", remedy)
    if str(vnet["location"]).lower() != settings.location:
        message = f"The virtual network is in {vnet['location']}, and machines are in {settings.location}."
        return Check("network", False, message, "Name a virtual network of the region.")
    if settings.security_group and await arm.get(settings.security_group, NETWORK) is None:
        message = f"There is no security group {settings.security_group}."
        return Check("network", False, message, "Correct spec.azure.securityGroupName, or leave it out.")
    usages = await arm.listed(f"{settings.vnet}/usages", NETWORK)
    used_up = [one["id"].lower() for one in usages if one["currentValue"] >= one["limit"]]
    full = settings.subnet.lower() in used_up
    message = f"Subnet {settings.subnet.rpartition('/')[2]} " + ("has no free address." if full else "is there.")
    return Check("network", not full, message, "Name a larger subnet." if full else "")


async def _storage(settings: Settings, offers: Offers) -> Check:
    disk = sizes.named(await offers(), settings.disk_type, "disks")
    if disk is None or not sizes.is_offered(disk, settings):
        message = f"{settings.location} has no disks of kind {settings.disk_type} for this subscription."
        return Check("storage", False, message, "Name another kind in spec.azure.diskType.")
    return Check("storage", True, f"Disks of kind {settings.disk_type} are offered.")


async def _capacity(arm: Arm, settings: Settings, offers: Offers) -> Check:
    offered = await offers()
    if settings.vm_size:
        size = sizes.named(offered, settings.vm_size)
        if size is None or not sizes.is_offered(size, settings):
            message = f"{settings.location} does not offer {settings.vm_size} to this subscription."
            return Check("capacity", False, message, "Name another size in spec.azure.vmSize, or leave it out.")
    elif sizes.fitting(offered, settings, 1, 1) is None:
        message = f"{settings.location} offers this subscription no size that Butler would choose."
        return Check("capacity", False, message, "Name a size in spec.azure.vmSize.")
    path = f"/subscriptions/{settings.subscription}/providers/Microsoft.Compute/locations/{settings.location}/usages"
    cores = next((one for one in await arm.listed(path, COMPUTE) if one["name"]["value"] == "cores"), None)
    if cores is None:
        return Check("capacity", True, "Azure states no limit for cores.")
    room = f"{cores['currentValue']} of {cores['limit']} cores are used in {settings.location}."
    return Check("capacity", cores["currentValue"] < cores["limit"], room, "Ask Azure for a higher quota of cores.")
