"""Which VM size a machine gets, from what a region offers to a subscription."""

from __future__ import annotations

from typing import Any

from ..sizes import InstanceType, smallest
from .api import SKUS, Arm, Object
from .section import Settings

_GIB = 1024
_SLOWED = "standardB"
"""The families whose cores are lent by the hour: a node that used its credit up stops answering."""


async def offers(arm: Arm, settings: Settings) -> list[Object]:
    """Everything of the compute service that the region has: sizes, kinds of disks."""
    path = f"/subscriptions/{settings.subscription}/providers/Microsoft.Compute/skus"
    return await arm.listed(path, SKUS, filter=f"location eq '{settings.location}'")


def fitting(offered: list[Object], settings: Settings, cpu: int, memory_mb: int) -> InstanceType | None:
    """The smallest size for any Linux image; None when there is none."""
    sizes = [one for one in offered if one["resourceType"] == "virtualMachines" and _is_usual(one)]
    return smallest(
        (_type(one) for one in sizes if is_offered(one, settings) and _takes(one, settings.disk_type)), cpu, memory_mb
    )


def named(offered: list[Object], name: str, kind: str = "virtualMachines") -> Object | None:
    """A size or a kind of disks by its name."""
    return next((one for one in offered if one["resourceType"] == kind and one["name"].lower() == name.lower()), None)


def is_offered(sku: Object, settings: Settings) -> bool:
    """Whether the subscription may have it in its region, and in its zone where it has one."""
    for restriction in sku.get("restrictions") or ():
        zones = (restriction.get("restrictionInfo") or {}).get("zones") or ()
        if restriction.get("type") == "Location" or settings.zone in zones:
            return False
    places = [one for one in sku.get("locationInfo") or () if one["location"].lower() == settings.location]
    return not settings.zone or any(settings.zone in (place.get("zones") or ()) for place in places)


def _is_usual(sku: Object) -> bool:
    """Leaves out what needs more than an ordinary image: other processors, graphics, sealed memory, newer firmware."""
    able = _capabilities(sku)
    return (
        able.get("CpuArchitectureType", "x64") == "x64"
        and {"V1", "V2"} <= set(able.get("HyperVGenerations", "").split(","))
        and float(able.get("GPUs", "0")) == 0
        and "ConfidentialComputingType" not in able
        and not sku["name"].endswith("_Promo")
        and not str(sku.get("family", "")).startswith(_SLOWED)
    )


def _takes(sku: Object, disk_type: str) -> bool:
    return not disk_type.startswith("Premium") or _capabilities(sku).get("PremiumIO") == "True"


def _type(sku: Object) -> InstanceType:
    able = _capabilities(sku)
    return InstanceType(sku["name"], int(able.get("vCPUs", "0")), int(float(able.get("MemoryGB", "0")) * _GIB))


def _capabilities(sku: Object) -> dict[str, Any]:
    return {one["name"]: one["value"] for one in sku.get("capabilities") or ()}
