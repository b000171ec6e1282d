"""Manifests that people may see: what is in Secrets is hidden, and only that it changes is told."""

from __future__ import annotations

import base64
from typing import Any

import yaml

from kubekit.model.resource import Object

from .manifest import Ref, objects, ref_of

SAME, BEFORE, AFTER = "***", "*** (before)", "*** (after)"


def masked(before: str, after: str, subject: str) -> tuple[dict[Ref, str], dict[Ref, str]]:
    """Each object of two manifests as YAML, ready to be compared by lines. Raises RecordDamaged."""
    old = {ref_of(one): one for one in objects(before, subject)}
    new = {ref_of(one): one for one in objects(after, subject)}
    return (
        {ref: _text(_hidden(one, new.get(ref), BEFORE)) for ref, one in old.items()},
        {ref: _text(_hidden(one, old.get(ref), AFTER)) for ref, one in new.items()},
    )


def _hidden(obj: Object, other: Object | None, mark: str) -> Object:
    if obj.get("kind") != "Secret":
        return obj
    mine, theirs = _content(obj), _content(other or {})
    rest = {name: value for name, value in obj.items() if name not in ("data", "stringData")}
    return rest | {"data": {name: SAME if theirs.get(name) == value else mark for name, value in mine.items()}}


def _content(secret: Object) -> dict[str, Any]:
    texts = secret.get("stringData") or {}
    encoded = {name: base64.b64encode(str(text).encode()).decode() for name, text in texts.items()}
    return {**(secret.get("data") or {}), **encoded}


def _text(obj: Object) -> str:
    return yaml.safe_dump(obj, sort_keys=True, allow_unicode=True, width=1000)
