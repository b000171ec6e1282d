"""What there is in a project: what is ours, and what a ProviderConfig may name."""

from __future__ import annotations

from typing import Any

from ..contract import Asset, Choice, by_name
from . import loadbalancer_parts, vm
from .api import Compute, last
from .section import Settings

_OURS = f"labels.{vm.MARK}:*"
_BALANCING = ("forwardingRules", "backendServices", "healthChecks", "instanceGroups")


async def inventory(api: Compute) -> tuple[Asset, ...]:
    """Everything that carries our mark. The parts of a load balancer are one thing together, whichever there are."""
    instances = await api.listed("aggregated/instances", vm.SHOWN, chosen=_OURS)
    disks = await api.listed("aggregated/disks", "name,sizeGb,labels,selfLink", chosen=_OURS)
    addresses = await _named(api, "addresses")
    balancers = [part for collection in _BALANCING for part in await _named(api, collection)]
    return (
        *(_machine(api.project, one) for one in instances),
        *(Asset("disk", one["selfLink"], one["name"], vm.token_of(one), f"{one['sizeGb']} GB") for one in disks),
        *(_part("address", one) for one in addresses),
        *{loadbalancer_parts.marked(one)[0]: _part("loadbalancer", one) for one in reversed(balancers)}.values(),
    )


async def images(settings: Settings, api: Compute) -> tuple[Choice, ...]:
    """Those of the project, and of the one that images come from. Obsolete ones cannot be used any more."""
    found: dict[str, Choice] = {}
    for project in dict.fromkeys((settings.image_project, settings.project)):
        fields = "name,family,diskSizeGb,architecture,status,deprecated/state"
        for image in await api.listed(f"projects/{project}/global/images", fields):
            if image.get("status") == "READY" and (image.get("deprecated") or {}).get("state", "ACTIVE") == "ACTIVE":
                choice = _image(settings, project, image)
                found[choice.id] = choice
    return by_name(found.values())


async def networks(settings: Settings, api: Compute) -> tuple[Choice, ...]:
    """The subnetworks of the region that may be used, here and in the project of a shared VPC network."""
    shared = (settings.subnetwork or settings.network).split("/")[1]
    found: list[Choice] = []
    for project in dict.fromkeys((settings.project, shared)):
        fields = "subnetwork,network,ipCidrRange,purpose"
        usable = await api.listed(f"projects/{project}/aggregated/subnetworks/listUsable", fields)
        found += [_network(settings, project, one) for one in usable if _is_for_machines(one, settings.region)]
    return by_name(found)


async def _named(api: Compute, collection: str) -> list[Any]:
    listed = await api.listed(
        f"aggregated/{collection}", "id,name,description,selfLink", chosen=f"name eq {loadbalancer_parts.NAMES}"
    )
    return [one for one in listed if loadbalancer_parts.marked(one)[0]]


def _machine(project: str, instance: Any) -> Asset:
    size = last(instance.get("machineType", ""))
    return Asset("vm", vm.provider_id(project, instance), instance["name"], vm.token_of(instance), size)


def _part(kind: str, part: Any) -> Asset:
    token, cluster = loadbalancer_parts.marked(part)
    return Asset(kind, part["selfLink"], cluster, token)


def _image(settings: Settings, project: str, image: Any) -> Choice:
    name = image["name"] if project == settings.image_project else f"projects/{project}/global/images/{image['name']}"
    family = f"family {image['family']}" if image.get("family") else ""
    told = (f"{image.get('diskSizeGb', '?')} GB", image.get("architecture", ""), family)
    return Choice(name, image["name"], ", ".join(text for text in told if text))


def _is_for_machines(network: Any, region: str) -> bool:
    return f"/regions/{region}/" in network["subnetwork"] and network.get("purpose", "PRIVATE") == "PRIVATE"


def _network(settings: Settings, project: str, network: Any) -> Choice:
    name = last(network["subnetwork"])
    path = f"projects/{project}/regions/{settings.region}/subnetworks/{name}"
    detail = f"network {last(network['network'])}, {network.get('ipCidrRange', 'IPv6 only')}"
    return Choice(name if project == settings.project else path, name, detail)
