"""Deployment, ReplicaSet, StatefulSet, DaemonSet, ReplicationController and ControllerRevision."""

from __future__ import annotations

from kubekit.errors import FieldError, not_supported
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules
from kubekit.server.objects.problems import Problems, bad, forbidden, not_negative, refuse_each, required, unchanged

from ..builtin import label_selectors
from ..builtin.behaviour import BuiltIn
from ..builtin.warnings import remarks_on_stateful_set
from ..pods.checks import check_template
from ..pods.defaults import fill_claim_spec, fill_pod_spec
from ..pods.warnings import remarks_on_template
from ..storage.volumes import check_claim_spec
from .percentages import check_int_or_percent, check_not_above_all, is_zero

_NO_MATCH = "`selector` does not match template `labels`"
_TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"
_COUNTS = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
_STATEFUL_SET_MAY_CHANGE = (
    *("replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit"),
    *("persistentVolumeClaimRetentionPolicy", "minReadySeconds"),
)


def _fill_strategy(strategy: Object, **defaults: int | str) -> None:
    """A strategy is a rolling update unless it says otherwise."""
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        for name, value in defaults.items():
            rolling.setdefault(name, value)


def _fill_deployment(obj: Object) -> None:
    spec = obj["spec"]
    fill_pod_spec(spec["template"]["spec"])
    spec.setdefault("replicas", 1)
    spec.setdefault("revisionHistoryLimit", 10)
    spec.setdefault("progressDeadlineSeconds", 600)
    _fill_strategy(spec["strategy"], maxUnavailable="25%", maxSurge="25%")


def _fill_replica_set(obj: Object) -> None:
    obj["spec"].setdefault("replicas", 1)
    fill_pod_spec(obj["spec"]["template"]["spec"])


def _fill_daemon_set(obj: Object) -> None:
    spec, metadata = obj["spec"], obj["metadata"]
    fill_pod_spec(spec["template"]["spec"])
    spec.setdefault("revisionHistoryLimit", 10)
    _fill_strategy(spec["updateStrategy"], maxUnavailable=1, maxSurge=0)
    metadata["annotations"] = {_TEMPLATE_GENERATION: "1", **(metadata.get("annotations") or {})}


def _fill_stateful_set(obj: Object) -> None:
    spec = obj["spec"]
    fill_pod_spec(spec["template"]["spec"])
    spec.setdefault("replicas", 1)
    spec.setdefault("revisionHistoryLimit", 10)
    spec.setdefault("podManagementPolicy", "OrderedReady")
    strategy = spec["updateStrategy"]
    if "type" not in strategy:
        strategy["type"] = "RollingUpdate"
        strategy.setdefault("rollingUpdate", {})
    if strategy["type"] == "RollingUpdate" and "rollingUpdate" in strategy:
        strategy["rollingUpdate"].setdefault("partition", 0)
    policy = spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
    policy.setdefault("whenDeleted", "Retain")
    policy.setdefault("whenScaled", "Retain")
    for claim in spec.get("volumeClaimTemplates", ()):
        claim["kind"], claim["apiVersion"] = "PersistentVolumeClaim", "v1"
        fill_claim_spec(claim["spec"])
        claim["status"].setdefault("phase", "Pending")


def _fill_replication_controller(obj: Object) -> None:
    spec = obj["spec"]
    spec.setdefault("replicas", 1)
    template = spec.get("template")
    if template is None:
        return
    fill_pod_spec(template["spec"])
    labels = template["metadata"].get("labels")
    if labels:
        spec["selector"] = spec.get("selector") or dict(labels)
        obj["metadata"]["labels"] = obj["metadata"].get("labels") or dict(labels)


def _check_selected(found: Problems, spec: Object, kind: str, unusable: str) -> bool:
    """A selector that is there, is valid, selects something, and selects the template's own pods.

    False when it cannot be used at all, which the real server says with `unusable` and then looks no further.
    """
    selector = spec.get("selector")
    if selector is None:
        found.append(required("spec.selector"))
    else:
        wrong: Problems = []
        label_selectors.check_selector(wrong, selector, "spec.selector")
        found.extend(wrong)
        if label_selectors.is_empty(selector):
            found.append(bad("spec.selector", selector, f"empty selector is invalid for {kind}"))
        if wrong:
            found.append(bad("spec.selector", label_selectors.in_order(selector), unusable))
            return False
    _check_matches(found, selector, spec["template"])
    return True


