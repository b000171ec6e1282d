"""Whether an addon is for a cluster at all."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

from butler.api.addon import AddonDefinition

from .errors import AddonUnsuitable
from .facts import Facts

_PART = re.compile(r"(>=|<=|>|<|=)?\s*v?(\d+)\.(\d+)(?:\.(\d+))?")
_HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt, "": operator.eq, "=": operator.eq,
}  # fmt: skip


def check(definition: AddonDefinition, facts: Facts) -> None:
    """Raises AddonUnsuitable."""
    spec, name = definition.spec, definition.metadata.name
    if spec.providers and facts.provider and facts.provider not in spec.providers:
        raise AddonUnsuitable(name, f"is for {', '.join(spec.providers)}, and the cluster is on {facts.provider}")
    if spec.kubernetes_versions and facts.version and not runs_on(spec.kubernetes_versions, facts.version):
        raise AddonUnsuitable(
            name, f"runs on Kubernetes {spec.kubernetes_versions}, and the cluster has {facts.version}"
        )


def runs_on(constraint: str, version: str) -> bool:
    """Whether a version fulfils all parts of a constraint such as `>=1.28 <1.36`; minor versions are compared where no
    patch is named."""
    have = _PART.match(version)
    assert have is not None, version
    for sign, major, minor, patch in _PART.findall(constraint):
        length = 3 if patch else 2
        wanted = tuple(map(int, (major, minor, patch or 0)))[:length]
        found = tuple(int(part or 0) for part in have.groups()[1:])[:length]
        if not _HOLDS[sign](found, wanted):
            return False
    return True
