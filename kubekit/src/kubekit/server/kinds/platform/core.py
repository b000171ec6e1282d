"""Namespaces, nodes, service accounts, events, endpoints, quotas and limit ranges."""

from __future__ import annotations

from typing import Any

from kubekit.errors import FieldError, FieldProblem, not_supported
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules, object_metadata
from kubekit.server.objects.problems import Problems, bad, duplicate, forbidden, refuse_each, required

from ..builtin import quantities
from ..builtin.behaviour import BuiltIn
from ..builtin.compute import check_container_name, check_name, value_problems
from ..builtin.warnings import remarks_on_account, remarks_on_node
from ..network.services import check_reachable
from ..pods.checks import EFFECTS
from ..pods.containers import check_app_protocol, check_protocol

NAMESPACE_LABEL = "kubernetes.io/metadata.name"
_STANDARD_FINALIZERS = {"kubernetes", "orphan", "foregroundDeletion"}
_FIXED_CIDR = 'node updates may not change podCIDR except from "" to valid'
_FIXED_PROVIDER = 'node updates may not change providerID except from "" to valid'
_LIMIT_TYPES = {"Pod", "Container", "PersistentVolumeClaim"}


def _fill_namespace(obj: Object) -> None:
    metadata = obj["metadata"]
    obj["status"].setdefault("phase", "Active")
    name = metadata.get("name")
    if name and (metadata.get("labels") or {}).get(NAMESPACE_LABEL) != name:
        metadata["labels"] = {**(metadata.get("labels") or {}), NAMESPACE_LABEL: name}


def _begin_namespace(obj: Object) -> None:
    _fill_namespace(obj)
    finalizers = obj["spec"].get("finalizers") or []
    if "kubernetes" not in finalizers:
        obj["spec"]["finalizers"] = [*finalizers, "kubernetes"]


def _carry_namespace(obj: Object, old: Object) -> None:
    finalizers = (old.get("spec") or {}).get("finalizers")
    if finalizers:
        obj["spec"]["finalizers"] = finalizers
    else:
        obj["spec"].pop("finalizers", None)


def _check_namespace(obj: Object) -> list[FieldError]:
    found: Problems = []
    for name in obj["spec"].get("finalizers") or ():
        refuse_each(found, "spec.finalizers", name, name_rules.qualified_name(name))
        if "/" not in name and name not in _STANDARD_FINALIZERS:
            detail = "name is neither a standard finalizer name nor is it fully qualified"
            found.append(bad("spec.finalizers", name, detail))
    return found


def _check_finalizers(obj: Object, _old: Object) -> list[FieldError]:
    return list(object_metadata.unqualified(obj["spec"].get("finalizers") or [], "spec.finalizers"))


def _no_problems(_obj: Object, _old: Object) -> list[FieldError]:
    return []


def _fill_node(obj: Object) -> None:
    spec, status = obj["spec"], obj["status"]
    if "podCIDR" in spec:
        if spec.get("podCIDRs", [""])[0] != spec["podCIDR"]:
            spec["podCIDRs"] = [spec["podCIDR"]]
    elif "podCIDRs" in spec:
        spec["podCIDR"] = spec["podCIDRs"][0]
    if "capacity" in status:
        status.setdefault("allocatable", dict(status["capacity"]))


def _check_node(obj: Object) -> list[FieldError]:
    found: Problems = []
    _check_taints(found, obj["spec"].get("taints") or ())
    _check_node_resources(found, obj)
    networks = obj["spec"].get("podCIDRs") or []
    for index, network in enumerate(networks):
        refuse_each(found, f"spec.podCIDRs[{index}]", network, name_rules.cidr(network))
    families = {":" in network for network in networks}
    wrong = [index for index, network in enumerate(networks) if name_rules.cidr(network)]
    if wrong and len(networks) > 1:
        first = f"invalid CIDR[{wrong[0]}]: <nil> (invalid CIDR address: {networks[wrong[0]]})"
        detail = f"invalid PodCIDRs. failed to check with dual stack with error:{first}"
        found.append(FieldError(FieldProblem.INTERNAL, "spec.podCIDRs", detail))
    if len(networks) > len(families):
        detail = "may specify no more than one CIDR for each IP family"
        found.append(bad("spec.podCIDRs", networks, detail))
    return found


def _check_node_resources(found: Problems, obj: Object) -> None:
    for part in ("capacity", "allocatable"):
        for name, value in ((obj.get("status") or {}).get(part) or {}).items():
            found.extend(value_problems(name, value, f"status.{part}.{name}"))


def _check_taints(found: Problems, taints: Any) -> None:
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(taints):
        # The real server looks for taints below metadata when it names them.
        path = f"metadata.taints[{index}]"
        key, value, effect = taint.get("key") or "", taint.get("value") or "", taint.get("effect") or ""
        refuse_each(found, f"{path}.key", key, name_rules.qualified_name(key))
        if broken := name_rules.label_value(value):
            found.append(bad(f"{path}.value", value, ";".join(broken)))
        if not effect:
            found.append(required(f"{path}.effect"))
        elif effect not in EFFECTS:
            found.append(not_supported(f"{path}.effect", effect, EFFECTS))
        if (effect, key) in seen:
            shown = {"Key": key, "Value": value, "Effect": effect, "TimeAdded": taint.get("timeAdded")}
            found.append(duplicate(path, shown, "taints must be unique by key and effect pair"))
        seen.add((effect, key))