def _check_matches(found: Problems, selector: Object | None, template: Object) -> None:
    labels = template["metadata"].get("labels")
    if not label_selectors.matches(selector, labels):
        shown = None if labels is None else dict(sorted(labels.items()))
        found.append(bad("spec.template.metadata.labels", shown, _NO_MATCH))


def _check_always_running(found: Problems, template: Object, path: str, kind: str) -> None:
    """Pods that are replaced when they end must restart and may not have a deadline."""
    spec = template["spec"]
    if spec["restartPolicy"] != "Always":
        found.append(not_supported(f"{path}.spec.restartPolicy", spec["restartPolicy"], ("Always",)))
    if spec.get("activeDeadlineSeconds") is not None:
        detail = f"activeDeadlineSeconds in {kind} is not Supported"
        found.append(forbidden(f"{path}.spec.activeDeadlineSeconds", detail))


def _check_deployment(obj: Object) -> list[FieldError]:
    found: Problems = []
    spec = obj["spec"]
    not_negative(found, spec, "replicas", "spec")
    if _check_selected(found, spec, "deployment", "invalid label selector"):
        check_template(found, spec["template"], "spec.template")
        _check_always_running(found, spec["template"], "spec.template", "ReplicaSet")
    _check_deployment_strategy(found, spec["strategy"], "spec.strategy")
    not_negative(found, spec, "minReadySeconds", "spec")
    not_negative(found, spec, "revisionHistoryLimit", "spec")
    not_negative(found, spec, "progressDeadlineSeconds", "spec")
    deadline = spec["progressDeadlineSeconds"]
    if deadline <= (spec.get("minReadySeconds") or 0):
        found.append(bad("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds"))
    return found


def _check_deployment_strategy(found: Problems, strategy: Object, path: str) -> None:
    match strategy["type"]:
        case "Recreate":
            if "rollingUpdate" in strategy:
                detail = "may not be specified when strategy `type` is 'Recreate'"
                found.append(forbidden(f"{path}.rollingUpdate", detail))
        case "RollingUpdate":
            rolling, place = strategy["rollingUpdate"], f"{path}.rollingUpdate"
            check_int_or_percent(found, rolling["maxUnavailable"], f"{place}.maxUnavailable")
            check_int_or_percent(found, rolling["maxSurge"], f"{place}.maxSurge")
            if is_zero(rolling["maxUnavailable"]) and is_zero(rolling["maxSurge"]):
                detail = "may not be 0 when `maxSurge` is 0"
                found.append(bad(f"{place}.maxUnavailable", rolling["maxUnavailable"], detail))
            check_not_above_all(found, rolling["maxUnavailable"], f"{place}.maxUnavailable")
        case _:
            found.append(not_supported(path, _shown(strategy), ("Recreate", "RollingUpdate")))


def _shown(strategy: Object) -> Object:
    """A strategy nobody knows, with the names it has inside the real server."""
    return {"Type": strategy["type"], "RollingUpdate": strategy.get("rollingUpdate")}


def _shown_partition(rolling: Object) -> Object:
    return {"Partition": rolling.get("partition", 0), "MaxUnavailable": rolling.get("maxUnavailable")}


def _check_deployment_update(obj: Object, old: Object) -> list[FieldError]:
    if obj.get("status") != old.get("status"):
        return _check_counts(obj["status"])
    found = _check_deployment(obj)
    label_selectors.check_unchanged(found, obj["spec"].get("selector"), old["spec"].get("selector"))
    return found


def _check_counts(status: Object) -> list[FieldError]:
    """Of a Deployment's replicas, none below zero and none above all."""
    found: Problems = []
    for name in ("observedGeneration", *_COUNTS, "unavailableReplicas", "collisionCount"):
        not_negative(found, status, name, "status")
    counts = {name: status.get(name) or 0 for name in _COUNTS}
    for name in _COUNTS[1:]:
        if counts[name] > counts["replicas"]:
            found.append(bad(f"status.{name}", counts[name], "cannot be greater than status.replicas"))
    if counts["availableReplicas"] > counts["readyReplicas"]:
        detail = "cannot be greater than readyReplicas"
        found.append(bad("status.availableReplicas", counts["availableReplicas"], detail))
    return found


