"""Services: ports, types, and what they keep from one version to the next."""

from __future__ import annotations

import ipaddress
from typing import Any

from kubekit.errors import FieldError, not_supported
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules
from kubekit.server.objects.problems import Problems, bad, duplicate, forbidden, refuse_each, required

from ..builtin import label_selectors
from ..builtin.behaviour import BuiltIn
from ..builtin.warnings import remarks_on_service
from ..pods.containers import check_port_or_name, check_protocol

_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_EXTERNAL_POLICIES = _INTERNAL_POLICIES = ("Cluster", "Local")
_DISTRIBUTIONS = ("PreferClose", "PreferSameZone", "PreferSameNode")
_AFFINITIES = ("ClientIP", "None")
_FAMILIES = ("IPv4", "IPv6")
_FAMILY_POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
_ONLY_BALANCED = "may only be used when `type` is 'LoadBalancer'"
_ONE_DAY = 86400
AFFINITY_SECONDS = 10800


def has_cluster_ip(spec: Object) -> bool:
    return spec.get("type") in {"ClusterIP", "NodePort", "LoadBalancer"}


def has_node_ports(spec: Object) -> bool:
    kind = spec.get("type")
    return kind == "NodePort" or (kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is not False)


def needs_health_port(spec: Object) -> bool:
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def is_headless(spec: Object) -> bool:
    return spec.get("clusterIPs") == ["None"]


def _is_external(spec: Object) -> bool:
    kind = spec.get("type")
    return kind in {"LoadBalancer", "NodePort"} or (kind == "ClusterIP" and bool(spec.get("externalIPs")))


def _fill_service(obj: Object) -> None:
    spec = obj["spec"]
    _fill_affinity(spec)
    balanced = spec.setdefault("type", "ClusterIP") == "LoadBalancer"
    for port in spec.get("ports", ()):
        port.setdefault("protocol", "TCP")
        if not port["targetPort"]:
            port["targetPort"] = port["port"]
    if _is_external(spec):
        spec.setdefault("externalTrafficPolicy", "Cluster")
    if has_cluster_ip(spec):
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if balanced:
        spec.setdefault("allocateLoadBalancerNodePorts", True)
        for ingress in obj["status"]["loadBalancer"].get("ingress", ()):
            if ingress.get("ip"):
                ingress.setdefault("ipMode", "VIP")


def _fill_affinity(spec: Object) -> None:
    affinity = spec.setdefault("sessionAffinity", "None")
    if affinity == "None":
        spec.pop("sessionAffinityConfig", None)
    elif affinity == "ClientIP":
        seconds = ((spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}).get("timeoutSeconds")
        if seconds is None:
            spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": AFFINITY_SECONDS}}


def _begin_service(obj: Object) -> None:
    _pair_cluster_ips(obj["spec"])
    _fill_families(obj["spec"])


def _pair_cluster_ips(spec: Object) -> None:
    """`clusterIP` is the first of `clusterIPs`."""
    if spec.get("clusterIP") and not spec.get("clusterIPs"):
        spec["clusterIPs"] = [spec["clusterIP"]]


def _fill_families(spec: Object) -> None:
    if not has_cluster_ip(spec):
        return
    everywhere = is_headless(spec) and not spec.get("selector")
    if not spec.get("ipFamilyPolicy"):
        several = len(spec.get("ipFamilies") or ()) > 1 or len(spec.get("clusterIPs") or ()) > 1
        spec["ipFamilyPolicy"] = "RequireDualStack" if everywhere or several else "SingleStack"
    if not spec.get("ipFamilies"):
        first = (spec.get("clusterIPs") or [""])[0]
        family = "IPv6" if ":" in first else "IPv4"
        spec["ipFamilies"] = ["IPv4", "IPv6"] if everywhere else [family]


def _carry_service(obj: Object, old: Object) -> None:
    spec, before = obj["spec"], old["spec"]
    _keep_allocations(spec, before)
    _drop_what_the_type_forbids(spec, before)
    _pair_changed_ips(spec, before)
    if has_cluster_ip(spec) and has_cluster_ip(before):
        for name in ("ipFamilies", "ipFamilyPolicy"):
            spec[name] = spec.get(name) or before.get(name)
    _begin_service(obj)


