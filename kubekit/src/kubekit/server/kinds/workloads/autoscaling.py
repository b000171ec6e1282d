"""HorizontalPodAutoscaler, in both versions as they are written."""

from __future__ import annotations

import copy

from kubekit.errors import FieldError, not_supported
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules
from kubekit.server.objects.problems import Problems, bad, forbidden, refuse_each, required

from ..builtin import quantities
from ..builtin.behaviour import BuiltIn
from ..builtin.compute import check_container_name
from .autoscaler_versions import METRICS

_CPU_PERCENT = 80
_MOST_STABLE_SECONDS, _MOST_PERIOD_SECONDS = 3600, 1800
_SELECT = ("Disabled", "Max", "Min")
_POLICIES = ("Percent", "Pods")
_TARGETS = ("Utilization", "Value", "AverageValue")
_SOURCES = {
    "ContainerResource": "containerResource",
    "External": "external",
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
}
_IN_ORDER = ("object", "external", "pods", "resource", "containerResource")
"""The first of them that is given is looked into."""
_NEVER_WAKES = "must specify at least one Object or External metric to support scaling to zero replicas"
_EITHER = "must set either a target raw value or a target utilization"
_BY_CPU = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": _CPU_PERCENT}},
}
_UP: Object = {
    "stabilizationWindowSeconds": 0,
    "selectPolicy": "Max",
    "policies": [
        {"type": "Pods", "value": 4, "periodSeconds": 15},
        {"type": "Percent", "value": 100, "periodSeconds": 15},
    ],
}
_DOWN: Object = {"selectPolicy": "Max", "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}]}


def _fill_first_version(obj: Object) -> None:
    obj["spec"].setdefault("minReplicas", 1)
    if METRICS not in obj["metadata"].get("annotations", {}):
        obj["spec"].setdefault("targetCPUUtilizationPercentage", _CPU_PERCENT)


def _fill(obj: Object) -> None:
    spec = obj["spec"]
    spec.setdefault("minReplicas", 1)
    if "metrics" not in spec:
        spec["metrics"] = [copy.deepcopy(_BY_CPU)]
    behaviour = spec.get("behavior")
    if behaviour is not None:
        behaviour["scaleUp"] = {**copy.deepcopy(_UP), **behaviour.get("scaleUp", {})}
        behaviour["scaleDown"] = {**copy.deepcopy(_DOWN), **behaviour.get("scaleDown", {})}


def _check_first_version(obj: Object) -> list[FieldError]:
    found: Problems = []
    spec = obj["spec"]
    _check_bounds(found, spec)
    percent = spec.get("targetCPUUtilizationPercentage", _CPU_PERCENT)
    if percent < 1:
        # The real server speaks of the second version, which it stores.
        place = "spec.metrics[0].resource.target.averageUtilization"
        found.append(bad(place, percent, "must be greater than 0"))
    if spec["minReplicas"] == 0:
        found.append(forbidden("spec.metrics", _NEVER_WAKES))
    return found


def _check(obj: Object) -> list[FieldError]:
    found: Problems = []
    spec = obj["spec"]
    _check_bounds(found, spec)
    for index, metric in enumerate(spec["metrics"]):
        _check_metric(found, metric, f"spec.metrics[{index}]")
    if spec["minReplicas"] == 0 and not any(metric.get("type") in {"Object", "External"} for metric in spec["metrics"]):
        found.append(forbidden("spec.metrics", _NEVER_WAKES))
    for name, rules in (spec.get("behavior") or {}).items():
        _check_rules(found, rules, f"spec.behavior.{name}")
    return found


def _check_bounds(found: Problems, spec: Object) -> None:
    least, most = spec["minReplicas"], spec.get("maxReplicas") or 0
    if least < 1:
        found.append(bad("spec.minReplicas", least, "must be greater than or equal to 1"))
    if most == 0:
        found.append(required("spec.maxReplicas", "must be set and greater than 0"))
    elif most < 0:
        found.append(bad("spec.maxReplicas", most, "must be greater than or equal to 1"))
    if most < least:
        found.append(bad("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`"))
    _check_reference(found, spec["scaleTargetRef"], "spec.scaleTargetRef")


def _check_reference(found: Problems, reference: Object, path: str, *, needs_group: bool = True) -> None:
    for name in ("kind", "name"):
        value = reference.get(name) or ""
        if value:
            refuse_each(found, f"{path}.{name}", value, name_rules.path_segment(value))
        else:
            found.append(required(f"{path}.{name}"))
    version = reference.get("apiVersion") or ""
    if version.count("/") > 1:
        found.append(bad(f"{path}.apiVersion", version, f"unexpected GroupVersion string: {version}"))
    elif needs_group and "/" not in version and reference.get("kind") != "ReplicationController":
        found.append(bad(f"{path}.apiVersion", version, "apiVersion must specify API group"))


def _check_metric(found: Problems, metric: Object, path: str) -> None:
    kind = metric.get("type") or ""
    if not kind:
        found.append(required(f"{path}.type", "must specify a metric source type"))
    if kind not in _SOURCES:
        found.append(not_supported(f"{path}.type", kind, _SOURCES))
    given = [name for name in _IN_ORDER if metric.get(name) is not None]
    if given:
        _check_source(found, metric[given[0]], f"{path}.{given[0]}", given[0])
    expected = _SOURCES.get(kind)
    if expected is None:
        found.append(not_supported(f"{path}.type", kind, _SOURCES))
    elif expected not in given:
        detail = "must populate information for the given metric source"
        found.append(required(f"{path}.{expected}", detail))
    if len(given) != 1:
        others = (name for name in given if name != expected)
        found.extend(forbidden(f"{path}.{name}", "must populate the given metric source only") for name in others)


def _check_container(found: Problems, name: str, path: str) -> None:
    if name:
        refuse_each(found, path, name, name_rules.label(name))
    else:
        found.append(required(path, "must specify a container"))


def _check_source(found: Problems, source: Object, path: str, kind: str) -> None:
    target = source.get("target") or {}
    if kind == "object":
        _check_reference(found, source.get("describedObject") or {}, f"{path}.describedObject", needs_group=False)
    if kind in {"resource", "containerResource"}:
        if not source.get("name"):
            found.append(required(f"{path}.name", "must specify a resource name"))
        if kind == "containerResource":
            if source.get("name"):
                check_container_name(found, source["name"], f"{path}.name")
            _check_container(found, source.get("container") or "", f"{path}.container")
    else:
        _check_metric_name(found, source.get("metric") or {}, f"{path}.metric.name")
    _check_target(found, target, f"{path}.target")
    average, share = target.get("averageValue"), target.get("averageUtilization")
    if kind in {"resource", "containerResource"}:
        if average is None and share is None:
            found.append(required(f"{path}.target.averageUtilization", _EITHER))
        elif average is not None and share is not None:
            detail = "may not set both a target raw value and a target utilization"
            found.append(forbidden(f"{path}.target.averageValue", detail))
    elif kind == "pods" and average is None:
        found.append(required(f"{path}.target.averageValue", "must specify a positive target averageValue"))
    elif kind in _UNSET and average is None and target.get("value") is None:
        found.append(required(f"{path}.target.averageValue", _UNSET[kind]))
    elif kind == "external" and average is not None and target.get("value") is not None:
        detail = "may not set both a target value for metric and a per-pod target"
        found.append(forbidden(f"{path}.target.value", detail))


_UNSET = {
    "object": "must set either a target value or averageValue",
    "external": "must set either a target value for metric or a per-pod target",
}


def _check_metric_name(found: Problems, metric: Object, path: str) -> None:
    name = metric.get("name") or ""
    if name:
        refuse_each(found, path, name, name_rules.path_segment(name))
    else:
        found.append(required(path, "must specify a metric name"))


def _check_target(found: Problems, target: Object, path: str) -> None:
    kind = target.get("type") or ""
    if not kind:
        found.append(required(f"{path}.type", "must specify a metric target type"))
    if kind not in _TARGETS:
        found.append(bad(f"{path}.type", kind, "must be either Utilization, Value, or AverageValue"))
    for name in ("value", "averageValue"):
        amount = target.get(name)
        if amount is not None and quantities.amount(amount) <= quantities.ZERO:
            found.append(bad(f"{path}.{name}", amount, "must be positive"))
    share = target.get("averageUtilization")
    if share is not None and share < 1:
        found.append(bad(f"{path}.averageUtilization", share, "must be greater than 0"))


def _check_rules(found: Problems, rules: Object, path: str) -> None:
    seconds = rules.get("stabilizationWindowSeconds")
    if seconds is not None and seconds < 0:
        found.append(bad(f"{path}.stabilizationWindowSeconds", seconds, "must be greater than or equal to zero"))
    if seconds is not None and seconds > _MOST_STABLE_SECONDS:
        detail = f"must be less than or equal to {_MOST_STABLE_SECONDS}"
        found.append(bad(f"{path}.stabilizationWindowSeconds", seconds, detail))
    if rules["selectPolicy"] not in _SELECT:
        found.append(not_supported(f"{path}.selectPolicy", rules["selectPolicy"], _SELECT))
    if not rules["policies"]:
        found.append(required(f"{path}.policies", "must specify at least one Policy"))
    for index, policy in enumerate(rules["policies"]):
        _check_scaling_policy(found, policy, f"{path}.policies[{index}]")


def _check_scaling_policy(found: Problems, policy: Object, path: str) -> None:
    if policy.get("type") not in _POLICIES:
        found.append(not_supported(f"{path}.type", policy.get("type") or "", _POLICIES))
    for name in ("value", "periodSeconds"):
        if (policy.get(name) or 0) <= 0:
            found.append(bad(f"{path}.{name}", policy.get(name) or 0, "must be greater than zero"))
    if (policy.get("periodSeconds") or 0) > _MOST_PERIOD_SECONDS:
        detail = f"must be less than or equal to {_MOST_PERIOD_SECONDS}"
        found.append(bad(f"{path}.periodSeconds", policy["periodSeconds"], detail))


KINDS = {("autoscaling", "HorizontalPodAutoscaler"): BuiltIn(fill=_fill, check=_check, status=True)}
FIRST_VERSION = BuiltIn(fill=_fill_first_version, check=_check_first_version, status=True)
