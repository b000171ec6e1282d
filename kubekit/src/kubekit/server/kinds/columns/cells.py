"""The rows of `kubectl get` for core kinds and workloads; columns.py says what stands above them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from kubekit.model.ages import age
from kubekit.model.resource import Object

from ..builtin.label_selectors import shown, shown_labels

Row = list[Any]

NONE, UNSET, _UNKNOWN = "<none>", "<unset>", "<unknown>"
_MODES = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}
_MOST_SHOWN, _MOST_METRICS = 3, 2
_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
_JOB_STATES = ("Complete", "Failed")
_RUNNING_JOB_STATES = ("Suspended", "FailureTarget", "SuccessCriteriaMet")
_METRIC_SOURCES = {
    "External": "external",
    "Pods": "pods",
    "Object": "object",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}


def name_of(obj: Object) -> str:
    return str(obj["metadata"].get("name", ""))


def age_of(obj: Object, now: datetime) -> str:
    return age(obj["metadata"].get("creationTimestamp"), now)


def _is_deleted(obj: Object) -> bool:
    return bool(obj["metadata"].get("deletionTimestamp"))


def first_few(items: list[str], count: int | None = None) -> str:
    """The first few of a list and how many there are more."""
    more = (len(items) if count is None else count) - _MOST_SHOWN
    text = ",".join(items[:_MOST_SHOWN])
    return f"{text} + {more} more..." if more > 0 else text


def _containers(template: Object) -> list[str]:
    listed = (template.get("spec") or {}).get("containers") or ()
    return [",".join(one.get(part, "") for one in listed) for part in ("name", "image")]


def creation(obj: Object, _: datetime) -> Row:
    return [name_of(obj), obj["metadata"].get("creationTimestamp")]


def only_age(obj: Object, now: datetime) -> Row:
    return [name_of(obj), age_of(obj, now)]


def scale(obj: Object, now: datetime) -> Row:
    return [name_of(obj), obj["spec"]["replicas"], obj["status"]["replicas"], age_of(obj, now)]


def config_map(obj: Object, now: datetime) -> Row:
    return [name_of(obj), len(obj.get("data") or ()) + len(obj.get("binaryData") or ()), age_of(obj, now)]


def secret(obj: Object, now: datetime) -> Row:
    return [name_of(obj), obj.get("type", ""), len(obj.get("data") or ()), age_of(obj, now)]


def namespace(obj: Object, now: datetime) -> Row:
    return [name_of(obj), obj.get("status", {}).get("phase", ""), age_of(obj, now)]


def endpoints(obj: Object, now: datetime) -> Row:
    listed: list[str] = []
    subsets = obj.get("subsets") or ()
    for subset in subsets:
        addresses = [one.get("ip", "") for one in subset.get("addresses") or ()]
        ports = subset.get("ports") or ()
        listed += [_joined(ip, port.get("port", 0)) for port in ports for ip in addresses] if ports else addresses
    return [name_of(obj), first_few(listed) if subsets else NONE, age_of(obj, now)]


def _joined(ip: str, port: int) -> str:
    return f"[{ip}]:{port}" if ":" in ip else f"{ip}:{port}"


def event(obj: Object, now: datetime) -> Row:
    """Events of both groups; the newer one has other names for the same."""
    about = obj.get("involvedObject") or obj.get("regarding") or {}
    source = obj.get("source") or obj.get("deprecatedSource") or {}
    first = age(obj.get("firstTimestamp") or obj.get("deprecatedFirstTimestamp") or obj.get("eventTime"), now)
    last_time = obj.get("lastTimestamp") or obj.get("deprecatedLastTimestamp")
    last = age(last_time, now) if last_time else first
    count = obj.get("count") or obj.get("deprecatedCount") or 1
    series = obj.get("series")
    if series is not None:
        last, count = age(series.get("lastObservedTime"), now), series.get("count", 0)
    kind = about.get("kind", "").lower()
    component = source.get("component") or obj.get("reportingComponent") or obj.get("reportingController") or ""
    host = source.get("host") or obj.get("reportingInstance") or ""
    return [
        last,
        obj.get("type", ""),
        obj.get("reason", ""),
        f"{kind}/{about['name']}" if about.get("name") else kind,
        about.get("fieldPath", ""),
        f"{component}, {host}" if host else component,
        (obj.get("message") or obj.get("note") or "").strip(),
        first,
        count,
        name_of(obj),
    ]


def node(obj: Object, now: datetime) -> Row:
    status, labels = obj.get("status", {}), obj["metadata"].get("labels") or {}
    states = [
        "Ready" if one.get("status") == "True" else "NotReady"
        for one in status.get("conditions") or ()
        if one.get("type") == "Ready"
    ]
    words = (states or ["Unknown"]) + (["SchedulingDisabled"] if obj.get("spec", {}).get("unschedulable") else [])
    facts = status.get("nodeInfo") or {}
    kernel = facts.get("kernelVersion") or _UNKNOWN
    if facts.get("architecture"):
        kernel += f" ({facts['architecture']})"
    return [
        name_of(obj),
        ",".join(words),
        ",".join(_roles(labels)) or NONE,
        age_of(obj, now),
        facts.get("kubeletVersion", ""),
        _address(status, "InternalIP"),
        _address(status, "ExternalIP"),
        facts.get("osImage") or _UNKNOWN,
        kernel,
        facts.get("containerRuntimeVersion") or _UNKNOWN,
    ]


def _roles(labels: dict[str, str]) -> list[str]:
    prefix = "node-role.kubernetes.io/"
    roles = {label.removeprefix(prefix) for label in labels if label.startswith(prefix)}
    return sorted(filter(None, roles | {labels.get("kubernetes.io/role", "")}))


def _address(status: Object, kind: str) -> str:
    found = (one.get("address", "") for one in status.get("addresses") or () if one.get("type") == kind)
    return next(found, NONE)


def _modes(modes: Iterable[str] | None) -> str:
    given = set(modes or ())
    return ",".join(short for mode, short in _MODES.items() if mode in given)


def claim(obj: Object, now: datetime) -> Row:
    spec, status = obj.get("spec", {}), obj.get("status", {})
    bound = bool(spec.get("volumeName"))
    annotations = obj["metadata"].get("annotations") or {}
    return [
        name_of(obj),
        "Terminating" if _is_deleted(obj) else status.get("phase", ""),
        spec.get("volumeName", ""),
        (status.get("capacity") or {}).get("storage", "0") if bound else "",
        _modes(status.get("accessModes")) if bound else "",
        annotations.get(_CLASS_ANNOTATION, spec.get("storageClassName", "")),
        spec.get("volumeAttributesClassName", UNSET),
        age_of(obj, now),
        spec.get("volumeMode", UNSET),
    ]


def volume(obj: Object, now: datetime) -> Row:
    spec, status = obj.get("spec", {}), obj.get("status", {})
    owner = spec.get("claimRef")
    annotations = obj["metadata"].get("annotations") or {}
    return [
        name_of(obj),
        (spec.get("capacity") or {}).get("storage", "0"),
        _modes(spec.get("accessModes")),
        spec.get("persistentVolumeReclaimPolicy", ""),
        "Terminating" if _is_deleted(obj) else status.get("phase", ""),
        f"{owner.get('namespace', '')}/{owner.get('name', '')}" if owner else "",
        annotations.get(_CLASS_ANNOTATION, spec.get("storageClassName", "")),
        spec.get("volumeAttributesClassName", UNSET),
        status.get("reason", ""),
        age_of(obj, now),
        spec.get("volumeMode", UNSET),
    ]


def pod_template(obj: Object, _: datetime) -> Row:
    template = obj.get("template", {})
    return [name_of(obj), *_containers(template), shown_labels((template.get("metadata") or {}).get("labels"))]


def _replicas(obj: Object, now: datetime, selector: str) -> Row:
    spec, status = obj.get("spec", {}), obj.get("status", {})
    counts = [spec.get("replicas", 0), status.get("replicas", 0), status.get("readyReplicas", 0)]
    return [name_of(obj), *counts, age_of(obj, now), *_containers(spec.get("template") or {}), selector]


def replication_controller(obj: Object, now: datetime) -> Row:
    return _replicas(obj, now, shown_labels(obj.get("spec", {}).get("selector")))


def replica_set(obj: Object, now: datetime) -> Row:
    return _replicas(obj, now, shown(obj.get("spec", {}).get("selector")))


def deployment(obj: Object, now: datetime) -> Row:
    spec, status = obj.get("spec", {}), obj.get("status", {})
    return [
        name_of(obj),
        f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 0)}",
        status.get("updatedReplicas", 0),
        status.get("availableReplicas", 0),
        age_of(obj, now),
        *_containers(spec.get("template", {})),
        shown(spec.get("selector"), ""),
    ]


def stateful_set(obj: Object, now: datetime) -> Row:
    spec = obj.get("spec", {})
    ready = f"{obj.get('status', {}).get('readyReplicas', 0)}/{spec.get('replicas', 0)}"
    return [name_of(obj), ready, age_of(obj, now), *_containers(spec.get("template", {}))]


def daemon_set(obj: Object, now: datetime) -> Row:
    spec, status = obj.get("spec", {}), obj.get("status", {})
    counts = (
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "numberReady",
        "updatedNumberScheduled",
        "numberAvailable",
    )
    template = spec.get("template", {})
    return [
        name_of(obj),
        *(status.get(one, 0) for one in counts),
        shown_labels((template.get("spec") or {}).get("nodeSelector")),
        age_of(obj, now),
        *_containers(template),
        shown(spec.get("selector")),
    ]


def revision(obj: Object, now: datetime) -> Row:
    owner = next((one for one in obj["metadata"].get("ownerReferences") or () if one.get("controller")), None)
    controller = NONE
    if owner is not None:
        group = owner.get("apiVersion", "").rpartition("/")[0]
        kind = f"{owner.get('kind', '')}.{group}" if group else owner.get("kind", "")
        controller = f"{kind.lower()}/{owner.get('name', '')}"
    return [name_of(obj), controller, obj.get("revision", 0), age_of(obj, now)]


def job(obj: Object, now: datetime) -> Row:
    spec, status = obj.get("spec", {}), obj.get("status", {})
    return [
        name_of(obj),
        _job_state(obj, status),
        _completions(spec, status),
        _duration(status, now),
        age_of(obj, now),
        *_containers(spec.get("template", {})),
        shown(spec.get("selector")),
    ]


def _job_state(obj: Object, status: Object) -> str:
    true = {one.get("type") for one in status.get("conditions") or () if one.get("status") == "True"}
    for state in _JOB_STATES:
        if state in true:
            return state
    if _is_deleted(obj):
        return "Terminating"
    return next((state for state in _RUNNING_JOB_STATES if state in true), "Running")


def _completions(spec: Object, status: Object) -> str:
    done, wanted, parallel = status.get("succeeded", 0), spec.get("completions"), spec.get("parallelism", 0)
    if wanted is not None:
        return f"{done}/{wanted}"
    return f"{done}/1 of {parallel}" if parallel > 1 else f"{done}/1"


def _duration(status: Object, now: datetime) -> str:
    start, end = status.get("startTime"), status.get("completionTime")
    if not start:
        return ""
    return age(start, datetime.fromisoformat(end) if end else now)


def cron_job(obj: Object, now: datetime) -> Row:
    spec, status = obj.get("spec", {}), obj.get("status", {})
    job_spec = (spec.get("jobTemplate") or {}).get("spec") or {}
    suspended = spec.get("suspend")
    return [
        name_of(obj),
        spec.get("schedule", ""),
        spec.get("timeZone", NONE),
        UNSET if suspended is None else str(suspended),
        len(status.get("active") or ()),
        age(status["lastScheduleTime"], now) if status.get("lastScheduleTime") else NONE,
        age_of(obj, now),
        *_containers(job_spec.get("template") or {}),
        shown(job_spec.get("selector")),
    ]


def autoscaler(obj: Object, now: datetime) -> Row:
    spec, status = obj.get("spec", {}), obj.get("status", {})
    target = spec.get("scaleTargetRef") or {}
    return [
        name_of(obj),
        f"{target.get('kind', '')}/{target.get('name', '')}",
        _metrics(spec, status),
        str(spec.get("minReplicas", UNSET)),
        spec.get("maxReplicas", 0),
        status.get("currentReplicas", 0),
        age_of(obj, now),
    ]


def _metrics(spec: Object, status: Object) -> str:
    wanted, measured = spec.get("metrics"), status.get("currentMetrics") or []
    if not wanted and "targetCPUUtilizationPercentage" in spec:
        share = status.get("currentCPUUtilizationPercentage")
        return f"cpu: {_UNKNOWN if share is None else f'{share}%'}/{spec['targetCPUUtilizationPercentage']}%"
    if not wanted:
        return NONE
    texts = [_metric(one, measured[index] if index < len(measured) else {}) for index, one in enumerate(wanted)]
    more = len(texts) - _MOST_METRICS
    text = ", ".join(texts[:_MOST_METRICS])
    return f"{text} + {more} more..." if more > 0 else text


def _metric(metric: Object, measured: Object) -> str:
    kind = metric.get("type", "")
    part = _METRIC_SOURCES.get(kind)
    if part is None:
        return "<unknown type>"
    source, current = metric.get(part) or {}, (measured.get(part) or {}).get("current") or {}
    target = source.get("target") or {}
    if kind in {"Resource", "ContainerResource"}:
        if target.get("averageValue") is not None:
            return f"{source.get('name', '')}: {current.get('averageValue', _UNKNOWN)}/{target['averageValue']}"
        now, goal = current.get("averageUtilization"), target.get("averageUtilization")
        texts = (_UNKNOWN if now is None else f"{now}%", "<auto>" if goal is None else f"{goal}%")
        return f"{source.get('name', '')}: {'/'.join(texts)}"
    if target.get("averageValue") is not None:
        suffix = "" if kind == "Pods" else " (avg)"
        return f"{current.get('averageValue', _UNKNOWN)}/{target['averageValue']}{suffix}"
    return f"{current.get('value', _UNKNOWN)}/{target.get('value', '')}"


def budget(obj: Object, now: datetime) -> Row:
    spec = obj.get("spec", {})
    bounds = [str(spec.get(name, "N/A")) for name in ("minAvailable", "maxUnavailable")]
    return [name_of(obj), *bounds, obj.get("status", {}).get("disruptionsAllowed", 0), age_of(obj, now)]
