"""Job and CronJob."""

from __future__ import annotations

import re
import zoneinfo

from kubekit.errors import FieldError, not_supported
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules
from kubekit.server.objects.problems import (
    IMMUTABLE,
    Problems,
    bad,
    not_negative,
    refuse_each,
    required,
    too_long,
    unchanged,
)

from ..builtin import label_selectors
from ..builtin.behaviour import BuiltIn
from ..builtin.warnings import remarks_on_cron_job
from ..pods.checks import check_template
from ..pods.defaults import fill_pod_spec
from ..pods.warnings import remarks_on_template
from . import schedules
from .job_policies import check_failure_policy, check_size, check_success_policy

_PREFIX = "batch.kubernetes.io/"
_CONTROLLER, _NAME = f"{_PREFIX}controller-uid", f"{_PREFIX}job-name"
_LEGACY_CONTROLLER, _LEGACY_NAME = "controller-uid", "job-name"
_MODES = ("NonIndexed", "Indexed")
_CONCURRENCY = ("Allow", "Forbid", "Replace")
_REPLACEMENTS = ("Failed", "TerminatingOrFailed")
_COUNTS = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)
_FIXED = ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy")
_MOVABLE = {"nodeSelector", "tolerations", "schedulingGates", "affinity"}
_LONGEST_MANAGER = 63
_NEEDS_INDEX = "requires indexed completion mode"
_zone_part = re.compile(r"[A-Za-z0-9_+][A-Za-z0-9_+-]*").fullmatch


def _fill_job(obj: Object) -> None:
    spec = obj["spec"]
    _fill_template_and_policy(spec)
    if "parallelism" not in spec:
        spec.setdefault("completions", 1)
        spec["parallelism"] = 1
    spec.setdefault("backoffLimit", 2**31 - 1 if "backoffLimitPerIndex" in spec else 6)
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    spec.setdefault("manualSelector", False)
    spec.setdefault("podReplacementPolicy", "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed")
    _share_labels(obj)


def _fill_template_and_policy(spec: Object) -> None:
    fill_pod_spec(spec["template"]["spec"])
    for rule in spec.get("podFailurePolicy", {}).get("rules") or ():
        for pattern in rule.get("onPodConditions") or ():
            pattern["status"] = pattern.get("status") or "True"


def _share_labels(obj: Object) -> None:
    """A job without labels has those of its pods: the same ones, so that it gets what they get."""
    labels = obj["spec"]["template"]["metadata"].get("labels")
    if labels and not obj["metadata"].get("labels"):
        obj["metadata"]["labels"] = labels


def _has_labels_of_pods(obj: Object) -> bool:
    """Whether they are the same ones, and not only alike."""
    labels = obj["metadata"].get("labels")
    return labels is not None and labels is obj["spec"]["template"]["metadata"].get("labels")


def _begin_job(obj: Object) -> None:
    if _has_labels_of_pods(obj):
        del obj["metadata"]["labels"]
    if not obj["spec"]["manualSelector"]:
        _generate_selector(obj["spec"], obj["metadata"])
    _carry_job(obj, obj)


def _carry_job(obj: Object, _old: Object) -> None:
    _share_labels(obj)
    if _has_labels_of_pods(obj):
        obj["metadata"]["labels"] = dict(obj["metadata"]["labels"])


def _generate_selector(spec: Object, metadata: Object) -> None:
    name, uid = metadata.get("name", ""), metadata.get("uid", "")
    marks = {_LEGACY_NAME: name, _NAME: name, _LEGACY_CONTROLLER: uid, _CONTROLLER: uid}
    template = spec["template"]["metadata"]
    template["labels"] = {**marks, **(template.get("labels") or {})}
    selector = spec["selector"] = dict(spec.get("selector") or {})
    selector["matchLabels"] = {_CONTROLLER: uid, **(selector.get("matchLabels") or {})}


def _check_job(obj: Object, *, is_marked: bool = True) -> list[FieldError]:
    """`is_marked` unless the job is from before pods carried labels with a prefix."""
    found: Problems = []
    spec, metadata = obj["spec"], obj["metadata"]
    if not spec["manualSelector"] and spec.get("selector") is not None:
        _check_generated(found, spec, metadata, is_marked=is_marked)
    _check_job_spec(found, spec, "spec")
    _check_job_selector(found, spec)
    completions = spec.get("completions")
    if spec["completionMode"] == "Indexed" and completions:
        host = f"{metadata.get('name', '')}-{completions - 1}"
        if name_rules.label(host):
            detail = f"will not able to create pod with invalid DNS label: {host}"
            found.append(bad("metadata.name", metadata.get("name"), detail))
    return found


