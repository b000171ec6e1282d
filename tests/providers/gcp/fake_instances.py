"""Instances and their disks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.providers.gcp.discovery import Method
from tests.providers.gcp.fake_answers import Json, Refused, invalid, not_found
from tests.providers.gcp.fake_project import PENDING, Done, Thing, link

if TYPE_CHECKING:
    from tests.providers.gcp.fake import Google

BOOT, REMOVAL, POWER = 8.0, 8.0, 4.0
_LABEL_KEY, _LABEL_VALUE = re.compile(r"[a-z][a-z0-9_-]{0,62}"), re.compile(r"[a-z0-9_-]{0,63}")


def insert(google: Google, method: Method, query: Json, body: Any) -> Json:
    path = f"{google.path_of(method)}/{body['name']}"
    if (known := google.things.get(path)) and google.now < known.gone_at:
        raise Refused(409, "alreadyExists", f"The resource '{path}' already exists")
    project, zone = path.split("/")[1], path.split("/")[3]
    machine_type = _found(google, body, "machineType", project)
    _check_metadata(body)
    _check_labels("resource.labels", body.get("labels", {}))
    _check_quota(google, machine_type.body["guestCpus"], zone)
    interfaces: list[Json] = body.get("networkInterfaces") or [{}]
    networks = [_interface(google, one, zone) for one in interfaces]
    disks = [_disk(google, one, project, zone, body["name"]) for one in body.get("disks", ())]
    if not disks or not disks[0][1].get("boot"):
        raise invalid("Invalid value for field 'resource.disks': ''. At least one boot disk is required.")
    attached = [{**given, "source": link(disk.path)} for disk, given in disks]
    instance = google.add(
        path,
        {
            **body,
            "machineType": link(machine_type.path),
            "networkInterfaces": networks,
            "disks": attached,
            "fingerprint": "aW5z",
            "labelFingerprint": "bGFi",
        },
        google.now + PENDING,
    )
    failure = _failure(google, path)
    ends = google.now + (POWER if failure else BOOT)
    instance.phases = [(google.now, "PROVISIONING"), (google.now + 3, "STAGING"), (ends, "RUNNING")]
    for disk, _ in disks:
        disk.body["users"] = [link(path)]
        google.things[disk.path] = disk
    if failure:
        # It shows for a moment, and is gone again.
        for thing in (instance, *(disk for disk, _ in disks)):
            thing.gone_at = ends
    return google.operate("insert", path, ends - google.now, query.get("requestId", ""), failure)


def delete(google: Google, instance: Thing) -> float:
    instance.phases.append((google.now, "STOPPING"))
    for disk in disks_of(google, instance):
        disk.gone_at = google.now + REMOVAL
    return REMOVAL


def disks_of(google: Google, instance: Thing) -> list[Thing]:
    sources = {one["source"] for one in instance.body["disks"] if one.get("autoDelete")}
    return [one for one in google.existing("disks") if link(one.path) in sources]


def stop(google: Google, method: Method, query: Json, body: Any) -> Json:
    instance = google.seen(google.path_of(method).removesuffix("/stop"))
    instance.phases += [(google.now, "STOPPING"), (google.now + POWER, "TERMINATED")]
    return google.operate("stop", instance.path, POWER, query.get("requestId", ""))


def start(google: Google, method: Method, query: Json, body: Any) -> Json:
    instance = google.seen(google.path_of(method).removesuffix("/start"))
    instance.phases += [(google.now, "STAGING"), (google.now + POWER, "RUNNING")]
    return google.operate("start", instance.path, POWER, query.get("requestId", ""))


def from_family(google: Google, method: Method, query: Json, body: Any) -> Json:
    path = f"projects/{method.arguments['project']}/global/images/family/{method.arguments['family']}"
    return _image(google, path).shown(google.now)


def wait(google: Google, method: Method, query: Json, body: Any) -> Json:
    """Comes back when the operation is done, or after two minutes."""
    operation = operation_at(google, google.path_of(method).removesuffix("/wait"))
    google.clock.pass_by(max(operation.made_at + operation.takes - google.now, 0))
    return operation.shown(google.now)


def get_operation(google: Google, method: Method, query: Json, body: Any) -> Json:
    return operation_at(google, google.path_of(method)).shown(google.now)


def operation_at(google: Google, path: str) -> Done:
    if path not in google.operations:
        raise not_found(path)
    return google.operations[path]


def _disk(google: Google, given: Json, project: str, zone: str, instance: str) -> tuple[Thing, Json]:
    wanted = given.get("initializeParams")
    if wanted is None:
        raise invalid("Invalid value for field 'resource.disks[0].source': ''. A source or initializeParams is needed.")
    _check_labels("resource.disks[0].initializeParams.labels", wanted.get("labels", {}))
    _found(google, wanted, "diskType", project)
    size = int(wanted.get("diskSizeGb", 10))
    if "sourceImage" in wanted:
        image = _image(google, wanted["sourceImage"])
        if size < int(image.body["diskSizeGb"]):
            message = f"Requested disk size cannot be smaller than the image size ({image.body['diskSizeGb']} GB)"
            raise invalid(
                f"Invalid value for field 'resource.disks[0].initializeParams.diskSizeGb': '{size}'. {message}"
            )
    path = f"projects/{project}/zones/{zone}/disks/{wanted.get('diskName', instance)}"
    if (known := google.things.get(path)) and google.now < known.gone_at:
        return known, given
    body = {"sizeGb": str(size), "labels": wanted.get("labels", {}), "sourceImage": wanted.get("sourceImage", "")}
    return Thing(path, {**body, "id": str(google.number())}, google.now + PENDING), given


def _image(google: Google, path: str) -> Thing:
    found = re.fullmatch(r"projects/([^/]+)/global/images/(family/)?([a-z0-9-]+)", path)
    if found is None:
        raise invalid(f"Invalid value for field 'sourceImage': '{path}'. The URL is malformed.")
    images = [one for one in google.existing("images") if one.path.startswith(f"projects/{found[1]}/")]
    fitting = [one for one in images if (one.body.get("family") if found[2] else one.name) == found[3]]
    if not fitting:
        raise not_found(path)
    return fitting[-1]


def _interface(google: Google, given: Json, zone: str) -> Json:
    region = zone.rpartition("-")[0]
    network = google.seen(given["network"]) if "network" in given else None
    if "subnetwork" in given:
        subnetwork = google.seen(given["subnetwork"])
        if subnetwork.path.split("/")[3] != region:
            raise invalid(f"Invalid value for field 'subnetwork': '{subnetwork.path}'. It is not in region {region}")
    elif network is None or not network.body["autoCreateSubnetworks"]:
        raise invalid("Invalid value for field 'resource.networkInterfaces[0]': ''. Subnetwork should be specified.")
    number = google.number()
    shown = {**given, "name": "nic0", "networkIP": f"10.128.{number // 250}.{number % 250 + 2}"}
    if given.get("accessConfigs"):
        natted = {"natIP": f"34.122.{number // 250}.{number % 250 + 2}"}
        shown["accessConfigs"] = [{**one, **natted} for one in given["accessConfigs"]]
    return shown


def _found(google: Google, given: Json, name: str, project: str) -> Thing:
    value = given[name]
    path = value if value.startswith("projects/") else f"projects/{project}/{value}"
    if path not in google.things:
        raise invalid(f"Invalid value for field 'resource.{name}': '{value}'. There is no such {name}.")
    return google.things[path]


def _check_metadata(body: Json) -> None:
    for item in body.get("metadata", {}).get("items", ()):
        size = len(item["value"].encode())
        if size > 262144:
            message = f"is too large: maximum size 262144 character(s); actual size {size}."
            raise invalid(f"Value for field 'resource.metadata.items[0].value' {message}")


def _check_labels(path: str, labels: Json) -> None:
    for key, value in labels.items():
        if not _LABEL_KEY.fullmatch(key) or not _LABEL_VALUE.fullmatch(value):
            raise invalid(f"Invalid value for field '{path}': '{key}={value}'. Label is invalid.")


def _check_quota(google: Google, cpus: int, zone: str) -> None:
    region = google.things[f"projects/butler-test/regions/{zone.rpartition('-')[0]}"]
    quota = next(one for one in region.body["quotas"] if one["metric"] == "CPUS")
    kinds = [google.things[one.body["machineType"].partition("/v1/")[2]] for one in google.existing("instances")]
    if sum(one.body["guestCpus"] for one in kinds) + cpus > quota["limit"]:
        message = f"Quota 'CPUS' exceeded.  Limit: {quota['limit']} in region {region.name}."
        raise Refused(403, "quotaExceeded", message)


def _failure(google: Google, path: str) -> tuple[str, str, int] | None:
    if google.failing:
        return google.failing
    zone = "/".join(path.split("/")[:4])
    if zone.rpartition("/")[2] not in google.exhausted:
        return None
    message = f"The zone '{zone}' does not have enough resources available to fulfill the request."
    return "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS", message, 503


HANDLERS = {
    "compute.instances.insert": insert,
    "compute.instances.stop": stop,
    "compute.instances.start": start,
    "compute.images.getFromFamily": from_family,
    "compute.zoneOperations.get": get_operation,
    "compute.zoneOperations.wait": wait,
    "compute.regionOperations.get": get_operation,
    "compute.regionOperations.wait": wait,
    "compute.globalOperations.get": get_operation,
}
