"""HorizontalPodAutoscaler in its first version, which keeps in annotations what it has no fields for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kubekit.model.resource import Object

_PREFIX = "autoscaling.alpha.kubernetes.io/"
METRICS = f"{_PREFIX}metrics"
_CURRENT, _CONDITIONS, _BEHAVIOUR = f"{_PREFIX}current-metrics", f"{_PREFIX}conditions", f"{_PREFIX}behavior"

Path = tuple[str, ...]

_METRIC: dict[Path, str] = {("metric", "name"): "metricName"}
_TARGETS: dict[str, dict[Path, str]] = {
    "resource": {
        ("name",): "name",
        ("target", "averageUtilization"): "targetAverageUtilization",
        ("target", "averageValue"): "targetAverageValue",
    },
    "pods": {
        **_METRIC,
        ("target", "averageValue"): "targetAverageValue",
        ("metric", "selector"): "selector",
    },
    "object": {
        ("describedObject",): "target",
        **_METRIC,
        ("target", "value"): "targetValue",
        ("metric", "selector"): "selector",
        ("target", "averageValue"): "averageValue",
    },
    "external": {
        **_METRIC,
        ("metric", "selector"): "metricSelector",
        ("target", "value"): "targetValue",
        ("target", "averageValue"): "targetAverageValue",
    },
}
_TARGETS["containerResource"] = {**_TARGETS["resource"], ("container",): "container"}
"""Where the second version keeps a part of a metric, and what the first calls it."""


def _as_current(names: Mapping[Path, str]) -> dict[Path, str]:
    """The same for what is measured rather than wanted."""
    return {
        tuple("current" if part == "target" else part for part in path): (
            f"current{name.removeprefix('target')}" if path[0] == "target" and name != "averageValue" else name
        )
        for path, name in names.items()
    }


_MEASURED = {source: _as_current(names) for source, names in _TARGETS.items()}
_TARGET_TYPES = {"averageUtilization": "Utilization", "averageValue": "AverageValue", "value": "Value"}
_FIELDS = ("scaleTargetRef", "minReplicas", "maxReplicas")
_STATUS_FIELDS = ("observedGeneration", "lastScaleTime", "currentReplicas", "desiredReplicas")


class FirstVersion:
    """What clients of `autoscaling/v1` see of objects stored as `autoscaling/v2`."""

    def shown(self, obj: Object) -> Object:
        spec, status = obj.get("spec") or {}, obj.get("status") or {}
        first: Object = {name: spec[name] for name in _FIELDS if name in spec}
        others = []
        for metric in spec.get("metrics") or ():
            percent = _cpu_percent(metric, "target")
            if percent is None or "targetCPUUtilizationPercentage" in first:
                others.append(metric)
            else:
                first["targetCPUUtilizationPercentage"] = percent
        state: Object = {"currentReplicas": 0, "desiredReplicas": 0}
        state |= {name: status[name] for name in _STATUS_FIELDS if name in status}
        measured = status.get("currentMetrics") or []
        for metric in measured:
            if (percent := _cpu_percent(metric, "current")) is not None:
                state["currentCPUUtilizationPercentage"] = percent
        notes = {
            METRICS: [_renamed(metric, _TARGETS) for metric in others],
            _CURRENT: [_renamed(metric, _MEASURED) for metric in measured],
            _CONDITIONS: status.get("conditions"),
            _BEHAVIOUR: _capitalized(spec.get("behavior")),
        }
        return {**obj, "metadata": _annotated(obj["metadata"], notes), "spec": first, "status": state}

    def stored(self, obj: Object) -> Object:
        spec, status = dict(obj.get("spec") or {}), dict(obj.get("status") or {})
        notes = dict(obj["metadata"].get("annotations") or {})
        metrics = [_restored(metric, _TARGETS) for metric in _noted(notes, METRICS)]
        percent = spec.pop("targetCPUUtilizationPercentage", None)
        if percent is not None:
            metrics.append(_cpu_metric(percent))
        status.pop("currentCPUUtilizationPercentage", None)
        measured = [_restored(metric, _MEASURED) for metric in _noted(notes, _CURRENT)]
        conditions, behaviour = _noted(notes, _CONDITIONS), _noted(notes, _BEHAVIOUR)
        spec |= {"metrics": metrics} if metrics else {}
        spec |= {"behavior": _uncapitalized(behaviour)} if isinstance(behaviour, dict) else {}
        status["currentMetrics"] = measured or None
        status |= {"conditions": conditions} if conditions else {}
        meta = {name: value for name, value in obj["metadata"].items() if name != "annotations"}
        return {
            **obj,
            "metadata": {**meta, **({"annotations": notes} if notes else {})},
            "spec": spec,
            "status": status,
        }


def _cpu_percent(metric: Object, side: str) -> int | None:
    source = metric.get("resource") or {}
    percent = (source.get(side) or {}).get("averageUtilization") if source.get("name") == "cpu" else None
    return percent if isinstance(percent, int) else None


def _cpu_metric(percent: int) -> Object:
    target = {"type": "Utilization", "averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


def _annotated(meta: Object, notes: Mapping[str, Any]) -> Object:
    written = {name: json.dumps(value, separators=(",", ":")) for name, value in notes.items() if value}
    return {**meta, "annotations": {**(meta.get("annotations") or {}), **written}} if written else meta


def _noted(notes: dict[str, str], name: str) -> Any:
    """Take out an annotation and read it; one that nobody can read says nothing."""
    try:
        return json.loads(notes.pop(name, "[]"))
    except ValueError:
        return []


def _source(metric: Object) -> str:
    kind = str(metric.get("type", ""))
    return kind[:1].lower() + kind[1:]


def _renamed(metric: Object, names: Mapping[str, Mapping[Path, str]]) -> Object:
    source = _source(metric)
    found: Object = {}
    for path, name in names.get(source, {}).items():
        value: Any = metric.get(source)
        for part in path:
            value = value.get(part) if isinstance(value, dict) else None
        if value is not None:
            found[name] = value
    return {"type": metric.get("type", ""), source: found}


def _restored(metric: Any, names: Mapping[str, Mapping[Path, str]]) -> Object:
    if not isinstance(metric, dict):
        return {}
    source = _source(metric)
    given = metric.get(source)
    made: Object = {}
    for path, name in names.get(source, {}).items():
        if isinstance(given, dict) and name in given:
            holder = made
            for part in path[:-1]:
                holder = holder.setdefault(part, {})
            holder[path[-1]] = given[name]
    target = made.get("target")
    if isinstance(target, dict):
        made["target"] = {"type": next(_TARGET_TYPES[name] for name in target if name in _TARGET_TYPES), **target}
    return {"type": metric.get("type", ""), source: made}


def _capitalized(value: Any) -> Any:
    """A behaviour in the letters of Go's own struct, which is what the annotation holds."""
    if isinstance(value, dict):
        made = {name[:1].upper() + name[1:]: _capitalized(member) for name, member in value.items()}
        return {**made, "Tolerance": made.get("Tolerance")} if "policies" in value else made
    return [_capitalized(item) for item in value] if isinstance(value, list) else value


def _uncapitalized(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name[:1].lower() + name[1:]: _uncapitalized(member) for name, member in value.items() if member is not None
        }
    return [_uncapitalized(item) for item in value] if isinstance(value, list) else value
