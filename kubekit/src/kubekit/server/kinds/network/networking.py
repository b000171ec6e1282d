"""Ingress, IngressClass, NetworkPolicy and EndpointSlice."""

from __future__ import annotations

import ipaddress
from typing import Any

from kubekit.errors import FieldError, not_supported
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules
from kubekit.server.objects.problems import (
    Problems,
    bad,
    duplicate,
    forbidden,
    refuse_each,
    required,
    too_long,
    too_many,
    unchanged,
)

from ..builtin.behaviour import BuiltIn
from ..builtin.label_selectors import check_selector
from ..builtin.warnings import remarks_on_ingress
from ..pods.containers import PROTOCOLS, check_app_protocol, check_protocol
from .services import check_reachable

_SCOPES = ("Cluster", "Namespace")
_GROUP = "networking.k8s.io"
_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_BAD_SEQUENCES = ("//", "/./", "/../", "%2f", "%2F")
_BAD_ENDINGS = ("/..", "/.")
_POLICY_TYPES = ("Ingress", "Egress")
_ADDRESS_TYPES = ("FQDN", "IPv4", "IPv6")
_MOST_ENDPOINTS, _MOST_PORTS, _MOST_ADDRESSES = 1000, 20000, 100


def _fill_ingress(obj: Object) -> None:
    spec = obj["spec"]
    if "defaultBackend" in spec and not spec.get("rules"):
        # Nobody asks any more whether they were given.
        spec.pop("rules", None)


def _check_ingress_new(obj: Object) -> list[FieldError]:
    found = _check_ingress(obj)
    annotation = (obj["metadata"].get("annotations") or {}).get("kubernetes.io/ingress.class")
    name = obj["spec"].get("ingressClassName")
    if annotation is not None and name is not None and annotation != name:
        detail = "must match `ingressClassName` when both are specified"
        found.append(bad("annotations.kubernetes.io/ingress.class", annotation, detail))
    return found


def _check_ingress(obj: Object) -> list[FieldError]:
    found: Problems = []
    spec = obj["spec"]
    rules, backend = spec.get("rules"), spec.get("defaultBackend")
    if not rules and backend is None:
        found.append(bad("spec", rules, "either `defaultBackend` or `rules` must be specified"))
    if backend is not None:
        _check_backend(found, backend, "spec.defaultBackend")
    for index, rule in enumerate(rules or ()):
        _check_ingress_rule(found, rule, f"spec.rules[{index}]")
    for index, tls in enumerate(spec.get("tls") or ()):
        for position, host in enumerate(tls.get("hosts") or ()):
            refuse_each(found, f"spec.tls[{index}].hosts[{position}]", host, name_rules.host(host))
        if tls.get("secretName"):
            secret = tls["secretName"]
            refuse_each(found, f"spec.tls[{index}].secretName", secret, name_rules.subdomain(secret))
    if spec.get("ingressClassName") is not None:
        name = spec["ingressClassName"]
        refuse_each(found, "spec.ingressClassName", name, name_rules.subdomain(name))
    return found


def _check_ingress_rule(found: Problems, rule: Object, path: str) -> None:
    host = rule.get("host") or ""
    if host:
        if name_rules.is_ip(host):
            found.append(bad(f"{path}.host", host, "must be a DNS name, not an IP address"))
        refuse_each(found, f"{path}.host", host, name_rules.host(host))
    http = rule.get("http")
    if http is None:
        return
    if not http.get("paths"):
        found.append(required(f"{path}.http.paths"))
    for index, route in enumerate(http.get("paths") or ()):
        _check_route(found, route, f"{path}.http.paths[{index}]")


def _check_route(found: Problems, route: Object, path: str) -> None:
    kind, place = route.get("pathType"), route.get("path") or ""
    if kind is None:
        found.append(required(f"{path}.pathType", "pathType must be specified"))
        return
    if kind in {"Exact", "Prefix"}:
        if not place.startswith("/"):
            found.append(bad(f"{path}.path", place, "must be an absolute path"))
        for part in _BAD_SEQUENCES:
            if part in place:
                found.append(bad(f"{path}.path", place, f"must not contain '{part}'"))
        for part in _BAD_ENDINGS:
            if place.endswith(part):
                found.append(bad(f"{path}.path", place, f"cannot end with '{part}'"))
    elif kind == "ImplementationSpecific":
        if place and not place.startswith("/"):
            found.append(bad(f"{path}.path", place, "must be an absolute path"))
    else:
        found.append(not_supported(f"{path}.pathType", kind, _PATH_TYPES))
    _check_backend(found, route.get("backend") or {}, f"{path}.backend")


