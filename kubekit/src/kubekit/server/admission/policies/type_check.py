"""What the types of the objects a policy is about say of its expressions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product
from typing import Any

from kubekit.model.resource import Object
from kubekit.server.kinds.registry import Kinds
from kubekit.server.objects.cel.admission_types import Types, variables
from kubekit.server.objects.cel.declared_types import Declarations
from kubekit.server.objects.cel.formulas import Formula
from kubekit.server.objects.cel.language.typesystem import DYN, Type
from kubekit.server.objects.resource import Resource

from .policy import composed_of

_MOST_KINDS = 10


def expression_warnings(spec: Object, kinds: Kinds) -> list[Object]:
    """`status.typeChecking.expressionWarnings` of a policy."""
    concerned = [(resource, _types(spec, resource, kinds)) for resource in _concerned(spec, kinds)]
    found: list[Object] = []
    for index, validation in enumerate(spec.get("validations") or ()):
        for member in ("expression", "messageExpression"):
            text = validation.get(member)
            problems = [_problem(text, resource, types) for resource, types in concerned] if text else []
            if warning := "\n".join(filter(None, problems)):
                found.append({"fieldRef": f"spec.validations[{index}].{member}", "warning": warning})
    return found


def _problem(text: str, resource: Resource, types: Types) -> str:
    problem = Formula(text, types).problem.removeprefix("compilation failed: ")
    return f"{_shown(resource)}: {problem}\n" if problem else ""


def _shown(resource: Resource) -> str:
    return f"{resource.api_version}, Kind={resource.kind}"


def _types(spec: Object, resource: Resource, kinds: Kinds) -> Types:
    kind = spec.get("paramKind")
    params = kinds.of_api_version(kind["apiVersion"], kind["kind"]) if kind else None
    given: dict[str, Any] = {
        "has_params": kind is not None,
        "object_type": _declared(resource),
        "params_type": _declared(params) if params else DYN,
    }
    composed = {name: formula.type for name, formula in composed_of(spec, given).items()}
    return variables(**given, composed=composed)


def _declared(resource: Resource) -> Type:
    return Declarations(unseen=DYN).of(resource.schema, is_resource=True, name=resource.kind) or DYN


def _concerned(spec: Object, kinds: Kinds) -> list[Resource]:
    """The kinds that are named without a wildcard, a handful at most."""
    rules = (spec.get("matchConstraints") or {}).get("resourceRules") or ()
    places = (place for rule in rules for place in _places(rule))
    found = {resource for place in places if (resource := kinds.at(*place)) is not None}
    ordered = sorted(found, key=lambda one: (one.group, one.version, one.kind))
    return list(islice(ordered, _MOST_KINDS))


def _places(rule: Object) -> Iterator[tuple[str, str, str]]:
    groups, versions = rule.get("apiGroups") or (), rule.get("apiVersions") or ()
    if any("*" in one for one in (*groups, *versions)):
        return iter(())
    plurals = [one for one in rule.get("resources") or () if not {"*", "/"} & set(one)]
    return product(groups, versions, plurals)