def _keep_allocations(spec: Object, before: Object) -> None:
    if has_cluster_ip(spec) and has_cluster_ip(before):
        spec["clusterIP"] = spec.get("clusterIP") or before.get("clusterIP", "")
        if not spec.get("clusterIPs") and spec["clusterIP"] == before.get("clusterIP"):
            spec["clusterIPs"] = before.get("clusterIPs")
    if has_node_ports(spec) and has_node_ports(before):
        _keep_node_ports(spec, before)
    if needs_health_port(spec) and needs_health_port(before):
        spec["healthCheckNodePort"] = spec.get("healthCheckNodePort") or before.get("healthCheckNodePort", 0)


def _keep_node_ports(spec: Object, before: Object) -> None:
    given = {port.get("nodePort") for port in spec.get("ports") or ()}
    known = {port.get("name", ""): port.get("nodePort") for port in before.get("ports") or ()}
    for port in spec.get("ports") or ():
        number = known.get(port.get("name", ""))
        if not port.get("nodePort") and number and number not in given:
            port["nodePort"] = number
            given.add(number)


def _drop_what_the_type_forbids(spec: Object, before: Object) -> None:
    """A change of type takes along what only the old type has, unless the client changed that too."""
    if has_cluster_ip(before) and not has_cluster_ip(spec):
        for name in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"):
            _drop_if_same(spec, before, name)
    if has_node_ports(before) and not has_node_ports(spec):
        old_ports = [port.get("nodePort") for port in before.get("ports") or ()]
        for port in spec.get("ports") or ():
            if port.get("nodePort") in old_ports:
                port.pop("nodePort", None)
    if needs_health_port(before) and not needs_health_port(spec):
        _drop_if_same(spec, before, "healthCheckNodePort")
    if before.get("type") == "LoadBalancer" and spec.get("type") != "LoadBalancer":
        _drop_if_same(spec, before, "allocateLoadBalancerNodePorts")
        _drop_if_same(spec, before, "loadBalancerClass")
    if _is_external(before) and not _is_external(spec):
        _drop_if_same(spec, before, "externalTrafficPolicy")


def _drop_if_same(spec: Object, before: Object, name: str) -> None:
    if name in spec and spec[name] == before.get(name):
        del spec[name]


def _pair_changed_ips(spec: Object, before: Object) -> None:
    new, old = spec.get("clusterIP"), before.get("clusterIP")
    if new != old and spec.get("clusterIPs") == before.get("clusterIPs") and spec.get("clusterIPs"):
        spec["clusterIPs"] = [new] if new else None


def _check_service(obj: Object) -> list[FieldError]:
    found: Problems = []
    spec = obj["spec"]
    if spec["type"] != "ExternalName":
        _check_cluster_ips(found, spec)
    if found:
        # Addresses are given out before anything else is looked at.
        return found
    ports = spec.get("ports") or ()
    if not ports and not is_headless(spec) and spec["type"] != "ExternalName":
        found.append(required("spec.ports"))
    _check_type(found, spec)
    names: set[str] = set()
    for index, port in enumerate(ports):
        _check_port(found, port, f"spec.ports[{index}]", names, needs_name=len(ports) > 1)
    label_selectors.check_labels(found, spec.get("selector"), "spec.selector")
    _check_affinity(found, spec)
    for index, address in enumerate(spec.get("externalIPs") or ()):
        check_reachable(found, address, f"spec.externalIPs[{index}]")
    if spec["type"] not in _TYPES:
        found.append(not_supported("spec.type", spec["type"], _TYPES))
    _check_port_numbers(found, spec, ports)
    _check_balancer(found, spec)
    _check_policies(found, spec)
    return found


def _check_type(found: Problems, spec: Object) -> None:
    kind = spec["type"]
    if kind in {"LoadBalancer", "NodePort"} and is_headless(spec):
        found.append(bad("spec.clusterIPs[0]", "None", f"may not be set to 'None' for {kind} services"))
    if kind != "ExternalName":
        return
    for name in ("clusterIPs", "ipFamilies", "ipFamilyPolicy"):
        if spec.get(name):
            found.append(forbidden(f"spec.{name}", "may not be set for ExternalName services"))
    target = (spec.get("externalName") or "").removesuffix(".")
    if target:
        refuse_each(found, "spec.externalName", target, name_rules.subdomain(target))
    else:
        found.append(required("spec.externalName"))


