"""ServiceCIDRs and the IPAddresses in them."""

from __future__ import annotations

import ipaddress

from kubekit.errors import FieldError
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules
from kubekit.server.objects.problems import IMMUTABLE, Problems, bad, refuse_each, required, unchanged

from ..builtin.behaviour import BuiltIn

_GROUP = "networking.k8s.io"
_ONE_OF_EACH = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"


def _check_address(obj: Object) -> list[FieldError]:
    """An IPAddress: the name is the address, and something has it."""
    found: Problems = []
    parent, path = obj["spec"].get("parentRef"), "spec.parentRef"
    if parent is None:
        return [required(path)]
    if parent.get("group"):
        refuse_each(found, f"{path}.group", parent["group"], name_rules.subdomain(parent["group"]))
    for name in ("resource", "name"):
        if not parent.get(name):
            found.append(required(f"{path}.{name}"))
    for name in ("resource", "name", "namespace"):
        if parent.get(name):
            refuse_each(found, f"{path}.{name}", parent[name], name_rules.path_segment(parent[name]))
    return found


def _check_address_update(obj: Object, old: Object) -> list[FieldError]:
    found = _check_address(obj)
    unchanged(found, "spec.parentRef", obj["spec"].get("parentRef"), old["spec"].get("parentRef"))
    return found


def _check_network(obj: Object) -> list[FieldError]:
    """A ServiceCIDR: one network, or one of each family."""
    found: Problems = []
    networks, path = obj["spec"].get("cidrs") or [], "spec.cidrs"
    if not networks:
        return [required(path, "at least one CIDR required")]
    if len(networks) > 2:
        return [bad(path, {"CIDRs": networks}, "may only hold up to 2 values")]
    for index, network in enumerate(networks):
        refuse_each(found, f"{path}[{index}]", network, name_rules.usual_cidr(network))
    families = [ipaddress.ip_network(one, strict=False).version for one in networks if not name_rules.cidr(one)]
    if len(families) == 2 and families[0] == families[1]:
        found.append(bad(path, networks, _ONE_OF_EACH))
    return found


def _check_network_update(obj: Object, old: Object) -> list[FieldError]:
    """A second family may join; nothing else changes."""
    found: Problems = []
    new, before = obj["spec"].get("cidrs") or [], old["spec"].get("cidrs") or []
    if len(new) != len(before) and (len(before), len(new)) != (1, 2):
        return [bad("spec.cidrs", new or None, IMMUTABLE)]
    for index, (one, other) in enumerate(zip(new, before, strict=False)):
        unchanged(found, f"spec.cidrs[{index}]", one, other)
    return found if len(new) == len(before) else [*found, *_check_network(obj)]


KINDS = {
    (_GROUP, "IPAddress"): BuiltIn(check=_check_address, check_update=_check_address_update, name_rule="ip"),
    (_GROUP, "ServiceCIDR"): BuiltIn(check=_check_network, check_update=_check_network_update, status=True),
}
