"""Questions about users and their rights, asked by creating an object and answered in its status."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from kubekit.errors import BadRequest, FieldError, FieldProblem, invalid
from kubekit.model.resource import Object
from kubekit.model.selectors import SelectorError, parse_fields, parse_labels
from kubekit.server.objects import name_rules
from kubekit.server.objects.user import UserInfo

from .rbac import Attributes, Decision, Rbac, aggregate
from .tokens import API_AUDIENCE, TokenRefused, Verified

AUTHENTICATION = "authentication.k8s.io"
AUTHORIZATION = "authorization.k8s.io"

VerifyToken = Callable[[str, Sequence[str]], Verified]

_FIELD_OPERATORS = {"In", "NotIn"}
_LABEL_OPERATORS = {"In", "NotIn", "Exists", "DoesNotExist"}


def self_subject_review(user: UserInfo, now: datetime) -> Object:
    """`kubectl auth whoami`."""
    return {
        "kind": "SelfSubjectReview",
        "apiVersion": f"{AUTHENTICATION}/v1",
        "metadata": {"creationTimestamp": now.strftime("%Y-%m-%dT%H:%M:%SZ")},
        "status": {"userInfo": user.wire()},
    }


def token_review(request: Object, verify: VerifyToken) -> Object:
    """Whose token is it? `verify` raises TokenRefused."""
    spec = request.get("spec") or {}
    token = spec.get("token")
    if not token:
        raise BadRequest("token is required for TokenReview in authentication")
    try:
        verified = verify(token, spec.get("audiences") or [API_AUDIENCE])
    except TokenRefused as error:
        # The server's own loopback tokens are always tried first, and say this.
        text = f"[invalid bearer token, {error}]" if str(error) else "invalid bearer token"
        return {**request, "status": {"user": {}, "error": text}}
    status = {"authenticated": True, "user": verified.user.wire(), "audiences": list(verified.audiences)}
    return {**request, "status": status}


def subject_access_review(request: Object, rbac: Rbac) -> Object:
    """May that user do this?"""
    spec = request.get("spec") or {}
    problems = [*_attribute_problems(spec), *_subject_problems(spec), *_selector_problems(spec)]
    _require_valid([*problems, *_metadata_problems(request, "must be empty")])
    return _answered(request, _attributes(spec, _subject(spec)), rbac)


def self_subject_access_review(request: Object, user: UserInfo, rbac: Rbac) -> Object:
    """May I do this? (`kubectl auth can-i`)"""
    spec = request.get("spec") or {}
    problems = [*_attribute_problems(spec), *_selector_problems(spec)]
    _require_valid([*problems, *_metadata_problems(request, "must be empty")])
    return _answered(request, _attributes(spec, user), rbac)


def local_subject_access_review(request: Object, namespace: str, rbac: Rbac) -> Object:
    """May that user do this in the namespace of the request?"""
    metadata, spec = request.get("metadata") or {}, request.get("spec") or {}
    if metadata.get("namespace") not in {None, "", namespace}:
        raise BadRequest("the namespace of the provided object does not match the namespace sent on the request")
    # Messages show the metadata as the real server orders it: name, namespace, the rest.
    name = {"name": metadata["name"]} if "name" in metadata else {}
    request = {**request, "metadata": {**name, "namespace": namespace, **metadata}}
    problems = [*_attribute_problems(spec), *_subject_problems(spec), *_selector_problems(spec)]
    problems += _metadata_problems(request, "must be empty except for namespace", "namespace")
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if resource is not None and resource.get("namespace", "") != namespace:
        detail = "must match metadata.namespace"
        problems.append(_bad("spec.resourceAttributes.namespace", resource.get("namespace", ""), detail))
    if path is not None:
        problems.append(_bad("spec.nonResourceAttributes", _shown(path), "disallowed on this kind of request"))
    _require_valid(problems)
    return _answered(request, _attributes(spec, _subject(spec)), rbac)


def self_subject_rules_review(request: Object, user: UserInfo, rbac: Rbac) -> Object:
    """What may I do there? (`kubectl auth can-i --list`)"""
    namespace = (request.get("spec") or {}).get("namespace")
    if not namespace:
        raise BadRequest("no namespace on request")
    rules, missing = rbac.rules_for(user, namespace)
    status: dict[str, Any] = {
        "resourceRules": [rule.wire() for rule in rules if rule.resources],
        "nonResourceRules": [
            {"verbs": list(rule.verbs), "nonResourceURLs": list(rule.urls)} for rule in rules if rule.urls
        ],
        "incomplete": False,
    }
    if missing:
        status["evaluationError"] = aggregate([one.text() for one in missing])
    return {
        "kind": "SelfSubjectRulesReview",
        "apiVersion": f"{AUTHORIZATION}/v1",
        "metadata": {},
        "spec": {},
        "status": status,
    }


def _answered(request: Object, attributes: Attributes, rbac: Rbac) -> Object:
    decision = rbac.authorize(attributes)
    return {**request, "status": _status(decision, _evaluation_error(request.get("spec") or {}))}


def _status(decision: Decision, problem: str) -> dict[str, Any]:
    status: dict[str, Any] = {"allowed": decision.allowed}
    if decision.reason:
        status["reason"] = decision.reason
    if problem:
        status["evaluationError"] = problem
    return status


def _subject(spec: Object) -> UserInfo:
    extra = {key: tuple(values or ()) for key, values in (spec.get("extra") or {}).items()}
    return UserInfo(spec.get("user", ""), spec.get("uid", ""), tuple(spec.get("groups") or ()), extra)


def _attributes(spec: Object, user: UserInfo) -> Attributes:
    wanted = spec.get("resourceAttributes")
    if wanted is None:
        path = spec["nonResourceAttributes"]
        return Attributes(user, path.get("verb", ""), path=path.get("path", ""))
    keys = ("group", "version", "resource", "subresource", "namespace", "name")
    return Attributes(user, wanted.get("verb", ""), **{key: wanted.get(key, "") for key in keys})


def _require_valid(problems: list[FieldError]) -> None:
    if problems:
        # The real server does not know the kind at this point, and its message shows that.
        raise invalid("", AUTHORIZATION, "", problems)


def _bad(path: str, value: Any, detail: str) -> FieldError:
    return FieldError(FieldProblem.INVALID, path, detail, value)


def _shown(path_attributes: Object) -> dict[str, str]:
    return {"Path": path_attributes.get("path", ""), "Verb": path_attributes.get("verb", "")}


def _attribute_problems(spec: Object) -> list[FieldError]:
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if resource is not None and path is not None:
        detail = "cannot be specified in combination with resourceAttributes"
        return [_bad("spec.nonResourceAttributes", _shown(path), detail)]
    if resource is None and path is None:
        detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        return [_bad("spec.resourceAttributes", None, detail)]
    return []


def _subject_problems(spec: Object) -> list[FieldError]:
    if spec.get("user") or spec.get("groups"):
        return []
    return [_bad("spec.user", "", "at least one of user or group must be specified")]


def _metadata_problems(request: Object, detail: str, *allowed: str) -> list[FieldError]:
    metadata = request.get("metadata") or {}
    if any(value for key, value in metadata.items() if key not in {"managedFields", *allowed}):
        return [_bad("metadata", metadata, detail)]
    return []


def _selector_problems(spec: Object) -> list[FieldError]:
    problems: list[FieldError] = []
    for kind in ("fieldSelector", "labelSelector"):
        selector = (spec.get("resourceAttributes") or {}).get(kind)
        if selector is None:
            continue
        path = f"spec.resourceAttributes.{kind}"
        raw, requirements = selector.get("rawSelector"), selector.get("requirements")
        if raw and requirements:
            problems.append(_bad(f"{path}.rawSelector", raw, "may not specified at the same time as requirements"))
        if not raw and not requirements:
            detail = f"when {path} is specified, requirements or rawSelector is required"
            problems.append(FieldError(FieldProblem.REQUIRED, f"{path}.requirements", detail))
        for index, requirement in enumerate(requirements or ()):
            problems += _requirement_problems(kind, requirement, f"{path}.requirements[{index}]")
    return problems


def _requirement_problems(kind: str, requirement: Object, path: str) -> list[FieldError]:
    problems: list[FieldError] = []
    key, values = requirement.get("key", ""), requirement.get("values") or []
    if kind == "fieldSelector" and not key:
        problems.append(FieldError(FieldProblem.REQUIRED, f"{path}.key", "must be specified"))
    operator = requirement.get("operator", "")
    if operator in {"In", "NotIn"} and not values:
        detail = "must be specified when `operator` is 'In' or 'NotIn'"
        problems.append(FieldError(FieldProblem.REQUIRED, f"{path}.values", detail))
    if operator in {"Exists", "DoesNotExist"} and values:
        detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        problems.append(FieldError(FieldProblem.FORBIDDEN, f"{path}.values", detail))
    if kind == "labelSelector":
        problems += [_bad(f"{path}.key", key, text) for text in name_rules.qualified_name(key)]
        for index, value in enumerate(values):
            problems += [_bad(f"{path}.values[{index}]", value, text) for text in name_rules.label_value(value)]
    return problems


def _evaluation_error(spec: Object) -> str:
    """RBAC does not look at selectors, but says when it could not have."""
    wanted = spec.get("resourceAttributes") or {}
    found = (_ignored(kind, wanted.get(kind) or {}) for kind in ("fieldSelector", "labelSelector"))
    return "; ".join(text for text in found if text)


def _ignored(kind: str, selector: Object) -> str:
    understood, all_of_them = _understood(kind, selector)
    if all_of_them:
        return ""
    how = "partially ignored" if understood else "ignored"
    return f"spec.resourceAttributes.{kind} {how} due to parse error"


def _understood(kind: str, selector: Object) -> tuple[int, bool]:
    """How many requirements make sense, and whether all do."""
    if raw := selector.get("rawSelector"):
        try:
            (parse_fields if kind == "fieldSelector" else parse_labels)(raw)
        except SelectorError:
            return 0, False
        return 1, True
    requirements = selector.get("requirements") or ()
    good = [one for one in requirements if _makes_sense(kind, one)]
    return len(good), len(good) == len(requirements)


def _makes_sense(kind: str, requirement: Object) -> bool:
    operator = requirement.get("operator", "")
    if kind == "labelSelector":
        return operator in _LABEL_OPERATORS
    return operator in _FIELD_OPERATORS and len(requirement.get("values") or ()) == 1