def _check_port(found: Problems, port: Object, path: str, names: set[str], *, needs_name: bool) -> None:
    name = port.get("name") or ""
    if name:
        refuse_each(found, f"{path}.name", name, name_rules.label(name))
        if name in names:
            found.append(duplicate(f"{path}.name", name))
        names.add(name)
    elif needs_name:
        found.append(required(f"{path}.name"))
    number = port.get("port") or 0
    refuse_each(found, f"{path}.port", number, name_rules.port(number))
    check_protocol(found, port, path)
    check_port_or_name(found, port["targetPort"], f"{path}.targetPort")
    if port.get("appProtocol"):
        refuse_each(found, f"{path}.appProtocol", port["appProtocol"], name_rules.qualified_name(port["appProtocol"]))


def _check_affinity(found: Problems, spec: Object) -> None:
    affinity = spec["sessionAffinity"]
    if affinity not in _AFFINITIES:
        found.append(not_supported("spec.sessionAffinity", affinity, _AFFINITIES))
    if affinity == "ClientIP":
        seconds = spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"]
        if not 0 < seconds <= _ONE_DAY:
            place = "spec.sessionAffinityConfig.clientIP.timeoutSeconds"
            found.append(bad(place, seconds, f"must be greater than 0 and less than {_ONE_DAY}"))


def _check_cluster_ips(found: Problems, spec: Object) -> None:
    first, listed = spec.get("clusterIP") or "", spec.get("clusterIPs") or []
    if first and listed[:1] != [first]:
        found.append(bad("spec.clusterIPs", listed, "first value must match `clusterIP`"))
    elif listed and not first:
        found.append(bad("spec.clusterIPs", listed, "must be empty when `clusterIP` is not specified"))
    seen: set[str] = set()
    for index, family in enumerate(spec.get("ipFamilies") or ()):
        if family not in _FAMILIES:
            found.append(not_supported(f"spec.ipFamilies[{index}]", family, _FAMILIES))
        if family in seen:
            found.append(duplicate(f"spec.ipFamilies[{index}]", family))
        seen.add(family)
    policy = spec.get("ipFamilyPolicy")
    if policy is not None and policy not in _FAMILY_POLICIES:
        found.append(not_supported("spec.ipFamilyPolicy", policy, _FAMILY_POLICIES))
    for index, address in enumerate(listed):
        if index == 0 and address == "None":
            if len(listed) > 1:
                found.append(bad("spec.clusterIPs", listed, "'None' must be the first and only value"))
            continue
        refuse_each(found, f"spec.clusterIPs[{index}]", address, name_rules.ip(address))


