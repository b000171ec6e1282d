"""Cluster IPs and node ports for Services, chosen without memory: the caller says which are taken."""

from __future__ import annotations

import ipaddress
import zlib
from collections.abc import Collection
from dataclasses import dataclass

from kubekit.errors import FieldError
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules
from kubekit.server.objects.problems import Problems, bad

from .services import has_cluster_ip, has_node_ports, is_headless, needs_health_port

ALREADY_TAKEN = "provided IP is already allocated"


@dataclass(frozen=True, slots=True)
class Addresses:
    """What Services may be given, and what others already have.

    The same Service gets the same answer as long as nothing else changes, so histories repeat.
    """

    network: str = "10.96.0.0/12"
    taken_ips: Collection[str] = frozenset()
    ports: tuple[int, int] = (30000, 32767)
    taken_ports: Collection[int] = frozenset()
    is_trial: bool = False
    """Nothing is taken after all, as in a dry run, which Kubernetes answers in other words."""


def allocate(obj: Object, addresses: Addresses) -> list[FieldError]:
    """Give a Service the cluster IP and node ports it still needs, in place; problems if what it asks for is taken.

    On an update, `addresses` must not count what the Service itself already has as taken.
    """
    found: Problems = []
    spec = obj["spec"]
    if has_cluster_ip(spec) and not is_headless(spec):
        _check_families(found, spec, addresses)
        if not found:
            _allocate_ip(found, obj, addresses)
    used = set(addresses.taken_ports)
    if has_node_ports(spec):
        for index, port in enumerate(spec.get("ports") or ()):
            _allocate_port(found, port, "nodePort", f"spec.ports[{index}].nodePort", addresses, used)
    if needs_health_port(spec):
        _allocate_port(found, spec, "healthCheckNodePort", "spec.healthCheckNodePort", addresses, used)
    return found


def _check_families(found: Problems, spec: Object, addresses: Addresses) -> None:
    """A network has one family of addresses, and so have its Services."""
    family = "IPv6" if ":" in addresses.network else "IPv4"
    for index, one in enumerate(spec.get("ipFamilies") or ()):
        if one != family and one in ("IPv4", "IPv6"):
            found.append(bad(f"spec.ipFamilies[{index}]", one, "not configured on this cluster"))
    if spec.get("ipFamilyPolicy") == "RequireDualStack":
        detail = "this cluster is not configured for dual-stack services"
        found.append(bad("spec.ipFamilyPolicy", "RequireDualStack", detail))


def _allocate_ip(found: Problems, obj: Object, addresses: Addresses) -> None:
    spec = obj["spec"]
    wanted = spec.get("clusterIP") or ""
    if (wanted and name_rules.ip(wanted)) or (not wanted and spec.get("clusterIPs")):
        # Refused when the object is validated.
        return
    if wanted:
        problem = _ip_problem(wanted, addresses)
        if problem:
            listed = spec.get("clusterIPs") or [wanted]
            found.append(bad("spec.clusterIPs", listed, f"failed to allocate IP {wanted}: {problem}"))
        return
    chosen = _free_ip(_seed(obj), addresses)
    if chosen is None:
        found.append(bad("spec.clusterIPs", None, "failed to allocate a cluster IP: range is full"))
        return
    spec["clusterIP"], spec["clusterIPs"] = chosen, [chosen]


def _ip_problem(wanted: str, addresses: Addresses) -> str:
    network = ipaddress.ip_network(addresses.network)
    if ipaddress.ip_address(wanted) not in network:
        if not addresses.is_trial:
            return "the provided network does not match the current range"
        where = f"The range of valid IPs is {addresses.network}"
        return f"the provided IP ({wanted}) is not in the valid range. {where}"
    return ALREADY_TAKEN if wanted in addresses.taken_ips else ""


def _free_ip(seed: int, addresses: Addresses) -> str | None:
    network = ipaddress.ip_network(addresses.network)
    # The first address belongs to the API server's own Service, the outermost ones to the network.
    first, count = int(network.network_address) + 2, max(network.num_addresses - 3, 0)
    for step in range(count):
        candidate = str(ipaddress.ip_address(first + (seed + step) % count))
        if candidate not in addresses.taken_ips:
            return candidate
    return None


def _allocate_port(found: Problems, holder: Object, name: str, path: str, addresses: Addresses, used: set[int]) -> None:
    wanted = holder.get(name) or 0
    low, high = addresses.ports
    if wanted and not low <= wanted <= high and not addresses.is_trial:
        detail = f"provided port is not in the valid range. The range of valid ports is {low}-{high}"
        found.append(bad(path, wanted, detail))
        return
    if wanted and wanted in addresses.taken_ports:
        found.append(bad(path, wanted, "provided port is already allocated"))
        return
    chosen = wanted or _free_port(len(used), addresses, used)
    if chosen is None:
        found.append(bad(path, 0, "failed to allocate a nodePort: range is full"))
        return
    holder[name] = chosen
    used.add(chosen)


def _free_port(seed: int, addresses: Addresses, used: set[int]) -> int | None:
    low, high = addresses.ports
    count = high - low + 1
    candidates = (low + (seed + step) % count for step in range(count))
    return next((port for port in candidates if port not in used), None)


def _seed(obj: Object) -> int:
    return zlib.crc32(str(obj["metadata"].get("uid", "")).encode())