def _check_node_update(obj: Object, old: Object) -> list[FieldError]:
    # The real server looks at the whole of a changed node, and then at parts of it again.
    found = _check_node(obj)
    spec, before = obj["spec"], old.get("spec") or {}
    _check_node_resources(found, obj)
    fixed = before.get("podCIDRs")
    if fixed and fixed != spec.get("podCIDRs"):
        found.append(forbidden("spec.podCIDRs", _FIXED_CIDR))
    if before.get("providerID") and before["providerID"] != spec.get("providerID"):
        found.append(forbidden("spec.providerID", _FIXED_PROVIDER))
    if (spec.get("externalID") or "") != (before.get("externalID") or ""):
        found.append(forbidden("spec.externalID", "may not be updated"))
    _check_taints(found, spec.get("taints") or ())
    seen: set[tuple[str, str]] = set()
    for index, address in enumerate((obj.get("status") or {}).get("addresses") or ()):
        shown = {"Type": address.get("type", ""), "Address": address.get("address", "")}
        if (mark := (shown["Type"], shown["Address"])) in seen:
            found.append(duplicate(f"status.addresses[{index}]", shown))
        seen.add(mark)
    return found


def _begin_service_account(obj: Object) -> None:
    if obj.get("secrets"):
        obj["secrets"] = [{"name": secret["name"]} if secret.get("name") else {} for secret in obj["secrets"]]


def _carry_service_account(obj: Object, _old: Object) -> None:
    _begin_service_account(obj)


_NO_SUCH_NAMESPACE = "does not match event.namespace"


def event_problems(obj: Object, subject: Object, controller_name: str) -> Problems:
    """What both groups of events have in common; `subject` is what the event is about."""
    found: Problems = []
    place, namespace = subject.get("namespace") or "", obj["metadata"].get("namespace") or ""
    if obj.get("eventTime") is None:
        fits = place == namespace if place else namespace in {"", "default"}
        if not fits:
            found.append(bad("involvedObject.namespace", place, _NO_SUCH_NAMESPACE))
    else:
        if not place and namespace not in {"default", "kube-system"}:
            found.append(bad("involvedObject.namespace", place, _NO_SUCH_NAMESPACE))
        _check_timed_event(found, obj, controller_name)
    refuse_each(found, "namespace", namespace, name_rules.subdomain(namespace))
    return found


def _check_timed_event(found: Problems, obj: Object, controller_name: str) -> None:
    controller = obj.get(controller_name) or ""
    if not controller:
        found.append(required(controller_name))
    refuse_each(found, controller_name, controller, name_rules.qualified_name(controller))
    for name in ("reportingInstance", "action", "reason"):
        text = obj.get(name) or ""
        if not text:
            found.append(required(name))
        elif len(text) > 128:
            found.append(bad(name, "", "can have at most 128 characters"))
    if len(obj.get("message") or obj.get("note") or "") > 1024:
        found.append(bad("message", "", "can have at most 1024 characters"))


def _check_event(obj: Object) -> list[FieldError]:
    return event_problems(obj, obj["involvedObject"], "reportingComponent")


def _fill_endpoints(obj: Object) -> None:
    for subset in obj.get("subsets", ()):
        for port in subset.get("ports", ()):
            port.setdefault("protocol", "TCP")


def _check_endpoints(obj: Object) -> list[FieldError]:
    found: Problems = []
    for index, subset in enumerate(obj.get("subsets") or ()):
        path = f"subsets[{index}]"
        if not subset.get("addresses") and not subset.get("notReadyAddresses"):
            found.append(required(path, "must specify `addresses` or `notReadyAddresses`"))
        for kind in ("addresses", "notReadyAddresses"):
            for position, address in enumerate(subset.get(kind) or ()):
                _check_address(found, address, f"{path}.{kind}[{position}]")
        ports = subset.get("ports") or ()
        for position, port in enumerate(ports):
            _check_endpoint_port(found, port, f"{path}.ports[{position}]", needs_name=len(ports) > 1)
    return found


def _check_address(found: Problems, address: Object, path: str) -> None:
    value = address.get("ip") or ""
    check_reachable(found, value, f"{path}.ip")
    if not name_rules.is_ip(value):
        found.append(bad(f"{path}.ip", value, "must be a valid IP address"))
    for name, rule in (("hostname", name_rules.label), ("nodeName", name_rules.subdomain)):
        if address.get(name):
            refuse_each(found, f"{path}.{name}", address[name], rule(address[name]))


def _check_endpoint_port(found: Problems, port: Object, path: str, *, needs_name: bool) -> None:
    name = port.get("name") or ""
    if name:
        refuse_each(found, f"{path}.name", name, name_rules.label(name))
    elif needs_name:
        found.append(required(f"{path}.name"))
    refuse_each(found, f"{path}.port", port.get("port") or 0, name_rules.port(port.get("port") or 0))
    check_protocol(found, port, path)
    check_app_protocol(found, port, path)


