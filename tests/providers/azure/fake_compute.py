"""VMs and disks of the fake Azure."""

from __future__ import annotations

import base64
import binascii
import json
import re
from copy import deepcopy

from tests.providers.azure.fake_market import COMMUNITY, DISK_TYPES, IMAGE_SIZE, SIZES, VERSIONS, plan_of
from tests.providers.azure.fake_shapes import Json
from tests.providers.azure.fake_things import BOOT, GROUP, LINGER, NEVER, REMOVAL, Refused, Thing, World, parts_of

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,62}[A-Za-z0-9_])?")
_KEY = re.compile(r"ssh-(rsa|ed25519) [A-Za-z0-9+/=]{40,}( .*)?")
_CUSTOM_DATA = 65535
DISK_PATH = f"{GROUP}/providers/Microsoft.Compute/disks"


def put_vm(world: World, path: str, body: Json) -> tuple[Thing, str, bool]:
    """The VM, the operation, and whether it is new."""
    old = world.get(path)
    _check(world, path, body, old)
    failure = world.failing.pop(0) if world.failing else None
    operation = world.begin(BOOT, failure)
    if old is not None:
        if world.state(old) == "Failed":
            old.ready_at, old.failure = world.now + BOOT, failure
        old.body["tags"] = deepcopy(body.get("tags", {}))
        return old, operation, False
    vm = world.add(path, "virtualmachines", body, BOOT, failure=failure)
    vm.properties["vmId"] = f"5e1f0000-0000-4000-8000-{next(world.numbers):012x}"
    storage = vm.properties["storageProfile"]
    for disk in (storage["osDisk"], *storage.get("dataDisks", ())):
        _add_disk(world, vm, disk)
    return vm, operation, True


def _add_disk(world: World, vm: Thing, disk: Json) -> None:
    """A disk that comes with a VM has the tags of the VM."""
    path = f"{DISK_PATH}/{disk['name']}"
    disk["managedDisk"]["id"] = path
    facts = {"diskSizeGB": disk.get("diskSizeGB", IMAGE_SIZE), "creationData": {"createOption": disk["createOption"]}}
    tags = deepcopy(vm.body.get("tags", {}))
    world.add(path, "disks", {"location": vm.body["location"], "tags": tags, "properties": facts})


def delete_vm(world: World, vm: Thing) -> str:
    if vm.gone_at != NEVER:
        return world.begin(vm.gone_at - world.now)
    for operation in world.operations.values():
        if operation.ready_at == vm.ready_at and world.now < vm.ready_at:
            operation.ready_at, operation.failure = world.now, {"code": "OperationPreempted", "message": "Superseded."}
    vm.gone_at = world.now + REMOVAL
    for path, option in parts_of(vm).items():
        if option == "Delete" and (part := world.get(path)) is not None:
            part.gone_at = vm.gone_at + LINGER
        elif part := world.get(path):
            part.reserved_until = world.now + 180.0 if vm.failure else 0.0
    return world.begin(REMOVAL)


def delete_disk(world: World, disk: Thing) -> str:
    if (vm := world.user_of(disk.path)) is not None:
        message = f"Disk {disk.name} is attached to VM {vm.path}."
        raise Refused(409, "OperationNotAllowed", message)
    disk.gone_at = min(disk.gone_at, world.now + REMOVAL)
    return world.begin(REMOVAL)


def act(world: World, vm: Thing, action: str) -> str:
    powers = {"start": "running", "restart": "running", "poweroff": "stopped", "deallocate": "deallocated"}
    if action not in powers:
        raise Refused(404, "InvalidResourceType", f"There is no action {action}.")
    vm.power = powers[action]
    return world.begin(5.0)