def _check_generated(found: Problems, spec: Object, metadata: Object, *, is_marked: bool) -> None:
    name, uid = metadata.get("name", ""), metadata.get("uid", "")
    expected = {_LEGACY_CONTROLLER: uid, _LEGACY_NAME: name}
    if is_marked:
        expected |= {_CONTROLLER: uid, _NAME: name}
    labels = spec["template"]["metadata"].get("labels") or {}
    for key, value in expected.items():
        path = "spec.template.metadata.labels"
        if key not in labels:
            found.append(required(f"{path}[{key}]", f"must be '{value}'"))
        elif labels[key] != value:
            found.append(bad(f"{path}[{key}]", labels, f"must be '{value}'"))
    if not label_selectors.matches(spec["selector"], expected):
        shown = label_selectors.in_order(spec["selector"])
        found.append(bad("spec.selector", shown, "`selector` not auto-generated"))


def _check_job_selector(found: Problems, spec: Object) -> None:
    selector, wrong = spec.get("selector"), Problems()
    if selector is None:
        found.append(required("spec.selector"))
    label_selectors.check_selector(wrong, selector, "spec.selector")
    found.extend(wrong)
    labels = spec["template"]["metadata"].get("labels")
    if not wrong and not label_selectors.matches(selector, labels):
        shown = None if labels is None else dict(sorted(labels.items()))
        found.append(bad("spec.template.metadata.labels", shown, "`selector` does not match template `labels`"))