def _check_backend(found: Problems, backend: Object, path: str) -> None:
    service, resource = backend.get("service"), backend.get("resource")
    if service is not None and resource is not None:
        found.append(bad(path, "", "cannot set both resource and service backends"))
    elif resource is not None:
        _check_reference(found, resource, f"{path}.resource")
    elif service is not None:
        _check_service_backend(found, service, path)
    else:
        found.append(bad(path, "", "resource or service backend is required"))


def _check_service_backend(found: Problems, service: Object, path: str) -> None:
    name = service.get("name") or ""
    if name:
        refuse_each(found, f"{path}.service.name", name, name_rules.label(name))
    else:
        found.append(required(f"{path}.service.name"))
    port = service.get("port") or {}
    port_name, number = port.get("name") or "", port.get("number") or 0
    if port_name and number:
        found.append(bad(path, "", "cannot set both port name & port number"))
    elif port_name:
        refuse_each(found, f"{path}.service.port.name", port_name, name_rules.port_name(port_name))
    elif number:
        refuse_each(found, f"{path}.service.port.number", number, name_rules.port(number))
    else:
        found.append(required(path, "port name or number is required"))


def _fill_ingress_class(obj: Object) -> None:
    parameters = obj["spec"].get("parameters")
    if parameters is not None and parameters["scope"] is None:
        parameters["scope"] = "Cluster"


def _check_ingress_class(obj: Object) -> list[FieldError]:
    found: Problems = []
    controller = obj["spec"].get("controller") or ""
    if len(controller) > 250:
        found.append(too_long("spec.controller", 250))
    check_prefixed_path(found, controller, "spec.controller")
    if "parameters" in obj["spec"]:
        _check_parameters(found, obj["spec"]["parameters"], "spec.parameters")
    return found


def _check_reference(found: Problems, reference: Object, path: str) -> None:
    """Something of any kind."""
    if reference.get("apiGroup") is not None:
        refuse_each(found, f"{path}.apiGroup", reference["apiGroup"], name_rules.subdomain(reference["apiGroup"]))
    for name in ("kind", "name"):
        value = reference.get(name) or ""
        if not value:
            found.append(required(f"{path}.{name}"))
        refuse_each(found, f"{path}.{name}", value, name_rules.path_segment(value))


def _check_parameters(found: Problems, parameters: Object, path: str) -> None:
    _check_reference(found, parameters, path)
    scope, namespace = parameters["scope"], parameters.get("namespace")
    if scope not in _SCOPES:
        found.append(not_supported(f"{path}.scope", scope, _SCOPES))
    elif scope == "Cluster":
        if namespace is not None:
            found.append(forbidden(f"{path}.namespace", "`parameters.scope` is set to 'Cluster'"))
    elif namespace is None:
        found.append(required(f"{path}.namespace", "`parameters.scope` is set to 'Namespace'"))
    else:
        refuse_each(found, f"{path}.namespace", namespace, name_rules.label(namespace))