def shown_vm(world: World, vm: Thing, expanded: bool) -> Json:
    shown = deepcopy(vm.body)
    shown["properties"].get("osProfile", {}).pop("customData", None)
    shown["properties"] |= {"provisioningState": world.state(vm), "timeCreated": "2026-11-01T00:00:00.0000000+00:00"}
    if expanded:
        shown["properties"]["instanceView"] = {"statuses": _statuses(world, vm)}
    return shown


def _statuses(world: World, vm: Thing) -> list[Json]:
    state = world.state(vm)
    if state == "Failed" and vm.failure is not None:
        code = f"ProvisioningState/failed/{vm.failure['code']}"
        return [{"code": code, "level": "Error", "message": vm.failure["message"]}]
    statuses = [{"code": f"ProvisioningState/{state.lower()}", "level": "Info"}]
    if world.now >= vm.ready_at and vm.failure is None:
        statuses.append({"code": f"PowerState/{vm.power}", "level": "Info", "displayStatus": f"VM {vm.power}"})
    return statuses


def shown_disk(world: World, disk: Thing) -> Json:
    user = world.user_of(disk.path)
    shown = deepcopy(disk.body)
    shown["properties"] |= {"provisioningState": world.state(disk), "diskState": "Attached" if user else "Unattached"}
    return {**shown, **({"managedBy": user.path} if user else {})}


def _check(world: World, path: str, body: Json, old: Thing | None) -> None:
    facts = body.get("properties", {})
    for name in ("hardwareProfile", "storageProfile", "osProfile", "networkProfile"):
        if name not in facts:
            raise Refused(400, "InvalidParameter", f"Required parameter '{name}' is missing (null).")
    if not _NAME.fullmatch(path.rpartition("/")[2]):
        raise Refused(400, "InvalidParameter", "The name of the VM has letters it may not have.")
    if "userData" in facts:
        raise Refused(400, "InvalidParameter", "This fake delivers customData and nothing else.")
    _check_system(facts["osProfile"])
    if old is not None and old.properties["osProfile"] != facts["osProfile"]:
        raise Refused(409, "PropertyChangeNotAllowed", "Changing property 'osProfile' is not allowed.")
    _check_image(world, body)
    _check_cards(world, path, facts["networkProfile"])
    chosen = _check_size(facts)
    if old is None:
        _check_disks(world, facts["storageProfile"], chosen)
        _check_room(world, chosen)


def _check_system(system: Json) -> None:
    if not 1 <= len(system.get("computerName", "")) <= 64:
        raise Refused(400, "InvalidParameter", "Linux host name must have 1 to 64 characters.")
    if system.get("adminUsername", "root") in ("root", "admin", "administrator", "user", "test"):
        raise Refused(400, "InvalidParameter", "The Admin Username specified is not allowed.")
    linux = system.get("linuxConfiguration", {})
    keys = linux.get("ssh", {}).get("publicKeys", [])
    if linux.get("disablePasswordAuthentication") and not keys:
        raise Refused(400, "InvalidParameter", "Authentication using SSH is needed without a password.")
    if not linux.get("disablePasswordAuthentication") and "adminPassword" not in system:
        raise Refused(400, "InvalidParameter", "Required parameter 'adminPassword' is missing (null).")
    user = system["adminUsername"]
    if any(not _KEY.fullmatch(key["keyData"]) or key["path"] != f"/home/{user}/.ssh/authorized_keys" for key in keys):
        raise Refused(400, "InvalidParameter", "The value of parameter linuxConfiguration.ssh.publicKeys is invalid.")
    try:
        data = base64.b64decode(system.get("customData", ""), validate=True)
    except binascii.Error:
        raise Refused(400, "InvalidParameter", "Custom data in OSProfile must be in Base64 encoding.") from None
    if len(data) > _CUSTOM_DATA:
        raise Refused(400, "InvalidParameter", "Custom data in OSProfile is too large.")


