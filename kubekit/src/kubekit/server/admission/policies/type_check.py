"""What the types of the objects a policy is about say of its expressions."""

from __future__ import annotations

from typing import Any

from kubekit.model.resource import Object
from kubekit.server.kinds.registry import Kinds
from kubekit.server.objects.cel.admission_types import Types, variables
from kubekit.server.objects.cel.declared_types import Declarations
from kubekit.server.objects.cel.formulas import Formula
from kubekit.server.objects.cel.language.typesystem import DYN, Type
from kubekit.server.objects.long_work import aside
from kubekit.server.objects.resource import Resource

from .policy import composed_of

_MOST_KINDS = 10


async def expression_warnings(spec: Object, kinds: Kinds) -> list[Object]:
    """`status.typeChecking.expressionWarnings` of a policy."""
    kind = spec.get("paramKind")
    params = kinds.of_api_version(kind["apiVersion"], kind["kind"]) if kind else None
    return await aside(spec, _warnings, spec, _concerned(spec, kinds), params)


def _warnings(spec: Object, resources: list[Resource], params: Resource | None) -> list[Object]:
    concerned = [(resource, _types(spec, resource, params)) for resource in resources]
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


def _types(spec: Object, resource: Resource, params: Resource | None) -> Types:
    given: dict[str, Any] = {
        "has_params": spec.get("paramKind") is not None,
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
    named = [_names(rule) for rule in rules]
    found = {resource for resource in kinds for names in named if _is_among(resource, names)}
    return sorted(found, key=lambda one: (one.group, one.version, one.kind))[:_MOST_KINDS]


_Names = tuple[frozenset[str], frozenset[str], frozenset[str]]


def _names(rule: Object) -> _Names:
    """The groups, versions and resources of a rule; nothing when it has a wildcard for the first two."""
    groups, versions = frozenset(rule.get("apiGroups") or ()), frozenset(rule.get("apiVersions") or ())
    if any("*" in one for one in groups | versions):
        return frozenset(), frozenset(), frozenset()
    return groups, versions, frozenset(rule.get("resources") or ())


def _is_among(resource: Resource, names: _Names) -> bool:
    groups, versions, plurals = names
    return resource.group in groups and resource.version in versions and resource.plural in plurals