def _check_replica_set(obj: Object) -> list[FieldError]:
    found: Problems = []
    spec = obj["spec"]
    not_negative(found, spec, "replicas", "spec")
    not_negative(found, spec, "minReadySeconds", "spec")
    if _check_selected(found, spec, "deployment", "invalid label selector"):
        check_template(found, spec["template"], "spec.template")
        _check_always_running(found, spec["template"], "spec.template", "ReplicaSet")
    return found


def _check_replica_set_update(obj: Object, old: Object) -> list[FieldError]:
    found = _check_replica_set(obj)
    label_selectors.check_unchanged(found, obj["spec"].get("selector"), old["spec"].get("selector"))
    return found


def _check_daemon_set(obj: Object) -> list[FieldError]:
    found: Problems = []
    spec = obj["spec"]
    selector = spec.get("selector")
    label_selectors.check_selector(found, selector, "spec.selector")
    if not found:
        _check_matches(found, selector, spec["template"])
    if selector is not None and label_selectors.is_empty(selector):
        found.append(bad("spec.selector", selector, "empty selector is invalid for daemonset"))
    check_template(found, spec["template"], "spec.template")
    _check_always_running(found, spec["template"], "spec.template", "DaemonSet")
    not_negative(found, spec, "minReadySeconds", "spec")
    _check_daemon_strategy(found, spec["updateStrategy"], "spec.updateStrategy")
    not_negative(found, spec, "revisionHistoryLimit", "spec")
    return found


def _check_daemon_strategy(found: Problems, strategy: Object, path: str) -> None:
    match strategy["type"]:
        case "OnDelete":
            return
        case "RollingUpdate":
            rolling, place = strategy["rollingUpdate"], f"{path}.rollingUpdate"
            for name in ("maxUnavailable", "maxSurge"):
                check_int_or_percent(found, rolling[name], f"{place}.{name}")
            for name in ("maxUnavailable", "maxSurge"):
                check_not_above_all(found, rolling[name], f"{place}.{name}")
            none_down, none_extra = is_zero(rolling["maxUnavailable"]), is_zero(rolling["maxSurge"])
            if not none_down and not none_extra:
                detail = "may not be set when maxUnavailable is non-zero"
                found.append(bad(f"{place}.maxSurge", rolling["maxSurge"], detail))
            elif none_down and none_extra:
                found.append(required(f"{place}.maxUnavailable", "cannot be 0 when maxSurge is 0"))
        case _:
            found.append(not_supported(path, _shown(strategy), ("RollingUpdate", "OnDelete")))


def _carry_daemon_set(obj: Object, old: Object) -> None:
    generation = int((old["metadata"].get("annotations") or {}).get(_TEMPLATE_GENERATION, "1"))
    if obj["spec"].get("template") != old["spec"].get("template"):
        generation += 1
    metadata = obj["metadata"]
    metadata["annotations"] = {**(metadata.get("annotations") or {}), _TEMPLATE_GENERATION: str(generation)}


def _check_daemon_set_update(obj: Object, old: Object) -> list[FieldError]:
    found: Problems = []
    label_selectors.check_unchanged(found, obj["spec"].get("selector"), old["spec"].get("selector"))
    return [*found, *_check_daemon_set(obj)]


def _check_stateful_set(obj: Object, *, is_new: bool = True) -> list[FieldError]:
    found: Problems = []
    spec = obj["spec"]
    if (policy := spec["podManagementPolicy"]) not in {"OrderedReady", "Parallel"}:
        found.append(bad("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'"))
    _check_stateful_strategy(found, spec["updateStrategy"], "spec.updateStrategy")
    for moment, choice in spec["persistentVolumeClaimRetentionPolicy"].items():
        if choice not in {"Retain", "Delete"}:
            field = f"spec.persistentVolumeClaimRetentionPolicy.{moment}"
            found.append(not_supported(field, choice, ("Retain", "Delete")))
    claims = spec.get("volumeClaimTemplates") or ()
    for index, claim in enumerate(claims if is_new else ()):
        check_claim_spec(found, claim["spec"], f"spec.volumeClaimTemplates[{index}].spec")
    not_negative(found, spec, "replicas", "spec")
    not_negative(found, spec, "minReadySeconds", "spec")
    not_negative(found, spec.get("ordinals") or {}, "start", "spec.ordinals")
    if is_new and spec.get("serviceName"):
        refuse_each(found, "spec.serviceName", spec["serviceName"], name_rules.label(spec["serviceName"]))
    if _check_selected(found, spec, "statefulset", ""):
        mounted = [claim["metadata"].get("name", "") for claim in claims]
        check_template(found, spec["template"], "spec.template", also_mounted=mounted)
    _check_always_running(found, spec["template"], "spec.template", "StatefulSet")
    return found


