"""The parts of load balancers."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from tests.providers.gcp.discovery import Method
from tests.providers.gcp.fake_answers import Json, Refused, invalid, listed, not_found, page_of
from tests.providers.gcp.fake_project import Thing, link

if TYPE_CHECKING:
    from tests.providers.gcp.fake import Google

TAKES = 3.0
"""Seconds until a part is there, or gone."""


def _inserted(google: Google, method: Method, query: Json, body: Json) -> Json:
    path = f"{google.path_of(method)}/{body['name']}"
    if (known := google.things.get(path)) and google.now < known.gone_at:
        raise Refused(409, "alreadyExists", f"The resource '{path}' already exists")
    google.add(path, body, google.now + TAKES)
    return google.operate("insert", path, TAKES, query.get("requestId", ""))


def insert_address(google: Google, method: Method, query: Json, body: Any) -> Json:
    number = google.number()
    if body["addressType"] == "INTERNAL":
        google.seen(body["subnetwork"])
    network = "10.128.15" if body["addressType"] == "INTERNAL" else "35.200.1"
    return _inserted(google, method, query, {**body, "address": f"{network}.{number % 250 + 2}", "status": "RESERVED"})


def insert_health_check(google: Google, method: Method, query: Json, body: Any) -> Json:
    if body.get("type") != "TCP" or "port" not in body.get("tcpHealthCheck", {}):
        raise invalid("Invalid value for field 'resource.tcpHealthCheck': ''. A port is needed.")
    return _inserted(google, method, query, body)


def insert_group(google: Google, method: Method, query: Json, body: Any) -> Json:
    return _inserted(google, method, query, {**body, "size": 0})


def insert_service(google: Google, method: Method, query: Json, body: Any) -> Json:
    for check in body.get("healthChecks") or (""):
        google.seen(check)
    for backend in body.get("backends", ()):
        google.seen(backend["group"])
    return _inserted(google, method, query, {**body, "fingerprint": _fingerprint(body)})


def patch_service(google: Google, method: Method, query: Json, body: Any) -> Json:
    service = google.seen(google.path_of(method))
    if body.get("fingerprint") != service.body["fingerprint"]:
        raise Refused(412, "conditionNotMet", "Supplied fingerprint does not match current resource's fingerprint.")
    for backend in body.get("backends", ()):
        google.seen(backend["group"])
    backends = [{**one, "group": link(one["group"])} for one in body.get("backends", ())]
    service.body = {**service.body, **body, "backends": backends}
    service.body["fingerprint"] = _fingerprint(service.body)
    return google.operate("patch", service.path, TAKES)


def patch_health_check(google: Google, method: Method, query: Json, body: Any) -> Json:
    check = google.seen(google.path_of(method))
    check.body = {**check.body, **body}
    return google.operate("patch", check.path, TAKES)


def insert_rule(google: Google, method: Method, query: Json, body: Any) -> Json:
    service = google.seen(body["backendService"])
    if service.body["loadBalancingScheme"] != body.get("loadBalancingScheme"):
        raise invalid("Invalid value for field 'resource.loadBalancingScheme'. It is not that of the backend service.")
    addresses = [one for one in google.existing("addresses") if one.body["address"] == body["IPAddress"]]
    if not addresses:
        raise not_found(body["IPAddress"])
    return _inserted(google, method, query, {**body, "backendService": link(service.path)})


def list_instances(google: Google, method: Method, query: Json, body: Any) -> Json:
    group = google.seen(google.path_of(method).removesuffix("/listInstances"))
    members = [{"instance": link(one), "status": "RUNNING"} for one in _members(google, group)]
    return listed("instanceGroupsListInstances", *page_of(members, query, google.page))


def add_instances(google: Google, method: Method, query: Json, body: Any) -> Json:
    group = google.seen(google.path_of(method).removesuffix("/addInstances"))
    paths = [google.seen(_path(one["instance"])).path for one in body["instances"]]
    if known := [one for one in paths if one in _members(google, group)]:
        raise invalid(f"Instance '{known[0]}' is already a member of '{group.path}'.")
    group.members = [*_members(google, group), *paths]
    return google.operate("compute.instanceGroups.addInstances", group.path, TAKES)


def remove_instances(google: Google, method: Method, query: Json, body: Any) -> Json:
    group = google.seen(google.path_of(method).removesuffix("/removeInstances"))
    paths = [_path(one["instance"]) for one in body["instances"]]
    if strange := [one for one in paths if one not in _members(google, group)]:
        raise invalid(f"Instance '{strange[0]}' is not a member of '{group.path}'.")
    group.members = [one for one in _members(google, group) if one not in paths]
    return google.operate("compute.instanceGroups.removeInstances", group.path, TAKES)


def _members(google: Google, group: Thing) -> list[str]:
    """An instance that is deleted leaves its groups."""
    there = {one.path for one in google.existing("instances")}
    return [one for one in group.members if one in there]


def _path(link_or_path: str) -> str:
    return link_or_path.partition("/compute/v1/")[2] or link_or_path


def _fingerprint(body: Json) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:11] + "="


HANDLERS = {
    "compute.addresses.insert": insert_address,
    "compute.regionHealthChecks.insert": insert_health_check,
    "compute.regionHealthChecks.patch": patch_health_check,
    "compute.regionBackendServices.insert": insert_service,
    "compute.regionBackendServices.patch": patch_service,
    "compute.forwardingRules.insert": insert_rule,
    "compute.instanceGroups.insert": insert_group,
    "compute.instanceGroups.addInstances": add_instances,
    "compute.instanceGroups.removeInstances": remove_instances,
    "compute.instanceGroups.listInstances": list_instances,
}
