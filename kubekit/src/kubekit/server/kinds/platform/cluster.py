"""Kinds the cluster itself runs on: leases, priorities, budgets, API services and new events."""

from __future__ import annotations

from base64 import b64decode

from kubekit.errors import FieldError, not_supported
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules
from kubekit.server.objects.problems import (
    IMMUTABLE,
    Problems,
    bad,
    duplicate,
    first_places,
    forbidden,
    refuse_each,
    required,
    unchanged,
)

from ..builtin.behaviour import BuiltIn
from ..builtin.compute import check_resources
from ..builtin.label_selectors import check_labels, check_selector
from ..builtin.warnings import remarks_on_runtime_class
from ..pods.checks import check_tolerations
from ..pods.pods import SYSTEM_PRIORITIES
from ..workloads.percentages import check_int_or_percent, check_not_above_all
from .core import event_problems

HIGHEST_USER_PRIORITY = 1_000_000_000
_PREEMPTION = ("PreemptLowerPriority", "Never")
_EVICTION = ("AlwaysAllow", "IfHealthyBudget")


def _check_lease(obj: Object) -> list[FieldError]:
    found: Problems = []
    spec = obj["spec"]
    seconds, transitions = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
    if seconds is not None and seconds <= 0:
        found.append(bad("spec.leaseDurationSeconds", seconds, "must be greater than 0"))
    if transitions is not None and transitions < 0:
        found.append(bad("spec.leaseTransitions", transitions, "must be greater than or equal to 0"))
    return found


def _fill_priority(obj: Object) -> None:
    obj.setdefault("preemptionPolicy", "PreemptLowerPriority")


def _check_priority(obj: Object) -> list[FieldError]:
    found: Problems = []
    name = obj["metadata"].get("name", "")
    if name.startswith("system-"):
        if reason := _not_a_system_class(name, obj):
            detail = f"priority class names with 'system-' prefix are reserved for system use only. error: {reason}"
            found.append(forbidden("metadata.name", detail))
    elif obj["value"] > HIGHEST_USER_PRIORITY:
        detail = f"maximum allowed value of a user defined priority is {HIGHEST_USER_PRIORITY}"
        found.append(forbidden("value", detail))
    if obj["preemptionPolicy"] not in _PREEMPTION:
        found.append(not_supported("preemptionPolicy", obj["preemptionPolicy"], _PREEMPTION))
    return found


def _not_a_system_class(name: str, obj: Object) -> str:
    value = SYSTEM_PRIORITIES.get(name)
    if value is None:
        return f"{name} is not a known system priority class"
    if value != obj["value"]:
        return f"value of {name} PriorityClass must be {value}"
    return f"globalDefault of {name} PriorityClass must be false" if obj.get("globalDefault") else ""


def _check_priority_update(obj: Object, old: Object) -> list[FieldError]:
    found: Problems = []
    if obj["value"] != old["value"]:
        found.append(forbidden("value", "may not be changed in an update."))
    unchanged(found, "preemptionPolicy", obj["preemptionPolicy"], old["preemptionPolicy"])
    return found


def _check_budget(obj: Object) -> list[FieldError]:
    found: Problems = []
    spec = obj["spec"]
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    if least is not None and most is not None:
        shown = {
            "MinAvailable": least,
            "Selector": spec.get("selector"),
            "MaxUnavailable": most,
            "UnhealthyPodEvictionPolicy": spec.get("unhealthyPodEvictionPolicy"),
        }
        found.append(bad("spec", shown, "minAvailable and maxUnavailable cannot be both set"))
    for name, value in (("minAvailable", least), ("maxUnavailable", most)):
        if value is not None:
            check_int_or_percent(found, value, f"spec.{name}")
            check_not_above_all(found, value, f"spec.{name}")
    check_selector(found, spec.get("selector"), "spec.selector")
    policy = spec.get("unhealthyPodEvictionPolicy")
    if policy is not None and policy not in _EVICTION:
        found.append(not_supported("spec.unhealthyPodEvictionPolicy", policy, _EVICTION))
    return found


def _fill_api_service(obj: Object) -> None:
    if "service" in obj["spec"]:
        obj["spec"]["service"].setdefault("port", 443)


def _check_api_service(obj: Object) -> list[FieldError]:
    found: Problems = []
    spec = obj["spec"]
    group, version, name = spec.get("group") or "", spec.get("version") or "", obj["metadata"].get("name", "")
    if name != f"{version}.{group}":
        found.append(bad("metadata.name", name, f'must be `spec.version+"."+spec.group`: "{version}.{group}"'))
    if not group and version != "v1":
        found.append(required("spec.group", "only v1 may have an empty group and it better be legacy kube"))
    if group:
        refuse_each(found, "spec.group", group, name_rules.subdomain(group))
    refuse_each(found, "spec.version", version, name_rules.label_1035(version))
    if not 0 < (spec.get("groupPriorityMinimum") or 0) <= 20000:
        place, value = "spec.groupPriorityMinimum", spec.get("groupPriorityMinimum") or 0
        found.append(bad(place, value, "must be positive and less than 20000"))
    if not 0 < (spec.get("versionPriority") or 0) <= 1000:
        found.append(
            bad("spec.versionPriority", spec.get("versionPriority") or 0, "must be positive and less than 1000")
        )
    _check_api_server(found, spec)
    return found


