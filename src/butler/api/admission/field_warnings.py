"""Whoever writes a field that does not act yet is told so: by policies that warn, on every API server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kubekit.model.resource import Object

from .. import KINDS
from ..fields import Field, acts_at_all, idle_fields
from ..model import GROUP, VERSION, Resource
from ..provider import NETWORK_FIELDS, ProviderConfig

_CHANGED = "oldObject == null || object.?spec != oldObject.?spec"
"""Who writes labels or finalizers has seen the warning before, or is no person."""

_PROVIDER = "object.?spec.?provider.orValue(object.?spec.?type.orValue(''))"


def warning_policies() -> Iterator[tuple[str, Object]]:
    """The name and the spec of each policy: one for all kinds that do not act at all, and one for each other kind that
    has such fields."""
    idle = [kind for kind in KINDS if not acts_at_all(kind)]
    yield f"kinds-not-yet.{GROUP}", _policy(idle, _kind_validation())
    for kind in KINDS:
        if kind not in idle and (fields := list(idle_fields(kind))):
            name = f"{kind.address.plural}-not-yet.{GROUP}"
            yield name, _policy([kind], _field_validation(), idle=_written(fields))
    variables = {"kind": _PROVIDER, "idle": _without_effect()}
    yield f"providerconfigs-network.{GROUP}", _policy([ProviderConfig], _network_validation(), **variables)


def _policy(kinds: list[type[Resource]], validation: Object, **variables: str) -> Object:
    rule = {
        "apiGroups": [GROUP],
        "apiVersions": [VERSION],
        "operations": ["CREATE", "UPDATE"],
        "resources": [kind.address.plural for kind in kinds],
    }
    return {
        "failurePolicy": "Ignore",
        "matchConstraints": {"resourceRules": [rule]},
        "matchConditions": [{"name": "spec-changes", "expression": _CHANGED}],
        **(
            {"variables": [{"name": name, "expression": text} for name, text in variables.items()]} if variables else {}
        ),
        "validations": [validation],
    }


def _kind_validation() -> Object:
    return {
        "expression": "false",
        "message": "kinds that do not act yet",
        "messageExpression": "'nothing acts on a ' + request.kind.kind + ' yet'",
    }


def _field_validation() -> Object:
    said = "variables.idle.join(', ') + (variables.idle.size() == 1 ? ' does' : ' do') + ' not act yet'"
    return {
        "expression": "variables.idle.size() == 0",
        "message": "some of its fields do not act yet",
        "messageExpression": said,
    }


def _network_validation() -> Object:
    verb = "(variables.idle.size() == 1 ? ' does' : ' do')"
    return {
        "expression": "variables.idle.size() == 0",
        "message": "some of its fields do not act on this provider",
        "messageExpression": f"variables.idle.join(', ') + {verb} + ' not act on provider ' + variables.kind",
    }


def _without_effect() -> str:
    """The paths of those fields that somebody has set for a provider on which they mean nothing."""
    named = [
        f"object.?spec.?network.?{name}.hasValue() && !(variables.kind in {list(where)}) ? 'spec.network.{name}' : ''"
        for name, where in NETWORK_FIELDS.items()
    ]
    return f"[{', '.join(named)}].filter(one, one != '')"


def _written(fields: list[Field]) -> str:
    """The paths of those fields that somebody has set."""
    named = [f"{_is_set('object', field.path.split('.'), field.schema.get('default'))} ? '{field.path}' : ''"
             for field in fields]  # fmt: skip
    return f"[{', '.join(named)}].filter(one, one != '')"


def _is_set(root: str, names: list[str], default: Any) -> str:
    """Whether a field is there, and is not what the server writes if nobody does."""
    chain = root
    for index, name in enumerate(names):
        chain += f".?{name.removesuffix('[]')}"
        if name.endswith("[]"):
            return f"{chain}.orValue([]).exists(one, {_is_set('one', names[index + 1 :], default)})"
    if default is None:
        return f"{chain}.hasValue()"
    literal = f"'{default}'" if isinstance(default, str) else str(default).lower()
    return f"{chain}.orValue({literal}) != {literal}"
