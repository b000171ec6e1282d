"""Roles and their bindings."""

from __future__ import annotations

from functools import partial

from kubekit.errors import FieldError, not_supported
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules
from kubekit.server.objects.problems import Problems, bad, refuse_each, required

from ..builtin.behaviour import BuiltIn
from ..builtin.label_selectors import check_selector

GROUP = "rbac.authorization.k8s.io"
_SUBJECT_KINDS = ("ServiceAccount", "User", "Group")


def _fill_binding(obj: Object) -> None:
    role = obj["roleRef"]
    role["apiGroup"] = role.get("apiGroup") or GROUP
    for subject in obj.get("subjects", ()):
        if subject["kind"] in {"User", "Group"}:
            subject.setdefault("apiGroup", GROUP)


def _check_role(obj: Object, *, namespaced: bool) -> list[FieldError]:
    found: Problems = []
    for index, rule in enumerate(obj.get("rules") or ()):
        _check_rule(found, rule, f"rules[{index}]", namespaced=namespaced)
    aggregation = obj.get("aggregationRule")
    if aggregation is not None and not namespaced:
        path = "aggregationRule.clusterRoleSelectors"
        if not aggregation.get("clusterRoleSelectors"):
            detail = "at least one clusterRoleSelector required if aggregationRule is non-nil"
            found.append(required(path, detail))
        for index, selector in enumerate(aggregation.get("clusterRoleSelectors") or ()):
            wrong: Problems = []
            check_selector(wrong, selector, f"{path}[{index}]")
            found.extend(wrong)
            if wrong:
                found.append(bad(f"{path}[{index}]", None, "invalid label selector."))
    return found


def _check_rule(found: Problems, rule: Object, path: str, *, namespaced: bool) -> None:
    if not rule.get("verbs"):
        found.append(required(f"{path}.verbs", "verbs must contain at least one value"))
    urls = rule.get("nonResourceURLs")
    if urls:
        if namespaced:
            found.append(bad(f"{path}.nonResourceURLs", urls, "namespaced rules cannot apply to non-resource URLs"))
        if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
            detail = "rules cannot apply to both regular resources and non-resource URLs"
            found.append(bad(f"{path}.nonResourceURLs", urls, detail))
        return
    if not rule.get("apiGroups"):
        found.append(required(f"{path}.apiGroups", "resource rules must supply at least one api group"))
    if not rule.get("resources"):
        found.append(required(f"{path}.resources", "resource rules must supply at least one resource"))


def _check_binding(obj: Object, *, namespaced: bool) -> list[FieldError]:
    found: Problems = []
    role = obj["roleRef"]
    if role["apiGroup"] != GROUP:
        found.append(not_supported("roleRef.apiGroup", role["apiGroup"], (GROUP,)))
    kinds = ("Role", "ClusterRole") if namespaced else ("ClusterRole",)
    if role.get("kind") not in kinds:
        found.append(not_supported("roleRef.kind", role.get("kind") or "", kinds))
    name = role.get("name") or ""
    if name:
        refuse_each(found, "roleRef.name", name, name_rules.path_segment(name))
    else:
        found.append(required("roleRef.name"))
    for index, subject in enumerate(obj.get("subjects") or ()):
        _check_subject(found, subject, f"subjects[{index}]", namespaced=namespaced)
    return found


def _check_subject(found: Problems, subject: Object, path: str, *, namespaced: bool) -> None:
    name, group = subject.get("name") or "", subject.get("apiGroup") or ""
    if not name:
        found.append(required(f"{path}.name"))
    match subject.get("kind"):
        case "ServiceAccount":
            if name:
                refuse_each(found, f"{path}.name", name, name_rules.subdomain(name))
            if group:
                found.append(not_supported(f"{path}.apiGroup", group, ("",)))
            if not namespaced and not subject.get("namespace"):
                found.append(required(f"{path}.namespace"))
        case "User" | "Group":
            if group != GROUP:
                found.append(not_supported(f"{path}.apiGroup", group, (GROUP,)))
        case kind:
            found.append(not_supported(f"{path}.kind", kind or "", _SUBJECT_KINDS))


def _check_binding_update(obj: Object, old: Object, *, namespaced: bool) -> list[FieldError]:
    found = _check_binding(obj, namespaced=namespaced)
    if obj["roleRef"] != old["roleRef"]:
        role = obj["roleRef"]
        shown = {"APIGroup": role["apiGroup"], "Kind": role.get("kind", ""), "Name": role.get("name", "")}
        found.append(bad("roleRef", shown, "cannot change roleRef"))
    return found


def _role(*, namespaced: bool) -> BuiltIn:
    check = partial(_check_role, namespaced=namespaced)
    return BuiltIn(check=check, name_rule="path-segment")


def _binding(*, namespaced: bool) -> BuiltIn:
    check = partial(_check_binding, namespaced=namespaced)
    check_update = partial(_check_binding_update, namespaced=namespaced)
    return BuiltIn(fill=_fill_binding, check=check, check_update=check_update, name_rule="path-segment")


KINDS = {
    (GROUP, "Role"): _role(namespaced=True),
    (GROUP, "ClusterRole"): _role(namespaced=False),
    (GROUP, "RoleBinding"): _binding(namespaced=True),
    (GROUP, "ClusterRoleBinding"): _binding(namespaced=False),
}