def _check_api_server(found: Problems, spec: Object) -> None:
    """Who serves the API: another server, or this one, which is trusted anyway."""
    service, bundle, unverified = spec.get("service"), spec.get("caBundle") or "", spec.get("insecureSkipTLSVerify")
    if service is None:
        if bundle:
            size = f"{len(b64decode(bundle))} bytes"
            found.append(bad("spec.caBundle", size, "local APIServices may not have a caBundle"))
        if unverified:
            detail = "local APIServices may not have insecureSkipTLSVerify"
            found.append(bad("spec.insecureSkipTLSVerify", True, detail))
        return
    found.extend(required(f"spec.service.{part}") for part in ("namespace", "name") if not service.get(part))
    if broken := name_rules.port(service.get("port") or 0):
        found.append(bad("spec.service.port", service.get("port") or 0, f"port is not valid: {', '.join(broken)}"))
    if unverified and bundle:
        found.append(bad("spec.insecureSkipTLSVerify", True, "may not be true if caBundle is present"))


_OLD_EVENT_FIELDS = {
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
    "deprecatedSource": "source",
}


def _check_new_event(obj: Object) -> list[FieldError]:
    found = event_problems(obj, obj["regarding"], "reportingController")
    _check_series(found, obj.get("series"))
    if obj.get("eventTime") is None:
        found.append(required("eventTime"))
    if obj.get("type") not in {"Normal", "Warning"}:
        found.append(bad("type", "", f"has invalid value: {obj.get('type') or ''}"))
    for old_name, name in _OLD_EVENT_FIELDS.items():
        if obj.get(old_name):
            found.append(bad(name, "", "needs to be unset"))
    return found


def _check_new_event_update(obj: Object, old: Object) -> list[FieldError]:
    """Whatever happened has happened; only how often may still change."""
    names = {"regarding": "involvedObject", "note": "message", **_OLD_EVENT_FIELDS}
    fixed = ("reason", "type", "eventTime", "action", "related", "reportingController", "reportingInstance")
    found = event_problems(obj, obj["regarding"], "reportingController")
    for name in (*names, *fixed):
        if (obj.get(name) or None) != (old.get(name) or None):
            found.append(bad(names.get(name, name), obj.get(name), IMMUTABLE))
    if obj.get("series") != old.get("series"):
        _check_series(found, obj.get("series"))
    return found


def _check_series(found: Problems, series: Object | None) -> None:
    if series is None:
        return
    if (series.get("count") or 0) < 2:
        found.append(bad("series.count", "", "should be at least 2"))
    if series.get("lastObservedTime") is None:
        found.append(required("series.lastObservedTime"))


def _check_runtime_class(obj: Object) -> list[FieldError]:
    found: Problems = []
    handler, scheduling = obj.get("handler") or "", obj.get("scheduling") or {}
    if handler:
        refuse_each(found, "handler", handler, name_rules.label(handler))
    else:
        found.append(required("handler"))
    overhead = (obj.get("overhead") or {}).get("podFixed")
    if overhead:
        check_resources(found, {"limits": overhead}, "overhead")
    check_labels(found, scheduling.get("nodeSelector"), "scheduling.nodeSelector")
    tolerations = scheduling.get("tolerations") or []
    check_tolerations(found, tolerations, "scheduling.tolerations")
    same = [frozenset((name, one[name]) for name in one if name != "tolerationSeconds") for one in tolerations]
    first = first_places(same)
    repeated = (index for index, one in enumerate(same) if first[one] < index)
    found.extend(duplicate(f"scheduling.tolerations[{index}]", _shown(tolerations[index])) for index in repeated)
    return found


def _check_runtime_class_update(obj: Object, old: Object) -> list[FieldError]:
    found = _check_runtime_class(obj)
    unchanged(found, "handler", obj.get("handler"), old.get("handler"))
    return found


def _shown(toleration: Object) -> Object:
    """As Kubernetes holds it."""
    texts = {name: toleration.get(name.lower()) or "" for name in ("Key", "Operator", "Value", "Effect")}
    return {**texts, "TolerationSeconds": toleration.get("tolerationSeconds")}


KINDS = {
    ("coordination.k8s.io", "Lease"): BuiltIn(check=_check_lease),
    ("scheduling.k8s.io", "PriorityClass"): BuiltIn(
        fill=_fill_priority, check=_check_priority, check_update=_check_priority_update, generation=("",)
    ),
    ("policy", "PodDisruptionBudget"): BuiltIn(
        check=_check_budget, status=True, generation=("spec",), name_rule="path-segment"
    ),
    # What definitions may say is a subject of its own: the package `crds`.
    ("apiextensions.k8s.io", "CustomResourceDefinition"): BuiltIn(status=True, generation=("spec",)),
    ("apiregistration.k8s.io", "APIService"): BuiltIn(fill=_fill_api_service, check=_check_api_service, status=True),
    ("events.k8s.io", "Event"): BuiltIn(check=_check_new_event, check_update=_check_new_event_update),
    ("node.k8s.io", "RuntimeClass"): BuiltIn(
        check=_check_runtime_class, check_update=_check_runtime_class_update, remarks=remarks_on_runtime_class
    ),
}