def _check_image(world: World, body: Json) -> None:
    image = body["properties"]["storageProfile"].get("imageReference", {})
    if image_exists(world, image):
        wanted = plan_of(urn_of(image)) if "publisher" in image else None
        if wanted != body.get("plan"):
            raise Refused(400, "VMMarketplaceInvalidInput", "Creating a VM from this image requires its Plan.")
        return
    sent = json.dumps(body["properties"]["osProfile"])
    raise Refused(400, "InvalidParameter", f"The image {json.dumps(image)} does not exist; you sent {sent}")


def image_exists(world: World, image: Json) -> bool:
    if "publisher" in image:
        family = urn_of(image).rpartition(":")[0]
        return image["version"] == "latest" or image["version"] in VERSIONS.get(family, ())
    if "communityGalleryImageId" in image:
        return bool(image["communityGalleryImageId"] == COMMUNITY)
    return world.get(image.get("id", "")) is not None


def urn_of(image: Json) -> str:
    return ":".join(image.get(name, "") for name in ("publisher", "offer", "sku", "version"))


def _check_cards(world: World, path: str, network: Json) -> None:
    for one in network["networkInterfaces"]:
        card = world.get(one["id"])
        if card is None:
            raise Refused(400, "InvalidResourceReference", f"Resource {one['id']} referenced by {path} was not found.")
        if world.state(card) != "Succeeded":
            message = f"Cannot proceed because {card.path} is not in Succeeded state."
            raise Refused(409, "ReferencedResourceNotProvisioned", message)
        user = world.user_of(card.path)
        if user is not None and user.path.lower() != path.lower():
            raise Refused(400, "NicInUse", f"Network Interface {card.path} is used by existing resource {user.path}.")


def _check_size(facts: Json) -> Json:
    name = facts["hardwareProfile"].get("vmSize", "")
    chosen = next((one for one in SIZES if one["name"].lower() == name.lower()), None)
    if chosen is None:
        raise Refused(400, "InvalidParameter", f"The value {name} provided for the VM size is not valid.")
    if any(one["type"] == "Location" for one in chosen["restrictions"]):
        raise Refused(409, "SkuNotAvailable", f"The requested size {name} is currently not available in this location.")
    return chosen


def _check_disks(world: World, storage: Json, chosen: Json) -> None:
    able = {one["name"]: one["value"] for one in chosen["capabilities"]}
    for disk in (storage["osDisk"], *storage.get("dataDisks", ())):
        kind = disk.get("managedDisk", {}).get("storageAccountType", "Standard_LRS")
        if kind not in [one["name"] for one in DISK_TYPES]:
            raise Refused(400, "InvalidParameter", f"Storage account type {kind} is invalid.")
        if kind.startswith("Premium") and able["PremiumIO"] != "True":
            raise Refused(400, "InvalidParameter", f"Requested operation cannot be performed because of {kind}.")
        if world.get(f"{DISK_PATH}/{disk['name']}") is not None:
            message = f"Disk {disk['name']} already exists. Only CreateOption.Attach is supported."
            raise Refused(409, "ConflictingUserInput", message)
    if storage["osDisk"]["createOption"] != "FromImage" or storage["osDisk"].get("diskSizeGB", 99) < IMAGE_SIZE:
        raise Refused(400, "OperationNotAllowed", "The size of the OS disk is smaller than that of its image.")


def _check_room(world: World, chosen: Json) -> None:
    used = cores_used(world)
    if used + cores_of(chosen["name"]) > world.cores:
        message = "Operation could not be completed as it results in exceeding approved Total Regional Cores quota."
        raise Refused(409, "OperationNotAllowed", message)


def cores_used(world: World) -> int:
    vms = world.existing("virtualmachines")
    return sum(cores_of(vm.properties["hardwareProfile"]["vmSize"]) for vm in vms)


def cores_of(name: str) -> int:
    chosen = next(one for one in SIZES if one["name"].lower() == name.lower())
    return next(int(one["value"]) for one in chosen["capabilities"] if one["name"] == "vCPUs")
