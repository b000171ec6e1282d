"""Which built-in kind does what: the one place to ask."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from ..resources import Object
from . import (
    admission,
    autoscaling,
    batch,
    cluster,
    config,
    core,
    csi,
    networking,
    pods,
    quotas,
    rbac,
    services,
    storage,
    workloads,
)
from .model import PLAIN, BuiltIn, NameRule
from .shaping import Shape, shape_of_kind

_THEMES = (
    config,
    core,
    quotas,
    pods,
    workloads,
    batch,
    services,
    networking,
    storage,
    csi,
    rbac,
    autoscaling,
    admission,
    cluster,
)
_NEWEST_FIRST = ("v2", "v1")
_KINDS: dict[tuple[str, str], BuiltIn] = {key: kind for theme in _THEMES for key, kind in theme.KINDS.items()}


@cache
def behaviour_of(group: str, kind: str, version: str = "") -> BuiltIn:
    """The behaviour of a built-in kind; one that only tidies up when the kind has nothing special.

    `version` matters only for kinds with several, such as HorizontalPodAutoscaler; the newest is meant without it.
    """
    found = _KINDS.get((group, kind), PLAIN)
    if (group, kind, version) == ("autoscaling", "HorizontalPodAutoscaler", "v1"):
        found = autoscaling.FIRST_VERSION
    return replace(found, shape=_shape(group, kind, version))


def _shape(group: str, kind: str, version: str) -> Shape | None:
    prefix = f"{group}/" if group else ""
    versions = (version,) if version else _NEWEST_FIRST
    shapes = (shape_of_kind(f"{prefix}{one}", kind) for one in versions)
    return next((shape for shape in shapes if shape is not None), None)


def name_rule(group: str, kind: str) -> NameRule:
    """What objects of a kind may be called."""
    return behaviour_of(group, kind).name_rule


def has_generation(group: str, kind: str) -> bool:
    """Whether objects of a kind count their changes in `metadata.generation`."""
    return bool(behaviour_of(group, kind).generation)


def changes_generation(group: str, kind: str, obj: Object, old: Object) -> bool:
    """Whether an update is one that counts, such as a change of the spec."""
    return any(_part(obj, path) != _part(old, path) for path in behaviour_of(group, kind).generation)


def _part(obj: Object, path: str) -> Any:
    outer, dot, inner = path.partition(".")
    value = obj.get(outer)
    return (value or {}).get(inner) if dot else value
