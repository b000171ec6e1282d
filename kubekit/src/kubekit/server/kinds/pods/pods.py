"""Pods themselves: what admission adds, their quality of service, and the little of them that may change."""

from __future__ import annotations

from collections.abc import Hashable

from kubekit.errors import FieldError
from kubekit.model.quantity import Quantity
from kubekit.model.resource import Object
from kubekit.server.objects.problems import Problems, bad, forbidden, required, shown_changes

from ..builtin import quantities
from ..builtin.behaviour import BuiltIn
from .checks import check_pod_spec, check_template, check_tolerations
from .containers import check_image_spaces
from .defaults import fill_pod_spec
from .gated import check_narrowing
from .warnings import remarks_on_pod

SYSTEM_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
_PATIENCE_SECONDS = 300
_TAINTS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_CHANGEABLE = ",".join(
    (
        "`spec.containers[*].image`",
        "`spec.initContainers[*].image`",
        "`spec.activeDeadlineSeconds`",
        "`spec.tolerations` (only additions to existing tolerations)",
        "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
    )
)
_MEASURED = ("cpu", "memory")


def _fill_pod(obj: Object) -> None:
    spec = obj["spec"]
    fill_pod_spec(spec)
    on_host = spec.get("hostNetwork")
    for list_name in ("containers", "initContainers"):
        for container in spec.get(list_name) or ():
            _request_what_is_limited(container["resources"])
            for port in container.get("ports") or () if on_host else ():
                port["hostPort"] = port.get("hostPort") or port.get("containerPort") or 0
    if spec.get("enableServiceLinks") is None:
        spec["enableServiceLinks"] = True
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        spec["terminationGracePeriodSeconds"] = 1


def _request_what_is_limited(resources: Object) -> None:
    limits = resources.get("limits")
    if limits:
        resources["requests"] = {**limits, **(resources.get("requests") or {})}


def admit(spec: Object) -> None:
    """What the admission plugins every cluster runs add to a new pod: account, priority and patience with nodes.

    Unlike defaults it belongs to nobody, so it comes after ownership is recorded."""
    if not spec.get("serviceAccountName"):
        spec["serviceAccountName"] = spec["serviceAccount"] = "default"
    if spec.get("priority") is None:
        priority = SYSTEM_PRIORITIES.get(spec["priorityClassName"]) if spec.get("priorityClassName") else 0
        if priority is not None:
            spec["priority"] = priority
    if not spec.get("preemptionPolicy"):
        spec["preemptionPolicy"] = "PreemptLowerPriority"
    _give_patience(spec)


def _carry_pod(obj: Object, old: Object) -> None:
    """What admission adds to a change that leaves it out."""
    for name in ("priority", "preemptionPolicy"):
        if obj["spec"].get(name) is None and name in old["spec"]:
            obj["spec"][name] = old["spec"][name]
    _give_patience(obj["spec"])


def _give_patience(spec: Object) -> None:
    tolerations = spec.get("tolerations") or []
    added = [_patience(taint) for taint in _TAINTS if not any(_tolerates(one, taint) for one in tolerations)]
    if added:
        spec["tolerations"] = [*tolerations, *added]