def _check_stateful_strategy(found: Problems, strategy: Object, path: str) -> None:
    rolling = strategy.get("rollingUpdate")
    match strategy["type"]:
        case "OnDelete":
            if rolling is not None:
                detail = "only allowed for updateStrategy 'RollingUpdate'"
                found.append(bad(f"{path}.rollingUpdate", _shown_partition(rolling), detail))
        case "RollingUpdate":
            if rolling is not None:
                not_negative(found, rolling, "partition", f"{path}.rollingUpdate")
        case _:
            shown = {**_shown(strategy), "RollingUpdate": rolling and _shown_partition(rolling)}
            found.append(bad(path, shown, "must be 'RollingUpdate' or 'OnDelete'"))


def _check_stateful_set_update(obj: Object, old: Object) -> list[FieldError]:
    found = _check_stateful_set(obj, is_new=False)
    spec, before = obj["spec"], old["spec"]
    fixed = {*spec, *before}.difference(_STATEFUL_SET_MAY_CHANGE)
    if any(spec.get(name) != before.get(name) for name in fixed):
        *names, last = (f"'{name}'" for name in _STATEFUL_SET_MAY_CHANGE)
        others = f"fields other than {', '.join(names)} and {last}"
        found.append(forbidden("spec", f"updates to statefulset spec for {others} are forbidden"))
    return found


def _check_replication_controller(obj: Object) -> list[FieldError]:
    found: Problems = []
    spec = obj["spec"]
    not_negative(found, spec, "minReadySeconds", "spec")
    selector, template = spec.get("selector"), spec.get("template")
    if not selector:
        found.append(required("spec.selector"))
    not_negative(found, spec, "replicas", "spec")
    if template is None:
        found.append(required("spec.template"))
        return found
    if selector:
        _check_matches(found, {"matchLabels": selector}, template)
    check_template(found, template, "spec.template")
    _check_always_running(found, template, "spec.template", "ReplicationController")
    return found


def _check_revision(obj: Object) -> list[FieldError]:
    found: Problems = []
    not_negative(found, obj, "revision", "")
    data = obj.get("data")
    if data is None:
        found.append(required("data", "data is mandatory"))
    elif not isinstance(data, dict):
        found.append(required("data", "data must be a valid JSON object"))
    return found


def _check_revision_update(obj: Object, old: Object) -> list[FieldError]:
    found: Problems = []
    unchanged(found, "data", obj.get("data"), old.get("data"))
    return found


KINDS = {
    ("apps", "Deployment"): BuiltIn(
        fill=_fill_deployment,
        check=_check_deployment,
        named_after="Pod names and hostnames",
        remarks=remarks_on_template("spec", "template"),
        check_update=_check_deployment_update,
        status=True,
        generation=("spec", "metadata.annotations"),
    ),
    ("apps", "ReplicaSet"): BuiltIn(
        fill=_fill_replica_set,
        check=_check_replica_set,
        named_after="Pod names and hostnames",
        remarks=remarks_on_template("spec", "template"),
        check_update=_check_replica_set_update,
        status=True,
        generation=("spec",),
    ),
    ("apps", "StatefulSet"): BuiltIn(
        fill=_fill_stateful_set,
        check=_check_stateful_set,
        remarks=remarks_on_stateful_set,
        check_update=_check_stateful_set_update,
        status=True,
        name_rule="label",
        generation=("spec",),
    ),
    ("apps", "DaemonSet"): BuiltIn(
        fill=_fill_daemon_set,
        carry=_carry_daemon_set,
        check=_check_daemon_set,
        remarks=remarks_on_template("spec", "template"),
        check_update=_check_daemon_set_update,
        status=True,
        generation=("spec",),
    ),
    ("apps", "ControllerRevision"): BuiltIn(check=_check_revision, check_update=_check_revision_update),
    ("", "ReplicationController"): BuiltIn(
        fill=_fill_replication_controller,
        check=_check_replication_controller,
        named_after="Pod names and hostnames",
        remarks=remarks_on_template("spec", "template"),
        status=True,
        generation=("spec",),
    ),
}