def check_prefixed_path(found: Problems, value: str, path: str) -> None:
    """A domain, a slash and a path: `acme.io/foo`."""
    domain, _, rest = value.partition("/")
    if not value:
        found.append(required(path))
    elif not domain or not rest:
        found.append(bad(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")'))
    else:
        refuse_each(found, path, domain, name_rules.subdomain(domain))
        refuse_each(found, path, rest, name_rules.http_path(rest))


def _check_ingress_class_update(obj: Object, old: Object) -> list[FieldError]:
    found: Problems = []
    unchanged(found, "spec.controller", obj["spec"].get("controller"), old["spec"].get("controller"))
    return [*found, *_check_ingress_class(obj)]


def _rules(spec: Object) -> list[tuple[str, str, Object]]:
    """All rules of a policy: their path, the name of their peers, and themselves."""
    return [
        (f"spec.{direction}[{index}]", peers, rule)
        for direction, peers in (("ingress", "from"), ("egress", "to"))
        for index, rule in enumerate(spec.get(direction) or ())
    ]


def _fill_policy(obj: Object) -> None:
    spec = obj["spec"]
    for _, _, rule in _rules(spec):
        for port in rule.get("ports", ()):
            port.setdefault("protocol", "TCP")
    spec.setdefault("policyTypes", ["Ingress", "Egress"] if "egress" in spec else ["Ingress"])


def _check_policy(obj: Object) -> list[FieldError]:
    found: Problems = []
    spec = obj["spec"]
    check_selector(found, spec["podSelector"], "spec.podSelector")
    for path, peers, rule in _rules(spec):
        for index, port in enumerate(rule.get("ports") or ()):
            _check_policy_port(found, port, f"{path}.ports[{index}]")
        for index, peer in enumerate(rule.get(peers) or ()):
            _check_peer(found, peer, f"{path}.{peers}[{index}]")
    types = spec["policyTypes"]
    if len(types) > len(_POLICY_TYPES):
        found.append(bad("spec.policyTypes", types, "may not specify more than two policyTypes"))
        return found
    for index, kind in enumerate(types):
        if kind not in _POLICY_TYPES:
            found.append(not_supported(f"spec.policyTypes[{index}]", kind, _POLICY_TYPES))
    return found


def _check_policy_port(found: Problems, port: Object, path: str) -> None:
    if port["protocol"] not in PROTOCOLS:
        found.append(not_supported(f"{path}.protocol", port["protocol"], ("TCP", "UDP", "SCTP")))
    number, end = port.get("port"), port.get("endPort")
    if number is None:
        if end is not None:
            found.append(bad(f"{path}.endPort", end, "may not be specified when `port` is not specified"))
    elif isinstance(number, str):
        if end is not None:
            found.append(bad(f"{path}.endPort", end, "may not be specified when `port` is non-numeric"))
        refuse_each(found, f"{path}.port", number, name_rules.port_name(number))
    else:
        refuse_each(found, f"{path}.port", number, name_rules.port(number))
        if end is not None:
            if end < number:
                found.append(bad(f"{path}.endPort", number, "must be greater than or equal to `port`"))
            refuse_each(found, f"{path}.endPort", end, name_rules.port(end))


def _check_peer(found: Problems, peer: Object, path: str) -> None:
    given = [name for name in ("podSelector", "namespaceSelector", "ipBlock") if peer.get(name) is not None]
    check_selector(found, peer.get("podSelector"), f"{path}.podSelector")
    check_selector(found, peer.get("namespaceSelector"), f"{path}.namespaceSelector")
    if "ipBlock" in given:
        _check_block(found, peer["ipBlock"], f"{path}.ipBlock")
    if not given:
        found.append(required(path, "must specify a peer"))
    elif len(given) > 1 and "ipBlock" in given:
        found.append(forbidden(path, "may not specify both ipBlock and another peer"))


def _check_block(found: Problems, block: Object, path: str) -> None:
    whole = block.get("cidr") or ""
    if not whole:
        found.append(required(f"{path}.cidr"))
        return
    if broken := name_rules.cidr(whole):
        refuse_each(found, f"{path}.cidr", whole, broken)
        return
    network: Any = ipaddress.ip_network(whole, strict=False)
    for index, part in enumerate(block.get("except") or ()):
        place = f"{path}.except[{index}]"
        if broken := name_rules.cidr(part):
            refuse_each(found, place, part, broken)
            continue
        inner: Any = ipaddress.ip_network(part, strict=False)
        if inner.version != network.version or not inner.subnet_of(network) or inner == network:
            found.append(bad(place, part, "must be a strict subset of `cidr`"))


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
        for index, name in enumerate(hinted):
            place = f"{path}.hints.{part}[{index}].name"
            if name in hinted[:index]:
                found.append(duplicate(place, name))
            refuse_each(found, place, name, rule(name))


def _check_slice_update(obj: Object, old: Object) -> list[FieldError]:
    found = _check_slice(obj)
    unchanged(found, "addressType", obj.get("addressType"), old.get("addressType"))
    return found


def _remarks_on_slice(obj: Object) -> list[str]:
    return ["spec.addressType: FQDN endpoints are deprecated"] if obj.get("addressType") == "FQDN" else []


KINDS = {
    (_GROUP, "Ingress"): BuiltIn(
        fill=_fill_ingress,
        check=_check_ingress_new,
        check_update=lambda obj, _: _check_ingress(obj),
        first_remarks=remarks_on_ingress,
        status=True,
        generation=("spec",),
    ),
    (_GROUP, "IngressClass"): BuiltIn(
        fill=_fill_ingress_class,
        check=_check_ingress_class,
        check_update=_check_ingress_class_update,
        generation=("spec",),
    ),
    (_GROUP, "NetworkPolicy"): BuiltIn(fill=_fill_policy, check=_check_policy, generation=("spec",)),
    ("discovery.k8s.io", "EndpointSlice"): BuiltIn(
        fill=_fill_slice,
        check=_check_slice,
        check_update=_check_slice_update,
        first_remarks=_remarks_on_slice,
        generation=("endpoints", "ports", "addressType", "metadata.labels", "metadata.annotations"),
    ),
}
