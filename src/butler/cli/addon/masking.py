"""Values that people may see: what is secret, or looks like it, is hidden."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..object_draft import Draft

HIDDEN = "***"
_SECRET = re.compile(r"password|passwd|secret|token|key", re.IGNORECASE)
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""In which kubectl keeps all that somebody wrote, values and all."""


def masked(values: Any, *, is_secret: bool = False) -> Any:
    """Without what stands under a name that speaks of passwords, secrets, tokens or keys."""
    if isinstance(values, Mapping):
        named = isinstance(values.get("name"), str) and "value" in values and _SECRET.search(values["name"])
        return {
            name: masked(value, is_secret=is_secret or bool(_SECRET.search(name)) or bool(named and name == "value"))
            for name, value in values.items()
        }
    if isinstance(values, list | tuple):
        return [masked(one, is_secret=is_secret) for one in values]
    return HIDDEN if is_secret and _tells(values) else values


def hidden(values: Any) -> Any:
    """Names without any of their values."""
    if isinstance(values, Mapping):
        return {name: hidden(value) for name, value in values.items()}
    if isinstance(values, list | tuple):
        return [hidden(one) for one in values]
    return HIDDEN


def shown(found: Draft) -> Draft:
    """An addon as it may be printed."""
    meta = {name: value for name, value in found["metadata"].items() if name != "managedFields"}
    if _APPLIED in (meta.get("annotations") or {}):
        meta["annotations"] = {name: text for name, text in meta["annotations"].items() if name != _APPLIED}
    spec = dict(found.get("spec") or {})
    if spec.get("values"):
        spec["values"] = masked(spec["values"])
    return {**found, "metadata": meta, "spec": spec}


def _tells(value: Any) -> bool:
    """A switch or nothing at all is no secret."""
    return value is not None and not isinstance(value, bool) and value != ""
