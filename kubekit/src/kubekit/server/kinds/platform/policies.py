"""What is wrong with admission policies, with bindings, and with the match conditions of webhooks."""

from __future__ import annotations

import re
from typing import Any

from kubekit.errors import FieldError, FieldProblem, not_supported
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules
from kubekit.server.objects.cel.admission_types import Types, variables
from kubekit.server.objects.cel.formulas import Formula
from kubekit.server.objects.cel.language.names import escape
from kubekit.server.objects.cel.language.typesystem import BOOL, NULL, STRING, Type
from kubekit.server.objects.problems import (
    Problems,
    bad,
    duplicate,
    first_places,
    forbidden,
    refuse_each,
    required,
    too_many,
)

from ..builtin.label_selectors import check_selector
from .rules import FAILURE, MATCH, check_choice, check_rule

_REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")
_ACTIONS = ("Audit", "Deny", "Warn")
_MOST_CONDITIONS, _MOST_ANNOTATIONS, _LONGEST_ANNOTATION = 64, 20, 5 * 1024
_NOTHING = "validations or auditAnnotations must contain at least one item"
_NOT_EMPTY = "must be non-empty if specified"
_EITHER = "name and selector are mutually exclusive"


def check_policy(obj: Object) -> list[FieldError]:
    """A ValidatingAdmissionPolicy."""
    found: Problems = []
    spec = obj["spec"]
    check_choice(found, spec, "spec", "failurePolicy", FAILURE)
    kind, match = spec.get("paramKind"), spec.get("matchConstraints")
    if kind is not None:
        _check_param_kind(found, kind, "spec.paramKind")
    if match is None:
        found.append(required("spec.matchConstraints"))
    else:
        _check_match(found, match, "spec.matchConstraints")
        if not match.get("resourceRules"):
            found.append(required("spec.matchConstraints.resourceRules"))
    check_conditions(found, spec, "spec.matchConditions", has_params=kind is not None)
    _check_expressions(found, obj, has_params=kind is not None)
    return found


def _check_expressions(found: Problems, obj: Object, *, has_params: bool) -> None:
    spec = obj["spec"]
    given: dict[str, Any] = {"has_params": has_params}
    if spec.get("variables"):
        given["composed"] = _check_variables(found, spec["variables"], given)
    types = variables(**given)
    validations, annotations = spec.get("validations") or (), spec.get("auditAnnotations") or ()
    if not validations and not annotations:
        found.append(required("spec.validations", _NOTHING))
        found.append(required("spec.auditAnnotations", _NOTHING))
    for index, one in enumerate(validations):
        _check_validation(found, one, f"spec.validations[{index}]", types, variables(**given, has_authorizer=False))
    _check_annotations(found, list(annotations), obj["metadata"].get("name", ""), types)


def _check_variables(found: Problems, listed: list[Object], given: dict[str, Any]) -> dict[str, Type]:
    """Answers the types of the variables. Each may use those before it."""
    kinds: dict[str, Type] = {}
    for index, one in enumerate(listed):
        path, name, text = f"spec.variables[{index}]", one.get("name") or "", one.get("expression") or ""
        if not name.strip():
            found.append(required(f"{path}.name", "name is not specified"))
        elif not re.fullmatch("[_a-zA-Z][_a-zA-Z0-9]*", name) or escape(name) == f"__{name}__":
            found.append(bad(f"{path}.name", name, "must be a valid CEL identifier"))
        if not text.strip():
            found.append(required(f"{path}.expression", "expression is not specified"))
            continue
        formula = Formula(text, variables(**given, composed=kinds))
        _refuse(found, formula, f"{path}.expression", text)
        kinds[name] = formula.type
    return kinds


def _check_validation(found: Problems, one: Object, path: str, types: Types, words_types: Types) -> None:
    text, words, message = (one.get(name) or "" for name in ("expression", "messageExpression", "message"))
    if not text.strip():
        found.append(required(f"{path}.expression", "expression is not specified"))
    else:
        _refuse(found, Formula(text, types, BOOL), f"{path}.expression", text)
    if words and not words.strip():
        found.append(bad(f"{path}.messageExpression", words, _NOT_EMPTY))
    elif words:
        _refuse(found, Formula(words, words_types, STRING), f"{path}.messageExpression", words)
    if message and not message.strip():
        found.append(bad(f"{path}.message", message, _NOT_EMPTY))
    elif re.search(r"[\n\r]", message.strip()):
        found.append(bad(f"{path}.message", message, "must not contain line breaks"))
    check_choice(found, one, path, "reason", _REASONS)


def _check_annotations(found: Problems, listed: list[Object], policy: str, types: Types) -> None:
    if len(listed) > _MOST_ANNOTATIONS:
        found.append(
            bad("spec.auditAnnotations", listed, f"must not have more than {_MOST_ANNOTATIONS} auditAnnotations")
        )
    keys: set[str] = set()
    for index, one in enumerate(listed):
        path, key, text = f"spec.auditAnnotations[{index}]", one.get("key") or "", one.get("valueExpression") or ""
        refuse_each(found, f"{path}.key", f"{policy}/{key}", name_rules.qualified_name(f"{policy}/{key}"))
        if not text.strip():
            found.append(required(f"{path}.valueExpression", "valueExpression is not specified"))
        elif len(text.strip().encode()) > _LONGEST_ANNOTATION:
            found.append(required(f"{path}.valueExpression", f"must not exceed {_LONGEST_ANNOTATION} bytes in length"))
        else:
            _refuse(found, Formula(text.strip(), types, STRING, NULL), f"{path}.valueExpression", text)
        if key in keys:
            found.append(duplicate(f"{path}.key", key))
        keys.add(key)


