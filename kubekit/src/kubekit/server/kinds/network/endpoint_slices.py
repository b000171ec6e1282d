"""EndpointSlice."""

from __future__ import annotations

from typing import Any

from kubekit.errors import FieldError, not_supported
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules
from kubekit.server.objects.problems import (
    Problems,
    bad,
    duplicate,
    first_places,
    refuse_each,
    required,
    too_many,
    unchanged,
)

from ..builtin.behaviour import BuiltIn
from ..pods.containers import check_app_protocol, check_protocol
from .services import check_reachable

_ADDRESS_TYPES = ("FQDN", "IPv4", "IPv6")
_MOST_ENDPOINTS, _MOST_PORTS, _MOST_ADDRESSES = 1000, 20000, 100


def _fill_slice(obj: Object) -> None:
    for port in obj["ports"] or ():
        port.setdefault("name", "")
        port.setdefault("protocol", "TCP")


def _check_slice(obj: Object) -> list[FieldError]:
    found: Problems = []
    kind = obj.get("addressType") or ""
    if not kind:
        found.append(required("addressType"))
    elif kind not in _ADDRESS_TYPES:
        found.append(not_supported("addressType", kind, _ADDRESS_TYPES))
    _check_slice_ports(found, obj["ports"] or ())
    endpoints = obj["endpoints"] or ()
    if len(endpoints) > _MOST_ENDPOINTS:
        found.append(too_many("endpoints", len(endpoints), _MOST_ENDPOINTS))
        return found
    for index, endpoint in enumerate(endpoints):
        _check_endpoint(found, endpoint, f"endpoints[{index}]", kind)
    return found


def _check_slice_ports(found: Problems, ports: Any) -> None:
    if len(ports) > _MOST_PORTS:
        found.append(too_many("ports", len(ports), _MOST_PORTS))
        return
    names: set[str] = set()
    for index, port in enumerate(ports):
        path, name = f"ports[{index}]", port["name"]
        if name:
            refuse_each(found, f"{path}.name", name, name_rules.label(name))
        if name in names:
            found.append(duplicate(f"{path}.name", name))
        names.add(name)
        check_protocol(found, port, path)
        check_app_protocol(found, port, path)


def _check_slice_address(found: Problems, address: str, path: str, index: int, kind: str) -> None:
    if kind == "IPv6" and (broken := name_rules.usual_ip(address)):
        refuse_each(found, f"{path}[{index}]", address, broken)
        return
    if not name_rules.ip(address) and (":" in address) != (kind == "IPv6"):
        found.append(bad(path, address, f"must be an {kind} address"))
    check_reachable(found, address, f"{path}[{index}]")


def _check_domain(found: Problems, address: str, path: str) -> None:
    name = address.removesuffix(".")
    if not address:
        found.append(required(path))
    elif broken := name_rules.subdomain(name):
        found.append(bad(path, name, ",".join(broken)))
    elif "." not in name:
        found.append(bad(path, name, "should be a domain with at least two segments separated by dots"))


def _check_endpoint(found: Problems, endpoint: Object, path: str, kind: str) -> None:
    addresses = endpoint.get("addresses") or ()
    place = f"{path}.addresses"
    if not addresses:
        found.append(required(place, "must contain at least 1 address"))
    elif len(addresses) > _MOST_ADDRESSES:
        found.append(too_many(place, len(addresses), _MOST_ADDRESSES))
    for index, address in enumerate(addresses):
        if kind == "FQDN":
            _check_domain(found, address, f"{place}[{index}]")
        elif kind in {"IPv4", "IPv6"}:
            _check_slice_address(found, address, place, index, kind)
    if endpoint.get("hostname") is not None:
        refuse_each(found, f"{path}.hostname", endpoint["hostname"], name_rules.label(endpoint["hostname"]))
    if endpoint.get("nodeName") is not None:
        refuse_each(found, f"{path}.nodeName", endpoint["nodeName"], name_rules.subdomain(endpoint["nodeName"]))
    for part, rule in (("forZones", name_rules.label_value), ("forNodes", name_rules.subdomain)):
        hinted = [one.get("name") or "" for one in (endpoint.get("hints") or {}).get(part) or ()]
        first = first_places(hinted)
        for index, name in enumerate(hinted):
            place = f"{path}.hints.{part}[{index}].name"
            if first[name] < index:
                found.append(duplicate(place, name))
            refuse_each(found, place, name, rule(name))


def _check_slice_update(obj: Object, old: Object) -> list[FieldError]:
    found = _check_slice(obj)
    unchanged(found, "addressType", obj.get("addressType"), old.get("addressType"))
    return found


def _remarks_on_slice(obj: Object) -> list[str]:
    return ["spec.addressType: FQDN endpoints are deprecated"] if obj.get("addressType") == "FQDN" else []


KINDS = {
    ("discovery.k8s.io", "EndpointSlice"): BuiltIn(
        fill=_fill_slice,
        check=_check_slice,
        check_update=_check_slice_update,
        first_remarks=_remarks_on_slice,
        generation=("endpoints", "ports", "addressType", "metadata.labels", "metadata.annotations"),
    ),
}