def _fill_limit_range(obj: Object) -> None:
    for limit in obj["spec"]["limits"] or ():
        if limit.get("type") == "Container":
            limit["default"] = {**(limit.get("max") or {}), **(limit.get("default") or {})}
            asked = {**(limit.get("min") or {}), **limit["default"], **(limit.get("defaultRequest") or {})}
            limit["defaultRequest"] = asked
            for name in ("default", "defaultRequest"):
                if not limit[name]:
                    del limit[name]


def _check_limit_range(obj: Object) -> list[FieldError]:
    found: Problems = []
    seen: set[str] = set()
    for index, limit in enumerate(obj["spec"]["limits"] or ()):
        path, kind = f"spec.limits[{index}]", limit.get("type") or ""
        if broken := name_rules.qualified_name(kind):
            refuse_each(found, f"{path}.type", kind, broken)
        elif "/" not in kind and kind not in _LIMIT_TYPES:
            found.append(bad(f"{path}.type", kind, "must be a standard limit type or fully qualified"))
        if kind in seen:
            found.append(duplicate(f"{path}.type", kind))
        seen.add(kind)
        _check_limits(found, limit, path)
    return found


def _check_limits(found: Problems, limit: Object, path: str) -> None:
    is_container = limit.get("type") == "Container"
    names = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
    for part in names:
        for name in limit.get(part) or ():
            (check_container_name if is_container else check_name)(found, name, f"{path}.{part}[{name}]")
    _check_claim_limits(found, limit, path)
    if limit.get("type") == "Pod":
        for part in ("default", "defaultRequest"):
            if limit.get(part):
                found.append(forbidden(f"{path}.{part}", "may not be specified when `type` is 'Pod'"))
    for part, shown, small, large, words in _ORDERED:
        for name in sorted({*(limit.get(small) or ())} & {*(limit.get(large) or ())}):
            low, high = limit[small][name], limit[large][name]
            if quantities.amount(low) > quantities.amount(high):
                found.append(bad(f"{path}.{part}[{name}]", limit[shown][name], words.format(low=low, high=high)))
    for name, ratio in (limit.get("maxLimitRequestRatio") or {}).items():
        low, high = (limit.get("min") or {}).get(name), (limit.get("max") or {}).get(name)
        _check_ratio(found, ratio, low, high, f"{path}.maxLimitRequestRatio[{name}]")


def _check_claim_limits(found: Problems, limit: Object, path: str) -> None:
    bounds = {**(limit.get("min") or {}), **(limit.get("max") or {})}
    if limit.get("type") == "PersistentVolumeClaim" and "storage" not in bounds:
        detail = "either minimum or maximum storage value is required, but neither was provided"
        found.append(required(f"{path}.limits", detail))


def _check_ratio(found: Problems, ratio: str, low: str | None, high: str | None, path: str) -> None:
    if quantities.number(ratio) < 1:
        found.append(bad(path, ratio, f"ratio {ratio} is less than 1"))
    if low is None or high is None:
        return
    bottom, top = quantities.number(low), quantities.number(high)
    most = top / bottom if bottom else float("inf") if top > 0 else float("nan")
    if quantities.number(ratio) > most:
        found.append(bad(path, ratio, f"ratio {ratio} is greater than max/min = {most:f}"))


_ORDERED = (
    ("min", "min", "min", "max", "min value {low} is greater than max value {high}"),
    (
        *("defaultRequest", "defaultRequest", "min", "defaultRequest"),
        "min value {low} is greater than default request value {high}",
    ),
    (
        *("defaultRequest", "defaultRequest", "defaultRequest", "max"),
        "default request value {low} is greater than max value {high}",
    ),
    (
        *("defaultRequest", "defaultRequest", "defaultRequest", "default"),
        "default request value {low} is greater than default limit value {high}",
    ),
    ("default", "min", "min", "default", "min value {low} is greater than default value {high}"),
    ("default", "max", "default", "max", "default value {low} is greater than max value {high}"),
)
"""Which bounds must not pass which: where it is reported, the value shown, the smaller, the larger, the words."""


KINDS = {
    ("", "Namespace"): BuiltIn(
        fill=_fill_namespace,
        begin=_begin_namespace,
        carry=_carry_namespace,
        check=_check_namespace,
        check_update=_no_problems,
        check_part={"finalize": _check_finalizers},
        status=True,
        name_rule="label",
    ),
    ("", "Node"): BuiltIn(
        fill=_fill_node,
        check=_check_node,
        check_update=_check_node_update,
        status=True,
        keeps_status=True,
        remarks=remarks_on_node,
    ),
    ("", "ServiceAccount"): BuiltIn(
        begin=_begin_service_account, carry=_carry_service_account, remarks=remarks_on_account
    ),
    ("", "Event"): BuiltIn(check=_check_event, name_rule="path-segment"),
    ("", "Endpoints"): BuiltIn(fill=_fill_endpoints, check=_check_endpoints),
    ("", "LimitRange"): BuiltIn(fill=_fill_limit_range, check=_check_limit_range),
}