def _patience(taint: str) -> Object:
    return {"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _PATIENCE_SECONDS}


def _tolerates(toleration: Object, taint: str) -> bool:
    return toleration.get("key", "") in {"", taint} and toleration.get("effect", "") in {"", "NoExecute"}


def _begin_pod(obj: Object) -> None:
    _narrow_by_own_labels(obj)
    obj["status"] = {"phase": "Pending", "qosClass": quality_of_service(obj["spec"])}
    if obj["spec"].get("schedulingGates"):
        gated = {
            "type": "PodScheduled",
            "status": "False",
            "lastProbeTime": None,
            "lastTransitionTime": None,
            "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
        }
        obj["status"]["conditions"] = [gated]


def _narrow_by_own_labels(obj: Object) -> None:
    """Selectors that mean "pods like me in these labels" get the pod's own values."""
    labels, spec = obj["metadata"].get("labels") or {}, obj["spec"]
    for constraint in spec.get("topologySpreadConstraints") or ():
        _narrow(constraint, labels, "matchLabelKeys", "In")
    for kind in ("podAffinity", "podAntiAffinity"):
        rules = (spec.get("affinity") or {}).get(kind) or {}
        terms = list(rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ())
        preferred = rules.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        terms += [weighted["podAffinityTerm"] for weighted in preferred]
        for term in terms:
            _narrow(term, labels, "matchLabelKeys", "In")
            _narrow(term, labels, "mismatchLabelKeys", "NotIn")


def _narrow(holder: Object, labels: dict[str, str], keys: str, operator: str) -> None:
    selector = holder.get("labelSelector")
    added = [
        {"key": key, "operator": operator, "values": [labels[key]]} for key in holder.get(keys) or () if key in labels
    ]
    if selector is not None and added:
        selector["matchExpressions"] = [*selector.get("matchExpressions", ()), *added]


def quality_of_service(spec: Object) -> str:
    """Guaranteed, Burstable or BestEffort, from the requests and limits of all containers."""
    requested: dict[str, Quantity] = {}
    limited: dict[str, Quantity] = {}
    all_limited = True
    for list_name in ("containers", "initContainers"):
        for container in spec.get(list_name) or ():
            resources = container.get("resources") or {}
            _add_up(requested, resources.get("requests"))
            all_limited &= _add_up(limited, resources.get("limits")) == len(_MEASURED)
    if not requested and not limited:
        return "BestEffort"
    same = len(requested) == len(limited) and all(limited.get(name) == value for name, value in requested.items())
    return "Guaranteed" if all_limited and same else "Burstable"


def _add_up(totals: dict[str, Quantity], listed: Object | None) -> int:
    """Add what is asked for to the totals; answers how many of cpu and memory are set."""
    positive = 0
    for name in _MEASURED:
        value = (listed or {}).get(name)
        if value is not None and quantities.amount(value) > quantities.ZERO:
            positive += 1
            totals[name] = totals.get(name, quantities.ZERO) + quantities.amount(value)
    return positive


def check_metadata_and_spec(found: Problems, obj: Object) -> None:
    """What holds for a pod however it came to be."""
    check_pod_spec(found, obj["spec"], "spec", is_pod=True)
    check_image_spaces(found, obj["spec"], "spec")


def _check_pod(obj: Object) -> list[FieldError]:
    found: Problems = []
    check_metadata_and_spec(found, obj)
    spec = obj["spec"]
    if spec.get("ephemeralContainers"):
        found.append(forbidden("spec.ephemeralContainers", "cannot be set on create"))
    if spec.get("nodeName") and spec.get("schedulingGates"):
        found.append(forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared"))
    return found


def _check_pod_update(obj: Object, old: Object) -> list[FieldError]:
    found: Problems = []
    check_metadata_and_spec(found, obj)
    spec, before = obj["spec"], old["spec"]
    for name in ("containers", "initContainers"):
        if not _same_containers(found, spec.get(name) or [], before.get(name) or [], f"spec.{name}"):
            return found
    if not _deadline_allowed(found, spec.get("activeDeadlineSeconds"), before.get("activeDeadlineSeconds")):
        return found
    _check_added_tolerations(found, spec, before)
    _check_removed_gates(found, spec, before)
    if before.get("schedulingGates"):
        spec = check_narrowing(found, spec, before)
    if spec != before and (changed := _other_changes(spec, before)):
        detail = f"pod updates may not change fields other than {_CHANGEABLE}\n{changed}"
        found.append(forbidden("spec", detail))
    return found


def _same_containers(found: Problems, new: list[Object], old: list[Object], path: str) -> bool:
    if len(new) != len(old):
        found.append(forbidden(path, "pod updates may not add or remove containers"))
        return False
    for index, container in enumerate(new):
        if not container.get("image"):
            found.append(required(f"{path}[{index}].image"))
    return True


def _deadline_allowed(found: Problems, new: int | None, old: int | None) -> bool:
    path = "spec.activeDeadlineSeconds"
    if new is None:
        if old is not None:
            found.append(bad(path, new, "must not update from a positive integer to nil value"))
        return True
    if old is not None and old < new:
        found.append(bad(path, new, "must be less than or equal to previous value"))
        return False
    return True


def _check_added_tolerations(found: Problems, spec: Object, before: Object) -> None:
    def without_seconds(toleration: Object) -> Hashable:
        return frozenset((name, value) for name, value in toleration.items() if name != "tolerationSeconds")

    kept = {without_seconds(one) for one in spec.get("tolerations") or ()}
    if any(without_seconds(one) not in kept for one in before.get("tolerations") or ()):
        detail = "existing toleration can not be modified except its tolerationSeconds"
        found.append(forbidden("spec.tolerations", detail))
        return
    check_tolerations(found, spec.get("tolerations") or (), "spec.tolerations")


def _check_removed_gates(found: Problems, spec: Object, before: Object) -> None:
    known = {gate.get("name") for gate in before.get("schedulingGates") or ()}
    for index, gate in enumerate(spec.get("schedulingGates") or ()):
        if gate.get("name") not in known:
            detail = f"only deletion is allowed, but found new scheduling gate '{gate.get('name')}'"
            found.append(forbidden(f"spec.schedulingGates[{index}].name", detail))


def _other_changes(spec: Object, before: Object) -> str:
    """What differs beside the fields that may."""
    new, old = dict(spec), dict(before)
    for name in ("activeDeadlineSeconds", "schedulingGates", "tolerations"):
        new.pop(name, None)
        old.pop(name, None)
    for name in ("containers", "initContainers"):
        for side in (new, old):
            side[name] = [{**container, "image": ""} for container in side.get(name) or ()]
    if (old.get("terminationGracePeriodSeconds") or 0) < 0 and new.get("terminationGracePeriodSeconds") == 1:
        new["terminationGracePeriodSeconds"] = old["terminationGracePeriodSeconds"]
    return shown_changes(old, new)


def _fill_pod_template(obj: Object) -> None:
    fill_pod_spec(obj["template"]["spec"])


def _check_pod_template(obj: Object) -> list[FieldError]:
    found: Problems = []
    check_template(found, obj["template"], "template")
    return found


KINDS = {
    ("", "Pod"): BuiltIn(
        fill=_fill_pod,
        begin=_begin_pod,
        carry=_carry_pod,
        check=_check_pod,
        check_update=_check_pod_update,
        named_after="the Pod's hostname",
        first_remarks=remarks_on_pod,
        status=True,
        generation=("spec",),
    ),
    ("", "PodTemplate"): BuiltIn(fill=_fill_pod_template, check=_check_pod_template, generation=("template",)),
}