def _check_job_spec(found: Problems, spec: Object, path: str) -> None:
    for name in _COUNTS:
        not_negative(found, spec, name, path)
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        found.append(required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified"))
    if spec.get("managedBy") is not None:
        manager = spec["managedBy"]
        if manager:
            refuse_each(found, f"{path}.managedBy", manager, name_rules.prefixed_path(manager))
        else:
            found.append(required(f"{path}.managedBy"))
        if len(manager) > _LONGEST_MANAGER:
            found.append(too_long(f"{path}.managedBy", _LONGEST_MANAGER))
    _check_completion_mode(found, spec, path)
    if spec.get("podFailurePolicy") is not None:
        check_failure_policy(found, spec, f"{path}.podFailurePolicy")
    if spec.get("successPolicy") is not None:
        if spec.get("completionMode") == "Indexed":
            check_success_policy(found, spec, f"{path}.successPolicy")
        else:
            found.append(bad(f"{path}.successPolicy", spec["successPolicy"], _NEEDS_INDEX))
    policy = spec.get("podReplacementPolicy")
    allowed = _REPLACEMENTS if spec.get("podFailurePolicy") is None else ("Failed",)
    if policy is not None and policy not in allowed:
        found.append(not_supported(f"{path}.podReplacementPolicy", policy, allowed))
    check_template(found, spec["template"], f"{path}.template")
    _check_restart_policy(found, spec, f"{path}.template.spec.restartPolicy")


def _check_completion_mode(found: Problems, spec: Object, path: str) -> None:
    mode = spec.get("completionMode")
    if mode is not None and mode not in _MODES:
        found.append(not_supported(f"{path}.completionMode", mode, _MODES))
    if mode == "Indexed":
        if spec.get("completions") is None:
            found.append(required(f"{path}.completions", "when completion mode is Indexed"))
        check_size(found, spec, path)
    elif mode in {None, "NonIndexed"}:
        for name in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if spec.get(name) is not None:
                found.append(bad(f"{path}.{name}", spec[name], _NEEDS_INDEX))


def _check_restart_policy(found: Problems, spec: Object, path: str) -> None:
    policy = spec["template"]["spec"]["restartPolicy"]
    if policy == "Always":
        found.append(required(path, 'valid values: "OnFailure", "Never"'))
    elif policy not in {"OnFailure", "Never"}:
        found.append(not_supported(path, policy, ("OnFailure", "Never")))
    elif spec.get("podFailurePolicy") is not None and policy != "Never":
        found.append(bad(path, policy, 'only "Never" is supported when podFailurePolicy is specified'))


def _check_job_update(obj: Object, old: Object) -> list[FieldError]:
    # The real server looks at the whole of a changed job and then at its spec, and counts what it finds twice.
    spec, before = obj["spec"], old["spec"]
    marks = before["template"]["metadata"].get("labels") or {}
    found = _check_job(obj, is_marked=_CONTROLLER in marks and _NAME in marks)
    _check_job_spec(found, spec, "spec")
    _check_job_selector(found, spec)
    _check_completions(found, spec, before)
    label_selectors.check_unchanged(found, spec.get("selector"), before.get("selector"))
    _check_template_update(found, spec["template"], old)
    for name in _FIXED:
        unchanged(found, f"spec.{name}", spec.get(name), before.get(name))
    return found


def _check_completions(found: Problems, spec: Object, before: Object) -> None:
    new, old = spec.get("completions"), before.get("completions")
    if spec["completionMode"] != "Indexed":
        unchanged(found, "spec.completions", new, old)
    elif new is not None and new != old and new != spec["parallelism"]:
        found.append(bad("spec.completions", new, "can only be modified in tandem with spec.parallelism"))


def _check_template_update(found: Problems, template: Object, old: Object) -> None:
    """Pods of a suspended job that runs none may go elsewhere, and ask for other resources."""
    before, status = old["spec"]["template"], old.get("status") or {}
    halted = any(
        (one.get("type"), one.get("status")) == ("Suspended", "True") for one in status.get("conditions") or ()
    )
    is_free = old["spec"].get("suspend") and not status.get("active") and (halted or not status.get("startTime"))
    if not is_free:
        unchanged(found, "spec.template", template, before)
        return
    new, former = template["spec"], before["spec"]
    if _fixed_parts(new, former) != _fixed_parts(former, new):
        found.append(bad("spec.template.spec", new, IMMUTABLE))


def _fixed_parts(spec: Object, other: Object) -> Object:
    """What stays the same in the pods of a suspended job; the resources of a container do if its place does."""
    fixed = {name: value for name, value in spec.items() if name not in _MOVABLE}
    affinity = {name: value for name, value in (spec.get("affinity") or {}).items() if name != "nodeAffinity"}
    fixed["affinity"] = affinity
    for part in ("containers", "initContainers"):
        names, others = ([one.get("name") for one in side.get(part) or ()] for side in (spec, other))
        if len(names) == len(others):
            fixed[part] = [
                {**one, "resources": {}} if name == there else one
                for one, name, there in zip(spec.get(part) or (), names, others, strict=True)
            ]
    return fixed


def _fill_cron_job(obj: Object) -> None:
    spec = obj["spec"]
    spec.setdefault("concurrencyPolicy", "Allow")
    spec.setdefault("suspend", False)
    spec.setdefault("successfulJobsHistoryLimit", 3)
    spec.setdefault("failedJobsHistoryLimit", 1)
    _fill_template_and_policy(spec["jobTemplate"]["spec"])


def _check_cron_job(obj: Object) -> list[FieldError]:
    found = _cron_spec_problems(obj["spec"], old_schedule="", old_zone=None)
    name = obj["metadata"].get("name", "")
    if len(name) > 52:
        found.append(bad("metadata.name", name, name_rules.at_most(52)))
    return found


def _check_cron_job_update(obj: Object, old: Object) -> list[FieldError]:
    before = old["spec"]
    return _cron_spec_problems(obj["spec"], before.get("schedule", ""), before.get("timeZone"))


def _cron_spec_problems(spec: Object, old_schedule: str, old_zone: str | None) -> Problems:
    found: Problems = []
    _check_schedule(found, spec, old_schedule)
    not_negative(found, spec, "startingDeadlineSeconds", "spec")
    if spec.get("timeZone") is not None and spec["timeZone"] != old_zone:
        _check_zone(found, spec["timeZone"])
    if spec["concurrencyPolicy"] not in _CONCURRENCY:
        found.append(not_supported("spec.concurrencyPolicy", spec["concurrencyPolicy"], _CONCURRENCY))
    job = spec["jobTemplate"]["spec"]
    _check_job_spec(found, job, "spec.jobTemplate.spec")
    if job.get("selector") is not None:
        place = "spec.jobTemplate.spec.selector"
        found.append(bad(place, job["selector"], "`selector` will be auto-generated"))
    if job.get("manualSelector"):
        found.append(not_supported("spec.jobTemplate.spec.manualSelector", True, ("nil", "false")))
    not_negative(found, spec, "successfulJobsHistoryLimit", "spec")
    not_negative(found, spec, "failedJobsHistoryLimit", "spec")
    return found


def _check_schedule(found: Problems, spec: Object, old_schedule: str) -> None:
    schedule = spec.get("schedule") or ""
    if not schedule:
        found.append(required("spec.schedule"))
        return
    if reason := schedules.problem(schedule):
        found.append(bad("spec.schedule", schedule, reason))
    if "TZ" in schedule and "TZ" not in old_schedule:
        detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        found.append(bad("spec.schedule", schedule, detail))


def _check_zone(found: Problems, zone: str) -> None:
    path = "spec.timeZone"
    if not zone:
        found.append(bad(path, zone, "timeZone must be nil or non-empty string"))
        return
    if not all(_zone_part(part) for part in zone.split("/")):
        found.append(bad(path, zone, f"unknown time zone {zone}"))
        return
    if zone.lower() == "local":
        detail = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        found.append(bad(path, zone, detail))
        return
    try:
        zoneinfo.ZoneInfo(zone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        found.append(bad(path, zone, f"unknown time zone {zone}"))


KINDS = {
    ("batch", "Job"): BuiltIn(
        fill=_fill_job,
        begin=_begin_job,
        carry=_carry_job,
        check=_check_job,
        check_update=_check_job_update,
        named_after="Pod names and hostnames",
        remarks=remarks_on_template("spec", "template"),
        status=True,
        generation=("spec",),
    ),
    ("batch", "CronJob"): BuiltIn(
        fill=_fill_cron_job,
        check=_check_cron_job,
        check_update=_check_cron_job_update,
        named_after="Pod names and hostnames",
        remarks=remarks_on_cron_job,
        status=True,
        generation=("spec",),
    ),
}