def _refuse(found: Problems, formula: Formula, path: str, text: str) -> None:
    if formula.is_broken:
        found.append(FieldError(FieldProblem.INTERNAL, path, formula.problem))
    elif formula.problem:
        found.append(bad(path, text, formula.problem))


def check_conditions(found: Problems, holder: Object, path: str, *, has_params: bool = False) -> None:
    """The match conditions of a policy, or of a webhook."""
    listed = holder.get("matchConditions") or ()
    if len(listed) > _MOST_CONDITIONS:
        found.append(too_many(path, len(listed), _MOST_CONDITIONS))
    names: set[str] = set()
    for index, one in enumerate(listed):
        text, name = (one.get("expression") or "").strip(), one.get("name") or ""
        if not text:
            found.append(required(f"{path}[{index}].expression"))
        else:
            formula = Formula(text, variables(has_params=has_params), BOOL)
            _refuse(found, formula, f"{path}[{index}].expression", text)
        if not name:
            found.append(required(f"{path}[{index}].name"))
            continue
        refuse_each(found, f"{path}[{index}].name", name, name_rules.qualified_name(name))
        if name in names:
            found.append(duplicate(f"{path}[{index}].name", name))
        names.add(name)


def _check_param_kind(found: Problems, kind: Object, path: str) -> None:
    api_version, name = kind.get("apiVersion") or "", kind.get("kind") or ""
    group, _, version = api_version.rpartition("/")
    if not api_version:
        found.append(required(f"{path}.apiVersion"))
    elif "/" in group:
        found.append(bad(f"{path}.apiVersion", api_version, f"unexpected GroupVersion string: {api_version}"))
    else:
        if group and (broken := name_rules.subdomain(group)):
            found.append(bad(f"{path}.apiVersion", group, ",".join(broken)))
        if not version:
            found.append(bad(f"{path}.apiVersion", api_version, "version must be specified"))
        elif broken := name_rules.label_1035(version):
            found.append(bad(f"{path}.apiVersion", version, ",".join(broken)))
    if not name:
        found.append(required(f"{path}.kind"))
    elif broken := name_rules.label_1035(name.lower()):
        found.append(bad(f"{path}.kind", name, f"may have mixed case, but should otherwise match: {','.join(broken)}"))


def _check_match(found: Problems, match: Object, path: str) -> None:
    check_choice(found, match, path, "matchPolicy", MATCH)
    check_selector(found, match.get("namespaceSelector"), f"{path}.namespaceSelector")
    check_selector(found, match.get("objectSelector"), f"{path}.objectSelector")
    for member in ("resourceRules", "excludeResourceRules"):
        for index, rule in enumerate(match.get(member) or ()):
            _check_names(found, rule.get("resourceNames") or [], f"{path}.{member}[{index}].resourceNames")
            check_rule(found, rule, f"{path}.{member}[{index}]")


def _check_names(found: Problems, names: list[str], path: str) -> None:
    first = first_places(names)
    for index, name in enumerate(names):
        refuse_each(found, f"{path}[{index}]", name, name_rules.path_segment(name))
        if first[name] < index:
            found.append(duplicate(f"{path}[{index}]", name))


def check_binding(obj: Object) -> list[FieldError]:
    """A ValidatingAdmissionPolicyBinding."""
    found: Problems = []
    spec = obj["spec"]
    policy, match = spec.get("policyName") or "", spec.get("matchResources")
    if not policy:
        found.append(required("spec.policyName"))
    else:
        refuse_each(found, "spec.policyName", policy, name_rules.subdomain(policy))
    if spec.get("paramRef") is not None:
        _check_params(found, spec["paramRef"], "spec.paramRef")
    if match is not None:
        _check_match(found, match, "spec.matchResources")
    _check_actions(found, spec.get("validationActions") or [], "spec.validationActions")
    return found


def _check_params(found: Problems, reference: Object, path: str) -> None:
    name, selector, action = (
        reference.get(part) for part in ("name", "selector", "parameterNotFoundAction")
    )  # fmt: skip
    if name:
        refuse_each(found, f"{path}.name", name, name_rules.path_segment(name))
        if selector is not None:
            found.append(forbidden(f"{path}.name", _EITHER))
    if selector is not None:
        check_selector(found, selector, f"{path}.selector")
        if name:
            found.append(forbidden(f"{path}.selector", _EITHER))
    if not name and selector is None:
        found.append(required(path, "one of name or selector must be specified"))
    if not action:
        found.append(required(f"{path}.parameterNotFoundAction"))
    elif action not in ("Allow", "Deny"):
        found.append(not_supported(f"{path}.parameterNotFoundAction", action, ("Deny", "Allow")))


def _check_actions(found: Problems, actions: list[str], path: str) -> None:
    first = first_places(actions)
    for index, action in enumerate(actions):
        if action not in _ACTIONS:
            found.append(not_supported(f"{path}[{index}]", action, _ACTIONS))
        if first[action] < index:
            found.append(duplicate(f"{path}[{index}]", action))
    if {"Deny", "Warn"} <= set(actions):
        why = "repeating the same validation failure information in the API response and headers serves no purpose"
        found.append(bad(path, actions, f"must not contain both Deny and Warn ({why})"))
    if not actions:
        found.append(required(path, "at least one validation action is required"))