def check_reachable(found: Problems, address: str, path: str) -> None:
    """An address others can be sent to."""
    if broken := name_rules.ip(address):
        refuse_each(found, path, address, broken)
        return
    where = ipaddress.ip_address(address)
    if where.is_unspecified:
        found.append(bad(path, address, f"may not be unspecified ({address})"))
    if where.is_loopback:
        found.append(bad(path, address, "may not be in the loopback range (127.0.0.0/8, ::1/128)"))
    if where.is_link_local:
        found.append(bad(path, address, "may not be in the link-local range (169.254.0.0/16, fe80::/10)"))
    if where in _LOCAL_MULTICAST[where.version]:
        found.append(bad(path, address, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"))


_LOCAL_MULTICAST: dict[int, Any] = {4: ipaddress.ip_network("224.0.0.0/24"), 6: ipaddress.ip_network("ff02::/16")}


def _check_port_numbers(found: Problems, spec: Object, ports: Any) -> None:
    node_ports: set[tuple[str, int]] = set()
    for index, port in enumerate(ports):
        number, place = port.get("nodePort") or 0, f"spec.ports[{index}].nodePort"
        if number and spec["type"] == "ClusterIP":
            found.append(forbidden(place, "may not be used when `type` is 'ClusterIP'"))
    for index, port in enumerate(ports):
        claim = (port["protocol"], port.get("nodePort") or 0)
        if claim[1] and claim in node_ports:
            found.append(duplicate(f"spec.ports[{index}].nodePort", claim[1]))
        node_ports.add(claim)
    seen: set[tuple[str, int]] = set()
    for index, port in enumerate(ports):
        pair = (port["protocol"], port.get("port") or 0)
        if pair in seen:
            found.append(duplicate(f"spec.ports[{index}]", _go_port(*pair)))
        seen.add(pair)


def _go_port(protocol: str, number: int) -> dict[str, Any]:
    """A port as error messages show it: with the names it has inside the real server."""
    return {
        "Name": "",
        "Protocol": protocol,
        "AppProtocol": None,
        "Port": number,
        "TargetPort": 0,
        "NodePort": 0,
    }


def _check_balancer(found: Problems, spec: Object) -> None:
    balanced = spec["type"] == "LoadBalancer"
    ranges = spec.get("loadBalancerSourceRanges") or ()
    if ranges and not balanced:
        found.append(forbidden("spec.LoadBalancerSourceRanges", _ONLY_BALANCED))
    for index, value in enumerate(ranges):
        network = value.strip()
        refuse_each(found, f"spec.LoadBalancerSourceRanges[{index}]", network, name_rules.cidr(network))
    if spec.get("allocateLoadBalancerNodePorts") is not None and not balanced:
        found.append(forbidden("spec.allocateLoadBalancerNodePorts", _ONLY_BALANCED))
    chosen = spec.get("loadBalancerClass")
    if chosen is not None and not balanced:
        found.append(forbidden("spec.loadBalancerClass", _ONLY_BALANCED))
    elif chosen is not None:
        refuse_each(found, "spec.loadBalancerClass", chosen, name_rules.qualified_name(chosen))


def _check_policies(found: Problems, spec: Object) -> None:
    policy = spec.get("externalTrafficPolicy") or ""
    if policy and not _is_external(spec):
        found.append(bad("spec.externalTrafficPolicy", policy, "may only be set for externally-accessible services"))
    elif policy and policy not in _EXTERNAL_POLICIES:
        found.append(not_supported("spec.externalTrafficPolicy", policy, _EXTERNAL_POLICIES))
    health = spec.get("healthCheckNodePort") or 0
    if health and not needs_health_port(spec):
        detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        found.append(bad("spec.healthCheckNodePort", health, detail))
    policy = spec.get("internalTrafficPolicy")
    if policy is not None and policy not in _INTERNAL_POLICIES:
        found.append(not_supported("spec.internalTrafficPolicy", policy, _INTERNAL_POLICIES))
    distribution = spec.get("trafficDistribution")
    if distribution is not None and distribution not in _DISTRIBUTIONS:
        found.append(not_supported("spec.trafficDistribution", distribution, _DISTRIBUTIONS))


def _check_service_update(obj: Object, old: Object) -> list[FieldError]:
    found: Problems = []
    spec, before = obj["spec"], old["spec"]
    if has_cluster_ip(spec) and has_cluster_ip(before) and not (is_headless(spec) and is_headless(before)):
        _check_same_ips(found, spec.get("clusterIPs") or [], before.get("clusterIPs") or [])
    if spec["type"] == before.get("type") == "LoadBalancer":
        chosen = spec.get("loadBalancerClass")
        if chosen != before.get("loadBalancerClass"):
            found.append(bad("spec.loadBalancerClass", chosen, "may not change once set"))
    fixed = needs_health_port(spec) and needs_health_port(before)
    if fixed and spec.get("healthCheckNodePort") != before.get("healthCheckNodePort"):
        found.append(forbidden("spec.healthCheckNodePort", "field is immutable"))
    return [*found, *_check_service(obj)]


def _check_same_ips(found: Problems, new: list[str], old: list[str]) -> None:
    if old and not new:
        found.append(bad("spec.clusterIPs[0]", None, "primary clusterIP can not be unset"))
    for index, (address, before) in enumerate(zip(new, old, strict=False)):
        if address != before:
            found.append(bad(f"spec.clusterIPs[{index}]", new, "may not change once set"))


KINDS = {
    ("", "Service"): BuiltIn(
        fill=_fill_service,
        begin=_begin_service,
        carry=_carry_service,
        check=_check_service,
        check_update=_check_service_update,
        remarks=remarks_on_service,
        status=True,
        name_rule="label",
    ),
}
