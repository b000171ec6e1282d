"""ResourceQuotas: what may be limited, and for which objects."""

from __future__ import annotations

from kubekit.errors import FieldError
from kubekit.model.resource import Object
from kubekit.server.objects.problems import IMMUTABLE, Problems, bad, required

from ..builtin.behaviour import BuiltIn
from ..builtin.compute import check_quota_name, is_quota_name, value_problems

_COMPUTE = {f"{part}{name}" for part in ("", "requests.", "limits.") for name in ("cpu", "memory")}
_OF_PODS = {"pods"} | _COMPUTE
_SCOPES = {
    "Terminating": _OF_PODS,
    "NotTerminating": _OF_PODS,
    "BestEffort": {"pods"},
    "NotBestEffort": _OF_PODS,
    "PriorityClass": _OF_PODS,
    "CrossNamespacePodAffinity": _OF_PODS,
    "VolumeAttributesClass": {"persistentvolumeclaims", "requests.storage"},
}
"""What each scope can limit."""
_PAIRS = ({"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"})
_WITH_VALUES = {"PriorityClass", "VolumeAttributesClass"}
_MUST_EXIST = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
    "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)


def _check(obj: Object) -> list[FieldError]:
    found: Problems = []
    spec = obj["spec"]
    for name, value in (spec.get("hard") or {}).items():
        path = f"spec.hard[{name}]"
        check_quota_name(found, name, path)
        found.extend(value_problems(name, value, path))
    _check_scopes(found, spec)
    if "scopeSelector" in spec:
        _check_selector(found, spec)
    return found


def _check_scopes(found: Problems, spec: Object) -> None:
    scopes = spec.get("scopes") or []
    for scope in scopes:
        if scope not in _SCOPES:
            found.append(bad("spec.scopes", scopes, "unsupported scope"))
        found.extend(bad("spec.scopes", scopes, "unsupported scope applied to resource") for _ in _unfit(scope, spec))
    found.extend(bad("spec.scopes", scopes, "conflicting scopes") for pair in _PAIRS if pair.issubset(scopes))


def _check_selector(found: Problems, spec: Object) -> None:
    path = "spec.scopeSelector.matchExpressions"
    requirements = spec["scopeSelector"].get("matchExpressions") or []
    for requirement in requirements:
        scope = requirement.get("scopeName") or ""
        if scope not in _SCOPES:
            found.append(bad(f"{path}.scopeName", scope, "unsupported scope"))
        shown = {"MatchExpressions": [_shown(one) for one in requirements]}
        found.extend(bad(path, shown, "unsupported scope applied to resource") for _ in _unfit(scope, spec))
        _check_requirement(found, requirement, scope, path)
    named = {one.get("scopeName") for one in requirements}
    found.extend(bad(path, spec.get("scopes"), "conflicting scopes") for pair in _PAIRS if pair.issubset(named))


def _shown(requirement: Object) -> Object:
    """A requirement as Kubernetes holds it."""
    names = {"ScopeName": "scopeName", "Operator": "operator"}
    return {**{name: requirement.get(ours) or "" for name, ours in names.items()}, "Values": requirement.get("values")}


def _check_requirement(found: Problems, requirement: Object, scope: str, path: str) -> None:
    operator, values = requirement.get("operator") or "", requirement.get("values") or []
    if scope in _SCOPES and scope not in _WITH_VALUES and operator != "Exists":
        found.append(bad(f"{path}.operator", operator, _MUST_EXIST))
    if operator in ("In", "NotIn"):
        if not values:
            detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
            found.append(required(f"{path}.values", detail))
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
            found.append(bad(f"{path}.values", values, detail))
    else:
        found.append(bad(f"{path}.operator", operator, "not a valid selector operator"))


def _unfit(scope: str, spec: Object) -> list[str]:
    """The resources of a quota that a scope cannot limit."""
    limited = _SCOPES.get(scope)
    if limited is None:
        return []
    return [name for name in sorted(spec.get("hard") or {}) if is_quota_name(name) and name not in limited]


def _check_update(obj: Object, old: Object) -> list[FieldError]:
    found = _check(obj)
    scopes = obj["spec"].get("scopes") or []
    if set(scopes) != set(old["spec"].get("scopes") or []):
        found.append(bad("spec.scopes", scopes or None, IMMUTABLE))
    return found


KINDS = {("", "ResourceQuota"): BuiltIn(check=_check, check_update=_check_update, status=True)}
