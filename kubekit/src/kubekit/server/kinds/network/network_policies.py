"""NetworkPolicy."""

from __future__ import annotations

import ipaddress
from typing import Any

from kubekit.errors import FieldError, not_supported
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules
from kubekit.server.objects.problems import (
    Problems,
    bad,
    forbidden,
    refuse_each,
    required,
)

from ..builtin.behaviour import BuiltIn
from ..builtin.label_selectors import check_selector
from ..pods.containers import PROTOCOLS

_POLICY_TYPES = ("Ingress", "Egress")


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


def _rules(spec: Object) -> list[tuple[str, str, Object]]:
    """All rules of a policy: their path, the name of their peers, and themselves."""
    return [
        (f"spec.{direction}[{index}]", peers, rule)
        for direction, peers in (("ingress", "from"), ("egress", "to"))
        for index, rule in enumerate(spec.get(direction) or ())
    ]


KINDS = {
    ("networking.k8s.io", "NetworkPolicy"): BuiltIn(fill=_fill_policy, check=_check_policy, generation=("spec",)),
}
