"""What can only be read of the fake Azure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.providers.azure.fake_compute import cores_used
from tests.providers.azure.fake_market import COMMUNITY, DISK_TYPES, SIZES, VERSIONS, plan_of, registered
from tests.providers.azure.fake_shapes import Json
from tests.providers.azure.fake_things import GROUP, LOCATION, SUBSCRIPTION, Refused, Thing

if TYPE_CHECKING:
    from tests.providers.azure.fake import Azure

_ROOT = f"/subscriptions/{SUBSCRIPTION}"
_PLACE = f"{_ROOT}/providers/Microsoft.Compute/locations/{LOCATION}"
_MARKET = re.compile(
    rf"{_PLACE}/publishers/([^/]+)/artifacttypes/vmimage/offers/([^/]+)/skus/([^/]+)/versions(?:/([^/]+))?",
    re.IGNORECASE,
)


def answer(azure: Azure, path: str, query: dict[str, str]) -> Any:
    """What stands above the resource group."""
    if path == _ROOT:
        return {"id": _ROOT, "subscriptionId": SUBSCRIPTION, "displayName": "Test", "state": azure.subscription_state}
    if path.lower() == GROUP.lower():
        return {
            "id": GROUP,
            "name": "Butler-RG",
            "location": LOCATION,
            "properties": {"provisioningState": "Succeeded"},
        }
    if "/operations/" in path:
        return _operation(azure, path.rpartition("/")[2])
    if path in (f"{_ROOT}/providers/Microsoft.Compute", f"{_ROOT}/providers/Microsoft.Network"):
        return registered(path.rpartition("/")[2], azure.registration)
    if path == f"{_ROOT}/providers/Microsoft.Compute/skus":
        return {"value": [*SIZES, *DISK_TYPES] if query.get("$filter") == f"location eq '{LOCATION}'" else []}
    if path == f"{_PLACE}/usages":
        cores = {"name": {"value": "cores"}, "currentValue": cores_used(azure), "limit": azure.cores}
        return {"value": [{"name": {"value": "availabilitySets"}, "currentValue": 0, "limit": 2500}, cores]}
    if (market := _MARKET.fullmatch(path)) is not None:
        return _image(*market.groups())
    if path.lower() == f"{_PLACE}/communityGalleries/{COMMUNITY.split('/')[2]}/images/talos-x64".lower():
        return {"name": "talos-x64", "properties": {"osType": "Linux", "osState": "Generalized"}}
    if path.startswith(f"{_ROOT}/providers/Microsoft.") and path.count("/") == 5:
        return all_of(azure, path, path.rpartition("/")[2].lower(), _ROOT)
    raise Refused(404, "NotFound", f"There is no {path}.")


def all_of(azure: Azure, path: str, kind: str, above: str) -> Any:
    """A list of resources, or of something about one."""
    if kind == "permissions":
        return {"value": list(azure.permissions)}
    if kind == "virtualnetworks/usages":
        return {"value": _usages(azure, path.removesuffix("/usages"))}
    parent = path.rpartition("/")[0] if "/" in kind else above
    things = [
        one for one in azure.existing(kind) if one.path.lower().startswith(parent.lower()) and azure.is_shown(one)
    ]
    return {"value": [azure.shown(one, "") for one in things]}


def there(azure: Azure, path: str) -> Thing:
    """Something that is shown."""
    found = azure.get(path)
    if found is None or not azure.is_shown(found):
        raise Refused(404, "ResourceNotFound", f"The Resource {path} was not found.")
    return found


def subnet(azure: Azure, path: str) -> Json:
    vnet, _, name = path.partition("/subnets/")
    for one in there(azure, vnet).properties["subnets"]:
        if one["name"].lower() == name.lower():
            return {**one, "properties": {**one["properties"], "provisioningState": "Succeeded"}}
    raise Refused(404, "NotFound", f"Resource {path} not found.")


def _operation(azure: Azure, key: str) -> Json:
    operation = azure.operations.get(key)
    if operation is None:
        raise Refused(404, "NotFound", "The entity was not found.")
    if azure.now < operation.ready_at:
        return {"name": key, "status": "InProgress", "startTime": "2026-11-01T00:00:00Z"}
    if operation.failure is None:
        return {"name": key, "status": "Succeeded", "startTime": "2026-11-01T00:00:00Z"}
    status = "Canceled" if operation.failure["code"] == "OperationPreempted" else "Failed"
    return {"name": key, "status": status, "error": operation.failure}


def _image(publisher: str, offer: str, sku: str, version: str | None) -> Any:
    versions = VERSIONS.get(f"{publisher}:{offer}:{sku}", ())
    if version is None:
        newest = sorted(versions, reverse=True)[:1]
        return [{"name": one, "location": LOCATION, "id": f"{_PLACE}/{one}"} for one in newest]
    if version not in versions:
        raise Refused(404, "NotFound", "Artifact: VMImage was not found.")
    plan = plan_of(f"{publisher}:{offer}:{sku}:{version}")
    facts = {"osDiskImage": {"operatingSystem": "Linux"}, "hyperVGeneration": "V2"}
    return {"name": version, "location": LOCATION, "properties": {**facts, **({"plan": plan} if plan else {})}}


def _usages(azure: Azure, vnet: str) -> list[Json]:
    found = azure.get(vnet)
    used = len(azure.existing("networkinterfaces"))
    return [
        {"id": one["id"], "currentValue": used, "limit": one.get("room", 65531), "unit": "Count"}
        for one in (found.properties["subnets"] if found is not None else ())
    ]
